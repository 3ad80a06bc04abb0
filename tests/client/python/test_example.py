"""The example runs as its reader would run it."""

import os
import re
import subprocess
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "client", "python", "examples")


def test_the_design_loop_learns_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, os.path.join(EXAMPLES, "design_loop.py"), str(tmp_path / "loop.png")],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    rounds = [tuple(map(float, pair)) for pair in re.findall(r"RMSE (\S+) with cheap runs, (\S+) without", done.stdout)]
    assert len(rounds) == 4 and rounds[-1][0] < 0.1 * rounds[-1][1]
    assert (tmp_path / "loop.png").read_bytes().startswith(b"\x89PNG")
