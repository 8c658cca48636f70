"""The guided first game for a browser. Every request begins its step anew, so that a server keeps nothing of it."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from geo_patrol.browser.choices import choices_record
from geo_patrol.browser.records import game_record
from geo_patrol.browser.scenes import SceneEncoder
from geo_patrol.notation import read_orders
from geo_patrol.sessions.lesson import PLAYER, GameLesson, LessonSession


@cache
def num_steps() -> int:
    """Return the number of steps."""
    return len(GameLesson().steps)


@cache
def step_record(index: int) -> dict[str, Any]:
    """Return a step as it begins.

    Args:
        index: of the step, from 0.

    Returns:
        ``title`` of the lesson; ``steps``, their number; ``card``, what the player reads; ``selects``, whether a satellite is to be selected and
        not orders to be committed; ``record`` as ``game_record`` and ``choices`` as ``choices_record`` return them.
    """
    session = _begin(index)
    game = session.live.game
    return {
        "title": session.lesson.title,
        "steps": len(session.lesson.steps),
        "card": asdict(session.card),
        "selects": session.lesson.step.select is not None,
        "record": game_record(session.live.timeline, session.lesson.title),
        "choices": choices_record(game, PLAYER, SceneEncoder(game.config).layout),
    }


def attempt_record(index: int, select: str | None, orders: Sequence[str]) -> dict[str, Any]:
    """Return what becomes of the player's attempt at a step.

    Args:
        index: of the step, from 0.
        select: the name of the satellite that was selected; None if orders were committed.
        orders: the orders.

    Returns:
        ``done``, whether it is what the step requires; ``card``, what the player reads then; ``record``, the phases that
        were played, or None.

    Raises:
        OrderError: one of the orders is none.
    """
    session = _begin(index)
    entry = session.entry
    assert entry is not None
    if select is not None:
        own = session.live.game.satellites(PLAYER)
        entry.select(next((one.id.number for one in own if one.id.short == select), None))
        session.check_selection()
    else:
        entry.give_all(read_orders(orders))
        session.commit()
        while session.stage == "showing":
            session.end_showing()
    timeline = session.live.timeline
    return {
        "done": session.lesson.is_done,
        "card": asdict(session.card),
        "record": game_record(timeline, session.lesson.title) if len(timeline) > 1 else None,
    }


def _begin(index: int) -> LessonSession:
    lesson = GameLesson()
    lesson.go(index)
    return LessonSession.begin(lesson)
