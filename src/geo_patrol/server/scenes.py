"""The moments of a table's game as browsers draw them."""

import json
import zlib
from typing import Any

from geo_patrol.browser.choices import choices_record
from geo_patrol.browser.records import board_record, moment_record
from geo_patrol.browser.scenes import SceneEncoder
from geo_patrol.game import Game
from geo_patrol.scenes.layout import Layout
from geo_patrol.sessions.timeline import Timeline
from geo_patrol.sides import Side


class TableScenes:
    """Moments of a game in progress, each drawn when it is first asked for, and kept compressed as JSON.

    Args:
        timeline: of the game.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._moments: dict[int, bytes] = {}
        self._names: dict[int, frozenset[str]] = {}

    @property
    def layout(self) -> Layout:
        """The layout of the board."""
        return SceneEncoder(self._timeline[0].game.config).layout

    def moment(self, index: int) -> str:
        """Return a moment as JSON: with its shapes, the symbols that the one before lacks, and the board if it is the first."""
        if index in self._moments:
            return zlib.decompress(self._moments[index]).decode()
        text = self._draw(index)
        self._moments[index] = zlib.compress(text.encode(), 1)
        return text

    def choices(self, game: Game, side: Side) -> dict[str, Any]:
        """Return what a side may order in a position, see ``choices_record``."""
        return choices_record(game, side, self.layout)

    def _draw(self, index: int) -> str:
        encoder, moment = self._encode(index)
        known = self._symbol_names(index - 1) if index > 0 else frozenset()
        symbols = {name: markup for name, markup in encoder.symbols.items() if name not in known}
        scene = {"moment": moment, "shapes": encoder.shapes, "symbols": symbols}
        if index == 0:
            scene |= board_record(self._timeline, encoder)
        return json.dumps(scene, ensure_ascii=False, separators=(",", ":"))

    def _encode(self, index: int) -> tuple[SceneEncoder, dict[str, Any]]:
        encoder = SceneEncoder(self._timeline[0].game.config)
        moment = moment_record(self._timeline, index, encoder)
        self._names[index] = frozenset(encoder.symbols)
        return encoder, moment

    def _symbol_names(self, index: int) -> frozenset[str]:
        if index not in self._names:
            self._encode(index)
        return self._names[index]
