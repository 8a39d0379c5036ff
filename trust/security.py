"""Attacks by a file from a stranger: reading other files, running code, filling memory, putting scripts into
pages."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

import sekant as sk
from damage.test_mutated_files import STUDY_MODEL
from trust.campaign import Clock, Section
from trust.commands import Endless, sekant

HOSTILE = (
    "</script><script>window.broken=1</script>",
    "</title><script>window.broken=1</script>",
    "</script x=",
    "<img src=x onerror=window.broken=1>",
    "&lt;b&gt;",
    "javascript:1",
)
OWN_SCRIPTS = 2
"""Elements of a player: its data, and its code with the libraries."""
SECONDS, MEMORY = 30, 3_000_000_000
YAML_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)
XML_BOMB = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "x">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9)
)
FILES = {
    "yaml bomb": ("bomb.yaml", YAML_BOMB),
    "yaml object": ("object.yaml", "bodies: !!python/object/apply:os.system ['touch broken']\n"),
    "deep yaml": ("deep.yaml", "[" * 5000),
    "deep expression": ("expression.yaml", f"parameters: {{a: '{'(' * 3000}1{')' * 3000}'}}\n"),
    "expression with code": ("code.yaml", 'parameters: {a: \'__import__("os").system("touch broken")\'}\n'),
    "power tower": ("tower.yaml", "parameters: {a: '9^9^9^9^9^9'}\n"),
    "huge repeat": ("rows.yaml", "tables: {t: {x: [0, 1e308], y: [0, 1e308]}}\nbodies: {}\n"),
    "xml bomb": ("bomb.urdf", XML_BOMB + "]><robot name='r'>&j;</robot>"),
    "xml file": ("file.urdf", '<!DOCTYPE r [<!ENTITY x SYSTEM "secret.txt">]><robot name="r">&x;</robot>'),
    "circle": ("circle.yaml", "include: [circle.yaml]\n"),
}


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return sekant(words, folder, SECONDS, memory=MEMORY)


def _hostile_files(section: Section, folder: Path) -> None:
    (folder / "secret.txt").write_text("the secret")
    for name, (file, text) in FILES.items():
        (folder / file).write_text(text)
        section.count("hostile files")
        try:
            done = _run(["check", file], folder)
        except Endless as error:
            section.fail(name, str(error), text[:500])
            continue
        if done.returncode not in (0, 1) or "Traceback" in done.stderr or "MemoryError" in done.stderr:
            section.fail(name, f"exit code {done.returncode}: {done.stderr[-500:]}", text[:500])
        if (folder / "broken").exists():
            section.fail(name, "it ran a command")
        if "the secret" in done.stdout + done.stderr:
            section.fail(name, "it shows the content of another file")


def _confined(section: Section, folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (folder / "outside.yaml").write_text(STUDY_MODEL)
    (folder / "outside.csv").write_text("x [m],y [m]\n0,1\n1,2\n")
    os.symlink(folder / "outside.yaml", inner / "link.yaml")
    tries = {
        "include": "include: [../outside.yaml]\n",
        "link": "include: [link.yaml]\n",
        "table": "tables: {lift: {file: ../outside.csv, x: x, y: y}}\nbodies: {}\n",
    }
    for name, text in tries.items():
        (inner / "model.yaml").write_text(text)
        section.count("attempts to leave a folder")
        done = _run(["--within", ".", "check", "model.yaml"], inner)
        if done.returncode != 1 or "outside" not in done.stderr:
            section.fail(
                f"--within, {name}", f"exit code {done.returncode}: {done.stdout[-200:]}{done.stderr[-300:]}"
            )
    (inner / "model.yaml").write_text(tries["include"] + tries["table"].replace("bodies: {}\n", ""))
    section.count("files that `check` must list", 2)
    listed = _run(["check", "model.yaml"], inner).stdout
    if not all(name in listed for name in ("outside.yaml", "outside.csv")):
        section.fail("sekant check", f"it does not list every file that the model reads: {listed[-300:]}")


def _zip_bomb(section: Section, folder: Path) -> None:
    """A spreadsheet with a sheet of two gigabytes when unpacked."""
    path = folder / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream:
            for _ in range(200):
                stream.write(bytes(10_000_000))
        file.writestr("[Content_Types].xml", "<Types/>")
    section.count("hostile files")
    try:
        done = _run(["fit", "bomb.xlsx", "-o", "out.json"], folder)
    except Endless as error:
        section.fail("zip bomb", str(error))
        return
    if done.returncode != 1 or "Traceback" in done.stderr:
        section.fail("zip bomb", f"exit code {done.returncode}: {done.stderr[-500:]}")


def hostile_model(text: str) -> sk.Model:
    """Hostile text wherever a model accepts free text."""
    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=1.0)
    return sk.Model(name=text, description=text, bodies={"arm": arm}, joints={"hinge": hinge})


def _pages(section: Section, folder: Path) -> None:
    from chromium import Chromium, find_chromium

    program = find_chromium()
    if program is None:
        section.left_out.append("pages in a browser: no Chromium on this machine")
        return
    browser = Chromium(program)
    try:
        for number, text in enumerate(HOSTILE):
            result = sk.simulate(hostile_model(text), 0.2, output_step=0.05)
            page = folder / f"page{number}.html"
            sk.view(result, page, title=text)
            if not re.search(r"Content-Security-Policy\" content=\"default-src 'none'", page.read_text()):
                section.fail("page", "it has no content security policy")
            section.count("hostile pages")
            try:
                browser.open(page)
            except TimeoutError as error:
                section.fail("page", f"it does not start: {error}", text)
                continue
            if browser.run("typeof window.broken") != "undefined":
                section.fail("page", "text of a model ran as code", text)
            if browser.run("document.scripts.length") != OWN_SCRIPTS:
                section.fail("page", "text of a model became an element of the page", text)
            if browser.run("document.title") != f"{text} · Sekant":
                section.fail("page", "its title is not the text that was given", text)
            if browser.requests[1:]:
                section.fail("page", f"it asked for {browser.requests[1:]}")
            browser.requests.clear()
    finally:
        browser.close()


OWN_CODE = ("loops/translate/plain.py", "model/signals/numeric_code.py")
"""They run code: procedures of the package itself, and functions that the caller passes in Python."""


def _no_pickles(section: Section) -> None:
    package = Path(sk.__file__).parent
    for path in sorted(package.rglob("*.py")):
        section.count("source files read")
        text, name = path.read_text(encoding="utf-8"), path.relative_to(package).as_posix()
        loads = re.search(r"^\s*(import|from) (pickle|marshal|shelve)\b", text, re.MULTILINE)
        runs = re.search(r"(?<![\w.])(eval|exec)\(", re.sub(r"def eval\(", "", text)) and name not in OWN_CODE
        if loads or runs:
            section.fail("source", f"{name} loads pickles or evaluates text")


def campaign(section: Section, clock: Clock, first: int) -> None:
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        _hostile_files(section, folder)
        _confined(section, folder)
        _zip_bomb(section, folder)
        _pages(section, folder)
    _no_pickles(section)
