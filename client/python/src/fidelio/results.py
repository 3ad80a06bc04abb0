"""What calls answer: plain values and numpy arrays, in the user's units."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from fidelio import _wire
from fidelio._wire import Array


def _time(message: Any, field: str) -> Optional[datetime.datetime]:
    if not message.HasField(field):
        return None
    return getattr(message, field).ToDatetime().replace(tzinfo=datetime.timezone.utc)


def _seconds(duration: Any) -> float:
    return duration.seconds + 1e-9 * duration.nanos


@dataclasses.dataclass(frozen=True)
class Fidelity:
    """A fidelity of a model; its level is its place in ModelInfo.fidelities."""

    name: str
    cost: float


@dataclasses.dataclass(frozen=True)
class ModelInfo:
    """A model as it was when the server was asked."""

    name: str
    description: str
    inputs: int  # input dimension d
    fidelities: Tuple[Fidelity, ...]  # from the lowest
    box: Optional[Tuple[Array, Array]]  # lower and upper corner
    kind: str
    transform: str
    bounds: Optional[Tuple[float, float]]  # of transform "bounded"
    counts: Tuple[int, ...]  # observations per fidelity
    data_version: int  # number of batches of observations
    revision: Optional[int]  # that predicts; None before the first fit
    etag: str
    created: Optional[datetime.datetime]
    updated: Optional[datetime.datetime]
    quarantined: str  # why, or empty

    @classmethod
    def _of(cls, wire: Any) -> ModelInfo:
        transform = _wire.TRANSFORMS.word(wire.output_transform.kind) or "identity"
        box = None
        if wire.HasField("input_box"):
            box = (np.array(wire.input_box.lower), np.array(wire.input_box.upper))
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
        )


@dataclasses.dataclass(frozen=True)
class Added:
    """What Model.add committed."""

    rows: int
    data_version: int
    counts: Tuple[int, ...]  # observations per fidelity, after the call
    revision: Optional[int]  # made by condition=True


@dataclasses.dataclass(frozen=True)
class Observations:
    """What is stored of one fidelity, in the order in which it was added."""

    inputs: Array  # n×d
    outputs: Array  # n
    noise: Optional[Array]  # n known variances, or None where they are learned


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A prediction at n inputs. What was not asked for is None."""

    mean: Array  # n
    variance: Array  # n
    quantiles: Optional[Array]  # n×q
    covariance: Optional[Array]  # n×n
    gradient: Optional[Array]  # n×d: of the mean by the inputs
    revision: int  # that predicted
    data_version: int  # that it knows

    @property
    def std(self) -> Array:
        """n standard deviations."""
        return np.sqrt(self.variance)


@dataclasses.dataclass(frozen=True)
class Design:
    """Inputs that Model.sample_dpp chose."""

    inputs: Array  # k×d
    indices: Array  # k rows of the candidates
    quality: Array  # k
    log_determinant: float
    variance_before: float  # of the highest fidelity, mean over the candidates
    variance_after: float  # the same once the inputs were observed, as expected
    revision: int
    data_version: int

    @classmethod
    def _of(cls, wire: Any) -> Design:
        return cls(
            inputs=_wire.from_matrix(wire.inputs, "inputs"),
            indices=np.array(wire.indices, dtype=int),
            quality=_wire.from_matrix(wire.quality, "quality")[:, 0],
            log_determinant=wire.log_determinant,
            variance_before=wire.variance_before,
            variance_after=wire.variance_after,
            revision=int(_wire.short_name(wire.revision)),
            data_version=wire.data_version,
        )


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A run that is worth its cost."""

    input: Array  # d
    level: int
    fidelity: str
    cost: float
    value: float  # of the criterion, given the suggestions before
    candidate: int  # row of the candidates


@dataclasses.dataclass(frozen=True)
class Suggestions(Sequence[Suggestion]):
    """Runs in the order of their choice: a sequence of Suggestion."""

    runs: Tuple[Suggestion, ...]
    variance_before: float  # of the highest fidelity, mean over the target points
    variance_after: float  # the same after all runs, as expected
    total_cost: float
    revision: int
    data_version: int

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: Any) -> Any:
        return self.runs[index]

    def inputs(self, fidelity: Optional[str] = None) -> Array:
        """Inputs to run, n×d: all, or those of one fidelity."""
        rows = [run.input for run in self.runs if fidelity is None or run.fidelity == fidelity]
        return np.array(rows) if rows else np.empty((0, len(self.runs[0].input) if self.runs else 0))

    @classmethod
    def _of(cls, wire: Any) -> Suggestions:
        return cls(
            runs=tuple(
                Suggestion(np.array(s.input), s.level, s.fidelity, s.cost, s.value, s.candidate)
                for s in wire.suggestions
            ),
            variance_before=wire.variance_before,
            variance_after=wire.variance_after,
            total_cost=wire.total_cost,
            revision=int(_wire.short_name(wire.revision)),
            data_version=wire.data_version,
        )


@dataclasses.dataclass(frozen=True)
class FidelityDiagnostics:
    """How well the observations of one fidelity are predicted without them (leave one out)."""

    level: int
    fidelity: str
    count: int
    residuals: Array  # standardised
    r2: float
    rmse: float
    coverage50: float  # share of the observations within the central 50 % interval
    coverage90: float
    coverage95: float
    mean_log_density: float
    inflation: float  # of variances, because they were found too small
    mean: Array  # predicted; as the residuals, in the order of Model.observations
    variance: Array  # predicted, with noise
    cdf: Array  # predicted probabilities of outputs up to the observed one

    @classmethod
    def _of(cls, wire: Any) -> FidelityDiagnostics:
        def column(field: str) -> Array:
            return _wire.from_matrix(getattr(wire, field), field)[:, 0] if wire.HasField(field) else np.empty(0)

        return cls(
            wire.level, wire.fidelity, wire.count, column("residuals"), wire.r2, wire.rmse, wire.coverage50,
            wire.coverage90, wire.coverage95, wire.mean_log_density, wire.inflation, column("mean"), column("variance"),
            column("cdf"),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Revision:
    """An immutable fitted state of a model."""

    number: int
    origin: str  # "fit" or "condition"
    data_version: int
    counts: Tuple[int, ...]
    kind: str
    inference: str
    elbo: float
    seconds: float  # of work
    created: Optional[datetime.datetime]
    code_version: str  # of the server that made it
    size: int  # bytes
    sha256: str
    current: bool  # whether it is the one that predicts

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
        )


@dataclasses.dataclass(frozen=True)
class ServerInfo:
    """What a server is, can do and allows."""

    version: str
    build: str
    isa_level: str
    kinds: List[str]
    inferences: List[str]
    kernels: List[str]
    caller: str  # name of the token; empty without authentication
    role: str
    limits: Any  # fidelio.v1.Limits
    started: Optional[datetime.datetime]

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
        )
