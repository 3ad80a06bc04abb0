"""ModelResource: what a model on a server is, whatever it has learned."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, BinaryIO, List, Optional, Sequence, Tuple, Union

from fidelio import _report, _wire
from fidelio._caller import new_request_id
from fidelio._wire import Array
from fidelio.errors import InvalidArgument
from fidelio.results import ModelInfo, Revision
from fidelio.v1 import model_pb2, revision_pb2, transfer_pb2

if TYPE_CHECKING:
    from fidelio.client import Client

RevisionLike = Union[int, str]


class ModelResource:
    """Name, description, revisions and file of a model: the part of Model that does not predict."""

    def __init__(self, client: Client, info: ModelInfo) -> None:
        self.client = client
        self._caller = client._caller
        self._info = info
        self._columns: Optional[List[Any]] = None  # names of the inputs, once a frame told them

    def __repr__(self) -> str:
        info = self._info
        counts = ", ".join(f"{fidelity.name} {count}" for fidelity, count in zip(info.fidelities, info.counts))
        state = f"revision {info.revision}" if info.revision else "not fitted"
        return f"Model {info.name!r}: {info.inputs} inputs; {counts} observations; {state}"

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def info(self) -> ModelInfo:
        """The model as it was when the server was last asked; refresh() asks again."""
        return self._info

    @property
    def fidelities(self) -> List[str]:
        """Names from the lowest to the highest."""
        return [fidelity.name for fidelity in self._info.fidelities]

    def refresh(self) -> ModelInfo:
        """Asks the server what the model is now."""
        self._info = ModelInfo._of(self._caller.call("GetModel", model_pb2.GetModelRequest(name=self._path)))
        return self._info

    def update(
        self,
        *,
        description: Optional[str] = None,
        box: Optional[Tuple[Any, Any]] = None,
        fidelities: Optional[Sequence[str]] = None,
        costs: Optional[Sequence[float]] = None,
    ) -> ModelInfo:
        """Changes what is given; the next fit uses a new box."""
        wire, paths = model_pb2.Model(name=self._path), []
        if description is not None:
            wire.description = description
            paths.append("description")
        if box is not None:
            wire.input_box.CopyFrom(_wire.box_of(box))
            paths.append("input_box")
        if fidelities is not None or costs is not None:
            known = self.refresh().fidelities
            names = [fidelity.name for fidelity in known] if fidelities is None else list(fidelities)
            prices = [fidelity.cost for fidelity in known] if costs is None else list(costs)
            if len(names) != len(known) or len(prices) != len(known):
                raise InvalidArgument(f"fidelities, costs: must have {len(known)} entries each, as the model")
            for name, cost in zip(names, prices):
                wire.fidelities.add(name=name, cost=float(cost))
            paths.append("fidelities")
        request = model_pb2.UpdateModelRequest(model=wire, request_id=new_request_id())
        request.update_mask.paths.extend(paths)
        self._info = ModelInfo._of(self._caller.call("UpdateModel", request))
        return self._info

    def delete(self, timeout: Optional[float] = None) -> None:
        """Removes the model with all its bytes from the server."""
        request = model_pb2.DeleteModelRequest(name=self._path, request_id=new_request_id())
        self._caller.call("DeleteModel", request, timeout)

    def revisions(self) -> List[Revision]:
        """All fitted states, the newest first."""
        pages = self._caller.pages(
            "ListRevisions", revision_pb2.ListRevisionsRequest(parent=self._path, page_size=1000)
        )
        return [Revision._of(wire) for page in pages for wire in page.revisions]

    def rollback(self, revision: RevisionLike) -> ModelInfo:
        """Predicts with another revision from now on, older or newer; none is deleted."""
        request = revision_pb2.RollbackModelRequest(
            name=self._path, revision=_wire.revision_name(self.name, revision), request_id=new_request_id()
        )
        self._info = ModelInfo._of(self._caller.call("RollbackModel", request))
        return self._info

    def export(
        self, target: Union[None, str, os.PathLike[str], BinaryIO] = None, *, all_revisions: bool = False
    ) -> Optional[bytes]:
        """Writes the model as one self-contained, checksummed file, for Client.import_model; without a target, answers
        its bytes."""
        request = transfer_pb2.ExportModelRequest(name=self._path, all_revisions=all_revisions)
        deadline = self._caller.deadline(None)
        content = self._caller.retrying(
            lambda: b"".join(answer.chunk for answer in self._caller.once("ExportModel", request, deadline)), deadline
        )
        if target is None:
            return bytes(content)
        if hasattr(target, "write"):
            target.write(content)
        else:
            with open(target, "wb") as file:
                file.write(content)
        return None

    def report(self, path: Union[str, os.PathLike[str]] = "report.html", *, binary: Optional[str] = None) -> str:
        """Writes an HTML page about the model, and answers its path. The command `fidelio` makes it: `binary`, or what
        the environment variable FIDELIO_BINARY names, or the one in PATH."""
        server = getattr(self.client, "server", None)
        return _report.write(self._caller.options, self.name, os.fspath(path), binary, server and server.binary)

    def _known(self, **changes: Any) -> None:
        self._info = dataclasses.replace(self._info, **changes)

    @property
    def _path(self) -> str:
        return _wire.model_name(self._info.name)

    def _inputs(self, x: Any, what: str = "X") -> Array:
        columns = getattr(x, "columns", None)
        if columns is not None:
            names = list(columns)
            if self._columns is None and len(names) == self._info.inputs:
                self._columns = names
            elif self._columns is not None and names != self._columns:
                if sorted(map(str, names)) != sorted(map(str, self._columns)):
                    raise InvalidArgument(f"{what}: columns {names}, but those before were {self._columns}")
                x = x[self._columns]
        return _wire.inputs_of(x, self._info.inputs, what)
