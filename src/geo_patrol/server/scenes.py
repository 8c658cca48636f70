"""The moments of a table's game as browsers draw them."""

from typing import Any

from geo_patrol.browser.choices import choices_record
from geo_patrol.browser.records import board_record, moment_record
from geo_patrol.browser.scenes import SceneEncoder
from geo_patrol.game import Game
from geo_patrol.scenes.layout import Layout
from geo_patrol.sessions.timeline import Timeline
from geo_patrol.sides import Side


class TableScenes:
    """Moments of a game in progress, each encoded when it is first asked for.

    Args:
        timeline: of the game.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._encoder: SceneEncoder | None = None
        self._moments: list[dict[str, Any]] = []

    @property
    def layout(self) -> Layout:
        """The layout of the board."""
        return self._ready_encoder().layout

    def moment(self, index: int) -> dict[str, Any]:
        """Return a moment, with the shapes and symbols that it adds to those before; the first one with the board."""
        encoder = self._ready_encoder()
        while len(self._moments) <= index:
            num_shapes, symbols = len(encoder.shapes), set(encoder.symbols)
            moment = moment_record(self._timeline, len(self._moments), encoder)
            added = {name: markup for name, markup in encoder.symbols.items() if name not in symbols}
            self._moments.append({"moment": moment, "shapes": encoder.shapes[num_shapes:], "symbols": added})
        whole = board_record(self._timeline, encoder) if index == 0 else {}
        return self._moments[index] | whole

    def choices(self, game: Game, side: Side) -> dict[str, Any]:
        """Return what a side may order in a position, see ``choices_record``."""
        return choices_record(game, side, self.layout)

    def _ready_encoder(self) -> SceneEncoder:
        if self._encoder is None:
            self._encoder = SceneEncoder(self._timeline[0].game.config)
        return self._encoder
