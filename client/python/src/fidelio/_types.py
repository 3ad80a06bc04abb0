"""The words that string options may have, for type checkers and editors. Tests compare them with the contract."""

from __future__ import annotations

from typing import Literal, Union

Kind = Literal["mf-dgp", "ar1", "nargp", "deep-mf", "gp", "ar1-recursive"]
Transform = Literal["identity", "log", "logit", "bounded"]
Inference = Literal["auto", "moments", "variational", "svi", "neighbours", "point-estimate"]
Kernel = Literal["rbf", "matern12", "matern32", "matern52", "evidence"]
DppMethod = Literal["exact", "map"]
Quality = Literal["mean", "none"]
PathKind = Literal["joint", "function"]
Criterion = Literal["variance-reduction", "max-variance", "expected-improvement", "confidence-bound"]
InitialMethod = Literal["sobol", "latin-hypercube"]
VerdictKind = Literal["too-few", "overconfident", "uninformative", "cautious", "calibrated"]
FitState = Literal["pending", "running", "succeeded", "failed", "cancelled"]
Role = Literal["reader", "writer", "admin"]

FidelityLike = Union[int, str]  # a name, or a level from 0; negative levels count from the highest
RevisionLike = Union[int, str]
