"""Where the programs are found, and the commands that pip makes of the package."""

import os
import subprocess
import sys

import pytest

import _fidelio_programs
import fidelio
from fidelio._programs import find_program

BIN = os.path.dirname(sys.executable)
COMMANDS = {"fidelio": "FIDELIO_BINARY", "fidelio-server": "FIDELIO_SERVER_BINARY"}
installed = pytest.mark.skipif(not os.access(os.path.join(BIN, "fidelio"), os.X_OK), reason="run.sh installs the package")


def program(directory, name, text="#!/bin/sh\necho $0 $*\n"):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def nothing_set(monkeypatch):
    monkeypatch.delenv("FIDELIO_BINARY", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")


def test_a_program_in_the_package_comes_before_one_in_path(nothing_set, monkeypatch, tmp_path):
    bundled = program(tmp_path / "native", "fidelio")
    in_path = program(tmp_path / "path", "fidelio")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_program("fidelio", "FIDELIO_BINARY") == in_path
    monkeypatch.setattr(_fidelio_programs, "BUNDLED", str(tmp_path / "native"))
    assert find_program("fidelio", "FIDELIO_BINARY") == bundled


def test_what_the_caller_names_comes_before_one_in_the_package(nothing_set, monkeypatch, tmp_path):
    program(tmp_path / "native", "fidelio")
    monkeypatch.setattr(_fidelio_programs, "BUNDLED", str(tmp_path / "native"))
    given, named = program(tmp_path / "given", "fidelio"), program(tmp_path / "named", "fidelio")
    monkeypatch.setenv("FIDELIO_BINARY", named)
    assert find_program("fidelio", "FIDELIO_BINARY") == named
    assert find_program("fidelio", "FIDELIO_BINARY", given) == given


def test_a_command_of_pip_is_not_taken_for_the_program(nothing_set, monkeypatch, tmp_path):
    script = "#!/usr/bin/python3\nfrom _fidelio_programs import fidelio\nfidelio()\n"
    program(tmp_path / "venv", "fidelio", script)
    monkeypatch.setenv("PATH", str(tmp_path / "venv"))
    with pytest.raises(fidelio.ProgramNotFound, match="fidelio was not found"):
        find_program("fidelio", "FIDELIO_BINARY")
    real = program(tmp_path / "path", "fidelio")
    monkeypatch.setenv("PATH", f"{tmp_path / 'venv'}:{tmp_path / 'path'}")
    assert find_program("fidelio", "FIDELIO_BINARY") == real


@installed
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_the_program_of_path(name, tmp_path):
    program(tmp_path, name)
    done = subprocess.run(
        [os.path.join(BIN, name), "model", "list"], env={"PATH": f"{BIN}:{tmp_path}:/usr/bin:/bin"}, text=True, check=True,
        capture_output=True,
    )  # fmt: skip
    assert done.stdout == f"{tmp_path / name} model list\n"


@installed
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_not_pass_on_where_its_program_is(name, tmp_path):
    named = program(tmp_path, "named", "#!/bin/sh\nenv\n")
    environment = {"PATH": "/usr/bin:/bin", COMMANDS[name]: named, "FIDELIO_LISTEN": "127.0.0.1:0"}
    done = subprocess.run([os.path.join(BIN, name)], env=environment, text=True, check=True, capture_output=True)
    assert COMMANDS[name] not in done.stdout and "FIDELIO_LISTEN=127.0.0.1:0\n" in done.stdout


@installed
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_its_program_says_what_is_needed(name):
    done = subprocess.run([os.path.join(BIN, name)], env={"PATH": BIN}, text=True, capture_output=True)
    assert done.returncode == 127
    assert f"{name} was not found" in done.stderr and COMMANDS[name] in done.stderr and "Traceback" not in done.stderr
