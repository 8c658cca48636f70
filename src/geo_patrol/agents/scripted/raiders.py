"""The raiding family: ``turtle`` defends, ``raider`` attacks, ``mixed`` chooses between them for every game.

Raiders move by the table of cheapest paths, defenders stay with their HVA, and both engage when the odds are good.
"""

import itertools
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from geo_patrol.agents.scripted import script
from geo_patrol.agents.scripted.paths import (
    FAR,
    IN_SECTOR,
    MOVES,
    NEARBY,
    OUT_OF_RANGE,
    Paths,
    find_table,
    range_between,
)
from geo_patrol.agents.scripted.scripted import Fraction, attack_kind, odds_after
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine import state
from geo_patrol.engine.legal import check_keys, check_masks, read_mask, write_legal_orders
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.turn import destination

TACTICS = np.dtype(
    [
        ("raids", "i8"),  # 1: Patrols leave for the enemy HVA and attack, 0: they guard and do nothing else
        ("defenders", "i8"),
        ("is_quick", "i8"),
        ("reach", "i8"),  # IN_SECTOR or NEARBY
        ("patrols_first", "i8"),
        ("lead", "f8"),
        ("dodge", "f8"),
    ],
    align=True,
)
"""Tactics as a record."""


class Raid(NamedTuple):
    """The parameters of a raider."""

    defenders: Annotated[int, Field(ge=0, le=state.PATROLS)] = 6
    """How many Patrols stay at home."""
    path: Literal["quick", "cheap"] = "quick"
    """Whether raiders take the turn of arrival that is next or the one that costs least."""
    reach: Literal["sector", "adjacent"] = "adjacent"
    """Whether they attack in the sector of the enemy HVA alone, or from an adjacent one too."""
    first: Literal["hva", "patrols"] = "hva"
    """Whether shots are saved for the enemy HVA, or fired at enemy Patrols that come into the same sector."""
    lead: Fraction = 0.5
    """The probability that raiders expect the enemy HVA to give way in the turn of the strike."""
    dodge: Fraction = 0.0
    """The probability that the own HVA gives way when it can be attacked in this turn."""


def write_raid(raid: Raid, tactics: state.Record) -> None:
    """Write a raider's parameters as a record."""
    tactics.raids = 1
    tactics.defenders = raid.defenders
    tactics.is_quick = raid.path == "quick"
    tactics.reach = raid.reach == "adjacent"
    tactics.patrols_first = raid.first == "patrols"
    tactics.lead, tactics.dodge = raid.lead, raid.dodge


def raid_tactics(*raids: Raid) -> state.Records:
    """Return the parameters of raiders as records."""
    tactics = state.records(TACTICS, len(raids))
    for i, raid in enumerate(raids):
        write_raid(raid, tactics[i])
    return tactics


RAID_CHOICES: dict[str, tuple[Any, ...]] = {
    "defenders": tuple(range(7)),
    "path": ("quick", "cheap"),
    "reach": ("sector", "adjacent"),
    "first": ("hva", "patrols"),
    "lead": (0.0, 0.5, 1.0),
    "dodge": (0.0, 0.5, 1.0),
}
"""The values from which ``mixed`` samples the parameters of a raider, uniformly."""


def sample_raid(generator: np.random.Generator) -> Raid:
    """Sample the parameters of a raider."""
    return Raid(**{name: choices[generator.integers(len(choices))] for name, choices in RAID_CHOICES.items()})


def all_tactics() -> state.Records:
    """Return the parameters of all raiders from which ``mixed`` samples."""
    return raid_tactics(*(Raid(*values) for values in itertools.product(*RAID_CHOICES.values())))


ALARM_TURNS = 2
"""Defenders gather when an enemy can attack their HVA within so many turns, this one included."""
_PATIENCE = 0.75
"""The fraction of the largest raid that could ever arrive together for which a quick raid waits."""
_WORTH = 20.0
"""Fuel for which a cheap raid takes one more raider along."""
_UNGUARDED = 0.5
"""The probability that an attack on the enemy HVA is not diverted."""
_PENNY = 1e-6
"""The probability of catching the enemy HVA for which a raider spends a unit of fuel: it only decides ties."""


class RaidPlan(NamedTuple):
    """The buffers in which the raid of one side is planned."""

    raiders: NDArray[np.int64]
    """(11,): 1 where a Patrol is on a raid."""
    open_odds: NDArray[np.float64]
    """(MOVES,): the probability that the enemy HVA makes each move and all raiders so far miss it."""


