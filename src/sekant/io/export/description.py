"""The description of an FMU: its variables and units, modelDescription.xml of FMI 2.0 and FMI 3.0, and
sources/buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from sekant.errors import SekantError
from sekant.io.export.interface import Interface, Variable
from sekant.io.export.model_code import ModelCode
from sekant.units import parse_unit


@dataclass(frozen=True)
class FmuVariable:
    """One variable of an FMU. `derivative_of`: value reference of the state whose rate it is."""

    reference: int
    variable: Variable
    causality: str
    variability: str
    initial: str | None = None
    start: float | None = None
    derivative_of: int | None = None

    @property
    def attributes(self) -> dict[str, object]:
        """XML attributes that both versions share."""
        return {
            "name": self.variable.name,
            "valueReference": self.reference,
            "description": self.variable.description or None,
            "causality": self.causality,
            "variability": self.variability,
        }


@dataclass(frozen=True)
class FmuSetting:
    """A setting of the internal solver that an importer may change; `field` of the structure in C."""

    field: str
    variable: Variable
    start: float


SETTINGS = {
    "step": Variable("sekant.step", "s", "length of internal steps"),
    "rtol": Variable("sekant.rtol", "", "relative tolerance of internal steps"),
    "atol": Variable("sekant.atol", "", "absolute tolerance of internal steps"),
    "drift": Variable("sekant.drift", "", "violation of constraints beyond which the state is corrected"),
}


def entries(
    face: Interface, code: ModelCode, settings: Sequence[FmuSetting], constrained: bool
) -> list[FmuVariable]:
    """All variables, in the order of their value references; see `runtime/instance.c`."""
    n = len(face.states)
    time = Variable("time", "s", "")
    found = [FmuVariable(0, time, "independent", "continuous")]
    loose = constrained or code.start_depends
    for i, state in enumerate(face.states):
        how = "approx" if loose else "exact"
        found.append(FmuVariable(1 + i, state, "local", "continuous", how, float(code.x[i])))
    for i, state in enumerate(face.states):
        rate = Variable(f"der({state.name})", _per_second(state.unit), f"rate of {state.name}")
        found.append(FmuVariable(1 + n + i, rate, "local", "continuous", "calculated", None, 1 + i))
    for i, parameter in enumerate(face.parameters):
        start = float(code.p[i])
        if i in face.inputs:
            entry = FmuVariable(1 + 2 * n + i, parameter, "input", "continuous", None, start)
        else:
            entry = FmuVariable(1 + 2 * n + i, parameter, "parameter", "tunable", "exact", start)
        found.append(entry)
    at = 1 + 2 * n + len(face.parameters)
    found += [
        FmuVariable(at + i, output, "output", "continuous", "calculated")
        for i, output in enumerate(face.outputs)
    ]
    at += len(face.outputs)
    found += [
        FmuVariable(at + i, s.variable, "parameter", "tunable", "exact", s.start)
        for i, s in enumerate(settings)
    ]
    _refuse_duplicates(found)
    return found


def _refuse_duplicates(found: Sequence[FmuVariable]) -> None:
    seen: set[str] = set()
    for entry in found:
        if entry.variable.name in seen:
            raise SekantError(
                f"two variables of the FMU would have the name '{entry.variable.name}'; rename the parameter or the "
                "output, or export fewer outputs"
            )
        seen.add(entry.variable.name)


def _per_second(unit: str) -> str:
    return f"{unit}/s" if unit and unit != "1" else "1/s" if unit == "1" else ""


def unit_name(text: str) -> str | None:
    """The unit for the description; None if the text is not a unit ("m or rad") or is empty."""
    if text in ("", "1"):
        return None
    try:
        parse_unit(text)
    except SekantError:
        return None
    return text


def unit_definitions(found: Sequence[FmuVariable]) -> str:
    """The element UnitDefinitions: each unit by its exponents of kg, m, s and rad."""
    names = sorted({name for e in found if (name := unit_name(e.variable.unit))})
    lines = []
    for name in names:
        unit = parse_unit(name)
        m, kg, s, rad = unit.dimension
        parts = [f'{key}="{value}"' for key, value in (("kg", kg), ("m", m), ("s", s), ("rad", rad)) if value]
        if unit.factor != 1.0:
            parts.append(f'factor="{unit.factor!r}"')
        lines.append(f"    <Unit name={quoteattr(name)}><BaseUnit {' '.join(parts)}/></Unit>")
    return "\n".join(["  <UnitDefinitions>", *lines, "  </UnitDefinitions>"]) if lines else ""


def attributes(**values: object) -> str:
    """XML attributes; None values are omitted, truth values become words, numbers keep all digits."""
    texts = []
    for name, value in values.items():
        if value is None:
            continue
        text = (
            str(value).lower()
            if isinstance(value, bool)
            else repr(value)
            if isinstance(value, float)
            else str(value)
        )
        texts.append(f"{name}={quoteattr(text)}")
    return " ".join(texts)


@dataclass(frozen=True, kw_only=True)
class FmuDescription:
    """The contents of modelDescription.xml of an FMU. `kind`: "me" or "cs"; `found`: all variables, by value
    reference; `has_source`: whether its source is in it."""

    name: str
    label: str
    guid: str
    tool: str
    kind: str
    has_source: bool
    found: Sequence[FmuVariable]
    indicators: int
    structured: bool
    needs_completed_step: bool
    until: float
    tolerance: float
    step: float

    @property
    def interface(self) -> str:
        return "ModelExchange" if self.kind == "me" else "CoSimulation"

    @property
    def rates(self) -> list[FmuVariable]:
        """Derivatives of the continuous states."""
        return [e for e in self.found if e.derivative_of is not None]

    @property
    def outputs(self) -> list[FmuVariable]:
        return [e for e in self.found if e.causality == "output"]

    @property
    def unknowns(self) -> list[int]:
        """Value references of variables computed in initialization."""
        loose = [e for e in self.found if e.initial == "approx"]
        return sorted(e.reference for e in [*self.rates, *self.outputs, *loose])

    def capabilities(self, exchange: dict[str, object], **both: object) -> str:
        """XML attributes of the interface: those of model exchange, and those of both kinds."""
        own = exchange if self.kind == "me" else {"canHandleVariableCommunicationStepSize": True}
        return attributes(modelIdentifier=self.label, **both, **own)

    def document(
        self, head: dict[str, object], interface: str, variables: Sequence[str], structure: Sequence[str]
    ) -> str:
        """The file, from the parts that differ between the versions: attributes of the root, and elements."""
        root = attributes(
            **head,
            modelName=self.name,
            generationTool=self.tool,
            variableNamingConvention="structured" if self.structured else "flat",
        )
        times = attributes(startTime=0.0, stopTime=self.until, tolerance=self.tolerance, stepSize=self.step)
        parts = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<fmiModelDescription {root}>",
            interface,
            unit_definitions(self.found),
            f"  <DefaultExperiment {times}/>",
            "  <ModelVariables>",
            *variables,
            "  </ModelVariables>",
            "  <ModelStructure>",
            *structure,
            "  </ModelStructure>",
            "</fmiModelDescription>",
        ]
        return "\n".join(part for part in parts if part) + "\n"


def describe_fmi2(fmu: FmuDescription) -> str:
    """The text of modelDescription.xml of FMI 2.0. Indices of variables count from 1, in the order of `fmu.found`."""
    index = {entry.reference: i + 1 for i, entry in enumerate(fmu.found)}
    common = fmu.capabilities(
        {"completedIntegratorStepNotNeeded": not fmu.needs_completed_step},
        canBeInstantiatedOnlyOncePerProcess=False,
        canNotUseMemoryManagementFunctions=True,
        canGetAndSetFMUstate=True,
        canSerializeFMUstate=True,
        providesDirectionalDerivative=True,
    )
    sources = f'<SourceFiles><File name="{fmu.label}.c"/></SourceFiles>' if fmu.has_source else ""
    return fmu.document(
        {"fmiVersion": "2.0", "guid": fmu.guid, "numberOfEventIndicators": fmu.indicators},
        f"  <{fmu.interface} {common}>{sources}</{fmu.interface}>",
        [_variable2(entry, index) for entry in fmu.found],
        [
            _list("Outputs", [index[e.reference] for e in fmu.outputs]),
            _list("Derivatives", [index[e.reference] for e in fmu.rates]),
            _list("InitialUnknowns", sorted(index[r] for r in fmu.unknowns)),
        ],
    )


def _variable2(entry: FmuVariable, index: dict[int, int]) -> str:
    derivative = None if entry.derivative_of is None else index[entry.derivative_of]
    real = attributes(unit=unit_name(entry.variable.unit), derivative=derivative, start=entry.start)
    own = attributes(**entry.attributes, initial=entry.initial)
    return f"    <ScalarVariable {own}><Real {real}/></ScalarVariable>".replace(" />", "/>")


def _list(name: str, indices: Sequence[int]) -> str:
    if not indices:
        return ""
    return f"    <{name}>" + "".join(f'<Unknown index="{i}"/>' for i in indices) + f"</{name}>"


def describe_fmi3(fmu: FmuDescription) -> str:
    """The text of modelDescription.xml of FMI 3.0. Event indicators are variables here, with the last value
    references."""
    common = fmu.capabilities(
        {"needsCompletedIntegratorStep": fmu.needs_completed_step},
        canGetAndSetFMUState=True,
        canSerializeFMUState=True,
        providesDirectionalDerivatives=True,
    )
    first = fmu.found[-1].reference + 1
    events = range(first, first + fmu.indicators)
    indicators = [
        f'    <Float64 name="sekant.event_indicator[{i + 1}]" valueReference="{r}" causality="local" '
        'variability="continuous"/>'
        for i, r in enumerate(events)
    ]
    return fmu.document(
        {"fmiVersion": "3.0", "instantiationToken": fmu.guid},
        f"  <{fmu.interface} {common}/>",
        [*map(_variable3, fmu.found), *indicators],
        [
            *[f'    <Output valueReference="{e.reference}"/>' for e in fmu.outputs],
            *[f'    <ContinuousStateDerivative valueReference="{e.reference}"/>' for e in fmu.rates],
            *[f'    <InitialUnknown valueReference="{r}"/>' for r in fmu.unknowns],
            *[f'    <EventIndicator valueReference="{r}"/>' for r in events],
        ],
    )


def build_description(label: str) -> str:
    """The build description of the source in an FMU."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
        f'  <BuildConfiguration modelIdentifier="{label}">\n    <SourceFileSet language="C99">\n'
        f'      <SourceFile name="{label}.c"/>\n    </SourceFileSet>\n    <Library name="m"/>\n'
        "  </BuildConfiguration>\n</fmiBuildDescription>\n"
    )


def _variable3(entry: FmuVariable) -> str:
    own = attributes(
        **entry.attributes,
        unit=unit_name(entry.variable.unit),
        initial=entry.initial,
        derivative=entry.derivative_of,
        start=entry.start,
    )
    return f"    <Float64 {own}/>"
