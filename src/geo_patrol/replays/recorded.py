"""Recorded games of the published implementation as replays: no seed, but outcomes and positions."""

import itertools

import numpy as np
from numpy.typing import NDArray

from geo_patrol.errors import GeoPatrolError, RecordingError
from geo_patrol.notation import PHASES, Phase
from geo_patrol.replays.replay import Replay, ReplayPhase, clean, with_clean_texts
from geo_patrol.verify.games import read_orders, read_recorded_outcome
from geo_patrol.verify.recording import RecordedGame, RecordedPhase, RecordedState, read_config


def read_published(line: int, recorded: RecordedGame, number: int) -> Replay:
    """Turn a recorded game into a replay; the drift goes with the engagement before it.

    Args:
        line: where it stands in its file.
        recorded: the game.
        number: its place in the file.

    Raises:
        RecordingError: the recording does not make sense.
    """
    try:
        config = read_config(recorded.config)
        phases = _phases(line, recorded)
    except GeoPatrolError as error:
        raise RecordingError(f"line {line}: {error}") from None
    style = clean(recorded.style) or "unknown"
    alpha, bravo = recorded.initial.sector
    return Replay(
        number,
        line,
        with_clean_texts(config.model_copy(update={"title": recorded.config_name or config.title})),
        seed=None,
        agents=(style, style),
        phases=phases,
        fleets=(len(alpha), len(bravo)),
        published=recorded,
    )


def _phases(line: int, recorded: RecordedGame) -> list[ReplayPhase]:
    phases = []
    turn = recorded.initial.turn
    for phase, following in itertools.zip_longest(recorded.phases, recorded.phases[1:]):
        if phase.phase != "drift":
            drifts = phase.phase == "engagement" and following is not None and following.phase == "drift"
            after = following.after if drifts else phase.after
            phases.append(_phase(line, turn + 1, phase, after))
        turn = phase.after.turn
    return phases


def _phase(line: int, turn: int, phase: RecordedPhase, after: RecordedState) -> ReplayPhase:
    name: Phase = PHASES[PHASES.index(phase.phase)]
    return ReplayPhase(
        line=line,
        turn=turn,
        phase=name,
        codes=read_orders(phase.orders).astype(np.int8),
        outcomes=tuple(read_recorded_outcome(outcome) for outcome in phase.outcomes or ()),
        figures=_figures(after),
    )


def _figures(position: RecordedState) -> NDArray[np.int32]:
    fleets = [row for fleets in (position.sector, position.fuel, position.ammo) for row in fleets]
    figures = np.concatenate([*fleets, position.goal, position.score])
    if not np.all((figures >= 0) & (figures < 2**31) & (figures == np.floor(figures))):
        raise RecordingError("a position has figures that are no whole numbers from 0 on")
    return figures.astype(np.int32)
