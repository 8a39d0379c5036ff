"""modelDescription.xml and sources/buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from sekant.io.export.description import FmuDescription, FmuVariable, attributes, unit_name


def describe_fmi3(fmu: FmuDescription) -> str:
    """The text of the file. Event indicators are variables here, with the last value references."""
    common: dict[str, object] = {
        "modelIdentifier": fmu.label,
        "canGetAndSetFMUState": True,
        "canSerializeFMUState": True,
        "providesDirectionalDerivatives": True,
    }
    if fmu.kind == "me":
        common["needsCompletedIntegratorStep"] = fmu.needs_completed_step
    else:
        common["canHandleVariableCommunicationStepSize"] = True
    first = fmu.found[-1].reference + 1
    events = range(first, first + fmu.indicators)
    indicators = [
        f'    <Float64 name="sekant.event_indicator[{i + 1}]" valueReference="{r}" causality="local" '
        'variability="continuous"/>'
        for i, r in enumerate(events)
    ]
    return fmu.document(
        {"fmiVersion": "3.0", "instantiationToken": fmu.guid},
        f"  <{fmu.interface} {attributes(**common)}/>",
        [*map(_variable, fmu.found), *indicators],
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


def _variable(entry: FmuVariable) -> str:
    own = attributes(
        **entry.attributes,
        unit=unit_name(entry.variable.unit),
        initial=entry.initial,
        derivative=entry.derivative_of,
        start=entry.start,
    )
    return f"    <Float64 {own}/>"
