"""Types: the words of options are those of the contract, and type checkers find wrong ones."""

import subprocess
import sys
from typing import get_args

import pytest

from fidelio import _types, _wire


@pytest.mark.parametrize(
    "literal, words, left_out",
    [
        (_types.Kind, _wire.KINDS, set()),
        (_types.Transform, _wire.TRANSFORMS, set()),
        (_types.Inference, _wire.INFERENCES, set()),
        (_types.Kernel, _wire.KERNELS, set()),
        (_types.DppMethod, _wire.METHODS, set()),
        (_types.Quality, _wire.QUALITIES, {"given"}),
        (_types.PathKind, _wire.PATHS, set()),
        (_types.Criterion, _wire.CRITERIA, set()),
        (_types.InitialMethod, _wire.INITIAL_METHODS, set()),
        (_types.VerdictKind, _wire.VERDICTS, set()),
        (_types.FitState, _wire.STATES, set()),
    ],
)
def test_the_words_are_those_of_the_contract(literal, words, left_out):
    assert set(get_args(literal)) == set(words._values) - left_out


GOOD = """
import asyncio
import fidelio
import numpy as np

client = fidelio.Client("h:1")
model = client.create_model("m", ["a", fidelio.Input("b")], kind="gp", transform="log", box=fidelio.Box([0], [1]))
model.fit(kernel="matern52", inference="moments")
mean = model.predict([[1.0]])
reveal_type(mean)
both = model.predict([[1.0]], return_std=True)
reveal_type(both)
reveal_type(model.suggest(1, criterion="max-variance")[0])
reveal_type(model.diagnose()[0])
reveal_type(model.sample_dpp(2))
reveal_type(model.fit().state)

async def main() -> None:
    model = await fidelio.AsyncClient().model("m")
    reveal_type(await model.suggest(2))
    await model.sample_dpp(2, method="map")
"""
BAD = """
import fidelio

client = fidelio.Client("h:1")
model = client.model("m")
model.fit(kernel="nonsense")
model.fit(inference="nonsense")
client.create_model("m", 2, kind="nonsense")
client.create_model("m", 2, transform="nonsense")
model.sample_dpp(2, method="nonsense")
model.sample_paths([[1.0]], kind="nonsense")
model.suggest(1, criterion="nonsense")
model.initial_design(5, method="nonsense")

async def main() -> None:
    client = fidelio.AsyncClient()
    await (await client.model("m")).suggest(1, criterion="nonsense")
    await (await client.model("m")).fit(kernel="nonsense")
    await client.create_model("m", 2, kind="nonsense")
"""


def _mypy(tmp_path, code):
    pytest.importorskip("mypy")
    path = tmp_path / "snippet.py"
    path.write_text(code)
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--ignore-missing-imports"]
    done = subprocess.run([*command, str(path)], stdout=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    return done.stdout


def test_type_checkers_know_what_calls_return(tmp_path):
    lines = [line for line in _mypy(tmp_path, GOOD).splitlines() if "Revealed type" in line or "error" in line]
    assert len(lines) == 7 and not [line for line in lines if "error" in line], "\n".join(lines)
    for line, expected in zip(
        lines,
        ["ndarray", "tuple[numpy.ndarray", "Suggestion", "FidelityDiagnostics", "Design", "Literal[", "Suggestions"],
    ):
        assert expected in line.replace("builtins.", "").replace("Tuple[", "tuple["), line


def test_type_checkers_find_words_that_are_none(tmp_path):
    output = _mypy(tmp_path, BAD)
    found = [line for line in output.splitlines() if "error:" in line and "nonsense" in line]
    assert len(found) == BAD.count("nonsense"), output
