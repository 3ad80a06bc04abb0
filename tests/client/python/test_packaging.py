"""What is in the wheel, and that a source distribution builds the same one without the repository."""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import fidelio

SOURCE = os.environ.get("FIDELIO_TEST_SOURCE", "")
pytestmark = pytest.mark.skipif(not SOURCE, reason="run.sh builds the wheel")


def names(wheel):
    return sorted(name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("RECORD"))


@pytest.fixture
def wheel():
    (path,) = glob.glob(os.path.join(os.environ["FIDELIO_TEST_WHEEL_DIR"], "*.whl"))
    return path


def test_the_wheel_is_for_every_python_and_has_all_it_needs(wheel):
    assert os.path.basename(wheel) == f"fidelio_client-{fidelio.__version__}-py3-none-any.whl"
    content = names(wheel)
    for name in ("py.typed", "v1/emulator_pb2.py", "v1/emulator_pb2.pyi", "_google/own_status_pb2.py", "sklearn.py"):
        assert f"fidelio/{name}" in content
    assert "_fidelio_programs.py" in content and [name for name in content if name.endswith("LICENSE")]
    assert not [name for name in content if "_native" in name]  # programs are in wheels of deploy/wheel.sh
    assert not [name for name in content if "test" in name or "build_backend" in name]


def test_the_version_is_that_of_the_whole_project():
    project = pathlib.Path(SOURCE, "CMakeLists.txt").read_text()
    assert re.search(r"project\(fidelio VERSION ([0-9.]+)", project)[1] == fidelio.__version__


def test_messages_refuse_no_version_of_protobuf(wheel):
    archive = zipfile.ZipFile(wheel)
    for name in names(wheel):
        if name.endswith("_pb2.py"):
            assert b"ValidateProtobufRuntimeVersion" not in archive.read(name)


def test_messages_of_a_new_protoc_refuse_no_version_of_protobuf(tmp_path):
    pytest.importorskip("grpc_tools")
    shutil.copytree(SOURCE, tmp_path / "source")
    backend = tmp_path / "source" / "client" / "python" / "build_backend"
    # As with Python 3.13, where an old protoc can't be had.
    script = "import generate; generate.NEWEST_PROTOC = 1000; generate.generate(); print(*generate.protoc())"
    environment = {**os.environ, "PATH": "/nowhere", "PYTHONPATH": str(backend)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
    assert "grpc_tools" in done.stdout
    source = backend.parent / "src"
    made = (source / "fidelio" / "v1" / "emulator_pb2.py").read_text()
    assert "AddSerializedFile" in made and "runtime_version" not in made and "\n)\n" not in made
    script = "from fidelio.v1 import emulator_pb2 as p; print(p.__file__, *p.DESCRIPTOR.services_by_name)"
    environment["PYTHONPATH"] = str(source)
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(source / "fidelio" / "v1" / "emulator_pb2.py"), "Emulator"]


def test_others_may_have_definitions_of_google_rpc_too():
    pytest.importorskip("google.rpc")
    script = "import fidelio; from google.rpc import error_details_pb2, status_pb2"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_source_distribution_builds_the_same_wheel_without_repository_and_protoc(wheel, tmp_path):
    build = "import sys; sys.path.insert(0, 'build_backend'); import fidelio_build; print(fidelio_build.{}('{}'))"

    def run(directory, hook):
        done = subprocess.run(
            [sys.executable, "-c", build.format(hook, tmp_path)], cwd=directory, env={**os.environ, "PATH": "/nowhere"}
            if hook == "build_wheel" else None, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        return tmp_path / done.stdout.splitlines()[-1]

    archive = run(os.path.join(SOURCE, "client", "python"), "build_sdist")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "unpacked", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (directory,) = (tmp_path / "unpacked").iterdir()
    assert names(run(directory, "build_wheel")) == names(wheel)
