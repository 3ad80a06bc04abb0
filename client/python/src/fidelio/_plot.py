"""Pictures of predictions and diagnoses, where matplotlib is installed."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from fidelio import _add, _wire
from fidelio._wire import Array
from fidelio.errors import InvalidArgument

_BAND, _LINE, _DATA = "#0f766e", "#0f766e", "#c2410c"


def _axes(axes: Any, count: int, width: float) -> Tuple[Any, Any]:
    """A figure and `count` axes of it."""
    if axes is not None:
        chosen = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(chosen) != count:
            raise InvalidArgument(f"axes: {len(chosen)} of them, but {count} are needed")
        return chosen[0].figure, chosen
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
    columns = min(count, 3)
    rows = -(-count // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(width * columns, 3.2 * rows), squeeze=False)
    for unused in grid.ravel()[count:]:
        unused.set_visible(False)
    return figure, grid.ravel()[:count]


def _range(model: Any, seen: Array) -> Tuple[Array, Array]:
    """Where to draw: the box, or the range of the observed inputs."""
    box = model.refresh().box
    if box is not None:
        return box
    if not len(seen):
        raise InvalidArgument("plot: the model has neither a box nor observations, so that there is no range to draw")
    return seen.min(axis=0), seen.max(axis=0)


def model(model: Any, fidelity: Any, at: Any, points: int, axes: Any) -> Any:
    level = _add.level_of(fidelity, model.fidelities)
    own = model.observations(level)
    seen = own.inputs if len(own) else model.observations(None).inputs
    lower, upper = _range(model, seen)
    dimension = len(lower)
    centre = (lower + upper) / 2 if at is None else np.array(_wire.numbers_of(at, "at"))
    if len(centre) != dimension:
        raise InvalidArgument(f"at: {len(centre)} numbers, but the model has {dimension} inputs")
    x = np.tile(centre, (dimension, points, 1))
    for place in range(dimension):
        x[place, :, place] = np.linspace(lower[place], upper[place], points)
    posterior = model.posterior(x.reshape(-1, dimension), level, quantiles=[0.025, 0.975])
    figure, chosen = _axes(axes, dimension, 5.5 if dimension == 1 else 4.0)
    for place, ax in enumerate(chosen):
        rows = slice(place * points, (place + 1) * points)
        along = x[place, :, place]
        ax.fill_between(along, *posterior.quantiles[rows].T, color=_BAND, alpha=0.22, lw=0, label="95 % interval")
        ax.plot(along, posterior.mean[rows], color=_LINE, lw=2, label=f"prediction of {posterior.fidelity}")
        if dimension == 1:
            ax.plot(own.inputs[:, 0], own.outputs, "o", color=_DATA, ms=5, label=f"runs of {posterior.fidelity}")
        ax.set(xlabel=_label(model.info, place), ylabel=_output(model.info))
    chosen[0].legend(frameon=False, fontsize=8)
    return figure


def _label(info: Any, place: int) -> str:
    unit = info.named_inputs[place].unit if info.named_inputs else ""
    return str(info.input_names[place]) + (f" ({unit})" if unit else "")


def _output(info: Any) -> str:
    return str(info.output_name) + (f" ({info.output.unit})" if info.output and info.output.unit else "")


def diagnosis(diagnosis: Any, axes: Any) -> Any:
    figure, (left, right) = _axes(axes, 2, 4.5)
    seen = [one for one in diagnosis.fidelities if one.count]
    for one in seen:
        left.errorbar(
            one.mean, one.outputs, xerr=1.96 * np.sqrt(one.variance), fmt="o", ms=4, lw=0.8, label=one.fidelity
        )
        levels = np.sort(one.cdf)
        right.step(levels, np.arange(1, len(levels) + 1) / len(levels), where="post", label=one.fidelity)
    if seen:
        ends = [min(one.outputs.min() for one in seen), max(one.outputs.max() for one in seen)]
        left.plot(ends, ends, color="grey", lw=1)
        left.legend(frameon=False, fontsize=8)
    right.plot([0, 1], [0, 1], color="grey", lw=1)
    left.set(xlabel="predicted without it, 95 % interval", ylabel="observed")
    right.set(
        xlabel="predicted probability of smaller outputs", ylabel="share of observations", xlim=(0, 1), ylim=(0, 1)
    )
    return figure
