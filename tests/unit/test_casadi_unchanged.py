"""A user's own CasADi code does not change through `import sekant`."""

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil
import casadi

def state():
    owners = [casadi, casadi.casadi, *(x for x in vars(casadi.casadi).values() if isinstance(x, type))]
    return {(owner.__name__, name): value for owner in owners for name, value in list(vars(owner).items())}

before = state()
x = casadi.SX.sym("x")
import sekant

count = 0
for module in pkgutil.walk_packages(sekant.__path__, "sekant."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        count += 1
after = state()
gone = [key for key in before if key not in after]
other = [key for key in before if key in after and before[key] is not after[key]]
new = [key for key in after if key not in before]
assert count > 300, count
print([key for key in gone + other + new if key[1] not in ("__builtins__", "__warningregistry__")])
"""


def test_no_module_of_the_package_changes_casadi():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "[]"
