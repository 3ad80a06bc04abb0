#!/usr/bin/env python3
"""A steel strip, clamped at one end and loaded at the other: a simulator with three inputs, units and two fidelities.

  length     mm   200 to 400
  thickness  mm   1.5 to 3
  load       N    2 to 20
  deflection mm   of the loaded end (the output)

The fidelity "linear" is linear beam theory, one formula. "nonlinear" allows for large deflections and iterates to
equilibrium. Tables are CSV and go to standard output.

usage:
  strip.py run FILE           fills in the column deflection of the table FILE (columns fidelity, length, thickness, load)
  strip.py test [--count N]   N random inputs with their nonlinear deflection, to score predictions with
"""

import argparse
import csv
import math
import random
import sys

INPUTS = {"length": (200, 400), "thickness": (1.5, 3), "load": (2, 20)}
STEPS = 200


def stiffness(thickness):
    """E·I in N·mm² of steel (200 GPa), 20 mm wide."""
    return 200e3 * 20 * thickness**3 / 12


def linear(length, thickness, load):
    return load * length**3 / (3 * stiffness(thickness))


def nonlinear(length, thickness, load):
    ds, angles = length / STEPS, [0.0] * STEPS
    for _ in range(60):
        positions, position = [], 0.0
        for angle in angles:
            position += math.cos(angle) * ds
            positions.append(position)
        bent = 0.0
        for i, x in enumerate(positions):
            bent += load * (position - x) / stiffness(thickness) * ds
            angles[i] = (angles[i] + bent) / 2
    return sum(math.sin(angle) for angle in angles) * ds


FIDELITIES = {"linear": linear, "nonlinear": nonlinear}


def run(path):
    """The rows of a table, each with its deflection."""
    try:
        with sys.stdin if path == "-" else open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise SystemExit(f"strip.py: {path}: cannot be read: {error.strerror}")
    for number, row in enumerate(rows, start=1):
        try:
            row["deflection"] = FIDELITIES[row["fidelity"]](*(float(row[name]) for name in INPUTS))
        except (KeyError, TypeError, ValueError) as error:
            raise SystemExit(
                f"strip.py: {path}: row {number}: needs the columns {', '.join(INPUTS)}, and a fidelity that is one of "
                f"{', '.join(FIDELITIES)} ({error})"
            )
    return rows


def test(count):
    """Random inputs with their nonlinear deflection."""
    generator = random.Random(1)
    rows = [{name: round(generator.uniform(*limits), 3) for name, limits in INPUTS.items()} for _ in range(count)]
    return [{"fidelity": "nonlinear", **row, "deflection": nonlinear(**row)} for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="adds deflections to a table").add_argument("file", metavar="FILE")
    commands.add_parser("test", help="random inputs with their deflections").add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    rows = run(arguments.file) if arguments.command == "run" else test(arguments.count)
    if rows:
        out = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    main()
