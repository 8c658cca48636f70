"""Writing replay files, phase by phase."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import to_json

from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.engine.setup import sampled_variant
from geo_patrol.errors import OrderError, RecordingError
from geo_patrol.game import Game
from geo_patrol.notation import ENGAGEMENTS, MOVES, Orders, Outcome, order_codes
from geo_patrol.position import VISIBLE_FIELDS, Position
from geo_patrol.replays.replay import FORMAT, MAX_NAME, VERSION, Replay, write_orders, write_outcome
from geo_patrol.replays.streams import open_stream
from geo_patrol.sides import SIDES
from geo_patrol.versions import versions


class Recorder:
    """Records games of one configuration, one after the other.

    It plays every game itself from the seed and the orders; outcomes and positions follow from them, so that a file
    cannot hold anything that did not happen.

    >>> with Recorder("games.jsonl", config) as recorder:            # doctest: +SKIP
    ...     recorder.begin(seed=7, alpha="ann", bravo="scripted")
    ...     game = recorder.game
    ...     while not game.is_over:
    ...         ...                                                  # alpha_orders, bravo_orders
    ...         game.step(alpha_orders, bravo_orders)
    ...         recorder.record(alpha_orders, bravo_orders)

    Args:
        path: a new file; its ending decides the compression (``.gz``, ``.zst``, otherwise none).
        config: configuration of the games.
        append: append to an existing file.
        sync: flush every phase to the operating system, so that a crash loses one phase at most. Otherwise ``sync()``
            does so.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it exists already.
    """

    def __init__(self, path: str | Path, config: GameConfig, *, append: bool = False, sync: bool = True) -> None:
        self._config = config
        self._game = Game(config, seed=0)
        self._sync_each = sync
        self._versions = versions()
        self._plain_config = None if config.is_randomized else config.to_dict()
        self.path = Path(path)
        self._stream = open_stream(self.path, "a" if append else "x")
        self._is_empty, self._is_closed = not append, False
        self._first_line = b""

    @property
    def game(self) -> Game:
        """The current position of the game that is being recorded, a copy."""
        return self._game.copy()

    @property
    def is_over(self) -> bool:
        """Whether the game that is being recorded has ended."""
        return self._game.is_over

    def begin(self, *, seed: int, alpha: str, bravo: str) -> None:
        """Begin a game; it is written together with its first phase.

        Args:
            seed: seed of the game, as for ``Game``.
            alpha: name of alpha's agent.
            bravo: name of bravo's agent.
        """
        self._game = Game(self._config, seed=seed)
        config = self._plain_config or sampled_config(self._game).to_dict()
        self._first_line = _as_bytes(_game_line((alpha, bravo), seed % 2**64, config, self._versions))

    def resume(self, seed: int, phases: "list[NDArray[np.int8]]") -> None:
        """Continue a game whose first phases are at the end of the file, given as (2, 11) order codes."""
        self._game = Game(self._config, seed=seed)
        for codes in phases:
            self._game.step_actions(codes)

    def record(self, alpha: Orders = None, bravo: Orders = None) -> None:
        """Record a phase from the orders of both sides, and the result if the game has ended.

        Raises:
            OrderError: the game is over, or an order cannot be read.
        """
        self.record_codes(np.array([order_codes(alpha, "alpha"), order_codes(bravo, "bravo")], np.int64))

    def record_codes(self, codes: NDArray[np.int64]) -> None:
        """Record a phase from (2, 11) order codes; illegal ones are recorded too.

        Raises:
            OrderError: the game is over.
        """
        if self.is_over:
            raise OrderError("the game is over: there is nothing more to record of it")
        phase = self._game.step_actions(codes)
        self._write(_phase_line(phase.turn, phase.name, codes, phase.outcomes, _visible(self._game.position)))
        if self.is_over:
            self._write(self._end())

    def _end(self) -> dict[str, Any]:
        game = self._game
        return {
            "type": "end",
            "winner": game.winner,
            "score": list(game.scores.values()),
            "turns": game.turn,
            "reasons": [str(reason) for reason in game.reasons],
        }

    def _write(self, data: dict[str, Any]) -> None:
        self._stream.write(self._first_line + _as_bytes(data))
        self._first_line = b""
        if self._sync_each:
            self._stream.sync()
        self._is_empty = False

    def sync(self) -> None:
        """Flush to the operating system, so that a crash of this process loses nothing."""
        self._stream.sync()

    def close(self) -> None:
        """Close the file; it is removed if nothing has been written."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._stream.close()
        finally:
            if self._is_empty:
                self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_replays(path: str | Path, replays: Iterable[Replay]) -> int:
    """Write games that have been read into a new file, as far as they are valid; return their number.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it exists already.
        RecordingError: a position has values that are not integers.
    """
    count = 0
    with closing(open_stream(Path(path), "x")) as stream:
        for replay in replays:
            for line in _lines(replay):
                stream.write(_as_bytes(line))
            count += 1
    return count


