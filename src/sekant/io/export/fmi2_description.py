"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.io.export.description import FmuDescription, FmuVariable, attributes, unit_name


def describe_fmi2(fmu: FmuDescription) -> str:
    """The text of the file. Indices of variables count from 1, in the order of `fmu.found`."""
    index = {entry.reference: i + 1 for i, entry in enumerate(fmu.found)}
    common: dict[str, object] = {
        "modelIdentifier": fmu.label,
        "canBeInstantiatedOnlyOncePerProcess": False,
        "canNotUseMemoryManagementFunctions": True,
        "canGetAndSetFMUstate": True,
        "canSerializeFMUstate": True,
        "providesDirectionalDerivative": True,
    }
    if fmu.kind == "me":
        common["completedIntegratorStepNotNeeded"] = not fmu.needs_completed_step
    else:
        common["canHandleVariableCommunicationStepSize"] = True
    sources = f'<SourceFiles><File name="{fmu.label}.c"/></SourceFiles>' if fmu.has_source else ""
    return fmu.document(
        {"fmiVersion": "2.0", "guid": fmu.guid, "numberOfEventIndicators": fmu.indicators},
        f"  <{fmu.interface} {attributes(**common)}>{sources}</{fmu.interface}>",
        [_variable(entry, index) for entry in fmu.found],
        [
            _list("Outputs", [index[e.reference] for e in fmu.outputs]),
            _list("Derivatives", [index[e.reference] for e in fmu.rates]),
            _list("InitialUnknowns", sorted(index[r] for r in fmu.unknowns)),
        ],
    )


def _variable(entry: FmuVariable, index: dict[int, int]) -> str:
    derivative = None if entry.derivative_of is None else index[entry.derivative_of]
    real = attributes(unit=unit_name(entry.variable.unit), derivative=derivative, start=entry.start)
    own = attributes(**entry.attributes, initial=entry.initial)
    return f"    <ScalarVariable {own}><Real {real}/></ScalarVariable>".replace(" />", "/>")


def _list(name: str, indices: Sequence[int]) -> str:
    if not indices:
        return ""
    return f"    <{name}>" + "".join(f'<Unknown index="{i}"/>' for i in indices) + f"</{name}>"
