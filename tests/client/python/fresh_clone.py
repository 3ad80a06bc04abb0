#!/usr/bin/env python3
"""Installs the Python package from fresh clones of this repository, as the README says, with old and new setuptools.

usage: fresh_clone.py BUILD_DIR [VERSION_OF_SETUPTOOLS…]

With each version: pip install. With the first and the last one also pip install -e, pip wheel, a source distribution, and an
installation from that distribution without protoc; with the last one an installation from the clone without protoc. Every
case has a clone of its own, with the changes that are not committed yet. Python's packages are those of Debian 12, and what
builds need comes from PyPI.

Exit code 0, 1 when a case fails, 77 when Debian's or PyPI's packages can't be had. What happened is a line in
BUILD_DIR/python/fresh-clone.status; tests/run.sh prints it.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSIONS = ["61.0", "69.5", "newest"]  # in between there is nothing that differs, but try: 65.5 75.8 80.9
# What builds may ask for; the last is what a clone needs where there is no protoc.
TOOLS = ["wheel", "build", "grpcio-tools>=1.49.1,<1.63"]
PYTHON = "/usr/bin/python3"
DOWNLOAD_SECONDS = 300

# Everything that the package needs in order to work: the version, messages, commands and typing information.
CHECK = """
import fidelio, importlib.metadata, os, sys
from fidelio.v1 import emulator_pb2
distribution = importlib.metadata.distribution("fidelio-client")
assert distribution.version == fidelio.__version__ == sys.argv[1], distribution.version
assert emulator_pb2.DESCRIPTOR.services_by_name
where = os.path.dirname(fidelio.__file__)
assert where.startswith(sys.argv[2]), where
for name in ("py.typed", "v1/emulator_pb2.pyi"):
    assert os.path.exists(os.path.join(where, name)), name
assert "Apache License" in (distribution.read_text("LICENSE") or distribution.read_text("licenses/LICENSE"))
for command in ("fidelio", "fidelio-server"):
    assert os.access(os.path.join(sys.prefix, "bin", command), os.X_OK), command
