"""Studies: designs have the properties that they promise, rows are the runs they stand for, nothing is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant import studies
from sekant.errors import SekantError
from sekant.model import TableData
from sekant.studies.executors import Chunks, Processes, Serial
from sekant.studies.measures import read_measure
from sekant.studies.partial_results import StudyParts
from sekant.studies.study_files import load_study
from sekant.studies.task import RowBlock
from sekant.views.cli import app
from sekant.views.sweep_plot import lines_of_grid, short_names, sweep_picture

MODEL = sk.Model(
    name="mass on a spring",
    parameters={"k": 40.0},
    gravity=(0, 0, 0),
    bodies={"mass": sk.Body(mass=1.6)},
    joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1), q0=0.3)},
    forces={"spring": sk.forces.SpringDamper(parent="ground", child="mass", stiffness="k", free_length=0.0)},
)
OMEGA = np.sqrt(40.0 / 1.6)


def test_a_grid_has_every_combination_with_the_last_name_fastest():
    found = studies.grid({"a": [1, 2], "b": [3, 4, 5]})
    assert found.values.tolist() == [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]


def test_a_latin_hypercube_has_one_row_a_stratum_of_every_name():
    found = studies.latin_hypercube({"a": (0, 1), "b": studies.Normal(3.0, 0.5)}, 50, seed=3)
    from scipy.special import ndtr

    for share in (found.values[:, 0], ndtr((found.values[:, 1] - 3.0) / 0.5)):
        assert sorted(np.floor(share * 50).astype(int)) == list(range(50))
    again = studies.latin_hypercube({"a": (0, 1), "b": studies.Normal(3.0, 0.5)}, 50, seed=3)
    assert np.array_equal(found.values, again.values)


def test_a_sobol_sequence_fills_every_cell():
    found = studies.sobol({"a": (2, 4), "b": (-1, 1)}, 64)
    cells = {(int((a - 2) * 4), int((b + 1) * 4)) for a, b in found.values}
    assert len(cells) == 64  # a (0, 6, 2)-net in base 2: one point in each of 8 x 8 cells
    with pytest.raises(SekantError, match=r"number of rows is a power of two \(got 60\); use 32 or 64"):
        studies.sobol({"a": (0, 1)}, 60)


@pytest.mark.parametrize(
    ("law", "mean", "sd"),
    [
        (studies.Uniform(1.0, 4.0), 2.5, 3 / np.sqrt(12)),
        (studies.Normal(2.0, 0.3), 2.0, 0.3),
        (studies.LogNormal(2.0, 0.25), 2 * np.exp(0.03125), None),
        (studies.Triangular(0.0, 1.0, 4.0), 5 / 3, np.sqrt((16 + 1 - 4) / 18)),
        (studies.TruncatedNormal(1.0, 0.5, 0.5, 1.5), 1.0, None),
    ],
)
def test_draws_have_the_moments_of_their_distribution(law, mean, sd):
    n = 1 << 14
    values = studies.sobol({"x": law}, n).values[:, 0]
    assert values.mean() == pytest.approx(mean, rel=2e-3)
    if sd is not None:
        assert values.std() == pytest.approx(sd, rel=5e-3)


def test_draws_are_correlated_as_asked():
    laws = {"a": studies.Normal(1.0, 2.0), "b": studies.Normal(-3.0, 0.1), "c": (0, 1)}
    found = studies.monte_carlo(laws, 40_000, seed=5, correlation={("a", "b"): -0.7})
    R = np.corrcoef(found.values.T)
    assert R[0, 1] == pytest.approx(-0.7, abs=0.01)  # 5 standard errors: (1 - 0.49) / sqrt(40000) = 0.0026
    assert abs(R[0, 2]) < 0.025


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: studies.Normal(1.0, -1.0), "sd must be positive"),
        (lambda: studies.Uniform(2.0, 1.0), "low must be less than high"),
        (lambda: studies.monte_carlo({"a": (0, 1)}, 0), "positive whole number"),
        (lambda: studies.monte_carlo({"a": 3}, 5), "'a': give a distribution"),
        (
            lambda: studies.monte_carlo(
                {"a": (0, 1), "b": (0, 1), "c": (0, 1)},
                5,
                correlation={("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): -0.9},
            ),
            "contradict each other",
        ),
        (lambda: studies.rows({"a": [1, 2], "b": [1]}), "the same number of values for each name"),
        (lambda: studies.grid({}), "empty"),
        (lambda: studies.rows({"a": [1, np.nan]}), "row 1: 'a' = nan is not finite"),
        (lambda: read_measure("mxa(a.b)"), "unknown measure 'mxa'.*max"),
        (lambda: read_measure("at(a.b)"), "write at"),
        (lambda: read_measure("at(a.b, soon)"), "'soon' is not a number"),
    ],
)
def test_nonsense_is_refused(make, says):
    with pytest.raises(SekantError, match=says):
        make()


def test_measures_of_known_rows():
    t = np.linspace(0, 2 * np.pi, 20_001)
    y = 3 * np.sin(t) + 1
    known = {
        "max(y)": 4.0,
        "min(y)": -2.0,
        "max_abs(y)": 4.0,
        "range(y)": 6.0,
        "mean(y)": 1.0,
        "rms(y)": np.sqrt(1 + 4.5),
        "where_max(y)": np.pi / 2,
        "first(y)": 1.0,
        "y": 1.0,
        "at(y, 0.5)": 3 * np.sin(0.5) + 1,
    }
    for text, value in known.items():
        assert read_measure(text).of(t, y) == pytest.approx(value, abs=1e-6), text


@pytest.fixture(scope="module")
def samples():
    return studies.grid({"k": [10.0, 40.0, 90.0], "mass.mass": [0.4, 1.6]})


@pytest.fixture(scope="module")
def swept(samples):
    asked = {"end": "final(slide.q)", "peak": "max(slide.v)"}
    return studies.sweep(MODEL, samples, measures=asked, outputs=["slide.q"], until=2.0, rtol=1e-9)


def test_rows_are_the_closed_solution(swept, samples):
    omega = np.sqrt(samples.values[:, 0] / samples.values[:, 1])
    np.testing.assert_allclose(swept["end"], 0.3 * np.cos(omega * 2.0), atol=1e-7)
    np.testing.assert_allclose(swept["slide.q"], 0.3 * np.cos(np.outer(omega, swept.axis)), atol=1e-7)
    assert swept.ok.all()
    assert swept.units["peak"] == "m/s"


def test_processes_give_the_same_bits(swept, samples):
    again = studies.sweep(
        MODEL,
        samples,
        measures={"end": "final(slide.q)", "peak": "max(slide.v)"},
        outputs=["slide.q"],
        until=2.0,
        rtol=1e-9,
        executor=2,
    )
    assert np.array_equal(again.measures, swept.measures)
    assert np.array_equal(again.outputs, swept.outputs)


def test_files_keep_everything(swept, tmp_path):
    import xarray

    swept.save(tmp_path / "a.nc")
    back = studies.open_sweep(tmp_path / "a.nc")
    assert np.array_equal(back.measures, swept.measures)
    assert np.array_equal(back.outputs, swept.outputs)
    assert back.samples.names == swept.samples.names
    assert back.statuses == swept.statuses
    with xarray.open_dataset(tmp_path / "a.nc") as data:
        np.testing.assert_array_equal(data["slide.q"], swept["slide.q"])
    table = swept.to_pandas()
    assert list(table["status"]) == ["finished"] * 6
    swept.save(tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 7
    (tmp_path / "b.nc").write_bytes((tmp_path / "a.nc").read_bytes()[:100])
    with pytest.raises(SekantError, match=r"b\.nc: is not the result of a study"):
        studies.open_sweep(tmp_path / "b.nc")


def test_a_row_that_fails_is_a_row():
    found = studies.sweep(
        MODEL,
        studies.rows({"mass.mass": [1.6, -2.0, 0.4]}),
        analysis="linearize",
        measures=["at(frequency, 0)"],
    )
    assert list(found.ok) == [True, False, True]
    assert "mass must not be negative (got -2 kg)" in found.messages[1]
    np.testing.assert_allclose(
        found["at(frequency, 0)"][[0, 2]], np.sqrt([25.0, 100.0]) / (2 * np.pi), rtol=1e-9
    )
    assert np.isnan(found["at(frequency, 0)"][1])


def test_equilibria_over_a_load():
    model = MODEL.model_copy(update={"gravity": (0.0, 0.0, -9.81)})
    found = studies.sweep(
        model, studies.grid({"mass.mass": [1.0, 2.0]}), analysis="equilibrium", measures=["mass.z"]
    )
    np.testing.assert_allclose(found["mass.z"], -9.81 * np.array([1.0, 2.0]) / 40.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"measures": ["max(slide.x)"]}, "slide.x"),
        ({"measures": []}, "computes nothing"),
        ({"measures": ["slide.q"], "untill": 3}, "unknown option 'untill'.*until"),
        ({"measures": ["slide.q"], "analysis": "simulat"}, "unknown analysis"),
        ({"measures": ["slide.q"], "executor": "cluster"}, "unknown executor"),
        ({"measures": ["slide.q", "slide.q"]}, "twice"),
    ],
)
def test_what_cannot_be_asked_is_said_before_any_row(options, says):
    with pytest.raises(SekantError, match=says):
        studies.sweep(MODEL, studies.grid({"k": [40.0]}), **options)


class Fails(Serial):
    """Stops after some blocks, as a study that is killed does."""

    def __init__(self, after: int):
        self.after = after

    def run(self, task, chunks):
        for i, block in enumerate(super().run(task, chunks)):
            if i == self.after:
                raise KeyboardInterrupt
            yield block


def test_a_study_that_was_stopped_goes_on(tmp_path):
    samples, out = studies.rows({"k": np.linspace(10, 90, 12)}), tmp_path / "s.nc"
    options = {"measures": ["final(slide.q)"], "until": 0.5, "output": out}
    with pytest.raises(KeyboardInterrupt):
        studies.sweep(MODEL, samples, executor=Fails(2), **options)
    kept = list((tmp_path / "s.nc.parts").glob("*.npz"))
    assert len(kept) == 2
    with pytest.raises(SekantError, match="unfinished study; continue the study with --resume"):
        studies.sweep(MODEL, samples, **options)
    with pytest.raises(SekantError, match="another study"):
        studies.sweep(MODEL, studies.rows({"k": np.linspace(10, 91, 12)}), resume=True, **options)
    kept[0].write_bytes(b"half a file")  # what a machine that lost its power may leave
    found = studies.sweep(MODEL, samples, resume=True, **options)
    whole = studies.sweep(MODEL, samples, measures=["final(slide.q)"], until=0.5)
    assert np.array_equal(found.measures, whole.measures)
    assert 0 < found.stats["resumed"] < 12
    assert not (tmp_path / "s.nc.parts").exists()


def test_notebooks_show_ranges_rows_and_a_bar(capsys):
    samples = studies.rows({"k": [10.0, 40.0, -1e9]})
    found = studies.sweep(MODEL, samples, measures=["final(slide.q)"], until=0.5, progress=True)
    shown = found._repr_html_()
    for text in (
        "3 rows",
        "<td>k</td><td>varied</td>",
        "final(slide.q)",
        f"{found['final(slide.q)'][1]:.6g}",
    ):
        assert text in shown
    assert all(f"<td>{name}</td>" in shown for name in {found.statuses[i] for i in found.status})
    assert capsys.readouterr().err == ""  # neither a terminal nor a notebook


def test_parts_that_overlap_are_refused(tmp_path):
    parts = StudyParts(tmp_path / "p", "key", 4)
    parts.open(False)
    for first in (0, 1):
        parts.add(
            RowBlock(
                first,
                np.zeros((2, 1)),
                np.zeros((2, 0)),
                np.zeros((0, 2, 0)),
                ("finished",) * 2,
                {},
                1.0,
                1.0,
            )
        )
    from sekant.studies.sweep import _left

    with pytest.raises(SekantError, match="overlap"):
        _left(list(parts.blocks()), 4)


class Deadly:
    """A task whose first chunk kills its worker, once."""


def _run_or_die(marker, first, values):
    if first == 0 and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    from sekant.studies.executors import _run_chunk

    return _run_chunk(first, values)


def test_a_worker_that_is_killed_loses_no_row_and_doubles_none(tmp_path, monkeypatch):
    from functools import partial

    from sekant.studies import executors

    monkeypatch.setattr(executors, "_run_chunk", partial(_run_or_die, str(tmp_path / "died")))
    samples = studies.rows({"k": np.linspace(10, 90, 7)})
    found = studies.sweep(MODEL, samples, measures=["final(slide.q)"], until=0.5, executor=Processes(2))
    assert (tmp_path / "died").exists()
    assert found.ok.all()
    omega = np.sqrt(samples.values[:, 0] / 1.6)
    np.testing.assert_allclose(found["final(slide.q)"], 0.3 * np.cos(omega * 0.5), atol=1e-5)


@pytest.mark.long
def test_workers_end_with_a_process_in_charge_that_is_killed():
    text = (
        "import os, time\n"
        "from sekant.studies.executors import Processes\n"
        "print(Processes(1)._pool(None).submit(os.getpid).result(), flush=True)\n"
        "time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as charge:
        assert charge.stdout is not None
        worker = int(charge.stdout.readline())
        os.kill(worker, 0)
        charge.kill()
    for _ in range(300):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker outlived the process in charge")


def test_chunks_cover_every_row_once_whatever_their_sizes():
    values = np.arange(50.0)[:, None]
    chunks, seen = Chunks(values, [(0, 20), (25, 50)]), []
    while chunks:
        first, rows = chunks.take()
        assert rows[0, 0] == first
        seen += rows[:, 0].tolist()
        n = len(rows)
        chunks.learn(
            RowBlock(
                first, np.zeros((n, 0)), np.zeros((n, 0)), np.zeros((0, n, 0)), ("x",) * n, {}, 1e-3, 0.0
            )
        )
    assert sorted(seen) == [*range(20), *range(25, 50)]


STUDY = """\
model: model.yaml
samples: {type: monte_carlo, rows: 4, seed: 2, correlation: [[k, mass.mass, 0.5]]}
vary:
  k: {normal: {mean: 40 N/m, sd: 2 N/m}}
  mass.mass: 1.5..1.7 kg
