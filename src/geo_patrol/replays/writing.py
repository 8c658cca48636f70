"""Writing games into replay files, phase by phase."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.errors import OrderError, RecordingError
from geo_patrol.game import Game
from geo_patrol.notation import PHASES, Orders, Outcome, read_orders, short_name
from geo_patrol.replays.drawn import drawn_config
from geo_patrol.replays.layout import FORMAT, MAX_NAME, VERSION, PositionWriter, unflatten, write_orders, write_outcome
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.rerun import Rerun
from geo_patrol.replays.streams import MAX_LINE_BYTES, LineStream, open_stream
from geo_patrol.versions import versions


class Recorder:
    """Records games of one configuration, one after the other.

    It plays every game along by itself: what it is told is where a game's chance comes from and what is ordered, and
    outcomes and positions follow. A game that went the same way stands in the file as it was.

    >>> with Recorder("games.jsonl", config) as recorder:            # doctest: +SKIP
    ...     recorder.begin(seed=7, alpha="ann", bravo="scripted")
    ...     game = recorder.game
    ...     while not game.is_over:
    ...         ...                                                  # alpha_orders, bravo_orders
    ...         game.step(alpha_orders, bravo_orders)
    ...         recorder.record(alpha_orders, bravo_orders)

    Args:
        path: a new file; its ending says whether it is packed (``.gz``, ``.zst``).
        config: what is played.
        append: go on at the end of a file that is there.
        sync: hand every phase over to the operating system at once, so that a crash loses one phase at most. Without
            it, ``sync()`` does so when it is called.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it is there already.
    """

    def __init__(self, path: str | Path, config: GameConfig, *, append: bool = False, sync: bool = True) -> None:
        self._rerun = Rerun(config, 0)
        self._sync_each = sync
        self._versions = versions()
        self._settled = None if config.is_drawn else config.to_dict()
        self.path = Path(path)
        self._stream: LineStream = open_stream(self.path, "a" if append else "x")
        self._is_empty, self._is_closed = not append, False
        self._first_line = b""

    @property
    def game(self) -> Game:
        """The game that is being recorded, a copy."""
        return self._rerun.game

    @property
    def is_over(self) -> bool:
        """Whether the game that is being recorded has ended."""
        return bool(self._rerun.batch.games["done"][0])

    def begin(self, *, seed: int, alpha: str, bravo: str) -> None:
        """Begin a game; it stands in the file from its first phase on.

        Args:
            seed: the game's own, as ``Game`` takes it.
            alpha: who plays alpha.
            bravo: who plays bravo.
        """
        self._rerun.begin(seed)
        self._first_line = as_bytes(
            game_line((alpha, bravo), seed % 2**64, self._settled or self._drawn(), self._versions)
        )
        self._position = PositionWriter(self._rerun.batch)

    def _drawn(self) -> dict[str, Any]:
        batch = self._rerun.batch
        return drawn_config(batch.config, batch.rules[0]).to_dict()

    def resume(self, seed: int, phases: "list[NDArray[np.int8]]") -> None:
        """Go on with a game whose first phases stand at the end of the file."""
        self._rerun.begin(seed)
        for codes in phases:
            self._rerun.play(codes)
        self._position = PositionWriter(self._rerun.batch)

    def record(self, alpha: Orders = None, bravo: Orders = None) -> None:
        """Record a phase: what both sides ordered; the end of the game with it, if that was its last.

        Raises:
            OrderError: the game is over, or an order cannot be read.
        """
        self.record_codes(np.array([_codes(alpha), _codes(bravo)], np.int64))

    def record_codes(self, codes: NDArray[np.int64]) -> None:
        """Record a phase from (2, 11) order codes; illegal ones are kept, for they count.

        Raises:
            OrderError: the game is over.
        """
        games = self._rerun.batch.games  # whole fields: asking a record for each one takes far longer
        if self.is_over:
            raise OrderError("the game is over: there is nothing more to record of it")
        turn, phase = int(games["turn"][0]) + 1, PHASES[games["phase"][0]]
        outcomes = self._rerun.play(codes)
        self._write(phase_line(turn, phase, codes, outcomes, self._position.data()))
        if self.is_over:
            self._write(self._end())

    def _end(self) -> dict[str, Any]:
        game = self.game
        return {
            "type": "end",
            "winner": game.winner,
            "score": list(game.scores.values()),
            "turns": game.turn,
            "reasons": [str(reason) for reason in game.reasons],
        }

    def _write(self, data: dict[str, Any]) -> None:
        self._stream.write(self._first_line + as_bytes(data))
        self._first_line = b""
        self._is_empty = False
        if self._sync_each:
            self._stream.sync()

    def sync(self) -> None:
        """Hand over what has been written, so that a crash cannot lose it."""
        self._stream.sync()

    def close(self) -> None:
        """End the file; if nothing has been written, none is left."""
        if self._is_closed:
            return
        self._is_closed = True
        self._stream.close()
        if self._is_empty:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_replays(path: str | Path, replays: Iterable[Replay]) -> int:
    """Write games that have been read into a new file, each with what is sound of it; return how many.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it is there already.
    """
    count, stream = 0, open_stream(Path(path), "x")
    try:
        for replay in replays:
            for line in _lines(replay):
                stream.write(as_bytes(line))
            count += 1
    finally:
        stream.close()
    return count


def _lines(replay: Replay) -> Iterator[dict[str, Any]]:
    yield game_line(replay.agents, replay.seed, replay.config.to_dict(), replay.versions)
    for phase in replay.phases:
        after = unflatten(phase.figures, replay.fleets)
        yield phase_line(phase.turn, phase.phase, phase.codes, phase.outcomes, after)
    if replay.end is not None:
        yield replay.end.model_dump()


def game_line(
    agents: tuple[str, str], seed: int | None, config: dict[str, Any], versions: dict[str, str]
) -> dict[str, Any]:
    """Return the first line of a game."""
    return {
        "type": "game",
        "format": FORMAT,
        "version": VERSION,
        "versions": versions,
        "agents": {"alpha": agents[0][:MAX_NAME], "bravo": agents[1][:MAX_NAME]},
        "seed": seed,
        "config": config,
    }


def phase_line(
    turn: int, phase: str, codes: NDArray[np.integer[Any]], outcomes: Sequence[Outcome], after: dict[str, Any]
) -> dict[str, Any]:
    """Return the line of a decision phase."""
    line: dict[str, Any] = {
        "type": "phase",
        "turn": turn,
        "phase": phase,
        "orders": {"alpha": write_orders(codes[0]), "bravo": write_orders(codes[1])},
    }
    if outcomes:
        line["outcomes"] = [write_outcome(outcome) for outcome in outcomes]
    return line | {"after": after}


def as_bytes(data: dict[str, Any]) -> bytes:
    """Return a line as it stands in a file.

    Raises:
        RecordingError: it is longer than a reader would take.
    """
    line = to_json(data) + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise RecordingError(
            f"a line of {len(line):,} bytes; a replay takes {MAX_LINE_BYTES:,}: shorten the texts of the configuration"
        )
    return line


def _codes(orders: Orders) -> list[int]:
    codes = [state.NOOP] * state.SATELLITES
    named: set[int] = set()
    for order in read_orders(orders):
        if order.satellite in named:
            raise OrderError(f"{order}: {short_name(order.satellite)} has an order already")
        named.add(order.satellite)
        codes[order.satellite] = order.code
    return codes
