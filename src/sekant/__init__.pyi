"""The public names and where they stand. `sekant/__init__.py` reads this file: it is the only list of them."""

from sekant import analyses as analyses
from sekant import studies as studies
from sekant import vehicle as vehicle
from sekant.analyses.assembly.assemble import assemble as assemble
from sekant.analyses.kinematics import kinematics as kinematics
from sekant.analyses.linear.linearize import linearize as linearize
from sekant.analyses.simulation.simulate import simulate as simulate
from sekant.analyses.simulation.stepper import Simulation as Simulation
from sekant.analyses.statics.equilibrium import equilibrium as equilibrium
from sekant.engine import State as State
from sekant.engine import System as System
from sekant.engine import compile as compile
from sekant.engine import natural as natural
from sekant.errors import SekantError as SekantError
from sekant.geometry.curves.pose_curve import PoseCurve as PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface as PoseSurface
from sekant.io import export as export
from sekant.io.writing import save as save
from sekant.io.yaml import load as load
from sekant.model import constraints as constraints
from sekant.model import contacts as contacts
from sekant.model import forces as forces
from sekant.model import joints as joints
from sekant.model import sensors as sensors
from sekant.model import shapes as shapes
from sekant.model import signals as signals
from sekant.model.body import Body as Body
from sekant.model.model import Model as Model
from sekant.model.placement import Frame as Frame
from sekant.model.prescribed_motion import Motion as Motion
from sekant.reduction import reduce as reduce
from sekant.results import Result as Result
from sekant.studies import sweep as sweep
from sekant.version import __version__ as __version__
from sekant.views.live import live as live
from sekant.views.player import view as view

__all__: list[str]
