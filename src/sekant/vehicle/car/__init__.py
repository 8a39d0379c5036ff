"""Cars: a description of thirty lines that builds a plain model."""

from sekant.vehicle.car.build import car_model, standing_loads
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.car.files import is_car_file, load_car
from sekant.vehicle.car.inputs import car_with_inputs
from sekant.vehicle.car.loads import CarLoads, car_loads
from sekant.vehicle.car.single_track import SingleTrack, single_track

__all__ = [
    "Car",
    "CarLoads",
    "Commands",
    "SingleTrack",
    "car_description",
    "car_loads",
    "car_model",
    "car_with_inputs",
    "is_car_file",
    "load_car",
    "single_track",
    "standing_loads",
]
