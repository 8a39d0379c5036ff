"""modelDescription.xml and sources/buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.io.export.description import FmuVariable, attributes, unit_definitions, unit_name


def describe_fmi3(
    *,
    name: str,
    label: str,
    guid: str,
    tool: str,
    kind: str,
    found: Sequence[FmuVariable],
    indicators: int,
    structured: bool,
    needs_completed_step: bool,
    until: float,
    tolerance: float,
    step: float,
) -> str:
    """The text of the file. Event indicators are variables here, with the last value references."""
    common: dict[str, object] = {
        "modelIdentifier": label,
        "canGetAndSetFMUState": True,
        "canSerializeFMUState": True,
        "providesDirectionalDerivatives": True,
    }
    if kind == "me":
        interface = (
            f"  <ModelExchange {attributes(**common, needsCompletedIntegratorStep=needs_completed_step)}/>"
        )
    else:
        own = attributes(**common, canHandleVariableCommunicationStepSize=True)
        interface = f"  <CoSimulation {own}/>"
    head = attributes(
        fmiVersion="3.0",
        modelName=name,
        instantiationToken=guid,
        generationTool=tool,
        variableNamingConvention="structured" if structured else "flat",
    )
    count = indicators if kind == "me" else 0
    first = found[-1].reference + 1
    events = range(first, first + count)
    states = [e for e in found if e.derivative_of is not None]
    outputs = [e for e in found if e.causality == "output"]
    loose = [e for e in found if e.initial == "approx"]
    unknowns = sorted(e.reference for e in [*states, *outputs, *loose])
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<fmiModelDescription {head}>",
        interface,
        unit_definitions(found),
        f"  <DefaultExperiment {attributes(startTime=0.0, stopTime=until, tolerance=tolerance, stepSize=step)}/>",
        "  <ModelVariables>",
        *[_variable(entry) for entry in found],
        *[
            f'    <Float64 name="sekant.event_indicator[{i + 1}]" valueReference="{r}" causality="local" '
            'variability="continuous"/>'
            for i, r in enumerate(events)
        ],
        "  </ModelVariables>",
        "  <ModelStructure>",
        *[f'    <Output valueReference="{e.reference}"/>' for e in outputs],
        *[f'    <ContinuousStateDerivative valueReference="{e.reference}"/>' for e in states],
        *[f'    <InitialUnknown valueReference="{r}"/>' for r in unknowns],
        *[f'    <EventIndicator valueReference="{r}"/>' for r in events],
        "  </ModelStructure>",
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(part for part in parts if part)


def build_description(label: str) -> str:
    """How the source in an FMU is compiled."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
        f'  <BuildConfiguration modelIdentifier="{label}">\n    <SourceFileSet language="C99">\n'
        f'      <SourceFile name="{label}.c"/>\n    </SourceFileSet>\n    <Library name="m"/>\n'
        "  </BuildConfiguration>\n</fmiBuildDescription>\n"
    )


def _variable(entry: FmuVariable) -> str:
    own = attributes(
        name=entry.variable.name,
        valueReference=entry.reference,
        description=entry.variable.description or None,
        causality=entry.causality,
        variability=entry.variability,
        unit=unit_name(entry.variable.unit),
        initial=entry.initial,
        derivative=entry.derivative_of,
        start=entry.start,
    )
    return f"    <Float64 {own}/>"
