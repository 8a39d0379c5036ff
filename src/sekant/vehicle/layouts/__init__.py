"""Types of suspension, one file for each. To add a type, add a file that defines a `Layout`."""

from sekant.model.registry import import_folder
from sekant.vehicle.suspension.corner import Layout

LAYOUTS = {
    value.name: value
    for module in import_folder(__name__)
    for value in vars(module).values()
    if isinstance(value, Layout)
}
