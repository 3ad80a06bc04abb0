#!/usr/bin/env python3
"""Uses Fidelio as a wheel of deploy/wheel.sh installed it into this Python's environment, and nothing else of it.

usage: PYTHON use_wheel.py
"""

import os
import platform
import re
import subprocess
import sys
import tempfile

import numpy as np

import fidelio

PACKAGE = os.path.dirname(os.path.abspath(fidelio.__file__))
NATIVE = os.path.join(PACKAGE, "_native")


def coarse(x):
    return np.sin(8 * x[:, 0]) + 0.3 * x[:, 1]


def fine(x):
    return 2 * coarse(x) + x[:, 0] - x[:, 1]


def command(name, *arguments):
    """What a command prints that pip put beside this Python."""
    program = os.path.join(sys.prefix, "bin", name)
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def best_core():
    """Of the builds of core in the wheel, the one for the highest ISA level that this machine's loader takes."""
    levels = []
    if platform.machine() == "x86_64":
        loader = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], stdout=subprocess.PIPE, text=True).stdout
        levels = re.findall(r"^\s+(x86-64-v\d) \(supported, searched\)", loader, re.MULTILINE)  # best first
    places = [os.path.join(NATIVE, "lib", "glibc-hwcaps", level, "libfidelio_core.so.0") for level in levels]
    return next(filter(os.path.exists, places), os.path.join(NATIVE, "lib", "libfidelio_core.so.0"))


def libraries_of(pid):
    with open(f"/proc/{pid}/maps") as maps:
        return {line.split()[-1] for line in maps if ".so" in line}


def main():
    assert PACKAGE.startswith(sys.prefix), PACKAGE
    for name in ("fidelio", "fidelio-server"):
        assert fidelio.__version__ in command(name, "--version"), name
    rng = np.random.default_rng(1)
    x_coarse, x_fine, x = rng.uniform(size=(60, 2)), rng.uniform(size=(14, 2)), rng.uniform(size=(200, 2))
    with fidelio.local() as client, tempfile.TemporaryDirectory() as directory:
        assert client.server.binary == os.path.join(NATIVE, "bin", "fidelio-server"), client.server.binary
        libraries = libraries_of(client.server.pid)
        core = best_core()
        assert core in libraries, libraries
        for path in libraries:
            if re.search(r"fidelio|grpc|protobuf|absl|jemalloc|crypto|ssl|sqlite", os.path.basename(path)):
                assert path.startswith(sys.prefix), path
        model = client.create_model("wing", inputs=2, fidelities=["coarse", "fine"], costs=[1, 10], box=([0, 0], [1, 1]))
        model.add(x_coarse, coarse(x_coarse), fidelity="coarse")
        model.add(x_fine, fine(x_fine), fidelity="fine")
        model.fit(seed=1)
        mean, _ = model.predict(x, return_std=True)
        error = float(np.sqrt(np.mean((mean - fine(x)) ** 2)) / np.std(fine(x)))
        assert error < 0.05, error
        page = model.report(os.path.join(directory, "report.html"))
        assert os.path.getsize(page) > 10_000
        assert "wing" in command("fidelio", "model", "list", "--server", client.server.address)
    assert not os.path.exists(f"/proc/{client.server.pid}"), "the server is still there"
    print(f"fidelio {fidelio.__version__}, {os.path.relpath(core, NATIVE)}: RMSE {error:.4f} of the standard deviation")


if __name__ == "__main__":
    main()
