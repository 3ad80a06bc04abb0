#!/usr/bin/env python3
"""What Python costs: predictions by the package fidelio beside the C++ client, on one server, in turns; and how long it
takes to add a million observations.

    python_speed.py --bin build/release/bin [--rounds 5] [--json OUT] [--check]

The package must be importable: installed, or by PYTHONPATH=build/release/python/source/client/python/src (the target
fidelio_python). --check exits with 1 when a bar is missed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import fidelio

# Bars.
PREDICT_FACTOR = 1.3  # 10,000×2 points: at most so often the time of the C++ client
ADD_SECONDS = 10.0  # 1e6 observations of 2 inputs

POINTS = 10_000
OBSERVATIONS = 1_000_000
CALLS = 5  # per round


def high(x):
    return np.sin(8 * x[:, 0]) * x[:, 1] + x[:, 0]


def make_model(client):
    """Two fidelities with 40 and 10 observations."""
    random = np.random.default_rng(1)
    model = client.create_model("speed", inputs=2, fidelities=["low", "high"], box=([0, 0], [1, 1]))
    for fidelity, count, scale in (("low", 40, 0.7), ("high", 10, 1.0)):
        x = random.uniform(size=(count, 2))
        model.add(x, scale * high(x), fidelity=fidelity)
    model.fit(seed=1)
    return model


def by_python(model, x):
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        model.predict(x, return_std=True)
        seconds.append(time.perf_counter() - start)
    return seconds


def by_cpp(bench, client):
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "call.json")
        command = [bench, "call", "--server", client.address, "--model", "speed", "--json", out]
        command += ["--points", str(POINTS), "--calls", str(CALLS)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(pathlib.Path(out).read_text())["seconds"]


def add_seconds(client):
    random = np.random.default_rng(1)
    x, y = random.uniform(size=(OBSERVATIONS, 2)), random.normal(size=OBSERVATIONS)
    model = client.create_model("many", inputs=2)
    start = time.perf_counter()
    added = model.add(x, y)
    seconds = time.perf_counter() - start
    if added.counts != (OBSERVATIONS,):
        raise SystemExit(f"python_speed: {added.counts} observations arrived")
    model.delete()
    return seconds


def main():
    parser = argparse.ArgumentParser(description="What Python costs")
    parser.add_argument("--bin", required=True, help="directory of fidelio-server and fidelio-bench")
    parser.add_argument("--rounds", type=int, default=5, help="how often each client is measured")
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    options = parser.parse_args()

    with fidelio.local(binary=os.path.join(options.bin, "fidelio-server")) as client:
        model = make_model(client)
        x = np.random.default_rng(2).uniform(size=(POINTS, 2))
        by_python(model, x)  # the first round only warms up
        python, cpp = [], []
        for _ in range(options.rounds):
            cpp += by_cpp(os.path.join(options.bin, "fidelio-bench"), client)
            python += by_python(model, x)
        added = add_seconds(client)

    ratio = statistics.median(python) / statistics.median(cpp)
    result = {
        "points": POINTS,
        "calls": len(python),
        "python_seconds": statistics.median(python),
        "cpp_seconds": statistics.median(cpp),
        "ratio": ratio,
        "observations": OBSERVATIONS,
        "add_seconds": added,
        "numpy": np.__version__,
        "fidelio": fidelio.__version__,
    }
    missed = []
    if ratio > PREDICT_FACTOR:
        missed.append(f"predict of {POINTS} points takes {ratio:.2f} times as long as in C++, at most {PREDICT_FACTOR}")
    if added > ADD_SECONDS:
        missed.append(f"{OBSERVATIONS} observations take {added:.1f} s, at most {ADD_SECONDS}")
    result["missed"] = missed
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    for sentence in missed:
        print(f"missed: {sentence}")
    milliseconds = [f"{1e3 * result[f'{client}_seconds']:.1f} ms" for client in ("python", "cpp")]
    print(
        f"python_speed: {POINTS} points {milliseconds[0]}, in C++ {milliseconds[1]} ({ratio:.2f}); "
        f"{OBSERVATIONS} observations {added:.2f} s; {len(missed)} bars missed"
    )
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
