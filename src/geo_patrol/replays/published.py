"""Reading the published implementation's recordings as replays: no seed, but outcomes, legal orders and positions."""

from dataclasses import replace

import numpy as np

from geo_patrol.config.schema import PatrolsConfig
from geo_patrol.errors import GeoPatrolError, RecordingError
from geo_patrol.notation import PHASES, Outcome, SatelliteId
from geo_patrol.replays.position import FLEET_FIELDS, Position, flatten
from geo_patrol.replays.published_schema import (
    RecordedGame,
    RecordedOutcome,
    RecordedPhase,
    RecordedState,
    order_code,
    order_codes,
    read_published_config,
)
from geo_patrol.replays.replay import Replay, ReplayPhase, clean, with_clean_texts
from geo_patrol.sides import SIDES


def read_published(recorded: RecordedGame, number: int = 0, line: int = 1) -> Replay:
    """Convert a recorded game; a drift becomes part of the engagement before it.

    Phases up to the first one whose parts do not fit together are converted; ``fault`` names the rest.

    Args:
        recorded: the game.
        number: index of the game in its file.
        line: number of its line.

    Raises:
        RecordingError: the configuration or an order is invalid.
    """
    try:
        config = read_published_config(recorded.config)
        style = clean(recorded.style) or "unknown"
        replay = Replay(
            number,
            line,
            with_clean_texts(config.model_copy(update={"title": recorded.config_name or config.title})),
            seed=None,
            agents=(style, style),
            fleets=(_fleet(config.alpha.patrols), _fleet(config.bravo.patrols)),
            refuses_illegal_orders=True,
        )
        replay.fault = _read_phases(replay, recorded)
    except GeoPatrolError as error:
        raise RecordingError(f"line {line}: {error}") from None
    return replay


def _fleet(patrols: PatrolsConfig) -> int:
    assert isinstance(patrols.formation, tuple)  # recorded values are single ones
    return 1 + sum(count for _, count in patrols.formation)


def _read_phases(replay: Replay, recorded: RecordedGame) -> str | None:
    """Add the phases to a replay; return what does not fit together, if anything."""
    if fault := _find_state_fault(recorded.initial, replay.fleets, ""):
        return f"initial: {fault}"
    replay.initial = _position(recorded.initial)
    before = recorded.initial
    for index, phase in enumerate(recorded.phases):
        fault = (
            _find_order_fault(index, phase, before)
            or _find_size_fault(phase, replay.fleets)
            or _find_state_fault(phase.after, replay.fleets, "after.")
        )
        if fault:
            return f"phase {index} ({phase.phase}): {fault}"
        if phase.phase == "drift":
            replay.phases[-1] = replace(replay.phases[-1], after=_position(phase.after))
        else:
            replay.phases.append(_read_phase(replay.line, before.turn + 1, phase))
        before = phase.after
    return None


def _find_order_fault(index: int, phase: RecordedPhase, before: RecordedState) -> str | None:
    """Return why a phase cannot come after those before it: a movement, an engagement, a drift, and so on."""
    expected = "drift" if before.done else PHASES[index % len(PHASES)]
    if phase.phase != expected:
        return f"phase: recorded {phase.phase!r}, replayed {expected!r}"
    return "done: recorded False, replayed True" if before.done else None


def _find_size_fault(phase: RecordedPhase, fleets: tuple[int, int]) -> str | None:
    for what, lists in (("satellites in legal", phase.legal), ("orders", phase.orders)):
        counts: list[int] = [*map(len, lists or ())]
        for side, fleet, count in zip(SIDES, fleets, counts, strict=False):
            if count != fleet:
                return f"number of {what} of {side}: recorded {count}, replayed {fleet}"
    return None


def _find_state_fault(recorded: RecordedState, fleets: tuple[int, int], prefix: str) -> str | None:
    for field in FLEET_FIELDS:
        for side, fleet, values in zip(SIDES, fleets, getattr(recorded, field), strict=True):
            if len(values) != fleet:
                return f"{prefix}number of {field} values of {side}: recorded {len(values)}, replayed {fleet}"
    return None


def _read_phase(line: int, turn: int, phase: RecordedPhase) -> ReplayPhase:
    is_movement = phase.phase == "movement"
    return ReplayPhase(
        line=line,
        turn=turn,
        phase=phase.phase,
        codes=order_codes(phase.orders or []).astype(np.int8),
        outcomes=tuple(_outcome(outcome) for outcome in phase.outcomes or ()),
        after=_position(phase.after) if is_movement else None,  # an engagement's is read with its drift
        before_drift=None if is_movement else _position(phase.after),
        legal=None if phase.legal is None else [[[*map(order_code, one)] for one in side] for side in phase.legal],
    )


def _outcome(recorded: RecordedOutcome) -> Outcome:
    return Outcome(
        action=recorded.action,
        attacker=SatelliteId(*recorded.attacker) if recorded.attacker else None,
        guardian=SatelliteId(*recorded.guardian) if recorded.guardian else None,
        target=SatelliteId(*recorded.target),
        probability=recorded.probability,
        success=recorded.success,
    )


def _position(recorded: RecordedState) -> Position:
    """Return a recorded position, whose values may be any numbers."""
    return Position(flatten(recorded, np.float64), (recorded.turn, recorded.phase, recorded.done))
