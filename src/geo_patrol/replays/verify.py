"""Verification against the published implementation: its recorded games and odds, compared with the engine.

``python -m geo_patrol.replays.verify FILE...`` or ``geo-patrol verify FILE...``. Games are played again by
``geo_patrol.replays.checking``, as ``geo-patrol replay --check`` does. For odds, the same engagement is resolved as often as
it was recorded, and the counts are compared by a chi-square test.
"""

import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import typer
from pydantic import Field, ValidationError, model_validator
from rich.console import Console
from rich.progress import track

from geo_patrol.base.errors import MAX_MESSAGE_LINE, GeoPatrolError, RecordingError, printable
from geo_patrol.base.sides import SIDES
from geo_patrol.base.validation import describe_fault, field_of, parse_model
from geo_patrol.config.schema import Title
from geo_patrol.engine import state
from geo_patrol.engine.engagement import pay_for_engagements, resolve_repeatedly
from geo_patrol.game.game import Games
from geo_patrol.game.notation import PHASES
from geo_patrol.game.position import Position
from geo_patrol.replays import Disagreement, play, published
from geo_patrol.replays.files import read_lines

# Odds

SIGNIFICANCE = 1e-4
"""Two distributions differ if the p-value is below this."""
MAX_DRAWS = 10_000_000
_SEED = 20240401
_CHUNK = 100_000
"""Resolutions held in memory at a time."""

_MIN_COUNT = 20
"""Categories with fewer observations in both samples are pooled, as the chi-square approximation requires."""

_Counts = dict[str, Annotated[int, Field(ge=0, le=MAX_DRAWS)]]


class PublishedOdds(published.PublishedTable):
    """An engagement that was resolved many times, with counts of what came of it."""

    name: Title
    config: dict[str, Any]
    state: published.PublishedState
    orders: published.BothOrders
    draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)]
    destroyed_counts: _Counts
    outcome_counts_guard_shoot_collide: _Counts

    @model_validator(mode="after")
    def _check_sums(self) -> Self:
        for field in ("destroyed_counts", "outcome_counts_guard_shoot_collide"):
            total = sum(getattr(self, field).values())
            if total != self.draws:
                raise ValueError(f"{field} must add up to draws, {self.draws}, not {total}")
        return self


def check_odds(recorded: PublishedOdds) -> str | None:
    """Resolve a recorded engagement as often as it was recorded, and return the first difference, or None.

    The counts are compared by the chi-square test of homogeneity.

    Raises:
        RecordingError: the recording is invalid.
        ConfigError: its configuration is invalid.
    """
    destroyed, kinds = count_outcomes(recorded)
    recorded_destroyed = Counter[str]()
    for label, count in recorded.destroyed_counts.items():
        recorded_destroyed[_sorted_label(label)] += count
    for field, theirs, ours in (
        ("destroyed_counts", recorded_destroyed, destroyed),
        ("outcome_counts_guard_shoot_collide", recorded.outcome_counts_guard_shoot_collide, kinds),
    ):
        p_value = homogeneity(theirs, ours)
        if p_value < SIGNIFICANCE:
            return f"{field}: recorded {_frequencies(theirs)}, drawn {_frequencies(ours)}: p = {p_value:.2g} < {SIGNIFICANCE:g}"
    return None


def count_outcomes(recorded: PublishedOdds, seed: int = _SEED) -> tuple[Counter[str], Counter[str]]:
    """Resolve a recorded engagement as often as it was recorded.

    Returns:
        Counts by the destroyed satellites ("a3,b0": alpha's Patrol 3 and bravo's HVA), and counts by the numbers of
        outcomes ("3/2/1": guard, shoot, collide).
    """
    games = Games(published.read_published_config(recorded.config), seed=seed)
    _write_state(games, recorded.state)
    game, rules = games.state.games[0], games.state.rules[0]
    orders = games.replace_illegal(published.order_codes(recorded.orders)[None])[0]
    pay_for_engagements(game, rules, orders)
    destroyed, kinds = Counter[str](), Counter[str]()
    for start in range(0, recorded.draws, _CHUNK):
        chunk = min(_CHUNK, recorded.draws - start)
        bits, counts = np.empty(chunk, np.int64), np.empty((chunk, 3), np.int64)
        resolve_repeatedly(game, rules, orders, state.make_outcomes(), bits, counts)
        for value, times in zip(*np.unique(bits, return_counts=True), strict=True):
            destroyed[_label(int(value))] += int(times)
        of_kinds = counts[:, [state.GUARDING, state.SHOT, state.COLLISION]]
        for row, times in zip(*np.unique(of_kinds, axis=0, return_counts=True), strict=True):
            kinds["/".join(map(str, row))] += int(times)
    return destroyed, kinds


