"""Lessons: games explained in steps, in each of which the player does something in a prepared position.

Texts, positions and what the player must do are data (``configs/lessons``). ``Lesson`` is the progress through the steps of
any game; those of the orbital games are in ``play.lesson``, that of Spaceship Commander in ``flight.lesson``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict


class LessonTable(BaseModel):
    """A table of a lesson's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(LessonTable):
    """A step of a lesson of any game.

    Attributes:
        id: names the step in programs.
        title: names it on the screen.
        text: what the player should know.
        task: what the player must do.
        hint: is shown when the player has ordered or chosen something else.
        result: is shown when it is done.
        orders: the orders to be committed, as text.
    """

    id: str
    title: str
    text: str
    task: str
    hint: str
    result: str
    orders: tuple[str, ...] = ()


StepT = TypeVar("StepT", bound=Step)


@dataclass(frozen=True)
class Card:
    """What the player reads in a step, with all values filled in.

    Attributes:
        title: title of the step.
        progress: the number of the step, and of all.
        text: the explanation, or the result once the step is done.
        task: what to do now; empty once the step is done.
        hint: what was wrong; empty if nothing was.
    """

    title: str
    progress: str
    text: str
    task: str = ""
    hint: str = ""


class Lesson(Generic[StepT]):
    """Progress through the steps of a lesson.

    Args:
        title: title of the lesson.
        steps: its steps in order.

    Attributes:
        index: index of the current step.
        is_done: whether the player has done what the step requires, and it has been shown.
        has_failed: whether the player's last attempt was something else.
        has_ordered: whether there were orders in it.
    """

    def __init__(self, title: str, steps: Sequence[StepT]) -> None:
        self.title = title
        self.steps = tuple(steps)
        self.go(0)

    @property
    def step(self) -> StepT:
        """The current step."""
        return self.steps[self.index]

    def attempt(self, orders: Iterable[object]) -> bool:
        """Return whether these are the orders that the step requires; if not, its hint is shown."""
        given = sorted(map(str, orders))
        self.has_failed = given != sorted(self.step.orders)
        self.has_ordered = bool(given)
        return not self.has_failed

    def finish(self) -> None:
        """Complete the step."""
        self.is_done, self.has_failed = True, False

    def go(self, index: int) -> None:
        """Begin a step by its index."""
        self.index = index
        self.is_done = self.has_failed = self.has_ordered = False

    def card(self, values: Mapping[str, Any]) -> Card:
        """Return what the player reads now.

        Args:
            values: for the texts of the step.
        """
        step = self.step
        progress = f"{self.index + 1} of {len(self.steps)}"
        if self.is_done:
            return Card(step.title, progress, step.result.format_map(values))
        hint = step.hint.format_map(values) if self.has_failed else ""
        return Card(step.title, progress, step.text.format_map(values), step.task.format_map(values), hint)
