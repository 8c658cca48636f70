"""Sweeps: grid searches over configuration values, with the same match in every cell."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import product
from math import prod
from typing import Any, Self, Unpack

from geo_patrol.agents.playing import check_pair
from geo_patrol.agents.protocol import Agent, agent_name
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO
from geo_patrol.errors import ConfigError, show
from geo_patrol.evaluation.campaign import CampaignOptions, check_options, describe_plan, play_matches, read_seed
from geo_patrol.evaluation.chunks import PlannedMatch
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND, Failure, MatchResult, WinRate, to_frame
from geo_patrol.sides import SIDES

MAX_CELLS = 10_000
_NUMBER = r"-?\d{1,9}(?:\.\d{1,9})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True)
class Variation:
    """A configuration key and its values as text, as in ``--set KEY=VALUE``."""

    key: str
    values: tuple[str, ...]


def parse_variation(text: str) -> Variation:
    """Parse ``key=values``: values with commas between them, ``0..4`` for integers, ``0..1..0.25`` with a step.

    Raises:
        ConfigError: it cannot be parsed.
    """
    key, sign, listed = map(str.strip, text.partition("="))
    if not sign or not key or not listed:
        raise ConfigError(
            f"vary must be key=values, such as bravo.patrols.ammo=0..4 or alpha.patrols.fuel=60,80, got {show(text)}"
        )
    values = [value for piece in _split(listed) for value in _expand(text, piece)]
    if not all(values):
        raise ConfigError(f"vary {show(text)}: a value is missing between commas")
    for i, value in enumerate(values):
        if value in values[:i]:
            raise ConfigError(f"vary {show(text)}: {value} is there twice")
    return Variation(key, tuple(values))


def _split(listed: str) -> list[str]:
    """Split at the commas outside lists, tables and quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in listed:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (not quote and letter in _OPENING) - (not quote and letter in _CLOSING)
        if letter == "," and depth == 0 and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces]


def _expand(text: str, piece: str) -> Iterator[str]:
    """Yield the values of a range; anything else is a single value."""
    match = _RANGE.fullmatch(piece)
    if match is None:
        yield piece
        return
    low, high, step = Decimal(match[1]), Decimal(match[2]), Decimal(match[3] or 1)
    if high < low or step <= 0:
        raise ConfigError(f"vary {show(text)}: {piece}: the smaller end comes first, and a step is above 0")
    count = int((high - low) / step) + 1
    if count > MAX_CELLS:
        raise ConfigError(f"vary {show(text)}: {piece} are {count:,} values; {MAX_CELLS:,} are allowed")
    for i in range(count):
        yield str(low + i * step)


@dataclass(frozen=True)
class CellResult:
    """The games of a cell, summed up.

    Attributes:
        win_rates: as alpha and as bravo: of the first agent, or of the side for an agent against itself.
        draw_rate: drawn games / games.
        mean_turns: mean number of turns played, the last one included.
        illegal_orders: number of illegal orders of the first and of the second agent, in all games.
        failures: failures of agents.
    """

    win_rates: tuple[WinRate, WinRate]
    draw_rate: float
    mean_turns: float
    illegal_orders: tuple[int, int]
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, match: MatchResult, *, mirror: bool) -> Self:
        """Sum up a match; ``mirror``: of an agent against itself."""
        count_wins = _side_wins if mirror else _first_wins
        return cls(
            win_rates=(count_wins(match, ALPHA), count_wins(match, BRAVO)),
            draw_rate=float((match.winner == DRAW).mean()),
            mean_turns=float(match.turns.mean()),
            illegal_orders=(int(match.illegal_orders[:, FIRST].sum()), int(match.illegal_orders[:, SECOND].sum())),
            failures=match.failures,
        )


