"""One game, live or recorded: its history, and the players who give orders in a live one (``LiveGame``).

A ``Timeline`` is the sequence of its positions, with the phases between them. A ``Snapshot`` is what one picture of it
shows: a position, the phase that led there, and the score so far.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, is_stateless, reset_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.game import Game, Phase
from geo_patrol.games import check_seed, fresh_seed
from geo_patrol.notation import Order, Outcome, order_codes
from geo_patrol.sides import SIDES, Side

BothOrders: TypeAlias = tuple[tuple[Order, ...], tuple[Order, ...]]
"""Orders of alpha and of bravo, without noops."""

NO_ORDERS: BothOrders = ((), ())


@dataclass(frozen=True)
class ScorePoint:
    """The score after a number of completed turns."""

    turns: int
    alpha: int
    bravo: int


@dataclass(frozen=True)
class Snapshot:
    """What a picture shows.

    Attributes:
        game: the position.
        last_phase: the phase that led to it, through which the picture glides; None stands still.
        scores: the score at the start and after every turn up to here.
        outcomes: outcomes of the last engagement that was played, in this turn or the one before.
        outcomes_turn: the turn of that engagement; 0 before the first one.
        outcomes_orders: the orders of that engagement, where they are known.
        names: who plays alpha and bravo; empty names are not shown.
    """

    game: Game
    last_phase: Phase | None = None
    scores: tuple[ScorePoint, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    outcomes_turn: int = 0
    outcomes_orders: BothOrders = NO_ORDERS
    names: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, game: Game) -> "Snapshot":
        """Return the snapshot of a bare position: its past is not known but for its last outcomes."""
        turn = turns_played(game) if game.outcomes or game.phase == "movement" else 0
        return cls(game, scores=(score_point(game),), outcomes=game.outcomes, outcomes_turn=turn)


def turns_played(game: Game) -> int:
    """Return how many turns of a game have been scored."""
    return game.turn if game.is_over else game.turn - 1


class Timeline(Sequence[Game]):
    """The positions of one game, the first one before any order: it grows while the game is played.

    Args:
        game: the position to begin with; a copy is kept.
        names: who plays alpha and bravo.

    Attributes:
        phases: the phases that were played; ``phases[i]`` led from position i to position i + 1.
    """

    def __init__(self, game: Game, names: tuple[str, str] = ("", "")) -> None:
        self.names = names
        self.phases: list[Phase] = []
        self._games = [game.copy()]
        self._scores = [score_point(game)]
        self._scores_until = [1]  # how many of the scores belong to each position and those before it

    def append(self, phase: Phase) -> None:
        """Add a phase that was played, and the position that followed."""
        self.phases.append(phase)
        self._games.append(phase.after)
        add_score(self._scores, phase.after)
        self._scores_until.append(len(self._scores))

    def seen_by(self, side: Side) -> "Timeline":
        """Return the timeline as a side knows it; it does not grow with this one."""
        seen = Timeline(self[0].seen_by(side), self.names)
        for phase in self.phases:
            seen.append(phase.seen_by(side))
        return seen

    def __len__(self) -> int:
        return len(self._games)

    @overload
    def __getitem__(self, index: int) -> Game: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Game]: ...

    def __getitem__(self, index: int | slice) -> Game | Sequence[Game]:
        """Return a position, or several."""
        return self._games[index]

    def __iter__(self) -> Iterator[Game]:
        return iter(self._games)

    @property
    def is_complete(self) -> bool:
        """Whether the last position is the end of the game."""
        return self._games[-1].is_over

    def snapshot(self, index: int) -> Snapshot:
        """Return what a picture of a position shows, reached by the phase before it.

        Args:
            index: index of the position, 0 the start; negative ones count from the end.

        Raises:
            IndexError: there is no such position.
        """
        i = range(len(self))[index]
        last = self.last_engagement(i)
        return Snapshot(
            game=self._games[i],
            last_phase=self.phases[i - 1] if i else None,
            scores=tuple(self._scores[: self._scores_until[i]]),
            outcomes=last.outcomes if last else (),
            outcomes_turn=last.turn if last else 0,
            outcomes_orders=last.orders if last else NO_ORDERS,
            names=self.names,
        )

    def last_engagement(self, index: int) -> Phase | None:
        """Return the last engagement phase before a position; None before the first."""
        played = self.phases[max(index - 2, 0) : index]  # a turn has two phases
        return next((phase for phase in reversed(played) if phase.name == "engagement"), None)

    def next_engagement(self, index: int) -> int | None:
        """Return the index of the next position after ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index + 1, len(self)) if self.phases[i - 1].outcomes), None)

    def previous_engagement(self, index: int) -> int | None:
        """Return the index of the last position before ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index - 1, 0, -1) if self.phases[i - 1].outcomes), None)


def add_score(scores: list[ScorePoint], game: Game) -> None:
    """Add a position's score to those of the turns before it, if it was counted anew."""
    point = score_point(game)
    if point.turns > scores[-1].turns:
        scores.append(point)
    elif game.is_over:
        scores[-1] = point  # a forfeit counts at once


