"""`sekant view` and `sekant run --html`."""

import json

from command_line import sekant


def test_a_run_and_its_file_give_the_same_page(model_folder):
    short = ["--until", "0.5", "--output-step", "0.01"]
    done = sekant("run", "crane.yaml", *short, "--html", "a.html", cwd=model_folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.html" in done.stdout
    done = sekant("view", "crane.nc", "-o", "b.html", cwd=model_folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "written: b.html\n", "")
    assert (model_folder / "a.html").read_text() == (model_folder / "b.html").read_text()
    done = sekant("view", "crane.nc", "crane.nc", "--json", cwd=model_folder)
    assert json.loads(done.stdout) == {"ok": True, "files": ["crane.html"]}


def test_what_cannot_be_shown_is_told_in_a_line(model_folder):
    (model_folder / "x.csv").write_text("time [s],a [m]\n0,1\n1,2\n")
    for arguments, said in (
        (["x.csv"], "contains no positions to draw"),
        (["none.nc"], "there is no such file"),
        (["crane.yaml"], "'sekant run crane.yaml' writes its result"),
    ):
        done = sekant("view", *arguments, cwd=model_folder)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
