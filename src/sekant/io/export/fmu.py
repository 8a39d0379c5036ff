"""A model as an FMU: one generated C source, compiled for the requested platforms, with its description."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sekant.analyses.simulation.runs import is_adaptive
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SekantError, suggest
from sekant.files import make_folder, replace_file
from sekant.io.export.c_export import DEFAULT_STEP, start_of
from sekant.io.export.c_operations import DOUBLE
from sekant.io.export.compilers import PLATFORMS, build_library, check_platforms, host
from sekant.io.export.description import (
    SETTINGS,
    FmuDescription,
    FmuSetting,
    FmuVariable,
    build_description,
    describe_fmi2,
    describe_fmi3,
    entries,
)
from sekant.io.export.instants_code import event_texts, happens
from sekant.io.export.interface import RUNTIME, identifier, interface
from sekant.io.export.model_code import ModelCode, model_code
from sekant.io.export.object_functions import ObjectFunctions
from sekant.io.export.refusals import chosen_method, refuse, refuse_contacts, system_of, with_friction
from sekant.model.model import Model
from sekant.version import __version__

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

KINDS = {"me": "model exchange", "cs": "co-simulation"}
PROCESSORS = ("any", "native")
DRIFT = 1e-9
"""Violation of constraints (m, rad, and per second) beyond which a state is projected after an importer's step."""
STRUCTURED = re.compile(r"(der\()?[A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*\)?", re.ASCII)
MODEL = """
typedef struct {{
    real t, x[NX], p[NP + HELD + 1], step, rtol, atol, drift; /* time, state, parameters, settings */
    real segment, next;                                       /* stops around t */
    real h, h_kept, usual;                                    /* of the adaptive method: steps to try */
    int after_rejection, stiff, last_event, jumped;
    real last_event_time;
    unsigned long long steps;
{}}} MODEL;
"""


@dataclass(frozen=True, eq=False)
class FmuExport:
    """The exported FMU. `method`: the integrator for co-simulation, empty if the FMU has none. `compilers`: the
    compiler for each platform."""

    path: Path
    version: int
    kind: str
    method: str
    platforms: tuple[str, ...]
    compilers: tuple[str, ...]
    states: tuple[str, ...]
    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    event_indicators: int
    size: int

    def summary(self) -> str:
        """The report as text."""
        inside = f" by {self.method}" if self.method else ""
        return (
            f"FMI {self.version}.0, {KINDS[self.kind]}{inside}, {self.size / 1024:.0f} kB\n"
            f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.parameters)} tunable parameters, "
            f"{len(self.outputs)} outputs, {self.event_indicators} event indicators\n"
            f"built for {', '.join(f'{p} ({c})' for p, c in zip(self.platforms, self.compilers, strict=True))}"
        )


def export_fmu(
    system: System | Model | Collector,
    path: str | Path,
    *,
    fmi: int = 2,
    kind: str = "me",
    platforms: Sequence[str] | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    parameters: Sequence[str] | None = None,
    initial: State | None = None,
    processor: str = "any",
) -> FmuExport:
    """Write the model as an FMU to the file `path`.

    `fmi`: 2 or 3. `kind`: "me" (model exchange: the importer integrates) or "cs" (co-simulation: the FMU does, by
    `method` "dop853", "taylor" or "radau5" with `rtol`, `atol`, or "euler", "semi_implicit_euler", "rk4" or
    "generalized_alpha" with `step`). `platforms`: names of `PLATFORMS`, by default that of this machine. `outputs`:
    patterns, None for all. `inputs`: run-time parameters that the importer may change at any time. `parameters`: of
    a model, which remain tunable; by default all named ones. `processor`: "any" processor of the platform, or
    "native", this processor with all of its instructions; a native co-simulation FMU computes the same numbers as
    `sk.simulate` on this machine, bit for bit.
    """
    if fmi not in (2, 3):
        raise SekantError(f"FMI {fmi} is not supported; use 2 or 3")
    if kind not in KINDS:
        raise SekantError(f"unknown kind '{kind}' of an FMU; use me (model exchange) or cs (co-simulation)")
    place = Path(path)
    if place.suffix != ".fmu":
        raise SekantError(f"'{place}' is not a valid name for an FMU; the name must end in .fmu")
    wanted = check_platforms(list(platforms) if platforms else [host()])
    if processor not in PROCESSORS:
        raise SekantError(f"unknown processor '{processor}'; {suggest(processor, PROCESSORS, 'processors')}")
    if processor == "native" and wanted != [host()]:
        raise SekantError(f"code for the native processor runs only on {host()}; remove the other platforms")
    built = system_of(system, None if parameters is None else list(parameters))
    refuse(built, "an FMU")
    start = start_of(built, initial)
    chosen = chosen_method(built, method, False, start) if kind == "cs" else "euler"
    if kind == "cs":
        refuse_contacts(built, chosen)
    built = with_friction(built, chosen if kind == "cs" else "model exchange")
    settings = built.settings
    h = float(step or settings.step or DEFAULT_STEP)  # type: ignore[arg-type]
    tolerance = float(settings.rtol if rtol is None else rtol)  # type: ignore[arg-type]
    absolute = float(settings.atol if atol is None else atol)  # type: ignore[arg-type]
    if not h > 0 or not tolerance > 0 or not absolute > 0:
        raise SekantError(f"step, rtol and atol must be positive (got {h:g}, {tolerance:g}, {absolute:g})")
    face = interface(built, outputs, inputs)
    objects = ObjectFunctions(built) if kind == "cs" or happens(built) else None
    code = model_code(
        *(built, face, start, chosen, DOUBLE),
        kind=kind,
        objects=objects,
        rtol=tolerance,
    )
    constrained = bool(built.equations.constraints)
    drifts = constrained or bool(len(built.equations.motion.unit_blocks))
    own = _settings(kind, chosen, drifts, h, tolerance, absolute)
    found = entries(face, code, own, constrained)
    label = identifier(place.stem)
    source = _source(label, built, fmi, kind, code, own, h, tolerance, absolute)
    guid = _guid(source, found)
    source = source.replace('"{GUID}"', f'"{guid}"')
    source = source.replace("FINGERPRINT_VALUE", f"0x{hashlib.sha256(guid.encode()).hexdigest()[:16]}ULL")
    described = FmuDescription(
        name=built.model.name,
        label=label,
        guid=guid,
        tool=f"Sekant {__version__}",
        kind=kind,
        has_source=objects is None,
        found=found,
        indicators=code.indicators if kind == "me" else 0,
        structured=all(STRUCTURED.fullmatch(e.variable.name) for e in found),
        needs_completed_step=drifts,
        until=float(settings.until),  # type: ignore[arg-type]
        tolerance=tolerance,
        step=float(settings.output_step or h),  # type: ignore[arg-type]
    )
    text = describe_fmi2(described) if fmi == 2 else describe_fmi3(described)
    files = {"modelDescription.xml": text.encode()}
    if objects is None:
        files[f"sources/{label}.c"] = source.encode()
        if fmi == 3:
            files["sources/buildDescription.xml"] = build_description(label).encode()
    compilers = []
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / f"{label}.c"
        written.write_text(source, encoding="utf-8")
        for name in wanted:
            target = PLATFORMS[name]
            library = Path(folder) / f"{label}{target.suffix}"
            pieces = _object_files(code, name, processor, Path(folder))
            compilers.append(build_library(written, library, name, objects=pieces))
            place_in = target.folder2 if fmi == 2 else target.folder3
            files[f"binaries/{place_in}/{label}{target.suffix}"] = library.read_bytes()
    _zip(place, files)
    names = [parameter.name for parameter in face.parameters]
    return FmuExport(
        place,
        fmi,
        kind,
        chosen if kind == "cs" else "",
        tuple(wanted),
        tuple(Path(c).name for c in compilers),
        tuple(v.name for v in face.states),
        tuple(n for i, n in enumerate(names) if i not in face.inputs),
        tuple(names[i] for i in face.inputs),
        tuple(v.name for v in face.outputs),
        code.indicators,
        place.stat().st_size,
    )