@jitable
def make_raid_plan() -> RaidPlan:
    """Allocate a raid plan."""
    return RaidPlan(np.zeros(state.SATELLITES, np.int64), np.zeros(MOVES))


@jitable
def can_pay(game: state.Record, rules: state.Record, side: int, number: int, price: int) -> bool:
    """Tell whether a satellite can pay for a path and for an attack at its end."""
    fuel = int(game.fuel[side, number])
    cost = rules.engagement_cost[side, attack_kind(game, side, number), state.SAME_SECTOR]
    return price < fuel and price + int(cost) <= fuel


@jitable
def soonest_attack(game: state.Record, rules: state.Record, side: int, paths: Paths) -> int:
    """Return after how many drifts a side's HVA can be attacked where it drifts, ALARM_TURNS if not before."""
    soonest = ALARM_TURNS
    for number in range(1, state.SATELLITES):
        if game.fuel[1 - side, number] > 0:
            row = paths.prices[1 - side, NEARBY, game.sector[side, state.HVA], game.sector[1 - side, number]]
            for turns in range(min(soonest, len(row))):
                if can_pay(game, rules, 1 - side, number, int(row[turns])):
                    soonest = turns
                    break
    return soonest


@jitable
def path_home(paths: Paths, side: int, target: int, sector: int, fuel: int) -> int:
    """Return the first move of the cheapest path into a sector that drifts along; of equals, the quickest."""
    prices, moves = paths.prices[side, IN_SECTOR, target, sector], paths.moves[side, IN_SECTOR, target, sector]
    best, move = FAR, state.NOOP
    for turns in range(len(prices)):
        if prices[turns] < best and prices[turns] < fuel:
            best, move = int(prices[turns]), int(moves[turns])
    return move


@jitable
def move_hva(
    game: state.Record,
    legal: state.IntArray,
    side: int,
    paths: Paths,
    tactics: state.Record,
    alarm: int,
    key: np.uint64,
) -> int:
    """Return the HVA's move: aside at random when it can be attacked, or back to its goal sector."""
    if alarm == 0 and script.uniform(key, 0) < tactics.dodge:
        aside = state.PROGRADE + int(script.uniform(key, 1) * (MOVES - state.PROGRADE))
        return aside if (legal[side, state.HVA] >> aside) & 1 else state.NOOP
    here, goal = int(game.sector[side, state.HVA]), int(game.goal[side])
    return path_home(paths, side, goal, here, int(game.fuel[side, state.HVA])) if here != goal else state.NOOP


@jitable
def count_arriving(
    game: state.Record, rules: state.Record, side: int, prices: state.IntArray, turns: int, num_raiders: int
) -> tuple[int, float]:
    """Count the Patrols that can attack after so many drifts, at most ``num_raiders``; return their mean price too.

    ``prices``: (sectors, turns), to the enemy HVA.
    """
    count, total = 0, 0
    for number in range(1, state.SATELLITES):
        price = int(prices[game.sector[side, number], turns])
        if can_pay(game, rules, side, number, price):
            count += 1
            total += price
    return min(count, num_raiders), total / max(count, 1)


@jitable
def plan_arrival(
    game: state.Record, rules: state.Record, side: int, prices: state.IntArray, is_quick: bool, num_raiders: int
) -> int:
    """Return in how many turns a raid arrives, ``NOBODY`` if none can.

    A quick raid takes the next turn in which most of the largest possible raid can arrive together; a cheap one the turn
    with the best trade of raiders against fuel.
    """
    horizon = prices.shape[1]
    largest = 0
    for turns in range(horizon):
        largest = max(largest, count_arriving(game, rules, side, prices, turns, num_raiders)[0])
    best, best_value = state.NOBODY, -np.inf
    for turns in range(horizon):
        count, price = count_arriving(game, rules, side, prices, turns, num_raiders)
        if is_quick and count > 0 and count >= largest * _PATIENCE:
            return turns
        if count > 0 and count * _WORTH - price > best_value:
            best, best_value = turns, count * _WORTH - price
    return best


@jitable
def mark_raiders(
    game: state.Record,
    rules: state.Record,
    side: int,
    prices: state.IntArray,
    turns: int,
    num_raiders: int,
    raiders: state.IntArray,
) -> None:
    """Mark the Patrols whose paths to the enemy HVA are cheapest."""
    for _ in range(num_raiders):
        best, best_price = state.NOBODY, FAR
        for number in range(1, state.SATELLITES):
            price = int(prices[game.sector[side, number], turns])
            if not raiders[number] and price < best_price and can_pay(game, rules, side, number, price):
                best, best_price = number, price
        if best == state.NOBODY:
            return
        raiders[best] = 1


