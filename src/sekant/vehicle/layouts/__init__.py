"""Types of suspension, one file each."""

from sekant.vehicle.layouts.double_wishbone import DOUBLE_WISHBONE
from sekant.vehicle.layouts.five_link import FIVE_LINK
from sekant.vehicle.layouts.mcpherson import MCPHERSON
from sekant.vehicle.layouts.push_rod import FORMULA_STUDENT, PULL_ROD, PUSH_ROD
from sekant.vehicle.layouts.solid_axle import SOLID_AXLE
from sekant.vehicle.layouts.trailing_arm import SEMI_TRAILING_ARM, TRAILING_ARM
from sekant.vehicle.layouts.twist_beam import TWIST_BEAM

LAYOUTS = {
    layout.name: layout
    for layout in (
        DOUBLE_WISHBONE,
        MCPHERSON,
        FIVE_LINK,
        FORMULA_STUDENT,
        PUSH_ROD,
        PULL_ROD,
        TRAILING_ARM,
        SEMI_TRAILING_ARM,
        TWIST_BEAM,
        SOLID_AXLE,
    )
}
