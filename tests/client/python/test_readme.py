"""The code of the package's README runs as it stands."""

import os
import re

import pytest

README = os.path.join(os.path.dirname(__file__), "..", "..", "..", "client", "python", "README.md")
BLOCKS = re.findall(r"```python\n(.*?)```", open(README, encoding="utf-8").read(), re.DOTALL)


def test_the_code_of_the_readme_runs(capsys):
    names = {}
    try:
        for block in BLOCKS:
            for module in ("sklearn", "emukit"):
                if f"fidelio.{module}" in block:
                    pytest.importorskip(module)
            exec(compile(block, README, "exec"), names)
    finally:
        names["client"].close()
    printed = capsys.readouterr().out
    assert re.search(r"^-?\d\.\d{3} ± \d\.\d{3}, in truth", printed, re.MULTILINE)
    assert "X: row 0 is not finite" in printed
