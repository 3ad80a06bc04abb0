"""The server of those who do not care which: adapters without a client of their own."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from typing import Any, Optional

from fidelio._local import local
from fidelio.client import Client
from fidelio.errors import FidelioError
from fidelio.model import Model

_lock = threading.Lock()
_client: Optional[Client] = None


def shared_client() -> Client:
    """The server that the environment names (FIDELIO_SERVER), else a private one for all of this process."""
    global _client
    with _lock:
        if _client is None:
            _client = Client() if os.environ.get("FIDELIO_SERVER") else local()
        return _client


def own_name(prefix: str) -> str:
    """Of a model that no one else has."""
    return f"{prefix}-{uuid.uuid4().hex[:16]}"


def delete_with(owner: Any, model: Model) -> weakref.finalize[Any, Any]:
    """Deletes the model when its owner is collected."""
    finalizer = weakref.finalize(owner, _delete, model)
    finalizer.atexit = bool(os.environ.get("FIDELIO_SERVER"))  # a private server takes its models with it
    return finalizer


def _delete(model: Model) -> None:
    try:
        model.delete(timeout=1.0)
    except (FidelioError, ValueError):  # gone already; or the connection was closed
        pass