def _object_files(code: ModelCode, platform: str, processor: str, folder: Path) -> list[Path]:
    """Functions of the model and procedures as object files, for the parts that are not C."""
    native, found = processor == "native", []
    for i, data in enumerate([data for one in code.objects for data in one.objects(platform, native)]):
        found.append(folder / f"{platform}_{i}.o")
        found[-1].write_bytes(data)
    return found


def _settings(
    kind: str, method: str, drifts: bool, step: float, rtol: float, atol: float
) -> list[FmuSetting]:
    if kind == "me":
        return [FmuSetting("drift", SETTINGS["drift"], DRIFT)] if drifts else []
    if not is_adaptive(method):
        return [FmuSetting("step", SETTINGS["step"], step)]
    return [FmuSetting("rtol", SETTINGS["rtol"], rtol), FmuSetting("atol", SETTINGS["atol"], atol)]


def _source(
    label: str,
    system: System,
    fmi: int,
    kind: str,
    code: ModelCode,
    settings: Sequence[FmuSetting],
    step: float,
    rtol: float,
    atol: float,
) -> str:
    fields = ", ".join(f"&m->{s.field}" for s in settings) or "&m->step"
    number = code.precision.literal
    head = [
        f"/* FMU '{label}' (FMI {fmi}.0, {KINDS[kind]}), written by Sekant {__version__}. C99; link with -lm. */",
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>",
        '#define GUID "{GUID}"',
        "#define FINGERPRINT FINGERPRINT_VALUE",
        "#define MODEL_EXCHANGE 0\n#define CO_SIMULATION 1",
        f"#define KIND {'MODEL_EXCHANGE' if kind == 'me' else 'CO_SIMULATION'}\n#define FMI {fmi}",
        f"#define SETTINGS {len(settings)}",
        f"#define SETTINGS_LIST {{{fields}}}",
        f"#define DEFAULT_STEP {number(step)}\n#define DEFAULT_RTOL {number(rtol)}",
        f"#define DEFAULT_ATOL {number(atol)}\n#define DEFAULT_DRIFT {number(DRIFT)}",
    ]
    members = "".join(f"    {line}\n" for line in code.held.fields("real", code.x.size))
    course = ["model_exchange.c"] if kind == "me" else ["engine.c", "co_simulation.c"]
    wrapper = [f"fmi{fmi}_types.c", "fmi_common.c", f"fmi{fmi}.c"]
    parts = [*head, code.equations, event_texts(system), MODEL.format(members), code.runtime]
    parts += [(RUNTIME / "fmu" / name).read_text() for name in ["instance.c", *course, *wrapper]]
    return "\n".join(part for part in parts if part)


def _guid(source: str, found: Sequence[FmuVariable]) -> str:
    """A fingerprint of the content, in the form of a GUID."""
    content = source + "".join(repr(entry) for entry in found)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return "{" + "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]]) + "}"


def _zip(place: Path, files: dict[str, bytes]) -> None:
    """The archive; the same content gives the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    make_folder(place.parent)
    replace_file(place, packed.getvalue())
