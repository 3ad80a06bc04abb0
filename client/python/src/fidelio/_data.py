"""ModelData: the observations of a model."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from fidelio import _add, _frames, _wire
from fidelio._caller import new_request_id
from fidelio._resource import ModelResource
from fidelio._types import FidelityLike
from fidelio._wire import Array
from fidelio.errors import FidelioWarning, InvalidArgument
from fidelio.results import Added, Changed, Observations
from fidelio.v1 import observation_pb2

_FAILED = "; leave failed runs out"


class ModelData(ModelResource):
    """Observations of a model: the part of Model that adds, shows, withdraws and corrects them."""

    def add(
        self,
        X: Any,
        y: Any = None,
        fidelity: Any = None,
        noise: Any = None,
        *,
        run_ids: Optional[Sequence[str]] = None,
        skip_duplicates: bool = False,
        condition: bool = False,
        rows_per_call: int = _add.ROWS_PER_CALL,
        timeout: Optional[float] = None,
    ) -> Added:
        """Appends observations. They are on disk when the call returns.

        Parameters
        ----------
        X : array-like or DataFrame, n×d
            Inputs. Columns of a frame go by the names of the model's inputs, in any order. A frame may also have the
            columns fidelity, noise_variance and run_id, and the output, instead of the arguments below.
        y : array-like, n
            Outputs. Leave failed runs out: nan is refused.
        fidelity : str, int, or one per row
            May be left out when the model has one fidelity.
        noise : float, or one per row, optional
            Known variances of the noise. Default: one variance per fidelity is learned.
        run_ids : sequence of str, optional
            Identities of the observations, unique in the model. A row whose id is there already with the same content
            is left alone, so that a call may be repeated. Default: the server makes ids.
        skip_duplicates : bool
            Leave exact copies of stored observations out.
        condition : bool
            Update the served posterior at once, without a fit; hyperparameters are kept.
        rows_per_call : int
            More rows go in several calls, each all or nothing.
        timeout : float, optional
            Seconds for each call. Default: that of the client.

        Returns
        -------
        Added
            Its `warnings` name copies and inputs far outside the box. Each is also issued as a FidelioWarning.

        Raises
        ------
        InvalidArgument
            If something is refused; nothing is added. When several calls were needed, `rows_committed` of the error
            says how many rows are in.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> model = client.create_model("square", inputs=1)
        >>> model.add([0.0, 0.3, 0.5, 1.0], [0.0, 0.09, 0.25, 1.0]).counts
        (4,)
        >>> client.close()
        """
        rows = self._rows(X, y, fidelity, noise, run_ids)
        added = _add.add(
            self._caller, self._path, rows, condition, skip_duplicates, max(1, rows_per_call), timeout
        )  # fmt: skip
        self._known(counts=added.counts, data_version=added.data_version)
        if added.revision is not None:
            self._known(revision=added.revision)
        for warning in added.warnings:
            warnings.warn(warning.message, FidelioWarning, stacklevel=2)
        return added

    def withdraw(
        self,
        run_ids: Union[None, str, Sequence[str]] = None,
        *,
        batch: Union[None, int, Added] = None,
        reason: str = "",
        timeout: Optional[float] = None,
    ) -> Changed:
        """Takes observations out of use. They remain readable as history, but no later fit uses them.

        Parameters
        ----------
        run_ids : str or sequence of str
            The observations; Model.observations shows the ids.
        batch : int or Added
            Instead of ids: all observations that one call of Model.add added (its data_version).
        reason : str
            Why, for people.
        timeout : float, optional
            Seconds.

        Returns
        -------
        Changed
            With `revision_withdrawn` above 0, the served revision still knows withdrawn observations: fit again.

        Raises
        ------
        NotFound
            If an id is not in use; nothing is withdrawn.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> model = client.create_model("square", inputs=1)
        >>> _ = model.add([0.0, 0.5, 1.0], [0.0, 0.25, 100.0], run_ids=["a", "b", "c"])
        >>> model.withdraw("c", reason="wrong unit").counts
        (2,)
        >>> client.close()
        """
        if (run_ids is None) == (batch is None):
            raise InvalidArgument("run_ids, batch: exactly one of them is needed")
        request = observation_pb2.WithdrawObservationsRequest(
            model=self._path, reason=reason, request_id=new_request_id()
        )
        if run_ids is not None:
            request.run_ids.extend(_add.ids_of(run_ids))
        else:
            version = batch.data_version if isinstance(batch, Added) else batch
            request.batch_data_version = _wire.whole_of(version, "batch")
        response = self._caller.call("WithdrawObservations", request, timeout)
        return self._changed(response, response.withdrawn_count)

    def correct(
        self,
        run_ids: Union[str, Sequence[str]],
        y: Any,
        noise: Any = None,
        *,
        reason: str = "",
        timeout: Optional[float] = None,
    ) -> Changed:
        """Replaces the outputs of observations. The old outputs remain readable as history.

        Parameters
        ----------
        run_ids : str or sequence of str
            The observations; Model.observations shows the ids.
        y : float or array-like
            The right outputs, in the order of run_ids.
        noise : float, or one per observation, optional
            The right variances of the noise. Default: as they were.
        reason : str
            Why, for people.
        timeout : float, optional
            Seconds.

        Returns
        -------
        Changed

        Raises
        ------
        NotFound
            If an id is not in use; nothing is corrected.
        """
        ids = _add.ids_of(run_ids)
        outputs = np.atleast_1d(_wire.doubles_of(y, "y"))
        if outputs.shape[0] != len(ids):
            raise InvalidArgument(f"y: {outputs.shape[0]} numbers, but there are {len(ids)} run_ids")
        outputs = _wire.finite(_wire.column_of(outputs, len(ids), "y"), "y")
        request = observation_pb2.CorrectObservationsRequest(
            model=self._path,
            run_ids=ids,
            outputs=_wire.to_matrix(outputs),
            reason=reason,
            request_id=new_request_id(),
        )
        if noise is not None:
            request.noise_variances.CopyFrom(_wire.to_matrix(_noise_of(noise, len(ids))))
        response = self._caller.call("CorrectObservations", request, timeout)
        return self._changed(response, response.corrected_count)

    def observations(
        self, fidelity: Optional[FidelityLike] = -1, *, withdrawn: bool = False, timeout: Optional[float] = None
    ) -> Observations:
        """The observations that the server has.

        Parameters
        ----------
        fidelity : str, int or None
            Those of this fidelity; None for all. Default: the highest.
        withdrawn : bool
            Show those that were withdrawn or corrected, too.
        timeout : float, optional
            Seconds for each page.

        Returns
        -------
        Observations
            In the order in which they were added; to_frame() makes a data frame of them.
        """
        request = observation_pb2.ListObservationsRequest(
            parent=self._path,
            level=None if fidelity is None else _add.level_of(fidelity, self.fidelities),
            page_size=100_000,
            show_withdrawn=withdrawn,
        )
        pages = self._caller.pages("ListObservations", request, timeout)
        batches = [batch for page in pages for batch in page.observations]
        info = self._info
        return Observations._of(batches, self.fidelities, info.input_names, info.output_name)

    def _changed(self, response: Any, rows: int) -> Changed:
        changed = Changed(
            rows=rows,
            data_version=response.data_version,
            counts=tuple(response.observation_counts),
            revision_withdrawn=response.current_revision_withdrawn_count,
        )
        self._known(
            counts=changed.counts,
            data_version=changed.data_version,
            revision_withdrawn=changed.revision_withdrawn,
            etag=response.etag,
        )
        return changed

    def _rows(self, X: Any, y: Any, fidelity: Any, noise: Any, run_ids: Any) -> _add.Rows:
        X, (y, fidelity, noise, run_ids) = self._taken_apart(X, [y, fidelity, noise, run_ids])
        if y is None:
            raise InvalidArgument("y: missing, and X is no data frame with a column for the output")
        inputs = self._inputs(X)
        outputs = _wire.finite(_wire.column_of(y, len(inputs), "y"), "y", _FAILED)
        if fidelity is None:
            if len(self.fidelities) > 1:
                raise InvalidArgument(f"fidelity: missing, must be one of {', '.join(self.fidelities)}")
            fidelity = 0
        ids = None if run_ids is None else _add.ids_of(run_ids)
        if ids is not None and len(ids) != len(inputs):
            raise InvalidArgument(f"run_ids: {len(ids)} entries, but X has {len(inputs)} rows")
        return _add.Rows(
            inputs=_wire.finite(inputs, "X"),
            outputs=outputs,
            levels=_add.levels_of(fidelity, self.fidelities, len(inputs)),
            noise=None if noise is None else _noise_of(noise, len(inputs)),
            run_ids=ids,
        )

    def _taken_apart(self, X: Any, given: List[Any]) -> Tuple[Any, List[Any]]:
        """Inputs, and the arguments that are columns of a frame."""
        if not _frames.is_frame(X):
            return X, given
        info = self.refresh()
        outputs = [name for name in dict.fromkeys((info.output_name, "y")) if name in X.columns]
        if len(outputs) > 1:
            raise InvalidArgument(f"X: has columns {_frames.shown(outputs)}, which both mean the output")
        columns = {
            "y": outputs[0] if outputs else None,
            "fidelity": "fidelity",
            "noise": "noise_variance",
            "run_ids": "run_id",
        }
        taken: List[str] = []
        for place, (argument, column) in enumerate(columns.items()):
            if column is None or column not in X.columns or column in info.input_names:
                continue
            if given[place] is not None:
                raise InvalidArgument(f"{argument}: given, but X has a column {column!r}, too")
            given[place] = X[column].to_numpy()
            taken.append(column)
        rest = [column for column in X.columns if column not in taken]
        return (X[rest] if taken else X), given


def _noise_of(noise: Any, rows: int) -> Array:
    one = np.ndim(noise) == 0
    variances = np.full(1, _wire.number_of(noise, "noise")) if one else _wire.column_of(noise, rows, "noise")
    return _wire.finite(variances, "noise")
