"""Types of suspension, one file each."""

from sekant.vehicle.layouts.double_wishbone import DOUBLE_WISHBONE
from sekant.vehicle.layouts.five_link import FIVE_LINK
from sekant.vehicle.layouts.formula_student import FORMULA_STUDENT
from sekant.vehicle.layouts.mcpherson import MCPHERSON

LAYOUTS = {layout.name: layout for layout in (DOUBLE_WISHBONE, MCPHERSON, FIVE_LINK, FORMULA_STUDENT)}
