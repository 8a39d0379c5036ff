"""What a user meets when a run is ended, a disk is full or a file is damaged: one line, and the right exit code."""

import os
import signal
import subprocess
import time

import pytest
from command_line import command, environment, sekant

MODEL = "bodies: {b: {mass: 1}}\njoints: {j: {type: prismatic, axis: [1, 0, 0], child: b}}\n"


def started(*arguments, folder, **variables):
    """A process in a group of its own, as a shell starts one, that hears Ctrl-C."""
    return subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env={**environment(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def is_compiling(process) -> bool:
    """Whether the process has started one that compiles."""
    found = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(process.pid)], capture_output=True, text=True
    )
    return "sekant.loops.store.compiler" in found.stdout


def test_ctrl_c_while_procedures_compile(model_folder, tmp_path):
    """The key goes to all processes of the terminal; only the first one answers it, and it ends the others."""
    process = started(
        "run",
        "crane.yaml",
        "--method",
        "radau5",
        folder=model_folder,
        SEKANT_CACHE_DIR=str(tmp_path / "cache"),
    )
    while process.poll() is None and not is_compiling(process):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted; nothing was saved, because the run had not started"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device on this system")
@pytest.mark.parametrize("arguments", [["check", "a.yaml"], ["check", "a.yaml", "--json"], ["explain"]])
def test_output_that_cannot_be_written_is_one_line(arguments, tmp_path):
    (tmp_path / "a.yaml").write_text(MODEL)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "the output cannot be written: No space left on device\n"


def test_a_deeply_nested_robot_is_refused(tmp_path):
    body = '<body><joint type="hinge"/><geom type="sphere" size="0.1"/>'
    text = f"<mujoco><worldbody>\n{body * 700}{'</body>' * 700}</worldbody></mujoco>"
    (tmp_path / "deep.xml").write_text(text)
    done = sekant("check", "deep.xml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "deep.xml:2: is nested deeper than 200 levels\n")


def test_ctrl_c_while_modules_are_imported(tmp_path):
    """It ends the program as quietly as later on."""
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    process = started("check", "model.yaml", folder=tmp_path, PYTHONPATH=str(tmp_path))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


def test_ctrl_c_within_the_definition_of_a_class(tmp_path):
    """Dataclasses are defined by `exec` of a text: after an interrupt there, Python would end by the signal."""
    (tmp_path / "typer.py").write_text(
        "exec('import os, signal; os.kill(os.getpid(), signal.SIGINT); [0 for _ in range(1000)]')\n"
    )
    process = started("check", "model.yaml", folder=tmp_path, PYTHONPATH=str(tmp_path))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
