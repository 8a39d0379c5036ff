"""Cars: short descriptions from which plain models are built."""

from sekant.vehicle.car.build import car_model as car_model
from sekant.vehicle.car.build import car_with_inputs as car_with_inputs
from sekant.vehicle.car.build import standing_loads as standing_loads
from sekant.vehicle.car.commands import Commands as Commands
from sekant.vehicle.car.description import Car as Car
from sekant.vehicle.car.description import car_description as car_description
from sekant.vehicle.car.files import is_car_file as is_car_file
from sekant.vehicle.car.files import load_car as load_car
from sekant.vehicle.car.loads import CarLoads as CarLoads
from sekant.vehicle.car.loads import car_loads as car_loads
from sekant.vehicle.car.single_track import SingleTrack as SingleTrack
from sekant.vehicle.car.single_track import single_track as single_track
