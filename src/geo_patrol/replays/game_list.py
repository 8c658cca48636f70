"""The games of a file one by one, as a window, a page or a list shows them."""

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

from geo_patrol.errors import RecordingError
from geo_patrol.replays.checking import play, start
from geo_patrol.replays.reader import ReplayReader, read_replay
from geo_patrol.replays.replay import Replay
from geo_patrol.sessions.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LISTED = 200
"""Games of a file that a list shows, and that are kept in memory."""


class GameList:
    """The games of a file, read when they are asked for.

    Args:
        reader: of the file.

    Attributes:
        faults: the first difference from the rules of each game that was shown and differs.
    """

    def __init__(self, reader: ReplayReader) -> None:
        self.reader = reader
        self.faults: list[str] = []
        self._replays: OrderedDict[int, Replay] = OrderedDict()
        self._rest: Iterator[Replay] = iter(reader)
        self._num_read = 0

    def has(self, number: int) -> bool:
        """Return whether the file has a game of this number, from 0."""
        while self._num_read <= number and (replay := next(self._rest, None)) is not None:
            self._keep(replay)
            self._num_read = replay.number + 1
        return 0 <= number < self._num_read

    def _keep(self, replay: Replay) -> None:
        self._replays[replay.number] = replay
        if len(self._replays) > MAX_LISTED:
            self._replays.popitem(last=False)

    def _replay(self, number: int) -> Replay:
        if not self.has(number) or number not in self._replays:
            self._keep(read_replay(self.reader.path, number))
        return self._replays[number]

    def timeline(self, number: int) -> Timeline:
        """Return a game, as far as it follows the rules.

        Raises:
            RecordingError: there is no such game, or its initial position is wrong.
        """
        timeline, fault = replay_timeline(self._replay(number))
        if fault and fault not in self.faults:
            self.faults.append(fault)
        return timeline

    def title(self, number: int) -> str:
        """Return the title of a game.

        Raises:
            RecordingError: there is no such game.
        """
        return f"{self.reader.path.name}, {game_title(self._replay(number))}"

    def entries(self) -> list[tuple[int, str, str]]:
        """Return number, players and result of the first 200 games."""
        replays = islice(ReplayReader(self.reader.path), MAX_LISTED)
        return [(replay.number, game_title(replay), _result(replay)) for replay in replays]


def replay_timeline(replay: Replay) -> tuple[Timeline, str]:
    """Return a recorded game as far as it follows the rules, and the first difference from them; "" if there is none.

    Raises:
        Disagreement: the initial position is another one.
    """
    timeline = Timeline(start(replay), replay.agents)
    try:
        for phase in play(replay):
            timeline.append(phase.orders, phase.after)
    except RecordingError as error:
        return timeline, str(error)
    return timeline, ""


def game_title(replay: Replay) -> str:
    """Return the number of a game and who played it."""
    alpha, bravo = replay.agents
    return f"game {replay.number}: {alpha} (alpha) against {bravo} (bravo)"


def _result(replay: Replay) -> str:
    turns = replay.phases[-1].turn if replay.phases else 0
    played = f"{turns} {'turn' if turns == 1 else 'turns'}"
    if replay.end is None:
        return f"{replay.config.title}, {played}" + ("" if replay.is_finished else ", not played to its end")
    winner = "draw" if replay.end.winner is None else f"{replay.end.winner} wins"
    return f"{replay.config.title}, {winner}, {played}"