analysis: {type: simulate, until: 500 ms, output_step: 0.01}
measures: {end: final(slide.q)}
"""


@pytest.fixture
def study(tmp_path):
    sk.save(MODEL, tmp_path / "model.yaml")

    def write(text):
        (tmp_path / "study.yaml").write_text(text)
        return tmp_path / "study.yaml"

    return write


def test_a_study_file(study):
    found = load_study(study(STUDY))
    assert found.samples.values.shape == (4, 2)
    assert dict(found.options) == {"until": 0.5, "output_step": 0.01}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("model: model.yaml", "model: other.yaml", "study.yaml:[0-9]+: model: there is no file .*other.yaml"),
        ("monte_carlo", "monte_carl", "study.yaml:2: .*unknown design 'monte_carl'"),
        ("sd: 2 N/m", "sd: -2 N/m", "study.yaml:4: .*sd must be positive"),
        ("mean: 40 N/m", "mean: 40 N/q", "study.yaml:4: "),
        ("measures:", "meazures:", "study.yaml:7: .*unknown key"),
        ("until", "untill", "study.yaml:6: .*unknown option 'untill'"),
        ("final(", "finall(", "study.yaml:7: .*unknown measure 'finall'"),
        ("[[k, mass.mass, 0.5]]", "[[k, q, 0.5]]", "study.yaml:2: .*'q' is not varied"),
        ("1.5..1.7 kg", "1.9..1.7 kg", "study.yaml:5: .*must increase"),
        ("1.5..1.7 kg", "1.5..1.7 N", "study.yaml:5: .*is a force, but a mass is expected"),
        ("1.5..1.7 kg", "{from: 1, to: 2}", "study.yaml:5: .*give a range, such as '1..2 m'"),
        ("500 ms", "500 mm", "study.yaml:6: .*a length, but a time is expected"),
        ("mass.mass:", "mass.mas:", "study.yaml:5: .*no field 'mas'"),
    ],
)
def test_faults_of_a_study_file_have_their_line(study, old, new, says):
    with pytest.raises(SekantError, match=says):
        load_study(study(STUDY.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("slide.q", "slide.p", r"study\.yaml:7: measures\.end: there is no channel 'slide\.p'"),
        ("500 ms", "-1", r"study\.yaml:6: analysis: until must be a positive number"),
        ("output_step: 0.01", "method: rk5", r"study\.yaml:6: analysis: unknown method 'rk5'"),
        ("measures:", "outputs: [slid.q]\nmeasures:", r"study\.yaml:7: .*no channel 'slid\.q'"),
    ],
)
def test_what_shows_when_a_study_starts_has_its_line(study, monkeypatch, old, new, says):
    file = study(STUDY.replace(old, new))
    monkeypatch.chdir(file.parent)
    told = CliRunner().invoke(app, ["sweep", str(file), "-j", "1"])
    assert isinstance(told.exception, SekantError)
    assert re.search(says, str(told.exception))


def test_a_cluster_gives_the_same_bits(swept, samples):
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        again = studies.sweep(
            MODEL,
            samples,
            measures={"end": "final(slide.q)", "peak": "max(slide.v)"},
            until=2.0,
            rtol=1e-9,
            executor=client,
        )
    assert np.array_equal(again.measures, swept.measures)


BREAKING = sk.Model(
    gravity=(0, 0, 0),
    bodies={"mass": sk.Body(mass=1.6)},
    joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1), q0=0.3, v0=1.0)},
    forces={"spring": sk.forces.Actuator(joint="slide", force="-law(slide.q)")},
    tables={"law": TableData(x=(-2.0, 0.0, 0.6), y=(-80.0, 0.0, 24.0), extrapolation="error")},
)
"""A spring that ends at 0.6 m: fast starts leave it."""


def test_rows_that_broke_off_have_no_measures_that_need_the_end():
    measures = ["first(slide.q)", "at(slide.q, 0.01)", "at(slide.q, 0.9)", "final(slide.q)", "max(slide.q)"]
    measures += ["mean(slide.q)", "rms(slide.q)", "where_max(slide.q)"]
    for method in ("dop853", "rk4"):
        options = {
            "until": 1.0,
            "method": method,
            "output_step": 0.01,
            "step": 1e-3 if method == "rk4" else None,
        }
        found = sk.sweep(BREAKING, studies.grid({"slide.v0": [1.0, 9.0, 1.5]}), measures=measures, **options)
        names = [found.statuses[i] for i in found.status]
        assert names == ["finished", "out_of_range", "finished"]
        assert np.isfinite(found.measures[[0, 2]]).all()
        assert np.isfinite(found.measures[1, :2]).all()
        assert np.isnan(found.measures[1, 2:]).all()
        lines = found.summary().splitlines()
        assert lines[0].endswith("2 finished, 1 out of range")
        assert sum("(no value in 1 of 3 rows)" in line for line in lines) == len(measures) - 2
        assert found.digest()["measures"]["final(slide.q)"]["rows"] == 2


def test_rows_refuse_what_the_item_refuses():
    spring = sk.forces.SpringDamper(parent="ground", child="mass", stiffness=40.0, free_length=0.0)
    model = MODEL.model_copy(update={"forces": {"spring": spring}})
    found = sk.sweep(
        model, studies.grid({"spring.stiffness": [-600.0, 40.0]}), measures=["max(slide.q)"], until=0.1
    )
    assert found.ok.tolist() == [False, True]
    assert np.isnan(found["max(slide.q)"][0])
    assert "force 'spring': stiffness: must not be negative (got -600)" in found.messages[0]
    with pytest.raises(SekantError, match="stiffness: must not be negative"):
        sk.simulate(
            sk.compile(model, parameters=["spring.stiffness"]), 0.1, parameters={"spring.stiffness": -1.0}
        )


def test_a_grid_is_drawn_as_lines_with_units_and_short_names():
    """A line for each value of the other number, through the rows of the grid in the order of the abscissa."""
    names = ("axles.front.anti_roll_bar", "axles.rear.anti_roll_bar")
    samples = sk.studies.grid({names[0]: [12e3, 8e3], names[1]: [1e3, 2e3, 3e3]})
    roll = samples.values @ [1e-6, -3e-6] + 0.1
    found = sk.studies.SweepResult(
        samples,
        ("roll",),
        roll[:, None],
        (),
        "time",
        np.zeros(0),
        np.zeros((0, 6, 0)),
        ("finished",),
        np.zeros(6, np.int8),
        {},
        {"roll": "rad", **dict.fromkeys(names, "N/m")},
    )
    bare = studies.SweepResult(**(vars(found) | {"samples": studies.Samples(names, samples.values, "grid")}))
    assert lines_of_grid(bare, 0, dict(zip(names, names, strict=True)))[0][0][1].tolist() == [
        3,
        0,
    ]  # as read from files
    first, second = sweep_picture(found).axes
    assert first.get_xlabel() == "front anti roll bar [N/mm]"
    assert first.get_ylabel() == "roll [deg]"
    lines = [line for line in first.lines if line.get_xdata().size]
    assert [line.get_label() for line in lines] == ["1", "2", "3"]
    assert lines[1].get_xdata() == pytest.approx([8, 12])
    assert lines[1].get_ydata() == pytest.approx(np.degrees([0.1 + 8e-3 - 6e-3, 0.1 + 12e-3 - 6e-3]))
    assert first.get_legend().get_title().get_text() == "rear anti roll bar [N/mm]"
    assert len([line for line in second.lines if line.get_xdata().size]) == 2
    assert short_names(["a.b.c", "x.b.c", "m.k", "k"]) == ["a b c", "x b c", "m k", "k"]
