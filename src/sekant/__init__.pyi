"""The public names and where they stand. `sekant/__init__.py` reads this file: it is the only list of them."""

from sekant import vehicle as vehicle
from sekant.analyses import compliance as compliance
from sekant.analyses.assembly.assemble import assemble as assemble
from sekant.analyses.design.optimize import optimize as optimize
from sekant.analyses.kinematics import kinematics as kinematics
from sekant.analyses.linear.linearize import linearize as linearize
from sekant.analyses.linear.root_locus import root_locus as root_locus
from sekant.analyses.simulation.simulate import simulate as simulate
from sekant.analyses.statics.equilibrium import equilibrium as equilibrium
from sekant.analyses.steady.motion import steady_motion as steady_motion
from sekant.analyses.structure import structure as structure
from sekant.engine import State as State
from sekant.engine import System as System
from sekant.engine import compile as compile
from sekant.engine import natural as natural
from sekant.errors import SekantError as SekantError
from sekant.geometry.curves.pose_curve import PoseCurve as PoseCurve
from sekant.geometry.pose_tables.pose_table import PoseTable as PoseTable
from sekant.geometry.surfaces.pose_surface import PoseSurface as PoseSurface
from sekant.io import dump as dump
from sekant.io import export as export
from sekant.io import load as load
from sekant.io import save as save
from sekant.model import constraints as constraints
from sekant.model import contacts as contacts
from sekant.model import forces as forces
from sekant.model import joints as joints
from sekant.model import sensors as sensors
from sekant.model import shapes as shapes
from sekant.model import signals as signals
from sekant.model.body import Body as Body
from sekant.model.driver import Driver as Driver
from sekant.model.model import Model as Model
from sekant.model.placement import Orientation as Orientation
from sekant.model.placement import Placement as Frame
from sekant.model.simulation import SimulationSettings as SimulationSettings
from sekant.model.table import TableData as TableData
from sekant.reduction import reduce as reduce
from sekant.results import Result as Result
from sekant.results import open_result as open_result
from sekant.version import __version__ as __version__
from sekant.views.player import view as view
from sekant.views.player import view_modes as view_modes

__all__: list[str]
