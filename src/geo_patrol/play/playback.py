"""Playback of a timeline: playing, pausing, stepping, seeking."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from geo_patrol.game.notation import Outcome
from geo_patrol.game.timeline import Snapshot, Timeline
from geo_patrol.play.live import Wait, wait_blocking
from geo_patrol.play.telling import beats, destroyed, intercepted_attacks, is_decisive

Advance: TypeAlias = Callable[[Wait], None]
"""Plays the next phase of a live game and appends it to the timeline; its argument waits for agents."""

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MOVEMENT_SECONDS, DRIFT_SECONDS = 1.2, 1.0
"""Durations at normal speed of a movement phase, and of a drift."""
BEAT_SECONDS, DECISIVE_SECONDS, LOST_SECONDS = 0.4, 1.2, 1.0
"""Durations of a beat of an engagement, of one that attacks an HVA, and of the stillness after an HVA is lost."""
MAX_BEATS_SECONDS = 10.0
"""Duration of all beats at most; more of them are faster."""
SETTLING_SECONDS = 0.5
"""Duration in which survivors take their places, and wrecks fade."""
MOVING_FRACTION = 0.8
"""The fraction of a duration in which things move; then the position stands still."""


def beat_seconds(outcomes: Sequence[Outcome]) -> tuple[float, ...]:
    """Return how long each beat of an engagement is played back."""
    aims = intercepted_attacks(outcomes)
    seconds = []
    for beat in beats(outcomes):
        is_slow = any(is_decisive(one, aims) for one in beat)
        is_lost = any(one.number == 0 for one in destroyed(beat))
        seconds.append((DECISIVE_SECONDS if is_slow else BEAT_SECONDS) + LOST_SECONDS * is_lost)
    pace = min(MAX_BEATS_SECONDS / sum(seconds), 1.0) if seconds else 1.0
    return tuple(pace * one for one in seconds)


def phase_seconds(snapshot: Snapshot) -> float:
    """Return the duration of the phase that led to a snapshot, at normal speed."""
    phase = snapshot.last_phase
    if phase is None or phase.name == "movement":
        return MOVEMENT_SECONDS
    settling = SETTLING_SECONDS if phase.outcomes else 0.0
    return (sum(beat_seconds(phase.outcomes)) + settling) / MOVING_FRACTION + DRIFT_SECONDS


class Playback:
    """A position in a timeline that moves with time.

    Args:
        timeline: what is played; it may grow.
        advance: plays the next phase of a live game; None for a recording.
        wait: waits for the agents of a live game.

    Attributes:
        index: index of the current moment.
        is_playing: whether it goes on to the next moment by itself.
    """

    def __init__(self, timeline: Timeline, advance: Advance | None = None, wait: Wait = wait_blocking) -> None:
        self.timeline = timeline
        self.index = 0
        self.is_playing = True
        self._advance = advance
        self._wait = wait
        self._elapsed = 1.0  # fraction of the phase's duration
        self._speed = SPEEDS.index(1.0)
        self._snapshot: Snapshot | None = None

    def load(self, timeline: Timeline) -> None:
        """Play another recorded game from its start."""
        self.timeline = timeline
        self.restart()

    @property
    def snapshot(self) -> Snapshot:
        """The current snapshot; the same object until it changes."""
        if self._snapshot is None:
            self._snapshot = self.timeline.snapshot(self.index)
        return self._snapshot

    @property
    def progress(self) -> float:
        """How far the phase that led here has come, from 0 to 1."""
        return min(self._elapsed / MOVING_FRACTION, 1.0)

    @property
    def speed(self) -> float:
        """Factor of normal speed."""
        return SPEEDS[self._speed]

    @property
    def is_moving(self) -> bool:
        """Whether anything moves."""
        return self.progress < 1 or (self.is_playing and self.can_go_on)

    @property
    def can_go_on(self) -> bool:
        """Whether there is a next moment, or one can be played."""
        return self.index + 1 < len(self.timeline) or (self._advance is not None and not self.timeline.is_complete)

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed = min(self._elapsed + seconds * self.speed / phase_seconds(self.snapshot), 1.0)
        if self._elapsed >= 1 and self.is_playing:
            if self.can_go_on:
                self._next()
            else:
                self.is_playing = False

    def toggle(self) -> None:
        """Pause or resume; restart from the end."""
        if not self.is_playing and not self.can_go_on:
            self.restart()
        else:
            self.is_playing = not self.is_playing

    def forward(self) -> None:
        """Pause, and show the next phase; skip to the end of one that is being shown."""
        self.is_playing = False
        if self.progress < 1:
            self._elapsed = 1.0
        elif self.can_go_on:
            self._next()

    def back(self) -> None:
        """Pause, and return to the beginning of the current phase."""
        self._pause_at(max(self.index - 1, 0))

    def next_turn(self) -> None:
        """Pause, and go to the beginning of the next turn."""
        self.is_playing = False  # also while agents are waited for
        turn = self.snapshot.game.turn
        while self.can_go_on and self.timeline[self.index].turn <= turn:
            self._step()
        self._go(self.index)

    def previous_turn(self) -> None:
        """Pause, and go to the beginning of this turn, or of the one before if it is there already."""
        index = max(self.index - 1, 0)
        turn = self.timeline[index].turn
        while index and self.timeline[index - 1].turn == turn:
            index -= 1
        self._pause_at(index)

    def next_engagement(self) -> None:
        """Play the next engagement; a live game is played on until there is one, or to its end."""
        found = self.timeline.next_engagement(self.index)
        while found is None and self.can_go_on:
            self._step()
            found = self.index if self.timeline.phases[self.index - 1].outcomes else None
        if found is None:
            self.to_end()
        else:
            self._go(found, elapsed=0.0)

    def previous_engagement(self) -> None:
        """Play the engagement before; if there is none, go to the start."""
        found = self.timeline.previous_engagement(self.index)
        self._go(found or 0, elapsed=0.0 if found else 1.0)

    def restart(self) -> None:
        """Play from the start."""
        self._go(0)
        self.is_playing = True

    def to_end(self) -> None:
        """Pause, and go to the last moment."""
        self._pause_at(len(self.timeline) - 1)

    def skip(self) -> None:
        """Skip to the end of the current phase."""
        self._elapsed = 1.0

    def seek(self, fraction: float) -> None:
        """Pause, and go to a fraction of what has been played, from 0 to 1."""
        self._pause_at(round(min(max(fraction, 0.0), 1.0) * (len(self.timeline) - 1)))

    def faster(self) -> None:
        """Play faster."""
        self._speed = min(self._speed + 1, len(SPEEDS) - 1)

    def slower(self) -> None:
        """Play slower."""
        self._speed = max(self._speed - 1, 0)

    def _next(self) -> None:
        self._step()
        self._go(self.index, elapsed=0.0)

    def _step(self) -> None:
        """Go one moment further, which a live game may have to play first."""
        if self.index + 1 == len(self.timeline) and self._advance is not None:
            self._advance(self._wait)
        self.index = min(self.index + 1, len(self.timeline) - 1)

    def _pause_at(self, index: int) -> None:
        self.is_playing = False
        self._go(index)

    def _go(self, index: int, elapsed: float = 1.0) -> None:
        self.index = index
        self._elapsed = elapsed
        self._snapshot = None