@jitable
def foresee_hva(legal_moves: int, lead: float, open_odds: NDArray[np.float64]) -> None:
    """Write the probabilities of the enemy HVA's moves: uniform with probability ``lead``, otherwise none."""
    moves = 0
    for order in range(state.PROGRADE, MOVES):
        moves += (legal_moves >> order) & 1
    for order in range(state.PROGRADE, MOVES):
        open_odds[order] = lead / moves if (legal_moves >> order) & 1 else 0.0
    open_odds[state.NOOP] = 1.0 - lead if moves > 0 else 1.0


@jitable
def close_in(
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    side: int,
    reach: int,
    lead: float,
    plan: RaidPlan,
    orders: state.IntArray,
) -> None:
    """Choose raiders' moves greedily: each goes where it most likely catches an enemy HVA that those before it miss."""
    target = int(game.sector[1 - side, state.HVA])
    foresee_hva(int(legal[1 - side, state.HVA]), lead, plan.open_odds)
    for number in range(1, state.SATELLITES):
        if plan.raiders[number]:
            best, best_value = state.NOOP, 0.0
            for order in range(MOVES):
                if (legal[side, number] >> order) & 1:
                    value = -_PENNY * rules.move_cost[side, order]
                    for i in range(MOVES):
                        aim = destination(target, i)
                        if plan.open_odds[i] > 0.0:
                            if reach == NEARBY or destination(int(game.sector[side, number]), order) == aim:
                                value += plan.open_odds[i] * odds_after(game, rules, side, number, order, aim)
                    if value > best_value:
                        best, best_value = order, value
            orders[number] = best
            for i in range(MOVES):
                odds = odds_after(game, rules, side, number, best, destination(target, i))
                plan.open_odds[i] *= 1.0 - odds * _UNGUARDED


@jitable
def send_raiders(
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    side: int,
    paths: Paths,
    tactics: state.Record,
    plan: RaidPlan,
    orders: state.IntArray,
) -> None:
    """Write the moves of the Patrols on a raid against the enemy HVA."""
    num_raiders = -tactics.defenders
    for number in range(1, state.SATELLITES):
        num_raiders += game.fuel[side, number] > 0
    if not tactics.raids or num_raiders <= 0:
        return
    target = int(game.sector[1 - side, state.HVA])
    prices, moves = paths.prices[side, tactics.reach, target], paths.moves[side, tactics.reach, target]
    turns = plan_arrival(game, rules, side, prices, tactics.is_quick, num_raiders)
    if turns == state.NOBODY:
        return
    mark_raiders(game, rules, side, prices, turns, num_raiders, plan.raiders)
    if turns == 0:
        close_in(game, rules, legal, side, tactics.reach, tactics.lead, plan, orders)
        return
    for number in range(1, state.SATELLITES):
        if plan.raiders[number]:
            orders[number] = moves[game.sector[side, number], turns]


@jitable
def attack_on_hva(game: state.Record, legal: int, side: int, number: int, reach: int) -> int:
    """Return the order by which a satellite attacks the enemy HVA: a shot before a collision; NOOP if it cannot."""
    if reach == NEARBY or game.sector[side, number] == game.sector[1 - side, state.HVA]:
        if (legal >> (state.SHOOT + state.HVA)) & 1:
            return state.SHOOT + state.HVA
        if (legal >> (state.COLLIDE + state.HVA)) & 1:
            return state.COLLIDE + state.HVA
    return state.NOOP


@jitable
def shot_at_patrol(game: state.Record, rules: state.Record, legal: int, side: int, number: int) -> int:
    """Return the shot at an enemy Patrol that is expected to take most fuel from it; NOOP if there is none."""
    best, best_value = state.NOOP, 0.0
    if (legal >> (state.SHOOT + 1)) & ((1 << (state.SATELLITES - 1)) - 1) == 0:
        return state.NOOP
    for target in range(1, state.SATELLITES):
        if (legal >> (state.SHOOT + target)) & 1:
            is_here = game.sector[side, number] == game.sector[1 - side, target]
            odds = rules.engagement_odds[side, state.SHOT, state.SAME_SECTOR if is_here else state.ADJACENT_SECTOR]
            if odds * game.fuel[1 - side, target] > best_value:
                best, best_value = state.SHOOT + target, odds * game.fuel[1 - side, target]
    return best


