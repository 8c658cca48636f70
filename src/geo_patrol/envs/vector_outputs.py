"""What the vector environment returns: observations and infos, in Gymnasium's form."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.batch import Batch
from geo_patrol.engine.buffers import Buffers
from geo_patrol.engine.episodes import INFO_FIELDS, STATISTICS
from geo_patrol.envs.arguments import MaskIn


class Packer:
    """Packs output buffers.

    Args:
        batch: that writes them.
        mask_in: where action masks are returned.
        has_final: whether finished episodes are reset in the same step, so that their last observations and infos are
            returned beside the others.
        copy: whether every step returns new arrays.
    """

    def __init__(self, batch: Batch, mask_in: MaskIn, *, has_final: bool, copy: bool) -> None:
        self._batch, self._mask_in, self._has_final, self._copy = batch, mask_in, has_final, copy
        self._all_envs = np.ones(batch.num_envs, np.bool_)
        self._all_envs.flags.writeable = False
        self._final: Buffers | None = None
        self._final_rows = np.empty(0, np.int64)

    def observations(self, buffers: Buffers) -> Any:
        """Return observations, with masks if they are part of them."""
        if self._mask_in == "obs":
            return {"observation": buffers.observations, "action_mask": buffers.masks}
        return buffers.observations

    def infos(self, buffers: Buffers) -> dict[str, Any]:
        """Return infos, each with a mask of the environments that it is valid for."""
        finished = buffers.results["is_finished"]
        infos = self._info(buffers, self._all_envs)
        infos |= {"finished_episode": _with_masks(buffers.statistics, STATISTICS.names, finished)}
        infos |= {"_finished_episode": finished}
        if self._has_final:
            final = self._copy_final(buffers)
            infos |= {"final_obs": self.observations(final), "_final_obs": finished}
            infos |= {"final_info": self._info(final, finished), "_final_info": finished}
        return infos

    def _info(self, buffers: Buffers, mask: NDArray[np.bool_]) -> dict[str, Any]:
        infos = _with_masks(buffers.results, INFO_FIELDS, mask)
        if self._mask_in == "info":
            infos["action_mask"], infos["_action_mask"] = buffers.masks, mask
        return infos

    def _copy_final(self, buffers: Buffers) -> Buffers:
        """Return what finished episodes ended with, zero in other rows."""
        if self._copy or self._final is None:
            self._final = self._batch.make_buffers(zeros=True)
        else:
            for array in (self._final.results, self._final.masks, self._final.observations):
                array[self._final_rows] = 0
        rows = self._final_rows = np.flatnonzero(buffers.results["is_finished"])
        self._final.results[rows] = buffers.results[rows]
        self._final.masks[rows] = buffers.masks[rows]
        self._final.observations[rows] = buffers.observations[rows]
        return self._final


def _with_masks(
    records: NDArray[np.void], names: tuple[str, ...] | None, mask: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Return fields by their names, each followed by a mask of the rows that it is valid for."""
    fields: dict[str, NDArray[Any]] = {}
    for name in names or ():
        fields[name], fields[f"_{name}"] = records[name], mask
    return fields