def _lines(replay: Replay) -> Iterator[dict[str, Any]]:
    yield _game_line(replay.agents, replay.seed, replay.config.to_dict(), replay.versions)
    for phase in replay.phases:
        if phase.after is not None:
            yield _phase_line(phase.turn, phase.name, phase.codes, phase.outcomes, _integers(phase.after))
    if replay.end is not None:
        yield replay.end.model_dump()


def _visible(position: Position) -> dict[str, Any]:
    """Return what the line of a phase holds of a position."""
    return {name: getattr(position, name) for name in VISIBLE_FIELDS}


def _integers(position: Position) -> dict[str, Any]:
    """Return the same of a position of the published implementation, whose numbers may be any.

    Raises:
        RecordingError: a value is not an integer, or out of range.
    """
    try:
        return _visible(Position.model_validate(_visible(position), strict=False))
    except ValidationError:
        raise RecordingError("a position must hold non-negative integers") from None


def _game_line(
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


def _phase_line(
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


def _as_bytes(data: dict[str, Any]) -> bytes:
    """Return a line of the file."""
    return to_json(data) + b"\n"


def sampled_config(game: Game) -> GameConfig:
    """Return the configuration of a game in which sampled values replace ranges, choices and variants.

    A game set up from it with the same seed is the same game, random stream included: values are sampled from a stream
    of their own.
    """
    config, games = game.config, game.as_games()
    if not config.is_randomized:
        return config
    data: dict[str, Any] = config.to_dict() | {"variants": [], "mirror": False}
    if config.variants:
        data["variant"] = config.variants[sampled_variant(games.state.games[0], games.scenario)].name
    for side, name in enumerate(SIDES):
        data[name] = _side(games.state.rules[0], side)
    return load_config(data)


def _side(rules: state.Record, side: int) -> dict[str, Any]:
    count, *offsets = rules.formation[side].tolist()  # of the Patrols, in the order of their numbers
    hva, patrol = (
        {"fuel": int(rules.initial_fuel[side, kind]), "ammo": int(rules.initial_ammo[side, kind])} for kind in range(2)
    )
    return {
        "hva": hva | {"weight": float(rules.weight[side, 0])},
        "patrols": patrol
        | {
            "formation": [[offset, len(list(patrols))] for offset, patrols in itertools.groupby(offsets[:count])],
            "count": int(rules.patrol_count[side]),
            "weight": "auto" if rules.automatic_weight[side] else float(rules.weight[side, 1]),
        },
        "costs": {
            **{move: int(rules.move_cost[side, code]) for code, move in enumerate(MOVES) if code != state.NOOP},
            "station_keeping": int(rules.station_keeping_cost[side]),
            **{name: rules.engagement_cost[side, kind].tolist() for kind, name in enumerate(ENGAGEMENTS)},
        },
        "odds": {name: rules.engagement_odds[side, kind].tolist() for kind, name in enumerate(ENGAGEMENTS)},
        "points": {
            "goal": int(rules.goal_points[side]),
            "adjacent": int(rules.adjacent_points[side]),
            "win": int(rules.win_score[side]),
        },
    }
