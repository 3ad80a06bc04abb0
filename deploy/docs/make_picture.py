#!/usr/bin/env python3
"""Makes deploy/docs/fidelities.svg, the picture of the README, from a fit by a running server.

usage: FIDELIO_SERVER=HOST:PORT make_picture.py   (with the command fidelio in PATH)

The problem is "nonlinear A" of Perdikaris et al. (2017): f_low = sin(8πx), f_high = (x − √2) f_low². Left, a GP of the
expensive runs; right, an MF-DGP of the same runs and cheap ones.
"""

import csv
import math
import pathlib
import subprocess
import tempfile

OUTPUT = pathlib.Path(__file__).with_name("fidelities.svg")
LOW = [(i + 0.5) / 50 for i in range(50)]
HIGH = [(i + 0.5 + 0.35 * math.sin(9 * i)) / 13 for i in range(13)]
GRID = [i / 300 for i in range(301)]
LEFT, TOP, WIDTH, HEIGHT, GAP = 36, 44, 400, 230, 48
Y_MIN, Y_MAX = -2.0, 1.2

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .frame { fill: none; stroke: #8c959f }
  .truth { fill: none; stroke: #24292f; stroke-dasharray: 5 4 }
  .mean { fill: none; stroke: #0969da; stroke-width: 2 }
  .band { fill: #0969da; opacity: .2 }
  .high { fill: #cf222e }
  .low { fill: none; stroke: #8250df; stroke-width: 1.3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .truth { stroke: #e6edf3 } .mean { stroke: #58a6ff } .band { fill: #58a6ff }
    .high { fill: #ff7b72 } .low { stroke: #d2a8ff }
  }
"""


def low(x):
    return math.sin(8 * math.pi * x)


def high(x):
    return (x - math.sqrt(2)) * low(x) ** 2


def fidelio(*arguments):
    subprocess.run(["fidelio", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def predictions(kind, directory):
    """Rows of mean and 95 % interval on the grid, from a model of this kind that is deleted again."""
    name = f"picture-{kind}"
    fidelio("model", "create", name, "--kind", kind, "--inputs", 1, "--fidelities", "low,high", "--lower", 0, "--upper", 1)
    try:
        fidelio("observe", name, directory / "runs.csv")
        fidelio("fit", name, "--watch")
        fidelio("predict", name, directory / "grid.csv", "--quantiles", "0.025,0.975", "-o", directory / "out.csv")
    finally:
        fidelio("model", "delete", name, "--yes")
    with open(directory / "out.csv", encoding="utf-8", newline="") as file:
        return [[float(row[column]) for column in ("mean", "q0.025", "q0.975")] for row in csv.DictReader(file)]


def panel(left, title, rows, with_low):
    def place(x, y):
        y = min(max(y, Y_MIN), Y_MAX)
        return f"{left + x * WIDTH:.1f},{TOP + (Y_MAX - y) / (Y_MAX - Y_MIN) * HEIGHT:.1f}"

    def line(ys):
        return " ".join(place(x, y) for x, y in zip(GRID, ys))

    lower, upper = [row[1] for row in rows], [row[2] for row in rows]
    band = line(upper) + " " + " ".join(reversed(line(lower).split()))
    parts = [f'<text class="title" x="{left}" y="{TOP - 12}">{title}</text>', f'<polygon class="band" points="{band}"/>',
             f'<polyline class="truth" points="{line([high(x) for x in GRID])}"/>',
             f'<polyline class="mean" points="{line([row[0] for row in rows])}"/>']
    if with_low:
        for x in LOW:
            a, b = place(x, low(x)).split(",")
            parts.append(f'<circle class="low" cx="{a}" cy="{b}" r="2.6"/>')
    for x in HIGH:
        a, b = place(x, high(x)).split(",")
        parts.append(f'<circle class="high" cx="{a}" cy="{b}" r="4"/>')
    parts.append(f'<rect class="frame" x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>')
    return parts


def legend():
    x, y = LEFT, TOP + HEIGHT + 26
    entries = [('<circle class="high" cx="{0}" cy="{1}" r="4"/>', "expensive run", 110),
               ('<circle class="low" cx="{0}" cy="{1}" r="3"/>', "cheap run", 100),
               ('<path class="truth" d="M{2} {1}H{3}"/>', "truth", 80),
               ('<path class="mean" d="M{2} {1}H{3}"/>', "prediction", 110),
               ('<rect class="band" x="{2}" y="{4}" width="20" height="10"/>', "95 % interval", 120)]
    parts = []
    for mark, text, width in entries:
        parts.append(mark.format(x + 10, y - 4, x, x + 20, y - 9))
        parts.append(f'<text x="{x + 26}" y="{y}">{text}</text>')
        x += width + 20
    return parts


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        runs = [("low", x, low(x)) for x in LOW] + [("high", x, high(x)) for x in HIGH]
        (directory / "runs.csv").write_text("fidelity,x1,y\n" + "".join(f"{f},{x},{y}\n" for f, x, y in runs))
        (directory / "grid.csv").write_text("x1\n" + "".join(f"{x}\n" for x in GRID))
        alone, both = predictions("gp", directory), predictions("mf-dgp", directory)
    parts = panel(LEFT, f"{len(HIGH)} expensive runs: a Gaussian process", alone, False)
    parts += panel(LEFT + WIDTH + GAP, f"the same plus {len(LOW)} cheap runs: Fidelio", both, True)
    parts += legend()
    width, height = 2 * LEFT + 2 * WIDTH + GAP, TOP + HEIGHT + 44
    OUTPUT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Predictions of a nonlinear problem from expensive runs alone, and with cheap runs">\n<style>{STYLE}</style>\n'
        + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
