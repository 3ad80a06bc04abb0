"""Data frames: columns go by the names that the model has."""

from __future__ import annotations

import collections
from typing import Any, List, Sequence, Tuple

from fidelio.errors import InvalidArgument


def is_frame(x: Any) -> bool:
    """A data frame whose columns have names. One of columns 0, 1, … is as good as an array."""
    columns = getattr(x, "columns", None)
    return columns is not None and list(columns) != list(range(len(columns)))


def in_order(x: Any, names: Sequence[str], named: bool, what: str = "X") -> Any:
    """The columns of a frame in the order of the model's inputs."""
    columns = list(x.columns)
    if len(columns) == len(names) and set(columns) == set(names):
        return x[list(names)] if columns != list(names) else x
    if not named:
        raise InvalidArgument(
            f"{what}: has columns {shown(columns)}, but the inputs of the model have no names, so their order is not "
            "known; name them in the order of the model's inputs, by model.update(inputs=[…]) or "
            f"client.create_model(…, inputs=[…]), or call the columns {shown(names)}, or pass {what}.to_numpy()"
        )
    twice = [name for name, count in collections.Counter(columns).items() if count > 1]
    unknown = [column for column in columns if column not in names]
    missing = [name for name in names if name not in columns]
    parts = [
        f"{problem} column{'s' * (len(which) > 1)} {shown(which)}"
        for problem, which in (("unknown", unknown), ("missing", missing), ("repeated", twice))
        if which
    ]
    raise InvalidArgument(f"{what}: {', '.join(parts)}; the inputs of the model are {shown(names)}")


def shown(names: Sequence[Any]) -> str:
    return ", ".join(repr(name) for name in names)


def make(columns: Sequence[Tuple[str, Any]]) -> Any:
    """A pandas.DataFrame of (name, values) pairs; equal names are kept apart."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas: pip install pandas") from None
    frame = pandas.DataFrame({place: values for place, (_, values) in enumerate(columns)})
    frame.columns = [name for name, _ in columns]
    return frame


def inputs(names: Sequence[str], values: Any) -> List[Tuple[str, Any]]:
    """(name, column) pairs of a matrix of inputs."""
    return [(name, values[:, place]) for place, name in enumerate(names)]
