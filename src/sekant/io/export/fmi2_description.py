"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.io.export.description import FmuVariable, attributes, unit_definitions, unit_name


def describe_fmi2(
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
    """The text of the file. Indices of variables count from 1, in the order of `found`."""
    index = {entry.reference: i + 1 for i, entry in enumerate(found)}
    common: dict[str, object] = {
        "modelIdentifier": label,
        "canBeInstantiatedOnlyOncePerProcess": False,
        "canNotUseMemoryManagementFunctions": True,
        "canGetAndSetFMUstate": True,
        "canSerializeFMUstate": True,
        "providesDirectionalDerivative": True,
    }
    sources = f'<SourceFiles><File name="{label}.c"/></SourceFiles>'
    if kind == "me":
        own = attributes(**common, completedIntegratorStepNotNeeded=not needs_completed_step)
        interface = f"  <ModelExchange {own}>{sources}</ModelExchange>"
    else:
        own = attributes(**common, canHandleVariableCommunicationStepSize=True)
        interface = f"  <CoSimulation {own}>{sources}</CoSimulation>"
    head = attributes(
        fmiVersion="2.0",
        modelName=name,
        guid=guid,
        generationTool=tool,
        variableNamingConvention="structured" if structured else "flat",
        numberOfEventIndicators=indicators if kind == "me" else 0,
    )
    states = [e for e in found if e.derivative_of is not None]
    outputs = [e for e in found if e.causality == "output"]
    loose = [e for e in found if e.initial == "approx"]
    unknowns = sorted(index[e.reference] for e in [*states, *outputs, *loose])
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<fmiModelDescription {head}>",
        interface,
        unit_definitions(found),
        f"  <DefaultExperiment {attributes(startTime=0.0, stopTime=until, tolerance=tolerance, stepSize=step)}/>",
        "  <ModelVariables>",
        *[_variable(entry, index) for entry in found],
        "  </ModelVariables>",
        "  <ModelStructure>",
        _list("Outputs", [index[e.reference] for e in outputs]),
        _list("Derivatives", [index[e.reference] for e in states]),
        _list("InitialUnknowns", unknowns),
        "  </ModelStructure>",
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(part for part in parts if part)


def _variable(entry: FmuVariable, index: dict[int, int]) -> str:
    derivative = None if entry.derivative_of is None else index[entry.derivative_of]
    real = attributes(unit=unit_name(entry.variable.unit), derivative=derivative, start=entry.start)
    own = attributes(
        name=entry.variable.name,
        valueReference=entry.reference,
        description=entry.variable.description or None,
        causality=entry.causality,
        variability=entry.variability,
        initial=entry.initial,
    )
    return f"    <ScalarVariable {own}><Real {real}/></ScalarVariable>".replace(" />", "/>")


def _list(name: str, indices: Sequence[int]) -> str:
    if not indices:
        return ""
    return f"    <{name}>" + "".join(f'<Unknown index="{i}"/>' for i in indices) + f"</{name}>"
