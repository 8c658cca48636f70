"""A text game from its first phase to its last, kept in a replay file as it goes."""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.registry import make_agent
from geo_patrol.notation import Side
from geo_patrol.replays.playback import Playback
from geo_patrol.replays.story import phase_text, position_text, result_text
from geo_patrol.replays.writing import Recorder
from geo_patrol.textplay.console import Console, Leave
from geo_patrol.textplay.seats import AgentSeat, PersonSeat, Seat

__all__ = ["HUMAN", "Leave", "TextGame", "play_text"]

HUMAN = "human"
"""What replays call a person."""


class TextGame:
    """A game between two seats, told on a console and recorded.

    Args:
        console: where people sit.
        playback: the game as it stands.
        seats: of alpha and bravo.
        names: who sits there.
        recorder: keeps what is played.
    """

    def __init__(
        self, console: Console, playback: Playback, seats: tuple[Seat, Seat], names: tuple[str, str], recorder: Recorder
    ) -> None:
        self._console, self._playback, self._recorder = console, playback, recorder
        self._seats, self._names = seats, names

    def run(self) -> None:
        """Play the game to its end.

        Raises:
            Leave: a player wants to stop; everything that was committed is in the file.
        """
        tell = self._console.tell
        while not (game := self._playback.game).is_over:
            if self._names != (HUMAN, HUMAN):  # who shares a screen sees it behind the curtain
                tell(f"\n{position_text(game)}")
            codes = np.stack([seat.order(game) for seat in self._seats])
            self._recorder.record_codes(codes)
            tell(f"\n{phase_text(self._playback.show(codes))}")
        tell(f"\n{position_text(game)}\n\n{result_text(game, *self._names)}")


def play_text(
    recorder: Recorder,
    names: tuple[str, str],
    seed: int,
    *,
    past: list[NDArray[np.int8]] | None = None,
    console: Console | None = None,
) -> None:
    """Play a game at the terminal.

    Args:
        recorder: a new file, or one that goes on.
        names: who plays alpha and bravo: ``"human"``, or an agent's name.
        seed: the game's.
        past: what was played of it already: (2, 11) order codes of every phase. Agents see it again, so that they
            remember what they remembered.
        console: where people sit; the terminal of this process by default.

    Raises:
        Leave: a player wants to stop; everything that was committed is in the file.
        AgentError: an agent failed; so is it then.
    """
    console = console or Console()
    playback = Playback(recorder.game.config, seed)
    shared = names == (HUMAN, HUMAN)
    alpha = _seat(console, names[0], "alpha", seed, shares_screen=shared)
    bravo = _seat(console, names[1], "bravo", seed, shares_screen=shared)
    if past is None:
        recorder.begin(seed=seed, alpha=names[0], bravo=names[1])
    else:
        recorder.resume(seed, past)
    for codes in past or []:
        for seat in (alpha, bravo):
            if isinstance(seat, AgentSeat):
                seat.order(playback.game)
        playback.play(codes)
    TextGame(console, playback, (alpha, bravo), names, recorder).run()


def _seat(console: Console, name: str, side: Side, seed: int, *, shares_screen: bool) -> Seat:
    if name == HUMAN:
        return PersonSeat(console, side, shares_screen=shares_screen)
    return AgentSeat(make_agent(name), side, seed)