def _label(bits: int) -> str:
    indices = [index for index in range(state.NUM_SIDES * state.SATELLITES) if bits >> index & 1]
    return ",".join(f"{SIDES[index // state.SATELLITES][0]}{index % state.SATELLITES}" for index in indices)


def _sorted_label(label: str) -> str:
    return ",".join(sorted(label.split(","), key=lambda name: (name[:1], len(name), name)))


def _frequencies(counts: "Counter[str] | dict[str, int]") -> str:
    total = sum(counts.values())
    frequent = sorted(counts.items(), key=lambda item: -item[1])[:4]
    return "{" + ", ".join(f"{label or 'nobody'}: {count / total:.4f}" for label, count in frequent) + ", ..}"


def _write_state(games: Games, recorded: published.PublishedState) -> None:
    """Set a batch of one to a recorded position in the engagement phase.

    Raises:
        RecordingError: a value is impossible in a game.
    """
    if recorded.phase != "engagement" or recorded.done:
        raise RecordingError(
            f"state: phase must be 'engagement' and done false, got {recorded.phase!r} and {recorded.done}"
        )
    data = recorded.model_dump(include={"sector", "fuel", "ammo", "goal", "score", "phase"})
    try:
        position = Position.model_validate(data, strict=False)
    except ValidationError as error:
        fault = error.errors()[0]
        raise RecordingError(f"state: {field_of(fault)} {describe_fault(fault)}") from None
    games.set_position(position, "state", supplies_are_limited=False)


def homogeneity(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    """Return the p-value of two samples, as counts by category, under one distribution."""
    table = _pooled(first, second)
    totals = [sum(column) for column in zip(*table, strict=True)]
    grand_total = sum(totals)
    statistic = 0.0
    for row in table:
        for observed, total in zip(row, totals, strict=True):
            expected = sum(row) * total / grand_total
            statistic += (observed - expected) ** 2 / expected
    return survival(statistic, len(table) - 1)


def _pooled(first: Mapping[str, int], second: Mapping[str, int]) -> list[tuple[int, int]]:
    pairs = [(first.get(category, 0), second.get(category, 0)) for category in sorted({*first, *second})]
    frequent = [pair for pair in pairs if sum(pair) >= _MIN_COUNT]
    rare = [pair for pair in pairs if sum(pair) < _MIN_COUNT]
    pool = (sum(pair[0] for pair in rare), sum(pair[1] for pair in rare))
    return [*frequent, pool] if sum(pool) else frequent


def survival(statistic: float, degrees: int) -> float:
    """Return the survival function of the chi-square distribution.

    For whole degrees of freedom the sum is finite: in steps of two from 0 (even) or 1 (odd).
    """
    if degrees < 1 or statistic <= 0:
        return 1.0
    half, start = statistic / 2, 0.5 * (degrees % 2)
    total = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    for step in range(degrees // 2):
        power = start + step
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1))  # in logs: half may be large
    return min(total, 1.0)


# Files

MAX_BYTES = 4 << 20
"""Largest size of a line, and of a list of engagements; a recorded game takes up to about a megabyte."""
MAX_EMPTY_LINES = 10_000
MAX_FAULTS = 100
"""Games or engagements that differ or cannot be read, after which the rest of a file is not checked."""
MAX_FILE_DRAWS = 2_000_000
"""Draws of all engagements of a file together."""


