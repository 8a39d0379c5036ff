"""FMUs for other machines, built here by ziglang: files of the right kind with the functions of FMI alone."""

import zipfile

import pytest

import sekant as sk
from binaries import exported
from sekant.io.export import compilers

EXPECTED = {
    "linux64": ("ELF", "x86_64"),
    "win64": ("PE", "x86_64"),
    "darwin64": ("Mach-O", "x86_64"),
    "aarch64-linux": ("ELF", "aarch64"),
    "aarch64-darwin": ("Mach-O", "aarch64"),
}
FMI2_COMMON = {"GetVersion", "GetTypesPlatform", "Instantiate", "FreeInstance", "GetReal", "SetReal", "Reset"}
FMI2_COMMON |= {"GetFMUstate", "SerializeFMUstate", "DeSerializeFMUstate", "GetDirectionalDerivative"}
CO_SIMULATION = {"DoStep", "GetRealStatus", "CancelStep"}


def check(path, kind):
    found = exported(path)
    assert found[:2] == kind
    names = {name for name in found[2] if name.startswith("fmi2")}
    assert {f"fmi2{name}" for name in FMI2_COMMON | CO_SIMULATION} <= names
    others = {name for name in found[2] if not name.startswith(("fmi2", "_"))}
    assert not others, "nothing of the model's own may clash with another library"


def test_library_of_this_machine_exports_fmi_alone(tmp_path):
    path = tmp_path / "car.fmu"
    sk.export.fmu(sk.load("examples/quarter_car.yaml"), path, kind="cs", outputs=["body_travel.q"])
    target = compilers.PLATFORMS[compilers.host()]
    with zipfile.ZipFile(path) as archive:
        name = f"binaries/{target.folder2}/car{target.suffix}"
        archive.extract(name, tmp_path)
    check(tmp_path / name, EXPECTED[compilers.host()])


@pytest.mark.long
@pytest.mark.parametrize("platform", list(EXPECTED))
def test_libraries_of_all_machines(platform, tmp_path, monkeypatch):
    """The first build for Windows compiles its C library and takes minutes."""
    assert compilers.has_zig(), "make test-long installs the extra 'export'"
    monkeypatch.setattr(compilers, "system_compiler", lambda: None)
    path = tmp_path / "car.fmu"
    model = sk.load("examples/quarter_car.yaml")
    told = sk.export.fmu(model, path, kind="cs", platforms=[platform], outputs=["body_travel.q"])
    assert told.compilers == ("ziglang",)
    target = compilers.PLATFORMS[platform]
    with zipfile.ZipFile(path) as archive:
        name = f"binaries/{target.folder2}/car{target.suffix}"
        archive.extract(name, tmp_path)
    check(tmp_path / name, EXPECTED[platform])
    assert (tmp_path / name).read_bytes().startswith(target.magic)


def test_an_architecture_stands_for_its_systems():
    found = compilers.check_platforms(["win64", "aarch64", "aarch64-linux"])
    assert found == ["win64", "aarch64-linux", "aarch64-darwin"]
