"""From the server's words to the caller's: fields of the contract become arguments of this package."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Sequence, Tuple, Union

_NAME_RULE = (
    "which is not a name for a model: use lower-case letters, digits and hyphens, at most 63, beginning with a letter "
    "and not ending with a hyphen"
)
_NAME_FIELD = r"\b(?:header\.)?(?:model_id|name|model|parent)"
_Rule = Tuple["re.Pattern[str]", Union[str, Callable[["re.Match[str]"], str]]]


def _rules(*rules: Tuple[str, Any]) -> List[_Rule]:
    return [(re.compile(pattern), replacement) for pattern, replacement in rules]


_COMMON = _rules(
    (rf'{_NAME_FIELD}: "(?:models/)?([^"]*)" is not (?:models/)?\{{model\}}.*', rf'name: "\1", {_NAME_RULE}'),
    (rf"{_NAME_FIELD}: missing, must be .*\{{model\}}.*", f'name: "", {_NAME_RULE}'),
    (r"^(?:header\.)?model_id\b", "name"),
    (r"\bmodel\.input_dimension\b", "inputs"),
    (r"\bmodel\.inputs\b", "inputs"),
    (r"\bmodel\.outputs\[0\]", "output"),
    (r"\bmodel\.outputs\b", "output"),
    (r"\bmodel\.fidelities\[(\d+)\]\.name", r"fidelities[\1]"),
    (r"\bmodel\.fidelities\[(\d+)\]\.cost", r"costs[\1]"),
    (r"\bmodel\.fidelities\b", "fidelities"),
    (r"\bmodel\.input_box\b", "box"),
    (r"\bmodel\.output_transform\.(lower|upper)\b", "bounds"),
    (r"\bmodel\.output_transform(\.kind)?\b", "transform"),
    (r"\bmodel\.(description|kind|keep_revisions)\b", r"\1"),
    (r"\bbut input_dimension is (\d+)", r"but the model has \1 inputs"),
    (r"\bhas input dimension (\d+)", r"has \1 inputs"),
    (r"\bupdate_mask: empty.*", "update: nothing to change; pass at least one argument"),
    (r"\boptions\.budget\.(seconds|iterations)\b", r"\1"),
    (r"\boptions\.kernel_family\b", "kernel"),
    (r"\boptions\.full_covariance\b", "return_cov (full_cov)"),
    (r"\boptions\.level\b", "fidelity"),
    (r"\boptions\.", ""),
    (r"\binference ([A-Z_]+) does\b", lambda match: f"inference={_word(match[1])!r} does"),
    (r"\bdirection: SUGGEST_DIRECTION_MAXIMISE\b", "maximise: True"),
    (r"\bcriteri(?:on|a) ([A-Z_]+)(?: and ([A-Z_]+))? ha(?:s|ve) one", lambda match: _criteria(match)),
    (r"\bcandidate_count\b", "candidates"),
    (r"\bquality_mode is GIVEN\b", "quality='given'"),
    (r"\bquality: missing, but quality='given'", "quality: 'given', must be none, mean, or a number per candidate"),
    (r"\bbatch_data_version\b", "batch"),
    (r"\bwith AddObservations\b", "with model.add()"),
    (r"\bpending\[(\d+)\]\.inputs\b", "pending"),
    (r"\bcounts\[(\d+)\]\.(count|level)\b", "counts"),
    (r"\belement \[(\d+), (\d+)\]", r"row \1, column \2"),
)  # fmt: skip
_OF_METHOD = {
    "Predict": _rules((r"(?m)^(\s*)inputs\b", r"\1X")),
    "PredictStream": _rules((r"(?m)^(\s*)inputs\b", r"\1X")),
    "SamplePaths": _rules((r"(?m)^(\s*)inputs\b", r"\1X"), (r"(?m)^(\s*)level\b", r"\1fidelity")),
    "SampleDPP": _rules((r"(?m)^(\s*)level\b", r"\1fidelity")),
    "Suggest": _rules((r"(?m)^(\s*)levels\b", r"\1fidelities")),
    "CorrectObservations": _rules(
        (r"\boutputs(?:\[(\d+),0\]|: row (\d+), column 0)", lambda match: f"y[{match[1] or match[2]}]"),
        (r"\bnoise_variances(?:\[(\d+),0\]|: row (\d+), column 0)", lambda match: f"noise[{match[1] or match[2]}]"),
        (r"(?m)^(\s*)outputs\b", r"\1y"),
        (r"(?m)^(\s*)noise_variances\b", r"\1noise"),
    ),
}
_FIELDS = {"inputs": "X", "outputs": "y", "noise_variances": "noise", "run_ids": "run_ids", "level": "fidelity"}


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


def _criteria(match: re.Match[str]) -> str:
    return " and ".join(f"criterion={_word(name)!r}" for name in match.groups() if name) + (
        " have one" if match[2] else " has one"
    )


def translate(method: str, text: str) -> str:
    """A message about a request of this method, in terms of the arguments that made it."""
    for pattern, replacement in _COMMON + _OF_METHOD.get(method, []):
        text = pattern.sub(replacement, text)
    return text


def translate_rows(text: str, batches: Sequence[Sequence[int]]) -> str:
    """The same of AddObservations, whose batches had these rows of X."""

    def place(match: re.Match[str]) -> str:
        batch, field, row = int(match[1]), _FIELDS[match[2]], match[3] or match[5]
        column = match[4] or match[6]
        if row is None or int(row) >= len(batches[batch]):
            return field
        number = int(batches[batch][int(row)])
        return f"X[{number}, {column}]" if field == "X" else f"{field}[{number}]"

    names = "|".join(_FIELDS)
    pattern = rf"\bobservations\[(\d+)\]\.({names})\b(?:\[(\d+)(?:, ?(\d+))?\]|: row (\d+), column (\d+))?"
    return re.sub(pattern, place, text)