@jitable
def count_attackers(game: state.Record, side: int) -> int:
    """Count the enemy Patrols in the sector of a side's HVA or next to it."""
    count, hva = 0, int(game.sector[side, state.HVA])
    for number in range(1, state.SATELLITES):
        if game.fuel[1 - side, number] > 0:
            count += range_between(int(game.sector[1 - side, number]), hva) != OUT_OF_RANGE
    return count


@jitable
def add_guards(game: state.Record, legal: state.IntArray, side: int, num_guards: int, orders: state.IntArray) -> None:
    """Let up to ``num_guards`` Patrols that have no order yet guard: those in the HVA's sector first."""
    for from_afar in range(2):
        for number in range(1, state.SATELLITES):
            is_here = game.sector[side, number] == game.sector[side, state.HVA]
            if (
                num_guards > 0
                and orders[number] == state.NOOP
                and (legal[side, number] >> state.GUARD) & 1
                and is_here != from_afar
            ):
                orders[number] = state.GUARD
                num_guards -= 1


@jitable
def order_engagement(
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    side: int,
    tactics: state.Record,
    orders: state.IntArray,
) -> None:
    """Write a side's orders of an engagement phase, (11,), which is all noop; ``legal``: (2, 11), sets.

    Satellites that can attack the enemy HVA do; as many Patrols guard the own one as there are attackers; the others
    shoot at Patrols.
    """
    if not tactics.raids:
        add_guards(game, legal, side, state.SATELLITES, orders)
        return
    lost = game.fuel[1 - side, state.HVA] * rules.weight[1 - side, state.HVA]
    strikes = game.score[side] > game.score[1 - side] - lost  # destroying the enemy HVA, which ends the game, would win
    for number in range(state.SATELLITES):
        allowed = int(legal[side, number])
        if tactics.patrols_first:
            orders[number] = shot_at_patrol(game, rules, allowed, side, number)
        if strikes and orders[number] == state.NOOP:
            orders[number] = attack_on_hva(game, allowed, side, number, tactics.reach)
    attackers = count_attackers(game, side)
    add_guards(game, legal, side, attackers, orders)
    for number in range(state.SATELLITES):
        if (
            attackers > 0
            and orders[number] == state.NOOP
            and range_between(int(game.sector[side, number]), int(game.sector[side, state.HVA])) != OUT_OF_RANGE
        ):
            orders[number] = shot_at_patrol(game, rules, int(legal[side, number]), side, number)


@jitable_call
def order_side(
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    side: int,
    paths: Paths,
    tactics: state.Record,
    key: np.uint64,
    plan: RaidPlan,
    orders: state.IntArray,
) -> None:
    """Write the orders of one side, (11,), in either phase; the same key gives the same orders.

    ``legal``: (2, 11), sets; of the enemy's, only the HVA's moves are used.
    """
    for number in range(state.SATELLITES):
        orders[number] = state.NOOP
        plan.raiders[number] = 0
    if game.phase != state.MOVEMENT:
        order_engagement(game, rules, legal, side, tactics, orders)
        return
    alarm = soonest_attack(game, rules, side, paths)
    orders[state.HVA] = move_hva(game, legal, side, paths, tactics, alarm, key)
    send_raiders(game, rules, legal, side, paths, tactics, plan, orders)
    if alarm < ALARM_TURNS:
        shelter = destination(int(game.sector[side, state.HVA]), orders[state.HVA])
        for number in range(1, state.SATELLITES):
            if not plan.raiders[number]:
                sector, fuel = int(game.sector[side, number]), int(game.fuel[side, number])
                orders[number] = path_home(paths, side, shelter, sector, fuel)


_OWN = 0


@jitable
def order_row(
    observation: state.IntArray,
    masks: state.IntArray,
    paths: Paths,
    tactics: state.Record,
    key: np.uint64,
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    workspace: state.Workspace,
    plan: RaidPlan,
    orders: state.IntArray,
) -> None:
    """Write the orders of one side, (11,), from what it observes in tokens and its masks, (11, 28).

    ``game``, ``rules``, ``legal``, (2, 11), ``workspace`` and ``plan`` are buffers.
    """
    script.read_rules(observation, rules)
    script.read_game(observation, game, rules)
    game.phase = state.MOVEMENT if observation[script.MOVEMENT_PHASE] else state.ENGAGEMENT
    write_legal_orders(game, rules, workspace, legal)
    for number in range(state.SATELLITES):
        legal[_OWN, number] &= read_mask(masks[number])
    order_side(game, rules, legal, _OWN, paths, tactics, key, plan, orders)
    for number in range(state.SATELLITES):
        if not (legal[_OWN, number] >> orders[number]) & 1:
            orders[number] = state.NOOP


