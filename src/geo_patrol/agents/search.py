"""Searching agents: candidates, rollouts to the end of the game, evaluation at the end of the turn, budgets."""

import copy
import math
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from geo_patrol.agents.basic import StatelessPlanner
from geo_patrol.agents.protocol import Agent, compute_actions, copy_games
from geo_patrol.agents.scripted import Raid, ScriptedAgent
from geo_patrol.agents.scripted.paths import Paths, find_table, path_costs_of
from geo_patrol.agents.scripted.raiders import RaidPlan, make_raid_plan, order_side, raid_tactics
from geo_patrol.agents.scripted.script import describe_parameters, read_parameters, sample_keys
from geo_patrol.base.errors import show
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.base.sides import SIDES
from geo_patrol.engine import state
from geo_patrol.engine.legal import check_masks, count_legal, nth_legal, write_legal_orders
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.turn import play_orders, winner_of
from geo_patrol.game.game import Game
from geo_patrol.game.notation import PHASES

__all__ = ["Advice", "Critic", "LookaheadAgent", "Search", "SearchAgent", "Searcher"]


_DEFAULT_SECONDS = 0.01
_MAX_SECONDS = 60.0
_BUDGET = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s)")
_AGENT = re.compile(r"(?:^|,)\s*(enemy|propose)\s*=")


class Search(NamedTuple):
    """The parameters of a search."""

    budget: str = ""
    """The time for one decision, such as "10ms" or "1.5s"; nothing: 10 ms, if there is no number of rollouts."""
    rollouts: Annotated[int, Field(ge=0, le=100_000)] = 0
    """The number of rollouts for one decision, about; 0: by time. The same number always plays the same."""
    candidates: Annotated[int, Field(ge=2, le=256)] = 16
    """The maximum number of joint orders that are evaluated."""
    doubt: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Standard errors by which others must beat the first script's orders."""
    samples: Annotated[int, Field(ge=0, le=64)] = 0
    """Joint orders sampled from the proposer in each decision; 0: 4, or 24 of a policy."""
    enemy: str = ""
    """The name of the agent that the enemy is, as far as the search knows, such as "policy:base"; its parameters may hold
    commas. Nothing: several."""
    propose: str = ""
    """The name of an agent that proposes candidates, such as "policy:base"; its parameters may hold commas."""


def read_search(text: str) -> Search:
    """Read what follows the colon of a search's name, such as ``10ms,candidates=8,propose=policy:base``.

    A budget may stand alone in front. ``enemy`` and ``propose`` come last: what follows belongs to these agents.

    Raises:
        ValueError: a parameter is unknown, given twice, or has a wrong value; or searches are to search in searches.
    """
    name = f"search:{text}"
    own, *pieces = _AGENT.split(text)
    agents: dict[str, str] = {}
    for parameter, agent in zip(pieces[::2], pieces[1::2], strict=True):
        if parameter in agents:
            raise ValueError(f"agent {name!r}: {parameter} is given twice")
        agents[parameter] = _read_agent(name, parameter, agent.strip())
    if "=" not in own.partition(",")[0] and own:
        own = f"budget={own}"
    search = read_parameters(name, own, Search) if own or not agents else Search()
    return search._replace(enemy=agents.get("enemy", ""), propose=agents.get("propose", ""))