"""


class Failed(Exception):
    pass


def run(command, environment, cwd=None):
    """Runs a command; what it printed is part of the error when it fails."""
    done = subprocess.run([str(word) for word in command], env=environment, cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Case:
    """A directory with a clone and a virtual environment, for one version of setuptools."""

    def __init__(self, work, name, version, with_protoc=True):
        self.directory = work / f"{name}-{version}".replace(" ", "-")
        self.clone = self.directory / "clone"
        self.python = self.directory / "venv" / "bin" / "python"
        self.pip = [work / "tools" / "bin" / "pip", "--python", self.python]
        self.build = [work / "tools" / "bin" / "python", "-m", "build"]
        self.directory.mkdir()
        pin = self.directory / "pin.txt"
        pin.write_text(f"setuptools=={version}\n")
        # Settings of whoever runs the test are not the reader's.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIDELIO_", "PIP_", "PYTHON"))}
        self.environment = kept | {
            "PATH": os.environ["PATH"] if with_protoc else path_without_protoc(work),
            "PIP_BUILD_CONSTRAINT": str(pin), "PIP_CONSTRAINT": str(pin),  # newer and older pip
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_FIND_LINKS": str(work / "wheelhouse"), "PIP_NO_INDEX": "1",
            "PIP_NO_CACHE_DIR": "1",
        }
        run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", self.directory / "venv"], self.environment)

    def clone_repository(self):
        git = {**self.environment, "GIT_CONFIG_GLOBAL": os.devnull}
        run(["git", "clone", "--quiet", ROOT, self.clone], git)
        changed = run(["git", "-C", ROOT, "ls-files", "-z", "--modified", "--others", "--exclude-standard"], git)
        for name in filter(None, changed.split("\0")):
            if (ROOT / name).exists():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.clone / name)
            else:
                (self.clone / name).unlink(missing_ok=True)

    def install(self, *what):
        run([*self.pip, "install", "--no-deps", *what], self.environment, self.clone if self.clone.exists() else None)

    def check(self, inside):
        version = re.search(r"project\(fidelio VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        run([self.python, "-c", CHECK, version, inside], self.environment, self.directory)


def path_without_protoc(work):
    """A directory with the programs of PATH that builds use, which has no protoc."""
    directory = work / "path"
    directory.mkdir(exist_ok=True)
    for name in ("git", "sh", "env", "uname"):
        if not (directory / name).exists():
            (directory / name).symlink_to(shutil.which(name))
    return str(directory)


def install_from_clone(work, version, *options, with_protoc=True):
    case = Case(work, " ".join(["install", *options]) + ("" if with_protoc else " without protoc"), version, with_protoc)
    case.clone_repository()
    case.install(*options, "./client/python")
    case.check(case.clone if "-e" in options else case.directory / "venv")


def wheel(work, version):
    case = Case(work, "wheel", version)
    case.clone_repository()
    run([*case.pip, "wheel", "--no-deps", "--wheel-dir", case.directory, "./client/python"], case.environment, case.clone)
    (made,) = case.directory.glob("fidelio_client-*-py3-none-any.whl")
    shutil.rmtree(case.clone)
    case.install(made)
    case.check(case.directory / "venv")


def source_distribution(work, version):
    case = Case(work, "sdist", version)
    case.clone_repository()
    run([*case.build, "--sdist", "--outdir", case.directory, "./client/python"], case.environment, case.clone)
    (made,) = case.directory.glob("fidelio[_-]client-*.tar.gz")
    shutil.rmtree(case.clone)
    case.environment["PATH"] = path_without_protoc(work)
    case.install(made)
    case.check(case.directory / "venv")


def download(work, wanted):
    """Puts requirements and what they need into the wheelhouse; whether that worked."""
    command = [work / "tools" / "bin" / "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
               "--dest", work / "wheelhouse", *wanted]
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DOWNLOAD_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"no answer within {DOWNLOAD_SECONDS} s")
        return False
    if done.returncode:
        print(done.stdout[-2000:])
    return done.returncode == 0


def newest_setuptools(work):
    found = [re.match(r"setuptools-([0-9.]+)-", path.name)[1] for path in (work / "wheelhouse").glob("setuptools-*.whl")]
    return max(found, key=lambda version: [int(part) for part in version.split(".")])


def test(work, versions):
    """Exit code, and what to say."""
    if subprocess.run([PYTHON, "-c", "import ensurepip, grpc, google.protobuf, numpy"], stderr=subprocess.DEVNULL).returncode:
        return 77, "not run: Debian's packages are not all there; deploy/install-deps.sh installs them"
    run([PYTHON, "-m", "venv", work / "tools"], None)
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1))
    wanted = [TOOLS] + [["setuptools" if version == "newest" else f"setuptools=={version}"] for version in versions]
    if not all(list(pool.map(lambda requirements: download(work, requirements), wanted))):
        return 77, "not run: PyPI's packages can't be had"
    run([work / "tools" / "bin" / "pip", "install", "--quiet", "--no-index", "--find-links", work / "wheelhouse", "build"], None)
    versions = [newest_setuptools(work) if version == "newest" else version for version in versions]
    cases = [(install_from_clone, version) for version in versions]
    for version in sorted({versions[0], versions[-1]}):
        cases += [(install_from_clone, version, "-e"), (wheel, version), (source_distribution, version)]
    futures = [pool.submit(function, work, *arguments) for function, *arguments in cases]
    cases.append((install_from_clone, versions[-1], "without protoc"))
    futures.append(pool.submit(install_from_clone, work, versions[-1], with_protoc=False))
    failures = 0
    for (function, *arguments), future in zip(cases, futures):
        what = f"{function.__name__} {' '.join(arguments)}"
        try:
            future.result()
            print(f"passed: {what}")
        except Exception as error:
            failures += 1
            print(f"FAILED: {what}: {error}")
    if failures:
        return 1, f"FAILED: {failures} of {len(cases)} cases"
    return 0, f"installed in {len(cases)} ways, with setuptools {versions[0]} to {versions[-1]}"


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    status = pathlib.Path(sys.argv[1]) / "python" / "fresh-clone.status"
    status.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fidelio-fresh-clone.") as directory:
        code, text = test(pathlib.Path(directory), sys.argv[2:] or VERSIONS)
    status.write_text(text + "\n")
    print(f"python: fresh clone: {text}")
    return code


if __name__ == "__main__":
    sys.exit(main())
