"""Models as C source: the self-test inside, sizes, switches, refusals."""

import re
import subprocess

import pytest

import sekant as sk
from c_programs import compiler, run_self_test
from sekant.errors import SekantError

ARRAY = r"static const {kind} table\d+_\w+\[\] = \{{(.*?)\}}"
TREE = """
name: crane 2
parameters: {L: 0.8, load: 1.3, late: 0.25}
tables:
  push: {x: [0, 0.1, 0.4, 0.5], y: [0, 2.0, -1.0, 0], extrapolation: constant}
bodies:
  arm: {mass: load, com: [0, 0, -L/2], inertia: [0.06, 0.05, 0.02]}
  hook: {mass: 0.7, com: [0.02, 0.01, -0.3], inertia: [0.03, 0.025, 0.01]}
joints:
  shoulder: {type: revolute, child: arm, axis: [0, 1, 0], q0: 50 deg}
  swivel:
    type: spherical
    parent: arm
    child: hook
    parent_pose: {position: [0, 0, -0.8]}
    angular_velocity: [0.3, -0.2, 0.5]
forces:
  motor: {type: actuator, joint: shoulder, force: "push(t) + step(t - late)*1.5 + pulse(t, 0.031, 0.02, 0.1)"}
simulation: {until: 0.6}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "crane.yaml"
    file.write_text(TREE)
    return sk.load(file)


@pytest.mark.parametrize(
    ("method", "precision"),
    [("euler", "double"), ("semi_implicit_euler", "double"), ("rk4", "double"), ("rk4", "float")],
)
def test_self_test_passes(tree, tmp_path, method, precision):
    """A quaternion, tables of time, switches at 0.25 s and every 0.1 s, which no multiple of the step meets."""
    found = sk.export.c(tree, tmp_path, method=method, step=1.7e-3, precision=precision)
    assert found.source.name == "crane_2.c"
    told = run_self_test(found.source)
    assert told.returncode == 0, told.stdout
    assert "passed" in told.stdout
    if precision == "double":
        worst = max(float(x) for x in re.findall(r"off by (\S+)", told.stdout))
        assert worst < 1e-12  # rounding alone: steps and switches are the engine's


def test_self_test_can_fail(tree, tmp_path):
    found = sk.export.c(tree, tmp_path, step=2e-3)
    text = found.source.read_text()
    changed = re.sub(
        r"default_parameters\[NP \+ 1\] = \{0.8, 1.3,", "default_parameters[NP + 1] = {0.8, 1.3001,", text
    )
    assert changed != text
    found.source.write_text(changed)
    told = run_self_test(found.source)
    assert told.returncode == 1
    assert "FAILED" in told.stdout


def test_parameters_move_start_and_switches(tree, tmp_path):
    """A program that changes parameters before the start lands where a run with those parameters does."""
    found = sk.export.c(tree, tmp_path, method="rk4", step=1e-3, outputs=["shoulder.*"], name="crane")
    values = {"load": 2.1, "late": 0.1234}
    (tmp_path / "main.c").write_text(
        """#include "crane.h"