def split_search(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Split what follows the colon of a search's name before its agents: the rest, and each agent with the text in front of it."""
    starts = [*_AGENT.finditer(text)]
    ends = [*(match.start() for match in starts), len(text)]
    nested = [(match[0], text[match.end() : end].strip()) for match, end in zip(starts, ends[1:], strict=True)]
    return text[: ends[0]], nested


def _read_agent(name: str, parameter: str, agent: str) -> str:
    if not agent:
        raise ValueError(f"agent {name!r}: {parameter} must be the name of an agent, got ''")
    if agent.partition(":")[0].strip() == "search":
        verb = "propose to" if parameter == "propose" else "be the enemy that is expected by"
        raise ValueError(f"agent {name!r}: {parameter} = {show(agent)}: a search cannot {verb} a search")
    return agent


def read_budget(search: Search) -> tuple[float, int]:
    """Return the seconds and the number of rollouts of a decision, one of them 0.

    Raises:
        ValueError: the time cannot be read or is out of bounds, or both are given.
    """
    if search.rollouts:
        if search.budget:
            raise ValueError(
                f"search: one of budget and rollouts must be given, got {show(search.budget)} and {search.rollouts}"
            )
        return 0.0, search.rollouts
    if not search.budget:
        return _DEFAULT_SECONDS, 0
    match = _BUDGET.fullmatch(search.budget)
    seconds = float(match[1]) * (0.001 if match[2] == "ms" else 1.0) if match else 0.0
    if not 0.0 < seconds <= _MAX_SECONDS:
        raise ValueError(
            f"search: budget must be a time such as 10ms or 1.5s, up to {_MAX_SECONDS:g}s, got {show(search.budget)}"
        )
    return seconds, 0


def describe_search(search: Search) -> str:
    """Return the name of a search, as ``make_agent`` reads it."""
    return describe_parameters("search", search).replace("budget=", "", 1)


MAX_CHANGES = 3
"""Satellites whose order one mutation changes, at most."""
_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)
_MARGIN_WEIGHT, _MARGIN_SCALE = 0.05, 0.001


class Decision(NamedTuple):
    """A decision: the position, the models of the enemy, and the candidates with the values of their rollouts."""

    root: state.Records
    """(1,), the position; not modified."""
    rules: state.Records
    """(1,), its rules."""
    side: int
    """The planning side."""
    paths: Paths
    candidates: state.IntArray
    """(c, 11) joint orders."""
    tactics: state.IntArray
    """(c,), the index of the script in ``own_tactics`` that continues after each."""
    own_tactics: state.Records
    """Scripts of the own side."""
    enemy_tactics: state.Records
    """(m,): scripts that the enemy may be, which choose anew in every rollout."""
    enemy_orders: state.IntArray
    """(k, 11): first orders of other agents, as probable as each script; the first of the scripts continues."""
    key: np.uint64
    """The random key of all rollouts."""
    values: NDArray[np.float64]
    """(c, rollouts), receives the value of each rollout."""
    work: state.Records
    """(1,), the buffer of a game."""
    outcomes: state.Records
    """The buffer of an engagement."""


class RolloutBuffers(NamedTuple):
    """The buffers of a game."""

    legal: NDArray[np.int32]
    orders: NDArray[np.int64]
    workspace: state.Workspace
    plan: RaidPlan