@dataclass(frozen=True, eq=False)
class Sweep:
    """A finished sweep.

    Attributes:
        agents: names of the first and the second agent.
        title: title of the configuration.
        seed: seed of every match: all cells share their random streams, which makes them easier to compare.
        games: number of games per cell.
        variations: the varied keys with their values.
        cells: for every cell, a value of each variation; the last variation changes fastest.
        results: results of every cell, without its games: ``play_match`` with the same seed plays them again.
    """

    agents: tuple[str, str]
    title: str
    seed: int
    games: int
    variations: tuple[Variation, ...]
    cells: tuple[tuple[str, ...], ...]
    results: tuple[CellResult, ...]

    def __repr__(self) -> str:
        keys = ", ".join(variation.key for variation in self.variations)
        return (
            f"<Sweep of {keys}: {self.agents[0]} against {self.agents[1]}, {self.title}, {len(self.cells):,} cells,"
            f" {self.games:,} games per cell, seed {self.seed}>"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of every variation."""
        return tuple(len(variation.values) for variation in self.variations)

    def win_rates(self) -> dict[str, list[WinRate]]:
        """Return the win rates of every cell, by description.

        Two agents: win rates of the first one as alpha and as bravo. An agent against itself: those of alpha and bravo.
        """
        first, second = self.agents
        labels = (
            (f"alpha wins ({first} on both sides)", f"bravo wins ({first} on both sides)")
            if first == second
            else (
                f"{first} (alpha) wins against {second} (bravo)",
                f"{first} (bravo) wins against {second} (alpha)",
            )
        )
        return {label: [result.win_rates[side] for result in self.results] for side, label in enumerate(labels)}

    def draw_rates(self) -> list[float]:
        """Return the draw rate of every cell."""
        return [result.draw_rate for result in self.results]

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data for JSON; nothing in it depends on time or machine."""
        rates = self.win_rates()
        return {
            "agents": {"first": self.agents[0], "second": self.agents[1]},
            "games_a_cell": self.games,
            "seed": self.seed,
            "vary": {variation.key: list(variation.values) for variation in self.variations},
            "cells": [
                {
                    "values": dict(zip((variation.key for variation in self.variations), cell, strict=True)),
                    "win_rates": {label: _to_dict(values[i]) for label, values in rates.items()},
                    "draw_rate": result.draw_rate,
                    "mean_turns": result.mean_turns,
                    "illegal_orders": list(result.illegal_orders),
                    "failures": [asdict(failure) for failure in result.failures],
                }
                for i, (cell, result) in enumerate(zip(self.cells, self.results, strict=True))
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every cell, by the names of columns: the varied values, two win rates, and what else was counted."""
        prefixes = SIDES if self.agents[0] == self.agents[1] else [f"first_as_{side}" for side in SIDES]
        columns = [_parse_column(variation.values) for variation in self.variations]
        return [
            {
                **{v.key: column[value] for v, column, value in zip(self.variations, columns, cell, strict=True)},
                **result.win_rates[0].columns(f"{prefixes[0]}_"),
                **result.win_rates[1].columns(f"{prefixes[1]}_"),
                "draw_rate": result.draw_rate,
                "mean_turns": result.mean_turns,
                "first_illegal_orders": result.illegal_orders[0],
                "second_illegal_orders": result.illegal_orders[1],
                "failures": len(result.failures),
                "games_lost_by_failures": sum(failure.games for failure in result.failures),
            }
            for cell, result in zip(self.cells, self.results, strict=True)
        ]

    def to_frame(self) -> Any:
        """Return a row for every cell as a ``pandas.DataFrame``, see ``rows``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_frame(self.rows())


def _parse_column(values: tuple[str, ...]) -> dict[str, Any]:
    """Return a variation's values by their texts: as numbers if all of them are."""
    for number in (int, float):
        with suppress(ValueError):
            return {value: number(value) for value in values}
    return {value: value for value in values}


def _first_wins(match: MatchResult, side: int) -> WinRate:
    """Return the first agent's win rate on a side."""
    mask = match.first_side == side
    winner = match.winner[mask]
    return WinRate.from_games(winner == FIRST, winner == DRAW, match.seeds[mask])


def _side_wins(match: MatchResult, side: int) -> WinRate:
    """Return the win rate of a side, whichever agent played it."""
    draws = match.winner == DRAW
    return WinRate.from_games(~draws & ((match.winner ^ match.first_side) == side), draws, match.seeds)


def _to_dict(rate: WinRate) -> dict[str, Any]:
    return {"wins": rate.wins, "games": rate.games, "rate": rate.win_rate, "interval": rate.win_interval}


class _PlannedCells(Sequence[PlannedMatch]):
    """The matches of all cells. Each is made when it is asked for: ten thousand configurations would fill the memory."""

    def __init__(
        self,
        agents: tuple[str | Agent, str | Agent],
        base: GameConfig,
        keys: list[str],
        cells: Sequence[tuple[str, ...]],
    ) -> None:
        self._agents, self._base, self._keys, self._cells = agents, base, keys, cells

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, index: Any) -> Any:
        values = [f"{key}={value}" for key, value in zip(self._keys, self._cells[index], strict=True)]
        return PlannedMatch(self._agents, load_config(self._base, values))


def play_sweep(
    first: str | Agent,
    second: str | Agent,
    vary: Sequence[str],
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Sequence[str] = (),
    games: int = 200,
    seed: int | None = None,
    **options: Unpack[CampaignOptions],
) -> Sweep:
    """Play a match at every point of a grid of configuration values.

    Args:
        first: an agent, as ``play_tournament`` takes them.
        second: its opponent, perhaps the same.
        vary: for every key a text ``key=values``, see ``parse_variation``.
        config: see ``load_config``.
        overrides: texts ``key=value`` for every cell.
        games: number of games per cell, even: half of them with the sides swapped.
        seed: see ``play_tournament``; every cell is the match that ``play_match`` plays with it.
        **options: ``move_time``, ``processes``, ``executor``, ``progress``, ``folder``, see ``CampaignOptions``.

    Raises:
        ConfigError: a key or a value is wrong, in any cell; nothing is played then.
        AgentError: a user-defined agent cannot be made.
        FolderError: the folder holds something else.
        ValueError: another argument is wrong.
    """
    variations = parse_variations(vary)
    pairs = check_games(games) // 2
    seed = read_seed(seed, options.get("folder"))
    base = load_config(config, overrides)
    cells = tuple(product(*(variation.values for variation in variations)))
    agents = (first, second)
    matches = _PlannedCells(agents, base, [variation.key for variation in variations], cells)
    for _ in matches:  # a wrong value is an error before anything is played
        pass
    check_pair(first, second)
    checked = check_options(agents, **options)
    names = agent_name(first), agent_name(second)
    plan = {
        **describe_plan("sweep", names, base, games, seed),
        "vary": [asdict(variation) for variation in variations],
    }
    played = play_matches(agents, matches, pairs, seed, plan, **checked)
    results = {i: CellResult.of(match, mirror=names[0] == names[1]) for i, match in played}
    return Sweep(names, base.title, seed, games, variations, cells, tuple(results[i] for i in range(len(cells))))


def parse_variations(vary: Sequence[str]) -> tuple[Variation, ...]:
    """Parse all variations of a sweep.

    Raises:
        ConfigError: one cannot be parsed, a key occurs twice, or there are too many cells.
    """
    if not vary:
        raise ConfigError("nothing is varied: vary must have at least one key=values, such as bravo.patrols.ammo=0..4")
    variations = tuple(parse_variation(text) for text in vary)
    keys = [variation.key for variation in variations]
    for i, key in enumerate(keys):
        if key in keys[:i]:
            raise ConfigError(f"vary {key}: it is there twice; all its values belong together")
    cells = prod(len(variation.values) for variation in variations)
    if cells > MAX_CELLS:
        raise ConfigError(f"the values vary in {cells:,} ways; {MAX_CELLS:,} are allowed")
    return variations
