#!/usr/bin/env python3
"""Compares the speed of two builds: runs the benches of both in turns and fails when the new one is slower.

    compare.sh OLD_BUILD NEW_BUILD [--benches fit-speed,dpp] [--repetitions 5] [--json OUT]

OLD_BUILD and NEW_BUILD are build directories (with bin/ and lib/). Every repetition runs each bench once with either build,
the old one first in one repetition and the new one first in the next, so that a machine that slows down for a while slows
down both. Run nothing else on the machine.

A figure is slower when the new build takes more than 5 % longer and noise does not explain it: when its fastest run takes more
than 1.05 times as long as all runs of the old build but the slowest one. Whatever disturbs a run makes it longer, so one
disturbed run does not hide a slower build; where a build is just 5 % slower, 5 repetitions look like this by chance in 1 of
42 cases, and hardly ever where it is as fast as the old one. A figure whose median is more than 5 % slower, but whose runs
overlap, is shown as "noisy": repeat its bench with more repetitions. Benches with slower figures run a second time, and only
figures that are slower again make the comparison fail. Figures that only one build has are listed.

Exit codes: 0; 1 when a figure is slower; 2 when the comparison is impossible.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOLERANCE = 1.05
FEWEST_REPETITIONS = 5  # fewer look slower by chance too often

# Benches and their arguments. Large fits of fit-speed stop after 5 seconds; only their evaluations are compared.
BENCHES = {
    "fit-speed": ["--budget", "5"],
    "predict-speed": [],
    "serve": [],
    "condition": [],
    "dpp": [],
}

# What is compared: times, and rates, of which more is better. 99th percentiles vary too much between runs.
TIMES = {
    "fit_seconds",
    "us_per_evaluation",
    "us_per_call",
    "seconds",
    "seconds_refit",
    "wall_seconds",
    "further_seconds",
    "p50_us",
}
RATES = {"calls_per_s"}

# What the benches compare Fidelio with: the same code in both builds.
RIVALS = {"bare server", "textbook_first"}

# What an entry of a list is recognised by.
NAMES = ("problem", "method", "sizes", "points", "quantiles", "candidates", "k", "scale")


class Impossible(Exception):
    """There is nothing to compare."""


def label(entry):
    """The name of an entry of a list, such as branin 80/30/10."""
    words = []
    for name in NAMES:
        value = entry.get(name)
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, list):
            words.append("/".join(str(v) for v in value))
        elif value is not None:
            words.append(f"{name}={value:g}")
    return " ".join(words)


def figures(node, path=()):
    """Yields (name, value, is a rate) for every figure in the JSON of a bench."""
    if isinstance(node, list):
        seen = {}
        for entry in node:
            if not isinstance(entry, dict):
                continue
            name = label(entry)
            seen[name] = seen.get(name, 0) + 1
            yield from figures(entry, path + (name if seen[name] == 1 else f"{name} (#{seen[name]})",))
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in RIVALS or (key == "fit_seconds" and node.get("whole_fit") is False):
                continue
            if isinstance(value, (dict, list)):
                yield from figures(value, path + (key,))
            elif (key in TIMES or key in RATES) and isinstance(value, (int, float)) and value > 0:
                yield ": ".join(word for word in path + (key,) if word), value, key in RATES


def separated(low, high):
    """Whether every value of `high` is more than the tolerance above all of `low` but its largest one."""
    return min(high) > TOLERANCE * sorted(low)[-2]


def judge(old, new, rate=False):
    """(ratio of the medians as times, "slower" | "noisy" | "faster" | "") for repeated measurements of one figure."""
    if rate:
        old, new = [1 / v for v in old], [1 / v for v in new]
    ratio = statistics.median(new) / statistics.median(old)
    if separated(old, new):
        return ratio, "slower"
    if ratio > TOLERANCE:
        return ratio, "noisy"
    if separated(new, old):
        return ratio, "faster"
    return ratio, ""


def run_bench(build, bench, scratch):
    """The figures of one run: {name: (value, is a rate)}."""
    program = build / "bin" / "fidelio-bench"
    out = scratch / "bench.json"
    out.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [program, bench, *BENCHES[bench], "--json", out], cwd=scratch, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Impossible(f"{program}: {error.strerror}") from error
    if done.returncode != 0 or not out.exists():
        raise Impossible(f"{program} {bench}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return {f"{bench}: {name}": (value, rate) for name, value, rate in figures(json.loads(out.read_text()))}


def measure(builds, benches, repetitions):
    """Per build {name: ([value per repetition], is a rate)}."""
    measured = [{}, {}]
    with tempfile.TemporaryDirectory(prefix="fidelio-compare-") as directory:
        for repetition in range(repetitions):
            for bench in benches:
                for which in (0, 1) if repetition % 2 == 0 else (1, 0):
                    begin = time.monotonic()
                    found = run_bench(builds[which], bench, pathlib.Path(directory))
                    for name, (value, rate) in found.items():
                        measured[which].setdefault(name, ([], rate))[0].append(value)
                    print(
                        f"repetition {repetition + 1}/{repetitions}: {('old', 'new')[which]} {bench}, "
                        f"{time.monotonic() - begin:.0f} s",
                        file=sys.stderr,
                        flush=True,
                    )
    # A figure that some runs lack, as that of a fit that reaches its budget now and then, is none.
    return [{name: entry for name, entry in found.items() if len(entry[0]) == repetitions} for found in measured]


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def report(old, new):
    """Prints the table. The figures of both as JSON, and the names of those that are slower."""
    both = [name for name in old if name in new]
    if not both:
        raise Impossible("the two builds have no figure in common")
    width = max(len(name) for name in both)
    print(f"{'median of the runs':{width}} {'old':>11} {'new':>11} {'new/old':>8} {'spread':>11}")
    rows, slower = [], []
    for name in both:
        (values, rate), (new_values, _) = old[name], new[name]
        ratio, verdict = judge(values, new_values, rate)
        if verdict == "slower":
            slower.append(name)
        spreads = f"{100 * spread(values):.0f} %, {100 * spread(new_values):.0f} %"
        print(
            f"{name:{width}} {statistics.median(values):11.4g} {statistics.median(new_values):11.4g} "
            f"{ratio:8.3f} {spreads:>11} {verdict}".rstrip()
        )
        rows.append({"figure": name, "old": values, "new": new_values, "ratio": ratio, "verdict": verdict})
    print("new/old: of times; of rates, old/new. spread: (highest − lowest)/median of the old runs, of the new runs")
    for title, names in (
        ("only the old build has", [name for name in old if name not in new]),
        ("only the new build has", [name for name in new if name not in old]),
    ):
        for name in names:
            print(f"{title}: {name}")
    return rows, slower


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="compare.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("builds", nargs=2, type=pathlib.Path, metavar="BUILD", help="the old build, then the new one")
    parser.add_argument("--benches", default=",".join(BENCHES), help="which to run (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, help="runs per build and bench (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT", help="write the figures of all runs to this file")
    options = parser.parse_args(arguments)
    options.benches = options.benches.split(",")
    for bench in options.benches:
        if bench not in BENCHES:
            parser.error(f'--benches: "{bench}", must be of {",".join(BENCHES)}')
    if options.repetitions < FEWEST_REPETITIONS:
        parser.error(f"--repetitions: {options.repetitions}, must be at least {FEWEST_REPETITIONS}")
    return options


def main(arguments):
    options = parse(arguments)
    try:
        builds = [build.resolve() for build in options.builds]
        rows, slower = report(*measure(builds, options.benches, options.repetitions))
        if slower:
            print("slower figures: their benches run again")
            benches = [bench for bench in options.benches if any(name.startswith(f"{bench}: ") for name in slower)]
            again, still = report(*measure(builds, benches, options.repetitions))
            rows += [row | {"again": True} for row in again]
            slower = [name for name in slower if name in still]
    except Impossible as error:
        print(f"compare.sh: {error}", file=sys.stderr)
        return 2
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for name in slower:
        print(f"slower: {name}")
    noisy = len({row["figure"] for row in rows if row["verdict"] == "noisy"})
    print(f"{len({row['figure'] for row in rows})} figures: {len(slower)} slower by more than 5 %, {noisy} too noisy to tell")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
