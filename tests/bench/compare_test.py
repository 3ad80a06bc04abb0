#!/usr/bin/env python3
"""Shows that compare.sh judges repeated measurements as it says, with build directories whose benches are scripts."""

import contextlib
import io
import itertools
import json
import pathlib
import subprocess
import tempfile
import unittest

import compare

SCRIPT = pathlib.Path(__file__).with_name("compare.sh")

# Writes the next of the given results, and says so in a log that both builds share.
FAKE_BENCH = """#!/usr/bin/env python3
import json, pathlib, sys
results = json.loads(pathlib.Path({directory!r}, "results.json").read_text())
runs = pathlib.Path({directory!r}, "runs")
run = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (run + 1))
with open({log!r}, "a") as log:
    log.write({name!r} + " " + sys.argv[1] + "\\n")
if results[run] is None:
    sys.exit("the model cannot be fitted")
pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(results[run]))
"""


def calls(times):
    """What predict-speed writes, per run."""
    return [[{"points": 100, "quantiles": 0, "us_per_call": t, "us_per_point": t / 100}] for t in times]


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.log = pathlib.Path(self.directory.name, "log")

    def build(self, name, results):
        directory = pathlib.Path(self.directory.name, name)
        program = directory / "bin" / "fidelio-bench"
        program.parent.mkdir(parents=True)
        program.write_text(FAKE_BENCH.format(directory=str(directory), log=str(self.log), name=name))
        program.chmod(0o755)
        (directory / "results.json").write_text(json.dumps(results))
        return directory

    def compare(self, old, new, *arguments):
        """Of the results of the runs of two builds."""
        builds = [self.build("old", old), self.build("new", new)]
        return subprocess.run(
            [SCRIPT, *builds, "--benches", "predict-speed", *arguments], capture_output=True, text=True, check=False
        )

    def test_runs_are_interleaved_and_take_turns_at_being_first(self):
        done = self.compare(calls([100] * 5), calls([100] * 5))
        self.assertEqual(done.returncode, 0, done.stderr)
        builds = [line.split()[0] for line in self.log.read_text().splitlines()]
        self.assertEqual(builds, ["old", "new", "new", "old", "old", "new", "new", "old", "old", "new"])
        self.assertIn("repetition 4/5: old predict-speed", done.stderr)

    def test_fails_when_the_new_build_is_clearly_slower(self):
        done = self.compare(calls([100, 101, 99, 100, 102] * 2), calls([110, 109, 111, 110, 112] * 2))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(len(self.log.read_text().splitlines()), 20)
        self.assertIn("slower: predict-speed: points=100 quantiles=0: us_per_call", done.stdout)
        self.assertIn("1.100", done.stdout)

    def test_passes_when_a_second_measurement_does_not_confirm_the_first(self):
        done = self.compare(calls([100] * 10), calls([110] * 5 + [100] * 5))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 figures: 0 slower by more than 5 %", done.stdout)

    def test_passes_when_the_new_build_is_less_than_5_percent_slower(self):
        done = self.compare(calls([100, 101, 99, 100, 102]), calls([104, 104, 103, 104, 104]))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 figures: 0 slower by more than 5 %, 0 too noisy to tell", done.stdout)

    def test_passes_but_says_so_when_noise_explains_the_difference(self):
        done = self.compare(calls([100, 140, 99, 130, 102]), calls([110, 100, 150, 135, 112]))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("0 slower by more than 5 %, 1 too noisy to tell", done.stdout)

    def test_one_disturbed_run_does_not_hide_a_slower_build(self):
        self.assertEqual(compare.judge([100, 150, 99, 100, 101], [120, 121, 119, 120, 180])[1], "slower")
        self.assertEqual(compare.judge([100, 150, 99, 130, 101], [120, 121, 119, 120, 180])[1], "noisy")

    def test_of_a_rate_more_is_better(self):
        self.assertEqual(compare.judge([100] * 5, [90] * 5, rate=True)[1], "slower")
        self.assertEqual(compare.judge([100] * 5, [120] * 5, rate=True)[1], "faster")
        self.assertAlmostEqual(compare.judge([100] * 5, [80] * 5, rate=True)[0], 1.25)

    def test_lists_figures_that_one_build_lacks(self):
        old = [[{"points": 1, "us_per_call": 5}, {"points": 2, "us_per_call": 6}]] * 5
        new = [[{"points": 1, "us_per_call": 5}, {"points": 3, "us_per_call": 9}]] * 5
        done = self.compare(old, new)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("only the old build has: predict-speed: points=2: us_per_call", done.stdout)
        self.assertIn("only the new build has: predict-speed: points=3: us_per_call", done.stdout)

    def test_is_impossible_when_a_bench_fails_or_nothing_is_shared(self):
        done = self.compare(calls([100]) + [None], calls([100] * 5))
        self.assertEqual(done.returncode, 2)
        self.assertIn("the model cannot be fitted", done.stderr)

    def test_is_impossible_without_common_figures_or_programs(self):
        done = self.compare([[{"points": 1, "us_per_call": 5}]] * 5, [[{"points": 2, "us_per_call": 5}]] * 5)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no figure in common", done.stderr)
        done = subprocess.run([SCRIPT, "/nowhere", "/nowhere"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/bin/fidelio-bench: No such file", done.stderr)

    def test_refuses_options_that_cannot_work(self):
        for arguments, message in (
            (("--repetitions", "4"), "--repetitions: 4, must be at least 5"),
            (("--benches", "quick"), '--benches: "quick", must be of fit-speed,'),
        ):
            done = subprocess.run([SCRIPT, "a", "b", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_writes_all_runs(self):
        out = pathlib.Path(self.directory.name, "out.json")
        self.compare(calls([100] * 5), calls([50] * 5), "--json", out)
        (row,) = json.loads(out.read_text())
        self.assertEqual((row["old"], row["new"], row["ratio"], row["verdict"]), ([100] * 5, [50] * 5, 0.5, "faster"))

    def test_finds_the_figures_of_every_bench(self):
        for document, expected in (
            (
                {"gemm_gflops": 9, "rows": [{"problem": "park2", "sizes": [30, 3], "fit_seconds": 1, "whole_fit": True}]},
                [("rows: park2 30/3: fit_seconds", 1, False)],
            ),
            (  # how long the budget was, is no figure
                {"rows": [{"problem": "p", "sizes": [9], "fit_seconds": 5, "whole_fit": False, "us_per_evaluation": 7}]},
                [("rows: p 9: us_per_evaluation", 7, False)],
            ),
            ([{"problem": "h", "rmse": 3, "seconds": 1}], [("h: seconds", 1, False)]),
            (
                {"rbf": {"first": {"wall_seconds": 1, "cpu_seconds": 2}, "textbook_first": {"wall_seconds": 9}}},
                [("rbf: first: wall_seconds", 1, False)],
            ),
            (
                {"sizes": [{"k": 50, "seconds": 1}, {"k": 50, "seconds": 2}]},
                [("sizes: k=50: seconds", 1, False), ("sizes: k=50 (#2): seconds", 2, False)],
            ),
            (
                {"small": {"bare server": {"p50_us": 1}, "in-process": {"p50_us": 2, "p99_us": 9}}},
                [("small: in-process: p50_us", 2, False)],
            ),
            ({"bare_calls_per_s": 2, "calls_per_s": 1}, [("calls_per_s", 1, True)]),
        ):
            self.assertEqual(list(compare.figures(document)), expected)

    def test_runs_of_the_same_speed_rarely_look_slower(self):
        orders = list(itertools.combinations(range(10), 5))  # of the old runs among all, by how long they took
        apart = [compare.separated([10**o for o in old], [10**n for n in range(10) if n not in old]) for old in orders]
        self.assertEqual((sum(apart), len(orders)), (6, 252))

    def test_report_without_differences_has_no_slower_figures(self):
        same = {"dpp: further_seconds": ([1, 1.01, 0.99, 1], False)}
        with contextlib.redirect_stdout(io.StringIO()):
            _, slower = compare.report(same, same)
        self.assertEqual(slower, [])


if __name__ == "__main__":
    unittest.main()
