"""Sekant: multibody dynamics in which a body can follow any path or surface as exactly as it turns about a hinge.

>>> import sekant as sk
>>> model = sk.load("pendulum.yaml")         # doctest: +SKIP
>>> result = sk.simulate(model, until=10.0)  # doctest: +SKIP

Names are imported when first used, so ``import sekant`` and the command line start at once. The stub
``__init__.pyi`` lists them, for editors and type checkers too.
"""

from __future__ import annotations

from typing import Any

from sekant.extensions import ANALYSES, DESCRIPTIONS, DRAWINGS, EXPLAINED, PENDING, imported, passed_on

_PUBLIC = passed_on(__name__, "__init__.pyi")
__all__ = sorted(name for name in _PUBLIC if not name.startswith("_"))  # pyright: ignore[reportUnsupportedDunderAll]


def _vehicles() -> None:
    """Tires, drives and air forces are force types of models, too."""
    import sekant.vehicle.aero
    import sekant.vehicle.powertrain  # noqa: F401
    from sekant.model.registry import import_folder

    import_folder("sekant.vehicle.tires")


def _vehicle_model(path: str) -> Any:
    """The model of a file that begins with ``vehicle: car``."""
    from sekant.vehicle.car.files import load_car
    from sekant.vehicle.driving import standing_model

    return standing_model(load_car(path))


def _axle_model(path: str) -> Any:
    """The model of a file with a key ``suspension``: an axle on measured curves, on its rig."""
    from sekant.errors import ModelError
    from sekant.vehicle.measured.files import is_measured_file, load_measured_axle

    if not is_measured_file(path):
        raise ModelError(
            "describes a suspension by its hard points; 'sekant kc FILE --model model.yaml' writes its model",
            file=path,
        )
    return load_measured_axle(path).model()


def _explained() -> dict[str, tuple[type, str]]:
    """Cars, roads, maneuvers, and their parts."""
    from sekant.vehicle.explained import explained_items

    return explained_items()


def _driving() -> None:
    """Maneuvers of cars, as an analysis for studies."""
    import sekant.vehicle.driving.study  # noqa: F401


def _drawings() -> Any:
    from sekant.views import find_drawing

    return find_drawing


PENDING.append(_vehicles)
DESCRIPTIONS["vehicle"] = _vehicle_model
DESCRIPTIONS["suspension"] = _axle_model
DRAWINGS.append(_drawings)
EXPLAINED.append(_explained)
ANALYSES.append(_driving)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        from sekant.errors import suggest

        raise AttributeError(f"module 'sekant' has no attribute '{name}'; {suggest(name, __all__)}")
    value = imported(__name__, *_PUBLIC[name])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