def check_file(path: Path, console: Console) -> bool:
    """Check one file, print the result, and return whether all of it agrees."""
    agreeing, total, first = 0, 0, ""
    try:
        checks = _checks(path)
        for fault in track(
            checks, f"checking {path.name}", console=console, transient=True, disable=not console.is_terminal
        ):
            total += 1
            agreeing += fault is None
            first = first or fault or ""
            if total - agreeing >= MAX_FAULTS:
                print(f"{path}: {MAX_FAULTS} faults: the rest is not checked")
                break
    except GeoPatrolError as error:
        print(f"{path}: {error}")
        return False
    if total == 0:
        print(f"{path}: nothing is recorded in it")
        return False
    print(f"{path}: {agreeing} of {total} agree")
    if first:
        print(f"  first difference: {printable(first, MAX_MESSAGE_LINE - 20)}")
    return not first


def _checks(path: Path) -> Iterator[str | None]:
    """Check a file item by item; yield the first difference or fault of each item, or None."""
    lines = _read_text(path)
    first = next(lines, None)
    if first is None:
        return
    if first[1].lstrip().startswith("["):
        text, draws = _join(line for _, line in itertools.chain([first], lines)), 0
        for index, item in enumerate(_parse_json(text, "content")):
            count = item.get("draws") if isinstance(item, dict) else 0
            draws += max(count, 0) if isinstance(count, int) else 0
            if draws > MAX_FILE_DRAWS:
                raise RecordingError(f"engagement {index}: more than {MAX_FILE_DRAWS:,} draws in a file")
            yield _check_odds(index, item)
        return
    num_faulty = 0
    for number, line in itertools.chain([first], lines):
        fault = _check_line(number, line)
        yield fault
        num_faulty += 0 if fault is None else len(line)
        if num_faulty > MAX_BYTES:
            raise RecordingError(
                f"line {number}: more than {MAX_BYTES:,} characters with faults: the rest is not checked"
            )


def _read_text(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line that is not empty."""
    num_empty = 0
    for number, line, _ in read_lines(path, MAX_BYTES):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise RecordingError("is not a text file") from None
        if text.strip():
            yield number, text
            continue
        num_empty += 1
        if num_empty > MAX_EMPTY_LINES:
            raise RecordingError(f"line {number}: more than {MAX_EMPTY_LINES:,} empty lines")


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{where}: not JSON: {error}") from None


def _join(lines: Iterable[str]) -> str:
    pieces, length = [], 0
    for line in lines:
        pieces.append(line)
        length += len(line)
        if length > MAX_BYTES:
            raise RecordingError(f"more than {MAX_BYTES:,} characters, too much for a list of engagements")
    return "".join(pieces)


def _check_odds(index: int, item: object) -> str | None:
    try:
        recorded = parse_model(PublishedOdds, item, f"engagement {index}")
        fault = check_odds(recorded)
    except GeoPatrolError as error:
        return str(error)
    return None if fault is None else f"engagement {index} ({recorded.name}), {fault}"


def _check_line(number: int, line: str) -> str | None:
    try:
        recorded = parse_model(published.PublishedGame, _parse_json(line, f"line {number}"), f"line {number}")
        fault = check_game(recorded, number)
    except GeoPatrolError as error:
        return str(error)
    game = f"game {number - 1} ({recorded.config_name or 'unnamed'}, seed {recorded.seed})"
    return None if fault is None else f"{game}, {fault}"


def check_game(recorded: published.PublishedGame, line: int = 1) -> str | None:
    """Replay a recorded game and return the first difference, or None if there is none.

    Args:
        recorded: the game.
        line: number of its line, for messages.

    Raises:
        RecordingError: the recording is invalid.
    """
    replay = published.read_published(recorded, line=line)
    try:
        for _ in play(replay):
            pass
    except Disagreement as disagreement:
        return f"{_where(disagreement)}: {disagreement.difference}"
    return replay.fault


def _where(disagreement: Disagreement) -> str:
    """Return where a disagreement is in a recording, whose phases count drifts too."""
    if disagreement.phase == "start":
        return "initial"
    names: tuple[str, ...] = PHASES
    index = len(names) * (disagreement.turn - 1) + names.index(disagreement.phase)
    return f"phase {index} ({disagreement.phase})"


def verify(
    files: Annotated[list[Path], typer.Argument(help="recorded games (.jsonl, .jsonl.gz) or odds (.json)")],
) -> None:
    """Replay recorded games and odds of the published code, and report where the engine differs.

    Exit status 1 if anything differs or cannot be read.
    """
    console = Console(stderr=True)
    results = [check_file(path, console) for path in files]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    typer.run(verify)
