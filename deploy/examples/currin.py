#!/usr/bin/env python3
"""Currin's function: a simulator of two inputs in [0, 1] and two fidelities, as a stand-in for your own.

The expensive fidelity "high" is the exponential function of Currin et al. (1988); the cheap one, "low", averages it over
four neighbours (Xiong, Qian and Wu, 2013). Tables are CSV and go to standard output.

usage:
  currin.py design --low 20 --high 5   inputs of both fidelities, spread over the square, with their outputs
  currin.py run FILE                   the table FILE (columns fidelity, x1, x2) with its outputs in a column y
  currin.py grid                       the fidelity "high" on a grid of 21 x 21, to score predictions with
"""

import argparse
import csv
import math
import sys


def high(a, b):
    decay = math.exp(-0.5 / b) if b > 0 else 0.0
    return (1 - decay) * (2300 * a**3 + 1900 * a**2 + 2092 * a + 60) / (100 * a**3 + 500 * a**2 + 4 * a + 20)


def low(a, b):
    down = max(0.0, b - 0.05)
    return (high(a + 0.05, b + 0.05) + high(a + 0.05, down) + high(a - 0.05, b + 0.05) + high(a - 0.05, down)) / 4


FIDELITIES = {"low": low, "high": high}


def halton(index, base):
    """The number `index`, from 1, of van der Corput's sequence."""
    value, scale = 0.0, 1.0
    while index:
        index, digit = divmod(index, base)
        scale /= base
        value += digit * scale
    return value


def spread(first, count):
    """`count` points that fill the unit square."""
    return [(halton(i, 2), halton(i, 3)) for i in range(first, first + count)]


def run(path):
    try:
        with (sys.stdin if path == "-" else open(path, encoding="utf-8", newline="")) as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise SystemExit(f"currin.py: {path}: cannot be read: {error.strerror}")
    for number, row in enumerate(rows, start=1):
        try:
            yield row["fidelity"], float(row["x1"]), float(row["x2"])
        except (KeyError, TypeError, ValueError) as error:
            raise SystemExit(f"currin.py: {path}: row {number}: needs the columns fidelity, x1 and x2 ({error})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    design = commands.add_parser("design", help="inputs spread over the square, with their outputs")
    design.add_argument("--low", type=int, default=20)
    design.add_argument("--high", type=int, default=5)
    commands.add_parser("run", help="a table with its outputs").add_argument("file", metavar="FILE")
    commands.add_parser("grid", help='the fidelity "high" on a grid')
    arguments = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    if arguments.command == "grid":
        out.writerow(["x1", "x2", "y"])
        out.writerows((i / 20, j / 20, high(i / 20, j / 20)) for i in range(21) for j in range(21))
        return
    if arguments.command == "design":
        points = [("low", *point) for point in spread(1, arguments.low)]
        points += [("high", *point) for point in spread(101, arguments.high)]
    else:
        points = list(run(arguments.file))
    out.writerow(["fidelity", "x1", "x2", "y"])
    for fidelity, a, b in points:
        if fidelity not in FIDELITIES:
            raise SystemExit(f'currin.py: "{fidelity}" is not a fidelity; they are {", ".join(FIDELITIES)}')
        out.writerow([fidelity, a, b, FIDELITIES[fidelity](a, b)])


if __name__ == "__main__":
    main()