#include <stdio.h>
int main(void) {
    crane m;
    double y[crane_y_count];
    crane_defaults(&m);
    m.p[crane_p_load] = 2.1;
    m.p[crane_p_late] = 0.1234;
    if (crane_start(&m, 0)) return 1;
    for (int i = 0; i < 300; i++) if (crane_step(&m)) return 2;
    crane_outputs(&m, y);
    printf("%.17g %.17g %.17g\\n", m.t, m.x[crane_x_shoulder_angle], y[crane_y_shoulder_a]);
    return 0;
}
"""
    )
    command = [compiler(), "-std=c99", "-O1", "main.c", "crane.c", "-lm", "-o", "main"]
    subprocess.run(command, check=True, cwd=tmp_path)
    t, angle, a = map(
        float, subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    )
    system = sk.compile(tree, parameters=["L", "load", "late"])
    expected = sk.simulate(system, 0.3, method="rk4", step=1e-3, output_step=1e-3, parameters=values)
    plain = sk.simulate(system, 0.3, method="rk4", step=1e-3, output_step=1e-3)
    assert t == pytest.approx(0.3, abs=1e-15)
    assert angle == pytest.approx(expected["shoulder.q"][-1], abs=1e-12)
    assert a == pytest.approx(expected["shoulder.a"][-1], abs=1e-10)
    assert abs(angle - plain["shoulder.q"][-1]) > 1e-3
    assert found.parameters == ("L", "load", "late")


def test_closed_loop_stays_closed(tmp_path):
    model = sk.load("examples/slider_crank.yaml")
    found = sk.export.c(model, tmp_path, method="rk4", step=2e-3, outputs=["constraints.*", "*.q"])
    told = run_self_test(found.source)
    assert told.returncode == 0, told.stdout
    text = found.header.read_text()
    assert f"at most {found.stack}" in text
    assert "_y_constraints_position" in text


def test_memory_is_stated_and_true(tree, tmp_path):
    """The structure has the stated size, give or take padding, and so have the tables."""
    found = sk.export.c(tree, tmp_path, method="rk4", step=1e-3)
    test = tmp_path / "size.c"
    test.write_text(
        '#include "crane_2.h"\n#include <stdio.h>\nint main(void) { printf("%zu", sizeof(crane_2)); return 0; }\n'
    )
    command = [compiler(), "-std=c99", str(test), "-o", str(tmp_path / "size")]
    subprocess.run(command, check=True)
    size = int(subprocess.run([tmp_path / "size"], capture_output=True, text=True, check=True).stdout)
    assert found.memory <= size <= found.memory + 16
    text = found.source.read_text()
    count = {
        kind: sum(body.count(",") for body in re.findall(ARRAY.format(kind=kind), text, re.DOTALL))
        for kind in ("real", "int")
    }
    assert found.tables == 8 * count["real"] + 4 * count["int"] > 0
    assert "malloc" not in text
    before_test = text[: text.index("#ifdef CRANE_2_SELF_TEST")]
    assert re.findall(r"#include <(\w+\.h)>", before_test) == ["math.h"]


@pytest.mark.parametrize(
    ("example", "options", "message"),
    [
        ("bouncing_ball", {}, "'rk4' cannot compute contact 'plate'.*joint_limit"),
        (
            "quarter_car",
            {"method": "dop853"},
            "'dop853' has variable steps.*euler, semi_implicit_euler, rk4",
        ),
        (
            "quarter_car",
            {"method": "radau5"},
            "method 'radau5' is not available in exported C.*choose one of",
        ),
        ("quarter_car", {"method": "eular"}, "unknown method 'eular'; did you mean 'euler'"),
        ("quarter_car", {"precision": "half"}, "unknown precision 'half'"),
        ("quarter_car", {"step": -1.0}, "step must be positive"),
        (
            "parabola",
            {"step": 5.0, "method": "euler"},
            "fails within .* steps of 5 s with the method euler.*not finite",
        ),
        ("quarter_car", {"outputs": ["bdy.*"]}, "there is no output 'bdy"),
        ("slider_crank", {"precision": "float"}, "closes a loop.*double precision.*sekant reduce"),
    ],
)
def test_refusals(tmp_path, example, options, message):
    with pytest.raises(SekantError, match=f"(?s){message}"):
        sk.export.c(sk.load(f"examples/{example}.yaml"), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_system_keeps_its_parameters(tree, tmp_path):
    system = sk.compile(tree, parameters=["load"])
    assert sk.export.c(system, tmp_path, step=1e-3, outputs=["shoulder.q"]).parameters == ("load",)
    with pytest.raises(SekantError, match="parameters of a compiled system are fixed"):
        sk.export.c(system, tmp_path, parameters=["L"])


def test_start_follows_parameters(tmp_path):
    model = sk.Model(
        parameters={"lift": 0.4},
        bodies={"arm": sk.Body(mass=1.2, com=(0.1, 0, -0.5), inertia=(0.17, 0.16, 0.01))},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="lift + 0.1")},
    )
    found = sk.export.c(model, tmp_path, method="euler", step=1e-3, outputs=["hinge.q"], name="arm")
    assert re.search(r"static void initial.*x\[0\] = v\d+;", found.source.read_text(), re.DOTALL)
    assert run_self_test(found.source).returncode == 0
