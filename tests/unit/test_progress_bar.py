"""What a bar says while others work: what goes on, then what went on before."""

from pathlib import Path
from time import sleep

import pytest

import sekant as sk
from sekant import progress_bar
from sekant.progress_bar import ProgressBar, RowsBar, counting, doing, fraction_teller, through

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_what_goes_on_is_told_and_taken_back():
    told = []

    class Noted(ProgressBar):
        def update(self, **fields):
            super().update(**fields)
            told.append((self.shown["description"], self.shown["total"], self.shown["completed"]))

    with doing("nothing shows this"):
        assert fraction_teller() is None
    with Noted("reading") as bar:
        assert fraction_teller() is bar
        bar.stage("running")
        bar(0.25)
        with doing("compiling"), doing("linking"):
            pass
    assert told == [
        ("running", None, 0.0),
        ("running", 1.0, 0.25),
        ("compiling", None, 0.0),
        ("linking", None, 0.0),
        ("compiling", None, 0.0),
        ("running", 1.0, 0.25),
    ]
    assert fraction_teller() is None


def test_equations_and_code_are_told(tmp_path, monkeypatch):
    """Of a model that is new here; a second system finds both."""
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    told = []

    class Noted(ProgressBar):
        def stage(self, title):
            told.append(title)
            super().stage(title)

    arm = sk.Body(mass=1.3, com=(0.4, 0.0, 0.1), inertia=(0.02, 0.03, 0.05, 0.0, 0.0, 0.0))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=(0.3,))
    model = sk.Model(name="lone arm", bodies={"arm": arm}, joints={"hinge": hinge})
    with Noted("reading"):
        sk.simulate(model, 0.1, method="dop853")
    assert told[0] == "building equations of lone arm, once for this model"
    assert "compiling equations of motion" in told
    told.clear()
    with Noted("reading"):
        sk.simulate(model, 0.1, method="dop853")
    assert not [title for title in told if title.startswith("building")]
    assert "compiling equations of motion" not in told


def test_a_study_tells_what_it_does_before_its_first_row(tmp_path, monkeypatch, capsys):
    """Also where the equations of the model are needed for the units of measures alone, and not if nobody asks."""
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("SEKANT_PROGRESS")
    monkeypatch.setattr(progress_bar, "_PACE", 0.02)
    arm = sk.Body(mass=1.7, com=(0.3, 0.0, 0.1), inertia=(0.02, 0.03, 0.05, 0.0, 0.0, 0.0))
    model = sk.Model(bodies={"arm": arm}, joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))})
    made = sk.studies.analyses.analysis_of("simulate").unit

    def slow(self, channel):
        sleep(0.2)
        return made(self, channel)

    monkeypatch.setattr(sk.studies.analyses.analysis_of("simulate"), "unit", slow)
    rows = sk.studies.grid({"arm.mass": [1.0, 2.0]})
    for progress in (True, None):
        capsys.readouterr()
        sk.studies.sweep(model, rows, until=0.1, measures=["max(hinge.q)"], progress=progress)
        assert ("sekant: preparing the study (0 s)\n" in capsys.readouterr().err) == (progress is True)


def test_a_pipe_gets_lines(monkeypatch, capsys):
    """Where there is no terminal: what goes on and how far it is, every few seconds, or nothing at all."""
    monkeypatch.delenv("SEKANT_PROGRESS")
    monkeypatch.setattr(progress_bar, "_PACE", 0.02)
    with ProgressBar("reading") as bar:
        bar.stage("simulating")
        bar(0.25)
        _wait_for(capsys, "sekant: simulating 25% (0 s)\n")
    with RowsBar(1000) as rows:
        rows(120, 3, 41.5)
        _wait_for(capsys, "sekant: 120 of 1000 rows, 3 not finished, 41.5 rows/s\n")
    monkeypatch.setenv("SEKANT_PROGRESS", "0")
    with ProgressBar("reading"), doing("compiling"):
        sleep(0.1)
    assert capsys.readouterr().err == ""


def test_lines_say_how_far_work_is(monkeypatch, capsys):
    """By the share done, else by a count, and by the time of the stage: no line is that before it again."""
    monkeypatch.delenv("SEKANT_PROGRESS")
    monkeypatch.setattr(progress_bar, "_PACE", 0.02)
    clock = [100.0]
    monkeypatch.setattr(progress_bar, "monotonic", lambda: clock[0])
    with ProgressBar("reading") as bar:
        bar.stage("searching")
        tell = counting("evaluations")
        for _ in range(12):
            tell()
        clock[0] += 4.0
        _wait_for(capsys, "sekant: searching, 12 evaluations (4 s)\n")
        clock[0] += 4.0
        _wait_for(capsys, "sekant: searching, 12 evaluations (8 s)\n")
        bar.stage("loading the axle")
        for case in through(["bump", "braking", "turn", "kerb"]):
            if case == "kerb":
                with doing("compiling"):
                    clock[0] += 1.0
                    _wait_for(capsys, "sekant: compiling (1 s)\n")
                _wait_for(capsys, "sekant: loading the axle 75% (1 s)\n")
    assert [*through([1, 2])] == [1, 2]
    counting("steps")()  # nothing shows this


def _wait_for(capsys, line):
    for _ in range(500):
        if line in capsys.readouterr().err:
            return
        sleep(0.02)
    raise AssertionError(f"no line {line!r}")


@pytest.mark.parametrize(
    "command",
    [
        ("check", "quarter_car.yaml"),
        ("check", "quarter_car.yaml", "--equations"),
        ("linearize", "quarter_car.yaml"),
        ("run", "quarter_car.yaml", "--until", "0.1", "-o", "run.nc"),
        ("view", "run.nc", "-o", "run.html"),
        ("view", "quarter_car.yaml", "--live", "live.html", "--vary", "strut.stiffness=10..40 kN/m"),
    ],
    ids=lambda command: " ".join(word for word in command if "." not in word),
)
def test_commands_that_may_take_long_enter_a_bar(command, tmp_path, monkeypatch):
    """On it stands what they do, and in a pipe a line every few seconds."""
    from sekant.views.cli import app

    monkeypatch.chdir(tmp_path)
    if command[1] == "run.nc":
        sk.simulate(sk.load(EXAMPLES / "quarter_car.yaml"), 0.1).save("run.nc")
    entered = []
    enter = ProgressBar.__enter__
    monkeypatch.setattr(ProgressBar, "__enter__", lambda self: entered.append(self.shown) or enter(self))
    arguments = [str(EXAMPLES / word) if (EXAMPLES / word).is_file() else word for word in command]
    with pytest.raises(SystemExit) as end:
        app(arguments, prog_name="sekant")
    assert not end.value.code
    assert entered
    assert all(shown["description"] for shown in entered)
