"""Boxes of inputs, whose two usual forms must not be confused."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from fidelio._wire import Array, doubles_of
from fidelio.errors import InvalidArgument
from fidelio.v1 import model_pb2

_NAMED = "fidelio.Box(lower=[…], upper=[…]) or fidelio.Box.from_bounds([(lo, hi), …])"


@dataclasses.dataclass(frozen=True)
class Box:
    """A box of inputs, given by its corners.

    Parameters
    ----------
    lower, upper : sequence of float
        The least and the greatest value of each input, in the user's units.

    Raises
    ------
    InvalidArgument
        If the corners have different lengths, or a lower bound is not below its upper bound.

    Examples
    --------
    >>> import fidelio
    >>> fidelio.Box(lower=[0, 2], upper=[1, 5]) == fidelio.Box.from_bounds([(0, 1), (2, 5)])
    True
    """

    lower: Tuple[float, ...]
    upper: Tuple[float, ...]

    def __init__(self, lower: Union[Sequence[float], Array], upper: Union[Sequence[float], Array]) -> None:
        corners = [doubles_of(corner, f"box: {what}").ravel() for what, corner in (("lower", lower), ("upper", upper))]
        if len(corners[0]) != len(corners[1]):
            raise InvalidArgument(f"box: lower has {len(corners[0])} numbers, but upper has {len(corners[1])}")
        wrong = np.flatnonzero(~(corners[0] < corners[1]))
        if wrong.size:
            place = int(wrong[0])
            below, above = float(corners[0][place]), float(corners[1][place])
            raise InvalidArgument(
                f"box: input {place} goes from {below:g} to {above:g}, but the lower bound must be below the upper one"
            )
        object.__setattr__(self, "lower", tuple(corners[0].tolist()))
        object.__setattr__(self, "upper", tuple(corners[1].tolist()))

    @classmethod
    def from_bounds(cls, bounds: Sequence[Tuple[float, float]]) -> Box:
        """The box of one (lower, upper) pair per input, as scipy.optimize takes them.

        Parameters
        ----------
        bounds : sequence of (float, float)

        Returns
        -------
        Box
        """
        pairs = doubles_of(bounds, "bounds")
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InvalidArgument(f"bounds: has shape {pairs.shape}, must be one (lower, upper) pair per input")
        return cls(pairs[:, 0], pairs[:, 1])

    def _wire(self) -> model_pb2.InputBox:
        return model_pb2.InputBox(lower=self.lower, upper=self.upper)


BoxLike = Union[Box, Sequence[Any], Array]


def box_of(box: Any, dimension: int) -> Box:
    """The box that a caller means: a Box, (lower, upper), or a (lower, upper) pair per input where that is clear.

    With two inputs both forms are 2×2. Corners are taken when the other reading is no box at all, as in
    ([0, 0], [1, 1]); everything else is refused.
    """
    if isinstance(box, Box):
        return _of_dimension(box, dimension)
    try:
        first, second = box
        corners: Optional[List[Array]] = [np.asarray(corner, dtype=float).ravel() for corner in (first, second)]
    except (TypeError, ValueError):
        corners = None
    try:
        pairs: Optional[Array] = np.asarray(box, dtype=float)
        if pairs is not None and pairs.shape != (dimension, 2):
            pairs = None
    except (TypeError, ValueError):
        pairs = None
    if corners is not None and any(len(corner) != dimension for corner in corners):
        if pairs is None and len(corners[0]) == len(corners[1]):
            return _of_dimension(Box(*corners), dimension)
        corners = None
    if corners is None and pairs is None:
        raise InvalidArgument(
            f"box: {box!r}, must be (lower, upper) with {dimension} number{'s' * (dimension > 1)} in each, or "
            f"{dimension} (lower, upper) pair{'s' * (dimension > 1)}"
        )
    if corners is None or pairs is None:
        return Box(*corners) if corners is not None else Box.from_bounds(pairs)  # type: ignore[arg-type]
    as_corners, as_pairs = bool(np.all(corners[0] < corners[1])), bool(np.all(pairs[:, 0] < pairs[:, 1]))
    if as_corners and (not as_pairs or corners[0][1] == corners[1][0]):  # which makes both readings the same box
        return Box(*corners)
    if not as_corners and not as_pairs:
        return Box(*corners)  # raises
    raise InvalidArgument(
        f"box: {box!r} may mean (lower, upper), or a (lower, upper) pair for each of the two inputs; say: {_NAMED}"
    )


def _of_dimension(box: Box, dimension: int) -> Box:
    if len(box.lower) != dimension:
        raise InvalidArgument(f"box: has {len(box.lower)} inputs, but the model has {dimension}")
    return box