@jitable
def below(bits: np.uint64, count: int) -> int:
    """Return a number from 0 .. count - 1 by 64 random bits."""
    return int(np.int64(((bits >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32))


@jitable_call
def is_known(candidates: state.IntArray, tactics: state.IntArray, count: int) -> bool:
    """Tell whether the candidate at index ``count`` equals one before it."""
    for other in range(count):
        same = tactics[other] == tactics[count]
        for number in range(state.SATELLITES):
            same = same and candidates[other, number] == candidates[count, number]
        if same:
            return True
    return False


@jitable
def mutate(legal: state.IntArray, key: np.uint64, orders: state.IntArray) -> None:
    """Replace the orders of a few satellites by random legal ones."""
    for change in range(1 + below(stream_number(key, np.uint64(0)), MAX_CHANGES)):
        number = below(stream_number(key, np.uint64(2 * change + 1)), state.SATELLITES)
        choices = int(legal[number])
        choice = below(stream_number(key, np.uint64(2 * change + 2)), count_legal(choices))
        orders[number] = nth_legal(choices, choice)


@jit
def propose_by_scripts(
    game: state.Record,
    rules: state.Record,
    side: int,
    paths: Paths,
    mask: state.IntArray,
    own_tactics: state.Records,
    num_proposals: int,
    key: np.uint64,
    candidates: state.IntArray,
    tactics: state.IntArray,
) -> int:
    """Write the orders of scripts, each in turn, and return the number of distinct candidates.

    ``mask``: (11,), sets of the orders that the agent may give; ``num_proposals``: how often a script is called.
    """
    legal, plan = np.empty((state.NUM_SIDES, state.SATELLITES), np.int32), make_raid_plan()
    write_legal_orders(game, rules, state.make_workspace(rules.outer_ring), legal)
    for number in range(state.SATELLITES):
        legal[side, number] &= mask[number]
    count = 0
    for asked in range(num_proposals):
        tactic = asked % len(own_tactics)
        orders = candidates[count]
        script_key = stream_number(key, np.uint64(asked))
        order_side(game, rules, legal, side, paths, own_tactics[tactic], script_key, plan, orders)
        tactics[count] = tactic
        for number in range(state.SATELLITES):
            if not (legal[side, number] >> orders[number]) & 1:
                orders[number] = state.NOOP
        count += not is_known(candidates, tactics, count)
    return count


@jit
def add_mutations(
    mask: state.IntArray, parents: int, count: int, key: np.uint64, candidates: state.IntArray, tactics: state.IntArray
) -> int:
    """Fill up the candidates after the first ``count`` with mutations of the first ``parents``; return their number."""
    for tried in range(2 * (len(candidates) - count)):
        if count == len(candidates):
            break
        parent = tried % parents
        state.copy_row(candidates[parent], candidates[count])
        tactics[count] = tactics[parent]
        mutate(mask, stream_number(key, np.uint64(tried)), candidates[count])
        count += not is_known(candidates, tactics, count)
    return count


@jitable
def value_of(game: state.Record, side: int) -> float:
    """Return the value of a finished game to a side: 1 won, 0 lost, plus a small term for the margin."""
    winner = winner_of(game)
    outcome = 0.5 if winner == state.NOBODY else (1.0 if winner == side else 0.0)
    margin = float(game.score[side] - game.score[1 - side])
    return outcome + _MARGIN_WEIGHT * min(max(margin * _MARGIN_SCALE, -1.0), 1.0)


@jitable_call
def play_out(
    decision: Decision, own: state.Record, enemy: state.Record, key: np.uint64, buffers: RolloutBuffers
) -> float:
    """Play the game in ``work`` by scripts from the orders in ``buffers`` to its end; return its value."""
    game, rules = decision.work[0], decision.rules[0]
    while True:
        play_orders(game, rules, buffers.legal, buffers.orders, None, decision.outcomes, None, 0)
        if game.done:
            return value_of(game, decision.side)
        write_legal_orders(game, rules, buffers.workspace, buffers.legal)
        for side in range(state.NUM_SIDES):
            key = mix(key + _ONE)
            tactics = own if side == decision.side else enemy
            orders = buffers.orders[side]
            order_side(game, rules, buffers.legal, side, decision.paths, tactics, key, buffers.plan, orders)


@jit
def roll_out(decision: Decision, survivors: state.IntArray, first: int, count: int) -> None:
    """Play rollouts of candidates; the n-th of each meets the same enemy orders and the same random numbers.

    ``survivors``: indices of the candidates to evaluate; ``first``: the number of the first rollout of each;
    ``count``: rollouts of each.
    """
    root, rules, side = decision.root[0], decision.rules[0], decision.side
    workspace, plan = state.make_workspace(rules.outer_ring), make_raid_plan()
    legal = np.empty((state.NUM_SIDES, state.SATELLITES), np.int32)
    orders = np.empty((state.NUM_SIDES, state.SATELLITES), np.int64)
    buffers = RolloutBuffers(np.empty_like(legal), orders, workspace, plan)
    write_legal_orders(root, rules, workspace, legal)
    game, num_scripts = decision.work[0], len(decision.enemy_tactics)
    enemy_orders = np.zeros(state.SATELLITES, np.int64)
    for number in range(first, first + count):
        key = stream_number(decision.key, np.uint64(number))
        model = below(key, num_scripts + len(decision.enemy_orders))
        enemy = decision.enemy_tactics[model if model < num_scripts else 0]
        if model < num_scripts:
            order_side(root, rules, legal, 1 - side, decision.paths, enemy, mix(key), plan, enemy_orders)
        else:
            state.copy_row(decision.enemy_orders[model - num_scripts], enemy_orders)
        for candidate in survivors:
            decision.work[0] = decision.root[0]
            game.rng_key = mix(key + _ONE)
            game.rng_counter = np.uint64(0)
            for one in range(state.NUM_SIDES):
                state.copy_row(legal[one], buffers.legal[one])
            state.copy_row(decision.candidates[candidate], orders[side])
            state.copy_row(enemy_orders, orders[1 - side])
            own = decision.own_tactics[decision.tactics[candidate]]
            decision.values[candidate, number] = play_out(decision, own, enemy, key, buffers)


class Searcher(StatelessPlanner):
    """Evaluates candidate orders within a budget, and chooses the best.

    It plans from copies of the games (``plan``) with randomness of its own, and keeps no state.

    Args:
        search: the budget and other parameters.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.name = describe_search(search)
        self.seconds, self.num_rollouts = read_budget(search)
        self.decisions = 0
        self.rollouts = 0

    def with_minimal_budget(self) -> Self:
        """Return a copy with the smallest budget, which calls all compiled code that this one calls."""
        other = copy.copy(self)
        other.seconds, other.num_rollouts = 0.0, 1
        return other

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],  # noqa: ARG002
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, game by game; the budget is that of each.

        Equal games and an equal generator give equal orders, if the budget is a number of rollouts. ``observations``
        are not used.

        Raises:
            ValueError: the masks have another shape or type.
            AgentError: an agent that proposes or models raised an exception, or returned something else than orders.
        """
        masks = check_masks(action_masks)
        keys = sample_keys(generator, len(masks))
        orders = np.full(masks.shape[:2], state.NOOP, np.int64)
        for row in np.flatnonzero((masks[:, :, state.NOOP + 1 :] != 0).any(axis=(1, 2))).tolist():
            orders[row] = self._decide(games[row], int(sides[row]), masks[row], keys[row])
            self.decisions += 1
        return orders

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game, (11,)."""
        raise NotImplementedError


def rounds_for(candidates: int) -> int:
    """Return the number of rounds of sequential halving for so many candidates."""
    return max(math.ceil(math.log2(max(candidates, 2))), 1)


def halve(values: NDArray[np.float64], survivors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the survivors of a round: the half with the higher mean values. The first candidate always survives.

    This is sequential halving (Karnin, Koren and Somekh 2013; Jamieson and Talwalkar 2016 call it successive halving):
    each round spends the same part of the budget on the remaining candidates and drops half of them.

    Args:
        values: (candidates, rollouts), the value of each rollout.
        survivors: indices of the remaining candidates, the first one in front.
    """
    others = survivors[1:]
    ranked = others[np.argsort(-values[others].mean(axis=1), kind="stable")]
    return np.concatenate([survivors[:1], ranked[: max(len(survivors) // 2 - 1, 1)]])


def choose(values: NDArray[np.float64], survivors: NDArray[np.int64], doubt: float) -> int:
    """Return the best candidate, if it beats the first by so many standard errors; otherwise the first."""
    first = survivors[0]
    best = survivors[np.argmax(values[survivors].mean(axis=1))]
    gains = values[best] - values[first]
    is_sure = gains.mean() > doubt * gains.std() / math.sqrt(len(gains))
    return int(best if is_sure else first)


def sample_actions(
    agent: Agent, game: Game, side: int, num_samples: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Sample an agent's orders of a side in a game a few times, (num_samples, 11)."""
    position = game.as_games()
    observations = np.repeat(position.observe(agent.observation)[:, side], num_samples, axis=0)
    masks = np.repeat(position.action_masks()[:, side], num_samples, axis=0)
    return _act(agent, observations, masks, generator, lambda: [game] * num_samples, side)


_MAX_SAMPLES = 4096  # of one candidate
_MIN_SAMPLES = 2  # of one candidate in each round
_AT_ONCE = 96  # positions that are played and evaluated in one call: fewer take hardly less time
_LOOKAHEAD_SAMPLES = 24  # joint orders sampled from the policy, and as many again at a higher temperature
_WIDER = 2.5  # that temperature
# The weight of the policy's log-probabilities as a prior, beside values from -1 to 1. The policy has met more kinds of
# enemies than the two that are modelled here; that matters most for movements, which decide what can happen for turns.
_PRIOR_WEIGHT = {state.MOVEMENT: 0.1, state.ENGAGEMENT: 0.005}
_ENEMY_SAMPLES = 48  # joint orders of the enemy
_FIRST_SECONDS_PER_EVALUATION = 5e-5  # seconds for a position, until some were timed
_LOOKAHEAD_PROPOSALS, _BRANCHES, _ANSWERS = np.uint64(1), np.uint64(3), np.uint64(4)


@runtime_checkable
class Critic(Agent, Protocol):
    """An agent that samples orders with their log-probabilities and estimates the value of positions, from tokens."""

    def sample(
        self,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Sample joint orders for one position, (count, 11), and return them with their log-probabilities, (count,).

        A temperature above 1 makes unlikely orders more frequent; the log-probabilities are those at temperature 1.
        """
        ...

    def value(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        ...


class Expected(NamedTuple):
    """Sampled orders of the enemy."""

    orders: NDArray[np.int64]
    """(k, 11)"""
    agents: NDArray[np.int64]
    """(k,), the index among the agents that the enemy may be, of the one that chose each."""


class Branches:
    """Copies of one position, played in parallel.

    Args:
        game: the position.
        side: the planning side.
        key: the random key of all branches.
    """

    def __init__(self, game: Game, side: int, key: np.uint64) -> None:
        self._root, self.side, self._key = game, side, key
        self.phase = PHASES.index(game.phase)
        """The phase that is played first, MOVEMENT or ENGAGEMENT."""

    def begin(self, first: int, samples: int, copies: int) -> None:
        """Take samples * copies copies of the position; the copies of one sample have the same random stream.

        Args:
            first: the number of the first sample.
            samples: how many samples.
            copies: copies of each.
        """
        self.games = self._root.repeat(samples * copies, same_chance=True)
        keys = [mix(_subkey(self._key, np.uint64(first + i))) for i in range(samples)]
        self.games.state.games["rng_key"] = np.repeat(np.array(keys, np.uint64), copies)
        self.games.state.games["rng_counter"] = 0

    def put_outcomes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return estimates, (n,), replaced by 1 (won), 0 (drawn) or -1 (lost) where the game is over."""
        return np.where(self.games.is_over, self.games.returns[:, self.side], values)


class LookaheadAgent(Searcher):
    """Plays the orders that a policy proposes to the end of the turn, and chooses by the policy's value estimates there.

    The enemy is modelled by the policy itself and by ``scripted``, or by an agent that is known to be the enemy, in this
    phase and in the engagement that follows a movement. All candidates meet the same enemy orders and random numbers; samples are distributed by sequential
    halving, see ``halve``.

    Args:
        search: the budget and other parameters.
        critic: proposes orders and estimates values.
        enemies: the agents that the enemy may be, and how often each is expected relative to the others; None: the
            policy, and less often ``scripted``.
    """

    def __init__(self, search: Search, critic: Critic, *, enemies: Sequence[tuple[Agent, float]] | None = None) -> None:
        super().__init__(search)
        self._critic = critic
        self._enemies = ((critic, 3.0), (ScriptedAgent(), 1.0)) if enemies is None else tuple(enemies)
        self._seconds_per_evaluation = dict.fromkeys((state.MOVEMENT, state.ENGAGEMENT), _FIRST_SECONDS_PER_EVALUATION)

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        deadline = time.perf_counter() + self.seconds
        generator = np.random.default_rng(int(_subkey(key, _LOOKAHEAD_PROPOSALS)))
        games = game.as_games()
        observations, masks = games.observe("tokens")[0], games.action_masks()[0]
        candidates, log_probs = self._propose(observations[side], mask, generator)
        expected = self._expect(game, 1 - side, observations[1 - side], masks[1 - side], generator)
        branches = Branches(game, side, _subkey(key, _BRANCHES))
        answers = np.random.default_rng(int(_subkey(key, _ANSWERS)))

        survivors = np.arange(num_to_evaluate(len(candidates), self._affordable(deadline, 0, branches.phase)))
        values = np.zeros((len(survivors), _MAX_SAMPLES))
        prior = _PRIOR_WEIGHT[branches.phase] * log_probs[survivors, None]
        played = evaluated = 0
        for rounds in range(rounds_for(len(survivors)), 0, -1):
            num_samples = self._affordable(deadline, evaluated, branches.phase) // (rounds * len(survivors))
            goal = min(played + max(num_samples, 1), _MAX_SAMPLES)
            while played < goal:
                stop = min(goal, played + max(_AT_ONCE // len(survivors), 1))
                found = self._evaluate(branches, candidates[survivors], expected, played, stop - played, answers)
                values[survivors, played:stop] = found + prior[survivors]
                evaluated, played = evaluated + found.size, stop
                if self.seconds and time.perf_counter() >= deadline:
                    break
            survivors = halve(values[:, :played], survivors)
        self.rollouts += evaluated
        chosen: NDArray[np.int64] = candidates[choose(values[:, :played], survivors, self.search.doubt)]
        return chosen

    def _affordable(self, deadline: float, evaluated: int, phase: int) -> int:
        """Return how many more positions can be evaluated in this decision after ``evaluated``."""
        if self.num_rollouts:
            return self.num_rollouts - evaluated
        return max(int((deadline - time.perf_counter()) / self._seconds_per_evaluation[phase]), 0)

    def _propose(
        self, seen: NDArray[np.int16], mask: NDArray[np.int8], generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return distinct joint orders, (c, 11), and their log-probabilities, (c,).

        The most frequent samples of the policy come first, then some of a higher temperature: what a policy hardly
        ever tries may be best here.
        """
        count, num_candidates = self.search.samples or _LOOKAHEAD_SAMPLES, self.search.candidates
        sampled = (
            self._critic.sample(seen, mask, count, generator),
            self._critic.sample(seen, mask, count, generator, _WIDER),
        )
        orders, log_probs = (np.concatenate(arrays) for arrays in zip(*sampled, strict=True))
        different, first, inverse = np.unique(orders, axis=0, return_index=True, return_inverse=True)
        times = np.bincount(inverse[:count], minlength=len(first))
        ranked = np.lexsort((first, -times))
        usual, wider = ranked[times[ranked] > 0], ranked[times[ranked] == 0]
        chosen = np.concatenate([usual[: max(num_candidates // 2, num_candidates - len(wider))], wider])[
            :num_candidates
        ]
        return different[chosen], log_probs[first[chosen]].astype(np.float64)

    def _expect(
        self,
        game: Game,
        enemy: int,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> Expected:
        """Sample orders of the enemy, shuffled."""
        total = sum(weight for _, weight in self._enemies)
        orders = []
        for agent, weight in self._enemies:
            count = max(round(_ENEMY_SAMPLES * weight / total), 1)
            if agent is self._critic:
                orders.append(self._critic.sample(observation, mask, count, generator)[0])
            else:
                orders.append(sample_actions(agent, game, enemy, count, generator))
        agents = np.repeat(np.arange(len(orders)), [len(sampled) for sampled in orders])
        mixed = generator.permutation(len(agents))
        return Expected(np.concatenate(orders)[mixed], agents[mixed])

    def _evaluate(
        self,
        branches: Branches,
        candidates: NDArray[np.int64],
        expected: Expected,
        first: int,
        count: int,
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Play ``count`` samples of each candidate to the end of the turn, and return their values, (c, count)."""
        start = time.perf_counter()
        branches.begin(first, count, len(candidates))
        games, own, enemy = branches.games, branches.side, 1 - branches.side
        numbers = np.arange(first, first + count) % len(expected.orders)
        orders = np.empty((count, len(candidates), state.NUM_SIDES, state.SATELLITES), np.int64)
        orders[:, :, own] = candidates
        orders[:, :, enemy] = expected.orders[numbers, None]
        games.step(orders.reshape(-1, state.NUM_SIDES, state.SATELLITES))
        if branches.phase == state.MOVEMENT:  # the engagement follows in the same turn
            games.step(self._answer(branches, expected.agents[numbers].repeat(len(candidates)), generator))
        seen = games.observe("tokens").reshape(len(games) * state.NUM_SIDES, -1)
        estimates = self._critic.value(seen).astype(np.float64)
        # Each side's estimate errs towards itself in positions that are new to it: their difference errs less.
        values = branches.put_outcomes((estimates[own :: state.NUM_SIDES] - estimates[enemy :: state.NUM_SIDES]) / 2)
        self._seconds_per_evaluation[branches.phase] = (time.perf_counter() - start) / len(games)
        return values.reshape(count, len(candidates)).T

    def _answer(
        self, branches: Branches, agents: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the orders of both sides after a movement, (n, 2, 11); ``agents``, (n,): who plays the enemy."""
        games, own, enemy = branches.games, branches.side, 1 - branches.side
        seen, masks = games.observe("tokens"), games.action_masks()
        orders = np.empty((len(games), state.NUM_SIDES, state.SATELLITES), np.int64)
        orders[:, own] = _act(self._critic, seen[:, own], masks[:, own], generator, partial(copy_games, games), own)
        for number, (agent, _) in enumerate(self._enemies):
            rows = np.flatnonzero(agents == number)
            if len(rows):
                copies = partial(copy_games, games, rows)
                orders[rows, enemy] = _act(agent, seen[rows, enemy], masks[rows, enemy], generator, copies, enemy)
        return orders


def _act(
    agent: Agent,
    observations: NDArray[Any],
    masks: NDArray[np.int8],
    generator: np.random.Generator,
    games: Callable[[], Sequence[Game]],
    side: int,
) -> NDArray[np.int64]:
    """Return the orders of an agent's side in unrelated positions, (n, 11); ``games`` is only called for planners."""
    agent.reset(np.ones(len(masks), np.bool_))
    return compute_actions(agent, agent.name, observations, masks, generator, games, side).clip(0)


def num_to_evaluate(candidates: int, positions: int) -> int:
    """Return how many candidates can be distinguished by evaluating ``positions`` positions: two or more."""
    count = candidates
    while count > 2 and positions < _MIN_SAMPLES * count * rounds_for(count):
        count = (count + 1) // 2
    return count


OWN_RAIDS = (Raid(defenders=6), Raid(defenders=4), Raid(defenders=7), Raid(defenders=10))
"""Scripts that continue for the own side; the orders of the first are played unless others are better."""
ENEMY_RAIDS = (
    Raid(defenders=6),
    Raid(defenders=3),
    Raid(defenders=5, dodge=0.3),
    Raid(defenders=7),
    Raid(defenders=6, dodge=0.2, path="cheap"),
)
"""Scripts that the enemy may be."""

_MAX_ROLLOUTS = 4096  # of one candidate
_SAMPLES = 4  # joint orders sampled from a proposer, and from each model of the enemy
_SCRIPTS, _PROPOSALS, _MUTATIONS, _ROLLOUTS = (np.uint64(number) for number in range(4))


class Advice(NamedTuple):
    """Orders that a search found best, and its estimate of them."""

    orders: NDArray[np.int64]
    """(11,) order codes."""
    win_probability: float
    """The fraction of their rollouts that were won, draws counted as half."""
    rollouts: int
    """How many games were played out with them."""


class SearchAgent(Searcher):
    """Evaluates candidate orders by rollouts to the end of the game, and chooses the best.

    Candidates are the orders of scripts and of a proposer, and mutations of them. Rollouts are played by scripts on both
    sides, against a mixture of models of the enemy, and distributed by sequential halving, see ``halve``. The orders of
    the first script are chosen unless others are better by ``doubt`` standard errors.

    Args:
        search: the budget and other parameters.
        own: scripts that continue for the own side after its candidates; the first is the baseline.
        enemies: scripts that the enemy may be.
        models: other agents that the enemy may be; their orders of this phase are sampled.
        proposer: an agent that proposes candidates, such as a learned policy.
    """

    def __init__(
        self,
        search: Search | None = None,
        *,
        own: Sequence[Raid] = OWN_RAIDS,
        enemies: Sequence[Raid] = ENEMY_RAIDS,
        models: Sequence[Agent] | None = None,
        proposer: Agent | None = None,
    ) -> None:
        super().__init__(Search() if search is None else search)
        self._own, self._enemies = raid_tactics(*own), raid_tactics(*enemies)
        self._models = (ScriptedAgent(),) if models is None else tuple(models)
        self._proposer = proposer

    def advise(self, game: Game, side: int, generator: np.random.Generator) -> Advice:
        """Choose orders as ``plan`` does, and estimate how likely they win.

        Args:
            game: the position, in which the side has a choice; it is not changed.
            side: 0 alpha, 1 bravo.
            generator: source of randomness.

        Raises:
            AgentError: an agent that proposes or models raised an exception, or returned something else than orders.
        """
        mask = game.action_mask(SIDES[side])
        decision, chosen, played = self._search(game, side, mask, sample_keys(generator, 1)[0])
        results = np.round(2 * decision.values[chosen, :played]) / 2  # without the small term for the margin
        return Advice(decision.candidates[chosen], float(results.mean()), played)

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        decision, chosen, _ = self._search(game, side, mask, key)
        orders: NDArray[np.int64] = decision.candidates[chosen]
        return orders

    def _search(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> tuple[Decision, int, int]:
        """Return the decision, the index of the chosen candidate, and the number of its rollouts."""
        start = time.perf_counter()
        decision = self._open(game, side, mask, key)
        survivors = np.arange(len(decision.candidates))
        played, rounds = 0, rounds_for(len(survivors))
        for turn in range(rounds):
            deadline = start + self.seconds * (turn + 1) / rounds
            played = self._evaluate(decision, survivors, played, rounds, deadline)
            survivors = halve(decision.values[:, :played], survivors)
        return decision, choose(decision.values[:, :played], survivors, self.search.doubt), played

    def _open(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> Decision:
        """Collect the candidates and the models of the enemy."""
        root, rules, *_ = game.as_games().state
        paths = find_table(path_costs_of(rules[0]))
        num_candidates = self.search.candidates
        candidates, tactics = np.zeros((num_candidates, state.SATELLITES), np.int64), np.zeros(num_candidates, np.int64)
        sets = (mask != 0) @ (1 << np.arange(state.ORDERS))  # of each satellite, bit by bit
        generator = np.random.default_rng(int(_subkey(key, _PROPOSALS)))
        num_scripted = (
            num_candidates if self._proposer is None else max(num_candidates // 2, 1)
        )  # the other half is for the proposer
        num_proposals, script_key = min(num_scripted, 2 * len(self._own)), _subkey(key, _SCRIPTS)
        count = propose_by_scripts(
            root[0], rules[0], side, paths, sets, self._own, num_proposals, script_key, candidates, tactics
        )
        proposers = self._models if self._proposer is None else (self._proposer,)
        for proposer in proposers:
            for orders in sample_actions(proposer, game, side, self.search.samples or _SAMPLES, generator):
                is_legal = ((sets >> orders) & 1).all()
                if count < num_candidates and is_legal and not (candidates[:count] == orders).all(axis=1).any():
                    candidates[count] = orders
                    count += 1
        count = add_mutations(sets, count, count, _subkey(key, _MUTATIONS), candidates, tactics)
        models = [sample_actions(model, game, 1 - side, _SAMPLES, generator) for model in self._models]
        expected = np.concatenate([np.zeros((0, state.SATELLITES), np.int64), *models])
        return Decision(
            root=root,
            rules=rules,
            side=side,
            paths=paths,
            candidates=candidates[:count],
            tactics=tactics[:count],
            own_tactics=self._own,
            enemy_tactics=self._enemies,
            enemy_orders=expected,
            key=_subkey(key, _ROLLOUTS),
            values=np.zeros((count, _MAX_ROLLOUTS)),
            work=state.records(state.GAME, 1),
            outcomes=state.make_outcomes(),
        )

    def _evaluate(
        self, decision: Decision, survivors: NDArray[np.int64], played: int, rounds: int, deadline: float
    ) -> int:
        """Play one round of rollouts of the survivors; return the number of rollouts of each so far."""
        step = max(self.num_rollouts // (rounds * len(survivors)), 1) if self.num_rollouts else 1
        while played < _MAX_ROLLOUTS:
            step = min(step, _MAX_ROLLOUTS - played)
            roll_out(decision, survivors, played, step)
            played += step
            self.rollouts += step * len(survivors)
            if self.num_rollouts or time.perf_counter() >= deadline:
                break
        return played


def _subkey(key: np.uint64, number: np.uint64) -> np.uint64:
    """Return one of the keys derived from a key; compiled functions return plain integers."""
    return np.uint64(stream_number(key, number))
