"""What a model is to be: the arguments of Client.create_model as a message, and how it differs from another model."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from fidelio import _wire
from fidelio._boxes import Box, BoxLike, box_of
from fidelio.errors import InvalidArgument
from fidelio.results import Input, ModelInfo, Output
from fidelio.v1 import model_pb2

InputLike = Union[str, Input]
OutputLike = Union[str, Output]


def _input(value: Any, place: int) -> Input:
    if isinstance(value, str):
        return Input(value)
    if isinstance(value, Input):
        return value
    raise InvalidArgument(f"inputs[{place}]: {value!r}, must be a name or a fidelio.Input")


def inputs_of(inputs: Any) -> Tuple[int, List[Input]]:
    """Their number, and the inputs if they have names."""
    if isinstance(inputs, str):
        raise InvalidArgument(f"inputs: {inputs!r}, must be a list of names, or their number")
    if isinstance(inputs, Sequence) or hasattr(inputs, "tolist") and getattr(inputs, "ndim", 0) == 1:
        named = [_input(value, place) for place, value in enumerate(list(inputs))]
        if not named:
            raise InvalidArgument("inputs: empty, must have at least one name")
        return len(named), named
    return _wire.whole_of(inputs, "inputs", 0, (1 << 32) - 1), []  # the server refuses 0


def fill_inputs(wire: model_pb2.Model, inputs: Sequence[InputLike], dimension: int) -> None:
    count, named = inputs_of(inputs)
    if count != dimension or not named:
        raise InvalidArgument(f"inputs: {count} names, but the model has {dimension} inputs")
    for one in named:
        wire.inputs.add(name=one.name, unit=one.unit, description=one.description)


def fill_output(wire: model_pb2.Model, output: OutputLike) -> None:
    if not isinstance(output, (str, Output)):
        raise InvalidArgument(f"output: {output!r}, must be a name or a fidelio.Output (a model has one output)")
    one = Output(output) if isinstance(output, str) else output
    wire.outputs.add(name=one.name, unit=one.unit, description=one.description)


def ranges_of(inputs: Any, box: Optional[BoxLike]) -> Optional[BoxLike]:
    """The box of inputs that have ranges; `box` of those that have none."""
    named = inputs_of(inputs)[1]
    if all(one.lower is None and one.upper is None for one in named):
        return box
    if box is not None:
        raise InvalidArgument("box: given, but the inputs have lower and upper, too")
    pairs = []
    for one in named:
        if one.lower is None or one.upper is None:
            raise InvalidArgument(f"inputs: {one.name!r} lacks lower or upper; give both to all inputs, or to none")
        pairs.append((one.lower, one.upper))
    return Box.from_bounds(pairs)


def model_of(
    inputs: Any,
    fidelities: Union[int, Sequence[str]],
    costs: Optional[Sequence[float]],
    box: Optional[BoxLike],
    kind: str,
    transform: str,
    bounds: Optional[Sequence[float]],
    description: str,
    output: Optional[OutputLike],
    keep_revisions: Optional[int],
) -> model_pb2.Model:
    dimension, named = inputs_of(inputs)
    if isinstance(fidelities, str):
        raise InvalidArgument(f"fidelities: {fidelities!r}, must be a list of names, or their number")
    names = [f"level-{level}" for level in range(fidelities)] if isinstance(fidelities, int) else list(fidelities)
    wire = model_pb2.Model(input_dimension=dimension, description=description, kind=_wire.KINDS.value(kind))
    prices = None if costs is None else _wire.numbers_of(costs, "costs")
    if prices is not None and len(prices) != len(names):
        raise InvalidArgument(f"costs: {len(prices)} numbers, but there are {len(names)} fidelities")
    for level, fidelity in enumerate(names):
        cost = None if prices is None else prices[level]
        wire.fidelities.append(model_pb2.Fidelity(name=str(fidelity), cost=cost))
    if named:
        fill_inputs(wire, named, dimension)
        box = ranges_of(named, box)
    if output is not None:
        fill_output(wire, output)
    if box is not None:
        wire.input_box.CopyFrom(box_of(box, dimension)._wire())
    if keep_revisions is not None:
        wire.keep_revisions = _wire.whole_of(keep_revisions, "keep_revisions", 0, 1_000_000)
    wire.output_transform.kind = _wire.TRANSFORMS.value(transform)
    if (bounds is None) == (wire.output_transform.kind == model_pb2.OUTPUT_TRANSFORM_KIND_BOUNDED):
        raise InvalidArgument("bounds: (lower, upper) of the output belong to transform='bounded', and only to that")
    if bounds is not None:
        corners = _wire.numbers_of(bounds, "bounds")
        if len(corners) != 2:
            raise InvalidArgument(f"bounds: {len(corners)} numbers, must be (lower, upper) of the output")
        wire.output_transform.lower, wire.output_transform.upper = corners
    return wire


def differences(there: ModelInfo, wanted: ModelInfo, description: bool, keep_revisions: bool) -> List[str]:
    """How a model that exists differs from the one that a call would create."""

    def plain(info: ModelInfo) -> List[Tuple[str, Any]]:
        box = info.box and tuple(list(zip(*(corner.tolist() for corner in info.box))))
        return [
            ("inputs", info.inputs),
            ("names of inputs", [one.name for one in info.named_inputs]),
            ("units of inputs", [one.unit for one in info.named_inputs]),
            ("descriptions of inputs", [one.description for one in info.named_inputs]),
            ("output", info.output),
            ("fidelities", [one.name for one in info.fidelities]),
            ("costs", [one.cost for one in info.fidelities]),
            ("box", box),
            ("kind", info.kind),
            ("transform", info.transform),
            ("bounds", info.bounds),
            *([("description", info.description)] if description else []),
            *([("keep_revisions", info.keep_revisions)] if keep_revisions else []),
        ]

    pairs = zip(plain(there), plain(wanted))
    return [f"{what}: {_text(old)}, not {_text(new)}" for (what, old), (_, new) in pairs if old != new]


def _text(value: Any) -> str:
    if value is None or value == []:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
