"""What calls return: plain values and numpy arrays, in the user's units."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, List, Optional, Tuple

import numpy as np

from fidelio import _html, _wire
from fidelio._designs import Design, InitialDesign, Suggestion, Suggestions
from fidelio._diagnosis import Diagnosis, FidelityDiagnostics, Verdict
from fidelio._methods import Method, MethodOption
from fidelio._observations import Added, Changed, Observations, ObservationWarning
from fidelio._prediction import Prediction
from fidelio._wire import Array

__all__ = [
    "Added", "Changed", "Design", "Diagnosis", "Fidelity", "FidelityDiagnostics", "InitialDesign", "Input", "Method",
    "MethodOption", "ModelInfo", "ObservationWarning", "Observations", "Output", "Prediction", "Revision", "ServerInfo",
    "Suggestion", "Suggestions", "Verdict",
]  # fmt: skip


def _time(message: Any, field: str) -> Optional[datetime.datetime]:
    if not message.HasField(field):
        return None
    return getattr(message, field).ToDatetime().replace(tzinfo=datetime.timezone.utc)


def _seconds(duration: Any) -> float:
    return duration.seconds + 1e-9 * duration.nanos


@dataclasses.dataclass(frozen=True)
class Fidelity:
    """A fidelity of a model; its level is its place in ModelInfo.fidelities.

    Attributes
    ----------
    name : str
    cost : float
        Of one run.
    """

    name: str
    cost: float


@dataclasses.dataclass(frozen=True)
class Input:
    """An input of the simulator, for Client.create_model and Model.update.

    Parameters
    ----------
    name : str
        Name of the column in frames and files: letters, digits, and the characters _ . - after the first.
    unit, description : str
        For people.
    lower, upper : float, optional
        The range in which it lives. Give it to all inputs of a model or to none. The model keeps it as its box.

    Examples
    --------
    >>> import fidelio
    >>> fidelio.Input("angle", unit="deg", lower=-5, upper=15)
    Input(name='angle', unit='deg', description='', lower=-5, upper=15)
    """

    name: str
    unit: str = ""
    description: str = ""
    lower: Optional[float] = None
    upper: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Output:
    """The output of the simulator, for Client.create_model and Model.update.

    Parameters
    ----------
    name : str
        Name of its column in frames and files.
    unit, description : str
        For people.
    """

    name: str
    unit: str = ""
    description: str = ""


@dataclasses.dataclass(frozen=True)
class ModelInfo:
    """A model as it was when the server was asked.

    Attributes
    ----------
    name, description : str
    inputs : int
        Number d of inputs.
    fidelities : tuple of Fidelity
        From the lowest.
    box : (ndarray, ndarray) or None
        Lower and upper corner.
    kind, transform : str
    bounds : (float, float) or None
        Of transform "bounded".
    counts : tuple of int
        Observations in use per fidelity.
    data_version : int
        Grows with every change of the observations.
    revision : int or None
        The revision that predicts; None before the first fit.
    etag : str
    created, updated : datetime or None
    quarantined : str
        Why the model is quarantined, or empty.
    named_inputs : tuple of Input
        The inputs with names, units and ranges; empty when they have no names.
    output : Output or None
        None when it has no name.
    keep_revisions : int
        How many revisions are kept; 0 is the server's setting.
    withdrawn : int
        Observations that were withdrawn or replaced so far.
    revision_withdrawn : int
        Those of them that the current revision still knows. Above 0, the model needs a new fit.
    """

    name: str
    description: str
    inputs: int
    fidelities: Tuple[Fidelity, ...]
    box: Optional[Tuple[Array, Array]]
    kind: str
    transform: str
    bounds: Optional[Tuple[float, float]]
    counts: Tuple[int, ...]
    data_version: int
    revision: Optional[int]
    etag: str
    created: Optional[datetime.datetime]
    updated: Optional[datetime.datetime]
    quarantined: str
    named_inputs: Tuple[Input, ...] = ()
    output: Optional[Output] = None
    keep_revisions: int = 0
    withdrawn: int = 0
    revision_withdrawn: int = 0

    @property
    def input_names(self) -> Tuple[str, ...]:
        """Names of the inputs in the order of columns; x1, x2, … when they have none."""
        return tuple(i.name for i in self.named_inputs) or tuple(f"x{i + 1}" for i in range(self.inputs))

    @property
    def output_name(self) -> str:
        """Name of the output; y when it has none."""
        return self.output.name if self.output else "y"

    def _repr_html_(self) -> str:
        rows = [[f.name, f.cost, count] for f, count in zip(self.fidelities, self.counts)]
        names = ", ".join(f"{i.name} ({i.unit})" if i.unit else i.name for i in self.named_inputs)
        notes = [
            f"{self.inputs} inputs: {names or ', '.join(self.input_names)}",
            f"kind {self.kind}, transform {self.transform}, "
            + (f"revision {self.revision}" if self.revision else "not fitted"),
        ]
        if self.revision_withdrawn:
            notes.append(f"The revision knows {self.revision_withdrawn} withdrawn observations: fit again.")
        title = f"Model {self.name}" + (f": {self.description}" if self.description else "")
        return _html.table(["fidelity", "cost", "observations"], rows, title, notes)

    @classmethod
    def _of(cls, wire: Any) -> ModelInfo:
        transform = _wire.TRANSFORMS.word(wire.output_transform.kind) or "identity"
        box = None
        if wire.HasField("input_box"):
            box = (np.array(wire.input_box.lower), np.array(wire.input_box.upper))
        ranges = [(None, None)] * len(wire.inputs) if box is None else list(zip(box[0].tolist(), box[1].tolist()))
        return cls(
            name=_wire.short_name(wire.name),
            description=wire.description,
            inputs=wire.input_dimension,
            fidelities=tuple(Fidelity(f.name, f.cost if f.HasField("cost") else 1.0) for f in wire.fidelities),
            box=box,
            kind=_wire.KINDS.word(wire.kind),
            transform=transform,
            bounds=(wire.output_transform.lower, wire.output_transform.upper) if transform == "bounded" else None,
            counts=tuple(wire.observation_counts),
            data_version=wire.data_version,
            revision=int(_wire.short_name(wire.current_revision)) if wire.current_revision else None,
            etag=wire.etag,
            created=_time(wire, "create_time"),
            updated=_time(wire, "update_time"),
            quarantined=wire.quarantine_reason,
            named_inputs=tuple(Input(i.name, i.unit, i.description, *r) for i, r in zip(wire.inputs, ranges)),
            output=next((Output(o.name, o.unit, o.description) for o in wire.outputs), None),
            keep_revisions=wire.keep_revisions,
            withdrawn=wire.withdrawn_count,
            revision_withdrawn=wire.current_revision_withdrawn_count,
        )


@dataclasses.dataclass(frozen=True)
class Revision:
    """An immutable fitted state of a model.

    Attributes
    ----------
    number : int
    origin : str
        "fit" or "condition".
    data_version : int
        Version of the observations that it knows.
    counts : tuple of int
        Observations that it knows, per fidelity.
    kind, inference : str
    elbo : float
        Final objective.
    seconds : float
        Of work.
    created : datetime or None
    code_version : str
        Of the server that made it.
    size : int
        Bytes.
    sha256 : str
    current : bool
        Whether it is the one that predicts.
    withdrawn : int
        Observations that it knows and that were withdrawn or corrected since.
    """

    number: int
    origin: str
    data_version: int
    counts: Tuple[int, ...]
    kind: str
    inference: str
    elbo: float
    seconds: float
    created: Optional[datetime.datetime]
    code_version: str
    size: int
    sha256: str
    current: bool
    withdrawn: int = 0

    @classmethod
    def _of(cls, wire: Any) -> Revision:
        return cls(
            number=int(_wire.short_name(wire.name)),
            origin={1: "fit", 2: "condition"}.get(wire.origin, f"value {wire.origin}"),
            data_version=wire.data_version,
            counts=tuple(wire.observation_counts),
            kind=_wire.KINDS.word(wire.kind),
            inference=_wire.INFERENCES.word(wire.inference),
            elbo=wire.elbo,
            seconds=_seconds(wire.fit_duration),
            created=_time(wire, "create_time"),
            code_version=wire.code_version,
            size=wire.size_bytes,
            sha256=wire.sha256.hex(),
            current=wire.current,
            withdrawn=wire.withdrawn_count,
        )


@dataclasses.dataclass(frozen=True)
class ServerInfo:
    """What a server is, can do and allows.

    Attributes
    ----------
    version, build, isa_level : str
    kinds, inferences, kernels : list of str
        Words that the options kind, inference and kernel may have.
    caller : str
        Name of the token; empty without authentication.
    role : str
        "reader", "writer" or "admin".
    limits : fidelio.v1.Limits
    started : datetime or None
    methods : list of Method
        Every inference of every kind; empty from older servers.
    """

    version: str
    build: str
    isa_level: str
    kinds: List[str]
    inferences: List[str]
    kernels: List[str]
    caller: str
    role: str
    limits: Any
    started: Optional[datetime.datetime]
    methods: List[Method] = dataclasses.field(default_factory=list)

    @classmethod
    def _of(cls, wire: Any) -> ServerInfo:
        return cls(
            version=wire.version,
            build=wire.build,
            isa_level=wire.isa_level,
            kinds=[_wire.KINDS.word(kind) for kind in wire.model_kinds],
            inferences=[_wire.INFERENCES.word(inference) for inference in wire.inferences],
            kernels=[_wire.KERNELS.word(kernel) for kernel in wire.kernel_families],
            caller=wire.caller,
            role={1: "reader", 2: "writer", 3: "admin"}.get(wire.caller_role, ""),
            limits=wire.limits,
            started=_time(wire, "start_time"),
            methods=[Method._of(method) for method in wire.methods],
        )
