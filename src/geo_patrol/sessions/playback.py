"""Moving about in a timeline: playing on, stopping, stepping, jumping. No drawing here."""

from collections.abc import Callable
from typing import TypeAlias

from geo_patrol.sessions.timeline import Scene, Timeline
from geo_patrol.sessions.waiting import Wait, wait_idly

Advance: TypeAlias = Callable[[Wait], None]
"""Plays the next phase of a live game and appends it to the timeline; waits for agents as it is told."""

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MOVEMENT_SECONDS, ENGAGEMENT_SECONDS, DRIFT_SECONDS = 1.2, 3.0, 1.0
"""How long phases are shown at the usual speed: movement, an engagement with its drift, a drift alone."""
MOVING_PART = 0.8
"""The part of that time in which things move; then the position rests."""


def phase_seconds(scene: Scene) -> float:
    """Return how long the phase that led to a scene is shown at the usual speed."""
    if scene.before is None or scene.before.game.phase == "movement":
        return MOVEMENT_SECONDS
    return ENGAGEMENT_SECONDS if scene.before.outcomes else DRIFT_SECONDS


class Playback:
    """Where in a timeline one is, and how it goes on.

    Args:
        timeline: to move about in; it may grow.
        advance: plays the next phase of a live game; None for a recording.
        wait: waits for the agents of a live game.

    Attributes:
        index: of the moment that is shown.
        is_playing: whether it goes on by itself.
    """

    def __init__(self, timeline: Timeline, advance: Advance | None = None, wait: Wait = wait_idly) -> None:
        self.timeline = timeline
        self.index = 0
        self.is_playing = True
        self._advance = advance
        self._wait = wait
        self._elapsed = 1.0  # part of the phase's time
        self._speed = SPEEDS.index(1.0)
        self._scene: Scene | None = None

    @property
    def scene(self) -> Scene:
        """What is shown; the same object while it is the same."""
        if self._scene is None:
            self._scene = self.timeline.scene(self.index)
        return self._scene

    @property
    def progress(self) -> float:
        """How far the phase that led here has come, from 0 to 1."""
        return min(self._elapsed / MOVING_PART, 1.0)

    @property
    def speed(self) -> float:
        """How many times faster than usual it goes."""
        return SPEEDS[self._speed]

    @property
    def is_moving(self) -> bool:
        """Whether the picture changes by itself."""
        return self.progress < 1 or (self.is_playing and self.can_go_on)

    @property
    def can_go_on(self) -> bool:
        """Whether there is a next moment, or one can be played."""
        return self.index + 1 < len(self.timeline) or (self._advance is not None and not self.timeline.is_complete)

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed = min(self._elapsed + seconds * self.speed / phase_seconds(self.scene), 1.0)
        if self._elapsed >= 1 and self.is_playing:
            if self.can_go_on:
                self._next()
            else:
                self.is_playing = False

    def toggle(self) -> None:
        """Pause, or go on; from the end, begin again."""
        if not self.is_playing and not self.can_go_on:
            self.restart()
        else:
            self.is_playing = not self.is_playing

    def forward(self) -> None:
        """Pause, and show the next phase; if one is just being shown, its end."""
        self.is_playing = False
        if self.progress < 1:
            self._elapsed = 1.0
        elif self.can_go_on:
            self._next()

    def back(self) -> None:
        """Pause, and return to the beginning of the phase that is shown."""
        self.is_playing = False
        self._go(max(self.index - 1, 0))

    def next_turn(self) -> None:
        """Pause, and go to the beginning of the next turn."""
        self.is_playing = False
        turn = self.scene.game.turn
        while self.can_go_on and self.timeline[self.index].game.turn <= turn:
            self._step()
        self._go(self.index)

    def previous_turn(self) -> None:
        """Pause, and go to the beginning of this turn, or of the one before if it is there already."""
        self.is_playing = False
        index = max(self.index - 1, 0)
        turn = self.timeline[index].game.turn
        while index and self.timeline[index - 1].game.turn == turn:
            index -= 1
        self._go(index)

    def next_engagement(self) -> None:
        """Go to the next engagement and show it; a live game is played on until there is one, or to its end."""
        found = self.timeline.next_engagement(self.index)
        while found is None and self.can_go_on:
            self._step()
            found = self.index if self.timeline[self.index - 1].outcomes else None
        if found is None:
            self.is_playing = False
            self._go(len(self.timeline) - 1)
        else:
            self._go(found, elapsed=0.0)

    def previous_engagement(self) -> None:
        """Go to the engagement before and show it; if there is none, to the start."""
        found = self.timeline.previous_engagement(self.index)
        self._go(found or 0, elapsed=0.0 if found else 1.0)

    def restart(self) -> None:
        """Show it from the start again."""
        self._go(0)
        self.is_playing = True

    def to_end(self) -> None:
        """Pause, and go to the last moment there is."""
        self.is_playing = False
        self._go(len(self.timeline) - 1)

    def show_last(self) -> None:
        """Show the phase that was played last."""
        self._go(len(self.timeline) - 1, elapsed=0.0)

    def skip(self) -> None:
        """Show the end of the phase at once."""
        self._elapsed = 1.0

    @property
    def has_rested(self) -> bool:
        """Whether the phase's time is over."""
        return self._elapsed >= 1

    def seek(self, part: float) -> None:
        """Pause, and go to a part of what has been played, from 0 to 1."""
        self.is_playing = False
        self._go(round(min(max(part, 0.0), 1.0) * (len(self.timeline) - 1)))

    def faster(self) -> None:
        """Show phases faster."""
        self._speed = min(self._speed + 1, len(SPEEDS) - 1)

    def slower(self) -> None:
        """Show phases slower."""
        self._speed = max(self._speed - 1, 0)

    def _next(self) -> None:
        self._step()
        self._go(self.index, elapsed=0.0)

    def _step(self) -> None:
        """Go one moment further, which a live game may have to play first."""
        if self.index + 1 == len(self.timeline) and self._advance is not None:
            self._advance(self._wait)
        self.index = min(self.index + 1, len(self.timeline) - 1)

    def _go(self, index: int, elapsed: float = 1.0) -> None:
        self.index = index
        self._elapsed = elapsed
        self._scene = None
