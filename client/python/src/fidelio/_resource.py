"""ModelResource: what a model on a server is, whatever it has learned."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, BinaryIO, List, Optional, Sequence, Union

from fidelio import _frames, _report, _wire
from fidelio._boxes import BoxLike, box_of
from fidelio._caller import new_request_id
from fidelio._definition import InputLike, OutputLike, fill_inputs, fill_output, ranges_of
from fidelio._report import Report
from fidelio._types import RevisionLike
from fidelio._wire import Array
from fidelio.errors import InvalidArgument
from fidelio.results import ModelInfo, Revision
from fidelio.v1 import model_pb2, revision_pb2, transfer_pb2

if TYPE_CHECKING:
    from fidelio.client import Client


class ModelResource:
    """Name, description, revisions and file of a model: the part of Model that does not predict."""

    def __init__(self, client: Client, info: ModelInfo) -> None:
        self.client = client
        self._caller = client._caller
        self._info = info

    def __repr__(self) -> str:
        info = self._info
        counts = ", ".join(f"{fidelity.name} {count}" for fidelity, count in zip(info.fidelities, info.counts))
        state = f"revision {info.revision}" if info.revision else "not fitted"
        return f"Model {info.name!r}: {info.inputs} inputs; {counts} observations; {state}"

    def _repr_html_(self) -> str:
        return self._info._repr_html_()

    @property
    def name(self) -> str:
        """The name of the model on its server."""
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
        """Asks the server what the model is now.

        Returns
        -------
        ModelInfo
        """
        self._info = ModelInfo._of(self._caller.call("GetModel", model_pb2.GetModelRequest(name=self._path)))
        return self._info

    def update(
        self,
        *,
        description: Optional[str] = None,
        box: Optional[BoxLike] = None,
        fidelities: Optional[Sequence[str]] = None,
        costs: Optional[Sequence[float]] = None,
        inputs: Optional[Sequence[InputLike]] = None,
        output: Optional[OutputLike] = None,
        keep_revisions: Optional[int] = None,
    ) -> ModelInfo:
        """Changes what is given.

        Parameters
        ----------
        description : str, optional
        box : Box or (lower, upper), optional
            As in Client.create_model. The next fit uses it.
        fidelities : sequence of str, optional
            New names from the lowest to the highest.
        costs : sequence of float, optional
        inputs : sequence of str or Input, optional
            Names of the inputs, in the order of columns.
        output : str or Output, optional
            Name of the output.
        keep_revisions : int, optional
            How many revisions are kept; 0 for the server's setting.

        Returns
        -------
        ModelInfo
        """
        wire, paths = model_pb2.Model(name=self._path), []
        if description is not None:
            wire.description = description
            paths.append("description")
        if inputs is not None:
            box = ranges_of(inputs, box)
            fill_inputs(wire, inputs, self._info.inputs)
            paths.append("inputs")
        if output is not None:
            fill_output(wire, output)
            paths.append("outputs")
        if keep_revisions is not None:
            wire.keep_revisions = _wire.whole_of(keep_revisions, "keep_revisions", 0, 1_000_000)
            paths.append("keep_revisions")
        if box is not None:
            wire.input_box.CopyFrom(box_of(box, self._info.inputs)._wire())
            paths.append("input_box")
        if fidelities is not None or costs is not None:
            known = self.refresh().fidelities
            names = [fidelity.name for fidelity in known] if fidelities is None else list(fidelities)
            prices = [fidelity.cost for fidelity in known] if costs is None else list(costs)
            if len(names) != len(known) or len(prices) != len(known):
                raise InvalidArgument(f"fidelities, costs: must have {len(known)} entries each, as the model")
            for name, cost in zip(names, prices):
                wire.fidelities.add(name=name, cost=_wire.number_of(cost, "costs"))
            paths.append("fidelities")
        request = model_pb2.UpdateModelRequest(model=wire, request_id=new_request_id())
        request.update_mask.paths.extend(paths)
        self._info = ModelInfo._of(self._caller.call("UpdateModel", request))
        return self._info

    def delete(self, timeout: Optional[float] = None) -> None:
        """Removes the model with all its bytes from the server.

        Parameters
        ----------
        timeout : float, optional
            Seconds.
        """
        request = model_pb2.DeleteModelRequest(name=self._path, request_id=new_request_id())
        self._caller.call("DeleteModel", request, timeout)

    def revisions(self) -> List[Revision]:
        """All fitted states.

        Returns
        -------
        list of Revision
            The newest first.
        """
        pages = self._caller.pages(
            "ListRevisions", revision_pb2.ListRevisionsRequest(parent=self._path, page_size=1000)
        )
        return [Revision._of(wire) for page in pages for wire in page.revisions]

    def rollback(self, revision: RevisionLike) -> ModelInfo:
        """Predicts with another revision from now on. None is deleted, and unfinished fits do not undo it.

        Parameters
        ----------
        revision : int

        Returns
        -------
        ModelInfo
        """
        request = revision_pb2.RollbackModelRequest(
            name=self._path, revision=_wire.revision_name(self.name, revision), request_id=new_request_id()
        )
        self._info = ModelInfo._of(self._caller.call("RollbackModel", request))
        return self._info

    def delete_revision(self, revision: RevisionLike) -> None:
        """Deletes a revision that is not the current one.

        Parameters
        ----------
        revision : int

        Raises
        ------
        FailedPrecondition
            If it is the current one.
        """
        request = revision_pb2.DeleteRevisionRequest(
            name=_wire.revision_name(self.name, revision), request_id=new_request_id()
        )
        self._caller.call("DeleteRevision", request)

    def export(
        self, target: Union[None, str, os.PathLike[str], BinaryIO] = None, *, all_revisions: bool = False
    ) -> Optional[bytes]:
        """Writes the model as one self-contained, checksummed file, for Client.import_model.

        Parameters
        ----------
        target : path or binary file, optional
        all_revisions : bool
            Export all revisions instead of the current one alone.

        Returns
        -------
        bytes or None
            The content, without a target.
        """
        request = transfer_pb2.ExportModelRequest(name=self._path, all_revisions=all_revisions)
        deadline = self._caller.deadline(None)
        content = self._caller.retrying(
            lambda: b"".join(part.chunk for part in self._caller.once("ExportModel", request, deadline)), deadline
        )
        if target is None:
            return bytes(content)
        if hasattr(target, "write"):
            target.write(content)
        else:
            with open(target, "wb") as file:
                file.write(content)
        return None

    def report(self, path: Union[str, os.PathLike[str]] = "report.html", *, binary: Optional[str] = None) -> Report:
        """Writes an HTML page about the model.

        Parameters
        ----------
        path : path
            Where to write it.
        binary : path, optional
            The command `fidelio`, which writes the page. Default: the one that the environment variable FIDELIO_BINARY
            names, the one of the package, or the one in PATH.

        Returns
        -------
        Report
            The path, a str; notebooks show the page.

        Raises
        ------
        ProgramNotFound
            If the command is not found.
        """
        server = getattr(self.client, "server", None)
        return Report(_report.write(self._caller.options, self.name, os.fspath(path), binary, server and server.binary))

    def _known(self, **changes: Any) -> None:
        self._info = dataclasses.replace(self._info, **changes)

    @property
    def _path(self) -> str:
        return _wire.model_name(self._info.name)

    def _inputs(self, x: Any, what: str = "X") -> Array:
        """Inputs as n×d numbers. Frames go by the names that the model has now, whoever named them."""
        if _frames.is_frame(x):
            info = self.refresh()
            x = _frames.in_order(x, info.input_names, bool(info.named_inputs), what)
        return _wire.inputs_of(x, self._info.inputs, what)