def score_point(game: Game) -> ScorePoint:
    """Return the score as it was last counted."""
    return ScorePoint(turns_played(game), game.scores["alpha"], game.scores["bravo"])


T = TypeVar("T")

Act: TypeAlias = Callable[[], NDArray[np.int64]]
"""Lets an agent choose its orders: (11,) order codes."""

Wait: TypeAlias = Callable[[str, Act], NDArray[np.int64]]
"""Waits for an agent's orders and returns them; arguments are the agent's name, and what lets it choose."""


def wait_blocking(_name: str, act: Act) -> NDArray[np.int64]:
    """Let an agent choose its orders in the calling thread."""
    return act()


class AgentThread:
    """A daemon thread in which agents choose their orders, always the same: some hold what belongs to a thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="geo_patrol-agents", daemon=True).start()

    def submit(self, act: Callable[[], T]) -> "Future[T]":
        """Let an agent choose its orders; return a future of them, or of the exception raised."""
        future: Future[T] = Future()
        self._queue.put((act, future))
        return future

    def shut_down(self) -> None:
        """End the thread when it is idle."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            act, future = job
            try:
                future.set_result(act())
            except BaseException as error:
                future.set_exception(error)
            del job, act, future  # and what they refer to


Observer: TypeAlias = Callable[["LiveGame", Phase], None]
"""Called after every phase with the game and the phase that was played."""


class LiveGame:
    """One game with its timeline.

    Args:
        config: configuration of the game.
        agents: agents of alpha and bravo; None is a person, whose orders come with ``play``.
        seed: seed of all random streams, the agents' too; None takes one from the operating system.
        observers: called after every phase.
        start: the position to start from, with its random stream; None starts a new game.

    Attributes:
        timeline: the game so far.

    Raises:
        ValueError: the seed is wrong.
        AgentError: an agent raised an exception.
    """

    def __init__(
        self,
        config: GameConfig,
        agents: tuple[Agent | None, Agent | None],
        seed: int | None = None,
        observers: Sequence[Observer] = (),
        start: Game | None = None,
    ) -> None:
        self.seed = fresh_seed() >> 31 if seed is None else check_seed(seed)  # short enough to be typed again
        self.config = config
        self.agents = agents
        self.observers = list(observers)
        self._game = Game(config, seed=self.seed) if start is None else start.copy()
        for agent in agents:
            if agent is not None:
                reset_agent(agent, agent.name, np.ones(1, np.bool_))
        alpha, bravo = ("you" if agent is None else agent.name for agent in agents)
        self.timeline = Timeline(self.game, ("person 1", "person 2") if agents == (None, None) else (alpha, bravo))

    @property
    def game(self) -> Game:
        """The current position, a copy."""
        return self._game.copy()

    @property
    def title(self) -> str:
        """Title of its window: the configuration, the players, and the seed that repeats the game."""
        alpha, bravo = self.timeline.names
        return f"{self.config.title}: {alpha} (alpha) against {bravo} (bravo), seed {self.seed}"

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.timeline.is_complete

    def advance(self, wait: Wait = wait_blocking) -> None:
        """Play the next phase with the orders of the agents; people hold. Do nothing after the end.

        Args:
            wait: waits for the orders of agents.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        self.play(((), ()), wait)

    def play(self, orders: BothOrders, wait: Wait = wait_blocking) -> None:
        """Play the next phase. Do nothing after the end.

        Args:
            orders: legal orders of the people; those of sides with an agent are ignored.
            wait: waits for the orders of agents; where it raises an exception, the game is unchanged.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        if self.is_over:
            return
        self._play(np.array([self._codes(side, orders[side], wait) for side in range(len(self.agents))]))

    def resume(self, past: Iterable[NDArray[np.integer[Any]]]) -> None:
        """Repeat the recorded phases of an interrupted game.

        Stateful agents compute their orders again, which are ignored. Stateless ones need not: their random stream in
        a phase does not depend on the phases before.

        Args:
            past: (2, 11) order codes of every phase.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        for codes in past:
            for side, agent in enumerate(self.agents):
                if agent is not None and not is_stateless(agent):
                    self._compute(agent, side, wait_blocking)
            self._play(codes.astype(np.int64))

    def _play(self, codes: NDArray[np.int64]) -> None:
        phase = self._game.step_actions(codes)
        self.timeline.append(phase)
        for observer in self.observers:
            observer(self, phase)

    def _codes(self, side: int, orders: tuple[Order, ...], wait: Wait) -> NDArray[np.int64]:
        agent = self.agents[side]
        if agent is not None:
            return self._compute(agent, side, wait)
        return np.array(order_codes(orders, SIDES[side]), np.int64)

    def _compute(self, agent: Agent, side: int, wait: Wait) -> NDArray[np.int64]:
        observation = self._game.as_games().observe(agent.observation)[:, side].copy()
        mask = self._game.as_games().action_masks()[:, side].copy()
        rng = np.random.default_rng([self.seed % 2**64, side, len(self.timeline)])
        games = [self.game]
        return wait(
            agent.name, lambda: compute_actions(agent, agent.name, observation, mask, rng, lambda: games, side)[0]
        )
