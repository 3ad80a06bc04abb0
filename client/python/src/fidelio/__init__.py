"""Fidelio: predicts the result of an expensive simulation from a few runs of it and more runs of cheaper ones.

    import fidelio

    client = fidelio.local()                       # or fidelio.Client("host:50051")
    model = client.create_model("wing", inputs=["angle", "speed"], fidelities=["coarse", "fine"])
    model.add(X_coarse, y_coarse, fidelity="coarse")
    model.add(X_fine, y_fine, fidelity="fine")
    model.fit(progress=True)
    mean, std = model.predict(X, return_std=True)

fidelio.AsyncClient is the same for asyncio. fidelio.sklearn has an estimator for scikit-learn, fidelio.emukit a model
for Emukit.
"""

from fidelio._boxes import Box
from fidelio._local import LocalServer, local
from fidelio._retry import RetryPolicy
from fidelio._version import __version__
from fidelio.aio import AsyncClient, AsyncFit, AsyncModel
from fidelio.client import Client
from fidelio.errors import (
    Aborted,
    AlreadyExists,
    Cancelled,
    DataLoss,
    DeadlineExceeded,
    FailedPrecondition,
    FidelioError,
    FidelioWarning,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ProgramNotFound,
    ResourceExhausted,
    ServerFailed,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    Violation,
)
from fidelio.fit import Fit, Sampling
from fidelio.model import Model
from fidelio.results import (
    Added,
    Changed,
    Design,
    Diagnosis,
    Fidelity,
    FidelityDiagnostics,
    InitialDesign,
    Input,
    Method,
    MethodOption,
    ModelInfo,
    Observations,
    ObservationWarning,
    Output,
    Prediction,
    Revision,
    ServerInfo,
    Suggestion,
    Suggestions,
    Verdict,
)

__all__ = [
    "Aborted", "Added", "AlreadyExists", "AsyncClient", "AsyncFit", "AsyncModel", "Box", "Cancelled", "Changed",
    "Client", "DataLoss", "DeadlineExceeded", "Design", "Diagnosis", "FailedPrecondition", "FidelioError",
    "FidelioWarning", "Fidelity", "FidelityDiagnostics", "Fit", "InitialDesign", "Input", "Internal", "InvalidArgument",
    "LocalServer", "Method", "MethodOption", "Model", "ModelInfo", "NotFound", "ObservationWarning", "Observations",
    "Output", "PermissionDenied", "Prediction", "ProgramNotFound", "ResourceExhausted", "RetryPolicy", "Revision",
    "Sampling", "ServerFailed", "ServerInfo", "Suggestion", "Suggestions", "Unauthenticated", "Unavailable",
    "Unimplemented", "Verdict", "Violation", "__version__", "local",
]  # fmt: skip
