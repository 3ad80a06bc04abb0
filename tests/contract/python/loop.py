"""A design loop through the published proto alone: stubs made by protoc, numbers by struct, nothing of ours.

loop.py SERVER STUBS      with SERVER as host:port and STUBS the directory that run.sh let protoc write
"""

import math
import struct
import sys

import google
import grpc

server, stubs = sys.argv[1:]
sys.path.insert(0, stubs)
google.__path__ = [*google.__path__, f"{stubs}/google"]  # google.rpc beside the installed google.protobuf

from fidelio.v1 import design_pb2 as design  # noqa: E402
from fidelio.v1 import emulator_pb2_grpc, fit_pb2, matrix_pb2, model_pb2, observation_pb2, prediction_pb2  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402

MODEL = "models/contract-python"


def low(x):
    return math.sin(8 * x[0]) + 0.3 * x[1]


def high(x):
    return 2 * low(x) + x[0] - x[1]


def halton(index, base):
    value, scale = 0.0, 1.0
    while index:
        index, digit = divmod(index, base)
        scale /= base
        value += digit * scale
    return value


def points(first, count):
    return [[halton(i, 2), halton(i, 3)] for i in range(first, first + count)]


def as_bytes(rows):
    flat = [number for row in rows for number in row]
    return matrix_pb2.Matrix(rows=len(rows), cols=len(rows[0]), f64_le=struct.pack(f"<{len(flat)}d", *flat))


def as_values(rows):
    flat = [number for row in rows for number in row]
    return matrix_pb2.Matrix(rows=len(rows), cols=len(rows[0]), values=matrix_pb2.DoubleList(values=flat))


def numbers(matrix):
    if matrix.WhichOneof("data") == "values":
        return list(matrix.values.values)
    return list(struct.unpack(f"<{matrix.rows * matrix.cols}d", matrix.f64_le))


def require(truth, what):
    if not truth:
        raise SystemExit(f"contract: python: {what}")


def details(error):
    """The messages of google.rpc in the trailers of a failed call."""
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin":
            return status_pb2.Status.FromString(value).details
    return []


def expect(code, detail, call):
    try:
        call()
    except grpc.RpcError as error:
        require(error.code() == code, f"{error.code()} instead of {code}: {error.details()}")
        for packed in details(error):
            if packed.Unpack(detail):
                return detail
        raise SystemExit(f"contract: python: {code} without {detail.DESCRIPTOR.name}")
    raise SystemExit(f"contract: python: a call that should be {code} succeeded")


stub = emulator_pb2_grpc.EmulatorStub(grpc.insecure_channel(server))

created = stub.CreateModel(
    model_pb2.CreateModelRequest(
        model_id="contract-python",
        model=model_pb2.Model(
            input_dimension=2,
            input_box=model_pb2.InputBox(lower=[0, 0], upper=[1, 1]),
            fidelities=[model_pb2.Fidelity(name="low", cost=1), model_pb2.Fidelity(name="high", cost=10)],
        ),
        request_id="create-python",
    ),
    wait_for_ready=True,
    timeout=60,
)
require(created.name == MODEL, f"created {created.name}")

grid = points(201, 60)
expect(
    grpc.StatusCode.FAILED_PRECONDITION,
    error_details_pb2.PreconditionFailure(),
    lambda: stub.Predict(prediction_pb2.PredictRequest(model=MODEL, inputs=as_bytes(grid))),
)

cheap, expensive = points(1, 30), points(101, 6)
batch = observation_pb2.AddObservationsRequest(
    model=MODEL,
    observations=[
        observation_pb2.ObservationBatch(level=0, inputs=as_bytes(cheap), outputs=as_bytes([[low(x)] for x in cheap])),
        observation_pb2.ObservationBatch(level=1, inputs=as_values(expensive), outputs=as_values([[high(x)] for x in expensive])),
    ],
    request_id="observe-python",
)
added = stub.AddObservations(batch)
require(list(added.observation_counts) == [30, 6], f"counts {added.observation_counts}")
require(stub.AddObservations(batch) == added, "the same request id gave another answer")


def fit(number):
    started = stub.Fit(fit_pb2.FitRequest(model=MODEL, options=fit_pb2.FitOptions(seed=1), request_id=f"fit-{number}"))
    event = None
    for event in stub.WatchFit(fit_pb2.WatchFitRequest(name=started.name), timeout=300):
        pass
    require(event and event.fit.state == fit_pb2.FIT_STATE_SUCCEEDED, f"the fit ended with {event}")
    require(event.fit.revision == f"{MODEL}/revisions/{number}", f"the fit made {event.fit.revision}")


def rmse():
    options = prediction_pb2.PredictOptions(quantiles=[0.025, 0.975])
    answers = [
        stub.Predict(prediction_pb2.PredictRequest(model=MODEL, inputs=inputs, options=options))
        for inputs in (as_bytes(grid), as_values(grid))
    ]
    for answer, encoding in zip(answers, ("f64_le", "values")):
        require(answer.prediction.mean.WhichOneof("data") == encoding, f"{encoding} was answered otherwise")
        require((answer.prediction.quantiles.rows, answer.prediction.quantiles.cols) == (60, 2), "shape of quantiles")
    mean = numbers(answers[0].prediction.mean)
    require(mean == numbers(answers[1].prediction.mean), "the encodings differ in their numbers")
    require(min(numbers(answers[0].prediction.variance)) > 0, "a variance is not positive")
    return math.sqrt(sum((m - high(x)) ** 2 for m, x in zip(mean, grid)) / len(grid))


fit(1)
before = rmse()
chosen = stub.SampleDPP(
    design.SampleDPPRequest(model=MODEL, k=3, candidate_count=128, seed=1, quality_mode=design.QUALITY_MODE_NONE)
)
flat = numbers(chosen.inputs)
require((chosen.inputs.rows, chosen.inputs.cols, len(set(chosen.indices))) == (3, 2, 3), "shape of the design")
proposed = [flat[0:2], flat[2:4], flat[4:6]]
stub.AddObservations(
    observation_pb2.AddObservationsRequest(
        model=MODEL,
        observations=[
            observation_pb2.ObservationBatch(
                level=1, inputs=as_bytes(proposed), outputs=as_bytes([[high(x)] for x in proposed])
            )
        ],
        request_id="observe-again-python",
    )
)
fit(2)
after = rmse()
require(before < 0.5 and after < 0.5, f"RMSE {before}, then {after}")

bad = expect(
    grpc.StatusCode.INVALID_ARGUMENT,
    error_details_pb2.BadRequest(),
    lambda: stub.Predict(prediction_pb2.PredictRequest(model=MODEL, inputs=as_bytes([[1, 2, 3]]))),
)
require(bad.field_violations[0].field.startswith("inputs"), f"the violation is of {bad.field_violations[0].field}")
missing = expect(
    grpc.StatusCode.NOT_FOUND,
    error_details_pb2.ResourceInfo(),
    lambda: stub.GetModel(model_pb2.GetModelRequest(name="models/nowhere")),
)
require(missing.resource_name == "models/nowhere", f"the resource is {missing.resource_name}")

stub.DeleteModel(model_pb2.DeleteModelRequest(name=MODEL))
print(f"contract: python: RMSE {before:.3f} with 6 expensive runs, {after:.3f} with the 3 proposed ones")
