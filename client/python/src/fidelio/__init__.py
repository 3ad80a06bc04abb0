"""Fidelio: predicts what a dear simulation would give, from a few runs of it and more of cheaper ones.

    import fidelio

    client = fidelio.local()                       # or fidelio.Client("host:50051")
    model = client.create_model("wing", inputs=2, fidelities=["coarse", "fine"])
    model.add(X_coarse, y_coarse, fidelity="coarse")
    model.add(X_fine, y_fine, fidelity="fine")
    model.fit(progress=True)
    mean, std = model.predict(X, return_std=True)

fidelio.sklearn has an estimator for scikit-learn, fidelio.emukit a model for loops of Emukit.
"""

from fidelio._local import LocalServer, local
from fidelio._retry import RetryPolicy
from fidelio._version import __version__
from fidelio.client import Client
from fidelio.errors import (
    Aborted,
    AlreadyExists,
    Cancelled,
    DataLoss,
    DeadlineExceeded,
    FailedPrecondition,
    FidelioError,
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
from fidelio.fit import Fit
from fidelio.model import Model
from fidelio.results import (
    Added,
    Design,
    Fidelity,
    FidelityDiagnostics,
    ModelInfo,
    Observations,
    Prediction,
    Revision,
    ServerInfo,
    Suggestion,
    Suggestions,
)

__all__ = [
    "Aborted", "Added", "AlreadyExists", "Cancelled", "Client", "DataLoss", "DeadlineExceeded", "Design",
    "FailedPrecondition", "FidelioError", "Fidelity", "FidelityDiagnostics", "Fit", "Internal", "InvalidArgument",
    "LocalServer", "Model", "ModelInfo", "NotFound", "Observations", "PermissionDenied", "Prediction",
    "ProgramNotFound", "ResourceExhausted", "RetryPolicy", "Revision", "ServerFailed", "ServerInfo", "Suggestion",
    "Suggestions", "Unauthenticated", "Unavailable", "Unimplemented", "Violation", "__version__", "local",
]  # fmt: skip
