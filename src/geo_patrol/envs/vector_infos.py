"""What the vector environment hands out of a frame: observations and infos, as views that belong to the caller."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.episodes import Results
from geo_patrol.envs.frames import Frame, Layout, Seen
from geo_patrol.envs.table import MaskIn

_FIGURES = ("illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "seat", "opponent")
"""By their places in ``engine.episodes``."""
_STATISTICS = ("length", "score", "enemy_score", "reasons", "outcome", "illegal_orders", "seat", "opponent")


def views(results: Results) -> Results:
    """Return views, whose shapes and flags are the caller's business."""
    return Results(*(array[:] for array in results))  # type: ignore[arg-type]


class Packer:
    """Makes observations and infos of frames.

    Args:
        layout: what the frames look like.
        mask_in: where action masks are handed out.
    """

    def __init__(self, layout: Layout, mask_in: MaskIn) -> None:
        self._has_final, self._mask_in = layout.has_final, mask_in
        self._everywhere = np.ones(layout.slots, np.bool_)
        self._everywhere.flags.writeable = False

    def observations(self, seen: Seen) -> Any:
        """Return observations, with masks where they belong to them."""
        if self._mask_in == "obs":
            return {"observation": seen.observations[:], "action_mask": seen.masks[:]}
        return seen.observations[:]

    def infos(self, frame: Frame) -> dict[str, Any]:
        """Return the infos of a step or a reset."""
        finished = frame.results.is_finished[:]
        infos = self._figures(frame.seen, self._everywhere)
        infos |= {"finished_episode": _statistics(frame.results, finished), "_finished_episode": finished}
        if self._has_final:
            infos |= {"final_obs": self.observations(frame.final), "_final_obs": finished}
            infos |= {"final_info": self._figures(frame.final, finished), "_final_info": finished}
        return infos

    def _figures(self, seen: Seen, where: NDArray[np.bool_]) -> dict[str, Any]:
        """Return what is told of each slot, with a mask of the slots that it holds for."""
        infos: dict[str, Any] = {}
        for place, name in enumerate(_FIGURES):
            infos[name], infos[f"_{name}"] = seen.figures[:, place], where
        if self._mask_in == "info":
            infos["action_mask"], infos["_action_mask"] = seen.masks[:], where
        return infos


def _statistics(results: Results, finished: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what became of the episodes that finished, with a mask of their slots."""
    told: dict[str, Any] = {"return": results.returns[:], "_return": finished}
    for place, name in enumerate(_STATISTICS):
        told[name], told[f"_{name}"] = results.statistics[:, place], finished
    return told