@jit
def order_rows(
    observations: state.IntArray,
    masks: state.IntArray,
    rows: state.IntArray,
    paths: Paths,
    tactics: state.Records,
    keys: NDArray[np.uint64],
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
) -> None:
    """Write the orders of those rows of a batch that share the path costs of ``paths``.

    ``observations``: (n, size) tokens, ``masks``: (n, 11, 28), ``tactics``: (n,) or (1,) for all, ``keys``: (n,),
    ``orders``: (n, 11), overwritten. ``game`` and ``rules`` are buffers.
    """
    legal, plan = np.zeros((state.NUM_SIDES, state.SATELLITES), np.int32), make_raid_plan()
    script.read_rules(observations[rows[0]], rules)
    workspace = state.make_workspace(rules.outer_ring)
    for i in range(len(rows)):
        row = rows[i]
        tactic = tactics[row if len(tactics) > 1 else 0]
        order_row(
            observations[row], masks[row], paths, tactic, keys[row], game, rules, legal, workspace, plan, orders[row]
        )


def order_batch(
    observations: NDArray[Any], action_masks: NDArray[np.int8], tactics: state.Records, keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the orders of a batch, (n, 11), for tactics, (n,) or (1,) for all, and random keys, (n,).

    Raises:
        ValueError: observations or masks have another shape or type, or describe no board.
    """
    masks = check_masks(action_masks)
    seen, keys = script.check_observations(observations, len(masks)), check_keys(keys, len(masks))
    orders = np.zeros(masks.shape[:2], np.int64)
    # Of this call alone: threads may share an agent.
    game, rules = state.records(state.GAME, 1), state.records(state.RULES, 1)
    for path_costs, rows in script.split_by_path_costs(seen):
        order_rows(seen, masks, rows, find_table(path_costs), tactics, keys, game[0], rules[0], orders)
    return orders


class _Tactician(script.SeededScript):
    """Plays every game with the same tactics; stateless."""

    def __init__(self, name: str, tactics: state.Records) -> None:
        self.name = name
        self.tactics = tactics

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        return order_batch(observations, action_masks, self.tactics, keys)


class TurtleAgent(_Tactician, script.DeterministicScript):
    """Guards its own HVA with all Patrols, and does nothing else."""

    def __init__(self) -> None:
        tactics = state.records(TACTICS, 1)
        tactics["defenders"] = state.PATROLS
        super().__init__("turtle", tactics)


class RaiderAgent(_Tactician):
    """Sends all Patrols but a few against the enemy HVA, so that they arrive together.

    Args:
        raid: its parameters.
    """

    def __init__(self, raid: Raid | None = None) -> None:
        self.raid = Raid() if raid is None else raid
        super().__init__(script.describe_parameters("raider", self.raid), raid_tactics(self.raid))


class SteadyRaiderAgent(RaiderAgent, script.DeterministicScript):
    """A raider whose HVA never gives way, ``Raid.dodge`` 0: the only thing that raiders leave to chance."""


def make_raider(raid: Raid | None = None) -> RaiderAgent:
    """Make a raider, one that gives the probabilities of its orders if it leaves nothing to chance.

    Where the HVA gives way at random, Patrols follow it, so that the satellites' orders depend on each other.
    """
    return RaiderAgent(raid) if raid is not None and raid.dodge > 0 else SteadyRaiderAgent(raid)


class MixedAgent:
    """Plays every game as a raider whose parameters are sampled when the game begins.

    It keeps them as state, so a row of a batch must stay the same game until ``reset`` marks it as new.
    """

    name = "mixed"
    observation: Encoding = "tokens"

    def __init__(self) -> None:
        self.tactics = state.records(TACTICS, 0)
        self._is_new = np.zeros(0, np.bool_)

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Mark games as new; their parameters are sampled in the next ``act``."""
        if len(new_games) != len(self._is_new):
            self.tactics = state.records(TACTICS, len(new_games))
            self._is_new = np.ones(len(new_games), np.bool_)
        self._is_new |= new_games

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        if len(action_masks) != len(self._is_new):
            self.reset(np.ones(len(action_masks), np.bool_))
        for i in np.flatnonzero(self._is_new):
            write_raid(sample_raid(generator), self.tactics[i])
        self._is_new[:] = False
        return order_batch(observations, action_masks, self.tactics, script.sample_keys(generator, len(action_masks)))
