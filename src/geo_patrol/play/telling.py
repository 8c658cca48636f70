"""What a game tells, in words: its rules, an engagement beat by beat and as cards, why scores changed, the result.

The game as text, pages, windows and sheets to print say what stands here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from geo_patrol.base.sides import SIDES, Side, enemy_of, in_colors
from geo_patrol.config.toml_files import largest
from geo_patrol.drawing.sheet import PageLine, Tab
from geo_patrol.engine import state
from geo_patrol.engine.engagement import GUARD_DECAY
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import MOVES, Order, Outcome, SatelliteId
from geo_patrol.game.timeline import Timeline

# The rules

_DISTANCES = ("same sector", "adjacent sector")
_GUARDED_ATTACKS = 4
"""Attacks for which a guard's odds are listed."""


def aim_tab(game: Game) -> Tab:
    """Return what a game is about and how it is scored, with the values of this game."""
    rules = _rules(game)
    win = _both(rules["win_score"], "{}")
    hva_weights, patrol_weights = zip(*_weights(rules), strict=True)
    lines = [
        PageLine(game.config.title),
        PageLine(
            "aim",
            f"more points when the game ends: after {_count(rules['turn_limit'], 'turn')}, when a side has {win} "
            "points, or when an HVA is destroyed or out of fuel",
        ),
        PageLine(
            "turn", "both sides order moves at once, then engagements; then everything drifts one sector prograde"
        ),
        PageLine("goal", f"the filled sector of ring {rules['goal_ring']}; it drifts along"),
        PageLine("HVA in its goal", _both(rules["goal_points"], "+{} a turn")),
        PageLine("HVA next to it", _both(rules["adjacent_points"], "+{} a turn")),
        *([PageLine("enemy Patrol lost", _both(rules["patrol_points"], "+{}"))] if any(rules["patrol_points"]) else ()),
        PageLine(
            "HVA's fuel",
            _both(hva_weights, "{} a unit, all of it lost if the HVA is destroyed"),
        ),
        PageLine("Patrols' fuel", _both(patrol_weights, "{} a unit")),
        *([PageLine("sight", sensor_range_text(game))] if game.config.hides_enemies else ()),
        PageLine("Fleets"),
        *(PageLine(side, _fleet(rules, index)) for index, side in enumerate(SIDES)),
    ]
    return Tab("Aim", tuple(lines))


def tabs_in_colors(*tabs: Tab) -> tuple[Tab, ...]:
    """Return tabs with the sides as pages and sheets to print call them."""
    return tuple(Tab(tab.title, tuple(PageLine(*map(in_colors, line)) for line in tab.lines)) for tab in tabs)


class PupilRules:
    """The rules of a game in short sentences and whole numbers, with the values of this game.

    Args:
        game: the game.

    Attributes:
        aim: what wins.
        moves: the first phase.
        attacks: the second phase.
        engagements: for each kind what it costs, and with which rolls it succeeds, in the same and the next sector.
        points: what is counted.
        drift: how a turn ends.
    """

    def __init__(self, game: Game) -> None:
        rules = _rules(game)
        moves = [[f"{cost}" for cost in rules["move_cost"][i]] for i in range(len(SIDES))]
        ahead, back, inward, outward = (_both([side[code] for side in moves], "{} fuel") for code in _MOVE_CODES)
        rounds = [_rounds([ammo for _, ammo in _patrol_supplies(rules, i)]) for i in range(len(SIDES))]
        self.aim = (
            "Keep your HVA (High Value Asset), the satellite with an H, in the goal of your color, and attack that of the other side.",
            (
                f"The game ends after {_count(rules['turn_limit'], 'turn')}, when a side has {_both(rules['win_score'], '{}')} "
                "points, or when an HVA is lost. Who has more points wins."
            ),
        )
        self.moves = (
            "Both write orders in secret, then show them. Each satellite may go to one of the sectors with an arrow, or stay.",
            f"Ahead, counterclockwise: {ahead}. Back: {back}. In: {inward}. Out: {outward}.",
        )
        self.attacks = (
            (
                "Again in secret; then show and pay. Only in the same sector or the next one, which touches it (gold, above). "
                "Roll two ten-sided dice, tens and units; 00 is 100."
            ),
            (
                f"First guards, then all shots, then collisions. A Patrol has {_both(rounds, '{}')} for shots. A collision that "
                "succeeds destroys both. A guard takes attacks on its HVA upon itself: the first with this number, the next with half of "
                "it, and so on."
            ),
        )
        kinds = {"shoot": state.SHOT, "collide": state.COLLISION, "guard": state.GUARDING}
        self.engagements = {name: _engagement_texts(rules, kind, " or less") for name, kind in kinds.items()}
        self.points = (
            (
                f"Your HVA in its goal: {_both(rules['goal_points'], '{}')} points. Next to it: "
                f"{_both(rules['adjacent_points'], '{}')}. These add up, turn after turn."
            ),
            *(
                [f"A Patrol that the enemy loses: {_both(rules['patrol_points'], '{}')}."]
                if any(rules["patrol_points"])
                else ()
            ),
            f"Fuel that is left counts too: {_whole_weights(rules, 0, 'the HVA')}, {_whole_weights(rules, 1, 'Patrols')}.",
        )
        self.drift = (
            "Everything goes one sector counterclockwise, the goals as well. Inner rings are shorter: satellites there get ahead.",
            f"Each satellite that has fuel pays {_both(rules['station_keeping_cost'], '{}')}. Without fuel it does nothing any more.",
        )


def _rounds(ammo: list[int]) -> str:
    least, most = min(ammo), max(ammo)
    return _count(most, "round") if least == most else f"{least} to {_count(most, 'round')}"


_MOVE_CODES = tuple(MOVES.index(name) for name in ("prograde", "retrograde", "radial_in", "radial_out"))


def _engagement_texts(rules: dict[str, Any], kind: int, unit: str) -> list[str]:
    """Return what an engagement costs and how likely it succeeds, in the same sector and the next one."""
    sides = list(zip(rules["engagement_cost"], rules["engagement_odds"], strict=True))
    return [
        _both([f"{cost[kind][at]} fuel, {100 * odds[kind][at]:.0f}{unit}" for cost, odds in sides], "{}")
        for at in range(len(_DISTANCES))
    ]


def _whole_weights(rules: dict[str, Any], kind: int, owner: str) -> str:
    """Return how many points how much fuel is worth."""
    weights = zip(rules["weight_numerator"], rules["weight_denominator"], strict=True)
    fractions = [Fraction(numerator[kind], denominator[kind]) for numerator, denominator in weights]
    texts = [f"{_count(one.numerator, 'point')} for each {one.denominator} of {owner}" for one in fractions]
    return _both([text.replace("each 1 of", "each unit of") for text in texts], "{}")


def _rules(game: Game) -> dict[str, Any]:
    """Return the fields of a game's rules as plain values and lists, alpha's and bravo's side by side."""
    rules = game.as_games().state.rules
    return {name: rules[name][0].tolist() for name in rules.dtype.names or ()}


def _fleet(rules: dict[str, Any], index: int) -> str:
    (hva, patrol), (hva_ammo, ammo) = rules["initial_fuel"][index], rules["initial_ammo"][index]
    count = rules["patrol_count"][index]
    singles = [
        f"P{number} with {own_fuel} fuel and {own_ammo} ammo"
        for number, (own_fuel, own_ammo) in enumerate(_patrol_supplies(rules, index), start=1)
        if (own_fuel, own_ammo) != (patrol, ammo)
    ]
    fleet = f"HVA with {hva} fuel and {hva_ammo} ammo; {_count(count, 'Patrol')} with {patrol} fuel and {ammo} ammo"
    return f"{fleet}, but {', '.join(singles)}" if singles else fleet


def _patrol_supplies(rules: dict[str, Any], index: int) -> list[tuple[int, int]]:
    """Return the fuel and ammo with which each Patrol of a side starts."""
    supplies = zip(rules["patrol_fuel"][index], rules["patrol_ammo"][index], strict=True)
    return list(supplies)[: rules["patrol_count"][index]]


def costs_tab(game: Game) -> Tab:
    """Return what orders cost and how likely they succeed, with the values of this game."""
    rules = _rules(game)
    moves = [
        PageLine(name.replace("_", " "), _both([costs[code] for costs in rules["move_cost"]], "{} fuel"))
        for code, name in enumerate(MOVES)
        if code != state.NOOP
    ]
    lines = [
        PageLine("Moves"),
        *moves,
        PageLine("drift", _both(rules["station_keeping_cost"], "{} fuel a turn, of every satellite that has any")),
        PageLine("Engagements, by the distance after the moves"),
        *_engagement(rules, "shoot", state.SHOT, "needs 1 ammo; destroys the target"),
        *_engagement(rules, "collide", state.COLLISION, "Patrols only; destroys both"),
        *_engagement(
            rules,
            "guard",
            state.GUARDING,
            "Patrols near the own HVA; takes its attacks, each further one half as likely",
        ),
        PageLine("order", "guards, then all shots at once, then collisions one by one"),
    ]
    return Tab("Costs", tuple(lines))


def _engagement(rules: dict[str, Any], name: str, kind: int, note: str) -> Iterator[PageLine]:
    yield PageLine(name, note)
    for words, text in zip(_DISTANCES, _engagement_texts(rules, kind, "%"), strict=True):
        yield PageLine(f"  {words}", text)


def guard_odds_texts(game: Game) -> dict[str, str]:
    """Return the percentages with which a guard takes on its first four attacks, by its distance to the HVA."""
    odds = [each[state.GUARDING] for each in _rules(game)["engagement_odds"]]
    return {words: _both([_halved(each[distance]) for each in odds], "{}") for distance, words in enumerate(_DISTANCES)}


def _halved(probability: float) -> str:
    percentages = (100 * probability * GUARD_DECAY**attack for attack in range(_GUARDED_ATTACKS))
    return ", ".join(f"{percentage:.4g}%" for percentage in percentages)


def fuel_points_text(game: Game) -> str:
    """Return how fuel points are computed, with the weights of this game."""
    sums = [f"HVA's fuel x {hva} + sum of Patrols' fuel x {patrol}" for hva, patrol in _weights(_rules(game))]
    return f"Fuel points: {_both(sums, '{}')}; rounded down"


def _weights(rules: dict[str, Any]) -> list[list[str]]:
    """Return the weights of the fuel of each side's HVA and Patrols."""
    return [
        [_weight_text(*weight) for weight in zip(*side, strict=True)]
        for side in zip(rules["weight_numerator"], rules["weight_denominator"], strict=True)
    ]


def _weight_text(numerator: int, denominator: int) -> str:
    """Return a weight as a short decimal if it is one, else as a fraction."""
    decimal = f"{numerator / denominator:g}"
    fraction = Fraction(numerator, denominator)
    return decimal if Fraction(decimal) == fraction else str(fraction)


def station_keeping_text(game: Game) -> str:
    """Return what the drift costs in this game."""
    costs = _both(_rules(game)["station_keeping_cost"], "{} fuel")
    return f"Every satellite that has fuel then pays for station keeping: {costs}"


def sensor_range_text(game: Game) -> str:
    """Return how far the sides see in a game that hides enemies."""
    config = game.config
    ranges = [(config.alpha if config.mirror else config.side(side)).sensor_range for side in SIDES]
    texts = [
        "everything"
        if reach is None
        else f"enemies within {_count(int(largest(reach)), 'step')} of one of its satellites that is not destroyed"
        for reach in ranges
    ]
    return f"A side sees {_both(texts, '{}')}."


def _both(values: Any, form: str) -> str:
    """Return a value of alpha and bravo in words, once if they are equal."""
    alpha, bravo = (form.format(f"{value:g}" if isinstance(value, float) else value) for value in values)
    return alpha if alpha == bravo else f"alpha {alpha}; bravo {bravo}"


def rules_text(game: Game) -> str:
    """Return the rules of a game, with its values."""
    board, config = game.config.board, game.config
    values = [line for tab in (aim_tab(game), costs_tab(game)) for line in tab.lines if line.left not in _TOLD]
    rules = _RULES.format(
        title=config.title,
        inner=board.inner_ring,
        outer=board.outer_ring,
        goal=board.goal_ring,
        points=fuel_points_text(game),
        upkeep=station_keeping_text(game),
        guard="; ".join(f"{where} {odds}" for where, odds in guard_odds_texts(game).items()),
        illegal=_ILLEGAL_ORDERS[config.illegal_orders],
    )
    listed = "\n".join(_value_line(line) for line in values if line.left != config.title)
    code = f"\n{_CODE_RULES}" if config.rules == "code" else ""
    code += f"\n{sight_text(game)}" if config.hides_enemies else ""
    code += (
        "\nA Patrol that is destroyed, by a collision of its own too, gives points to its enemy."
        if config.counts_patrols
        else ""
    )
    return f"{rules}{code}\nValues of this game:\n{listed}"


def sight_text(game: Game) -> str:
    """Return in full how far the sides see, and what they know of the rest."""
    return (
        f"Sight: {sensor_range_text(game)} You look after every movement, engagement and drift. Who takes part in an attack "
        "is seen by both sides, and so are the outcomes. You see the order of an enemy that you saw before and after it. Enemies "
        "out of sight are listed as if they had drifted since, and the enemy's score follows "
        "from that. Both sides know how the game starts."
    )


def _value_line(line: PageLine) -> str:
    bullet = "  -" if line.left.startswith(" ") else "-"
    return f"{bullet} {line.left.strip()}: {line.right}" if line.right else f"{line.left}:"


_TOLD = ("turn", "goal", "order", "drift", "sight")
"""Lines of the rules' pages that ``_RULES`` tells in full."""
_ILLEGAL_ORDERS = {"noop": "does nothing", "forfeit": "loses the game"}
_CODE_RULES = (
    "Exceptions here: one more turn than the limit is played; an HVA that runs out of fuel while drifting ends the game a "
    "turn later; a lost HVA still scores in its goal sector; an engagement paid with the last fuel is void, and its "
    "satellite cannot be hit in that phase."
)
_RULES = """\
{title}: alpha against bravo. Each side has one HVA (high value asset) and Patrols, P1, P2 and so on.

Board: rings {inner} to {outer} around the Earth. Ring r has 2^r sectors, numbered from 2^r - 1 counterclockwise (prograde). \
A sector is adjacent to the next and the previous one of its ring, to the one inside of it, and to the two outside of it.

A turn has three parts. Both sides order at the same time, and see each other's orders afterwards.
1. Movement. Each satellite holds or moves to the next sector (prograde), the previous one (retrograde), the one inside \
(radial_in) or the lower-numbered of the two outside (radial_out).
2. Engagement, in range of the same or an adjacent sector, measured after the movement. Satellites with ammo shoot an active \
enemy, Patrols collide with one, or guard their own HVA, which they may while an active enemy is in range of it. All orders \
are paid first. Guards go first, in random order: each takes attacks aimed at its HVA onto itself, the first, second and \
further ones with less and less probability ({guard}); an attack keeps its odds. Then all shots hit or miss at once. Then \
collisions, one by one in random order; one that succeeds destroys both. Orders by or against a satellite that was destroyed \
before are void. A shot uses one ammo, hit or miss. A guard moves to its HVA's sector, and a collider to its target's, \
whatever the result.
3. Drift. Scores are counted, the end of the game is tested, then all satellites and both goal sectors move one sector \
prograde. {upkeep}.

A satellite without fuel takes no orders and cannot be attacked, but drifts; a destroyed one has no fuel. An illegal order \
{illegal}.

Score: goal points so far and fuel points now. The goal sectors of the sides lie opposite each other on ring {goal}. An HVA \
with fuel earns goal points every turn, in its goal sector or next to it. {points}."""


def turn_tabs(game: Game) -> tuple[Tab, ...]:
    """Return the steps of a turn on paper."""
    return _movement_tab(), _engagement_tab(), _end_tab(game)


def _movement_tab() -> Tab:
    return Tab(
        "1 Movement",
        (
            PageLine("orders", "both write a move for any of their satellites in secret, then show them"),
            PageLine(
                "moves",
                "+ ahead (prograde): the next sector counterclockwise; - back (retrograde): clockwise; in; out, into "
                "the one of the two outer sectors that is further clockwise. A satellite may also stay",
            ),
            PageLine("fuel", "pay for every move; an order that a satellite cannot pay is not allowed"),
        ),
    )


def _engagement_tab() -> Tab:
    return Tab(
        "2 Engagement",
        (
            PageLine(
                "orders",
                "both write in secret, then show: shoot or collide with an enemy that has fuel, or guard the own HVA, each "
                "in the same or an adjacent sector. Guard only while an enemy with fuel is that near to the HVA. Pay for "
                "all first; an order paid with the last fuel still counts, and its satellite can still be hit in this phase",
            ),
            PageLine(
                "dice",
                "two ten-sided dice, tens and units, 00 is 100: success with at most the percentage, by the distance of "
                "this moment, before anything is resolved. For a random order each rolls, the highest begins; equal "
                "rolls again",
            ),
            PageLine(
                "first: guards",
                "in random order. A guard takes on the attacks that are aimed at its HVA now, in random order: the first "
                "with its odds, each further one with half of those before. An attack that it takes is aimed at the "
                "guard, with the odds it had. Then the guard moves to its HVA's sector, with or without success",
            ),
            PageLine(
                "second: shots", "all at once, so a satellite that is hit still fires; each spends a round, hit or miss"
            ),
            PageLine(
                "third: collisions",
                "one by one in random order: success destroys both; the attacker moves to the sector where its target is now, "
                "with or without success",
            ),
            PageLine(
                "void",
                "collisions by or against a satellite that is destroyed by then; their fuel stays spent, and the attacker "
                "stays where it is",
            ),
            PageLine("destroyed", "fuel 0, off the board. Without fuel: no orders, cannot be attacked, still drifts"),
        ),
    )


def _end_tab(game: Game) -> Tab:
    return Tab(
        "3 Score and 4 drift",
        (
            PageLine("score", f"goal points so far + fuel points now. {fuel_points_text(game)}"),
            PageLine("goal points", "for an HVA with fuel in its goal sector, or adjacent to it, before the drift"),
            PageLine(
                "end",
                "if the game ends now, there is no drift: more points win, whoever lost an HVA; equal points are a draw",
            ),
            PageLine(
                "drift",
                f"every satellite and both goals move one sector counterclockwise. {station_keeping_text(game)}",
            ),
        ),
    )


# An engagement

Beats = tuple[tuple[Outcome, ...], ...]
"""Outcomes that are shown together, one group after another."""


def beats(outcomes: Iterable[Outcome]) -> Beats:
    """Return the outcomes of an engagement as they are played back: guard by guard, shots, collision by collision.

    Guards without an attack share a beat, and so do shots among Patrols; each shot at an HVA has its own, after them.
    """
    kinds: dict[str, list[Outcome]] = {"guard": [], "shoot": [], "collide": []}
    for outcome in outcomes:
        kinds[outcome.action].append(outcome)
    aims = intercepted_attacks(kinds["guard"])
    idle = tuple(one for one in kinds["guard"] if one.attacker is None)
    busy = (one for one in kinds["guard"] if one.attacker is not None)
    guards = [tuple(group) for _, group in groupby(busy, key=lambda one: one.guardian)]
    skirmish = tuple(one for one in kinds["shoot"] if not is_decisive(one, aims))
    decisive = [(one,) for one in kinds["shoot"] if is_decisive(one, aims)]
    collisions = [(one,) for one in kinds["collide"]]
    return tuple(filter(None, (*guards, idle, skirmish, *decisive, *collisions)))


def is_decisive(outcome: Outcome, aims: Mapping[SatelliteId, SatelliteId]) -> bool:
    """Return whether an outcome is an attack on an HVA, a guard in its way included."""
    return outcome.action != "guard" and (outcome.target.number == 0 or outcome.actor in aims)


def intercepted_attacks(outcomes: Iterable[Outcome]) -> dict[SatelliteId, SatelliteId]:
    """Return the HVA that each attacker was aimed at before a guard took its attack."""
    return {one.attacker: one.target for one in outcomes if one.action == "guard" and one.success and one.attacker}


def destroyed(outcomes: Iterable[Outcome]) -> set[SatelliteId]:
    """Return the satellites that an engagement destroyed: what was hit, and both after a collision."""
    hits = [one for one in outcomes if one.action != "guard" and one.success]
    return {one.target for one in hits} | {one.actor for one in hits if one.action == "collide"}


class Attack(NamedTuple):
    """An attack of a card.

    Attributes:
        attacker: who attacks.
        action: shoot or collide.
        probability: its odds; None where it did not happen.
        result: "hit", "miss" or "void"; "" before it is resolved.
        guard: who took it.
    """

    attacker: SatelliteId
    action: str
    probability: float | None
    result: str
    guard: SatelliteId | None


class TargetCard(NamedTuple):
    """All attacks that were ordered on a target, or an HVA that was guarded without being attacked.

    Attributes:
        target: the target.
        result: "safe" or "lost"; "" before that is known.
        attacks: the attacks on it, in the order in which they were resolved.
        guards: the satellites that guarded it.
        collided_with: the enemy in a collision with which it was lost, where no attack on it succeeded.
    """

    target: SatelliteId
    result: str
    attacks: tuple[Attack, ...]
    guards: tuple[SatelliteId, ...]
    collided_with: SatelliteId | None

    @property
    def note(self) -> str:
        """What the guards did, or how it was lost if not by an attack; otherwise empty."""
        if not self.guards:
            return "" if self.collided_with is None else f"collided with {self.collided_with.short.removeprefix('P')}"
        names = f"guard{'s' * (len(self.guards) > 1)} {', '.join(str(guard.number) for guard in self.guards)}"
        if not self.attacks:
            return f"{names}: no attack"
        drawn = sum(attack.guard is not None for attack in self.attacks)
        return f"{names} drew {drawn} of {len(self.attacks)} attacks"


def resolved_outcomes(outcomes: Sequence[Outcome], resolved: int | None) -> list[Outcome]:
    """Return the outcomes of the first beats; all for None."""
    return [one for beat in beats(outcomes)[:resolved] for one in beat]


def cards(
    outcomes: Sequence[Outcome], orders: Sequence[Sequence[Order]] = ((), ()), resolved: int | None = None
) -> list[TargetCard]:
    """Return an engagement as cards, those of HVAs first.

    Args:
        outcomes: what happened.
        orders: of alpha and of bravo; without them, attacks that became void are unknown.
        resolved: how many beats have been played; None for all. Later ones have no result yet.
    """
    known = {id(one) for one in resolved_outcomes(outcomes, resolved)}
    aims, is_over = intercepted_attacks(outcomes), len(known) == len(outcomes)
    guards: dict[SatelliteId, dict[SatelliteId, None]] = {}
    drawn: dict[SatelliteId, SatelliteId] = {}
    attacks: dict[SatelliteId, list[Attack]] = {}
    for outcome in outcomes:
        if outcome.guardian is not None:
            guards.setdefault(outcome.target, {})[outcome.guardian] = None
            if outcome.success and outcome.attacker is not None and id(outcome) in known:
                drawn[outcome.attacker] = outcome.guardian
        else:
            actor = outcome.actor
            result = "" if id(outcome) not in known else "hit" if outcome.success else "miss"
            attack = Attack(actor, outcome.action, outcome.probability, result, drawn.get(actor))
            attacks.setdefault(aims.get(actor, outcome.target), []).append(attack)
    done = {attack.attacker for listed in attacks.values() for attack in listed}
    for side, listed in zip(SIDES, orders, strict=True):
        for order in listed:
            actor = SatelliteId(side, order.satellite)
            if order.target is not None and actor not in done:
                void = Attack(actor, order.action, None, "void" if is_over else "", drawn.get(actor))
                attacks.setdefault(SatelliteId(enemy_of(side), order.target), []).append(void)
    hits = [one for one in outcomes if one.action != "guard" and one.success and id(one) in known]
    lost, hit = destroyed(hits), {one.target for one in hits}
    collided = {one.actor: one.target for one in hits if one.action == "collide" and one.actor not in hit}
    targets = {**attacks, **guards}
    ranked = sorted(targets, key=lambda one: (one not in attacks, one.number > 0, one.side, one.number))
    return [
        TargetCard(
            target,
            "lost" if target in lost else "safe" if is_over else "",
            tuple(attacks.get(target, ())),
            tuple(sorted(guards.get(target, ()))),
            collided.get(target),
        )
        for target in ranked
    ]


# Scores and results


@dataclass(frozen=True)
class ScoreChange:
    """How the score of one side changed in a turn, in points.

    Attributes:
        side: the side.
        goal: goal points that its HVA earned.
        enemy_patrols: points for Patrols that the enemy lost.
        hva_destroyed: fuel points lost with its HVA, 0 or less.
        patrols_destroyed: fuel points lost with its Patrols, 0 or less.
        patrol_count: Patrols that were destroyed.
        fuel_spent: fuel points spent on orders and station keeping, 0 or less; the rounding of the score is in here.
    """

    side: Side
    goal: int
    enemy_patrols: int
    hva_destroyed: int
    patrols_destroyed: int
    patrol_count: int
    fuel_spent: int

    @property
    def total(self) -> int:
        """By how much the score changed."""
        return self.goal + self.enemy_patrols + self.hva_destroyed + self.patrols_destroyed + self.fuel_spent

    @property
    def reasons(self) -> tuple[str, ...]:
        """What changed it, in words."""
        patrols = f"{self.patrol_count} Patrol{'s' * (self.patrol_count != 1)} destroyed"
        reasons = (
            ("HVA destroyed", self.hva_destroyed, " fuel points"),
            (patrols, self.patrols_destroyed, ""),
            ("goal", self.goal, ""),
            ("enemy Patrols destroyed", self.enemy_patrols, ""),
            ("fuel spent", self.fuel_spent, ""),
        )
        return tuple(f"{name}: {points:+}{unit}" for name, points, unit in reasons if points)

    def __str__(self) -> str:
        return f"{self.side} {self.total:+} ({', '.join(self.reasons) or 'no change'})"


def score_changes(engagement: Phase) -> tuple[ScoreChange, ScoreChange]:
    """Return how the scores of alpha and bravo changed in a turn, given its engagement phase, which ends it."""
    alpha, bravo = (_change(engagement, index) for index in range(len(SIDES)))
    return alpha, bravo


def _change(engagement: Phase, index: int) -> ScoreChange:
    side, before, after = SIDES[index], engagement.before, engagement.after
    earned = after.goal_points[side] - before.goal_points[side]
    fuel = after.scores[side] - before.scores[side] - earned
    rules = after.as_games().state.rules
    weights = rules["weight"][0, index].tolist()
    enemy = SIDES[1 - index]
    hits = sum(
        now.destroyed and not then.destroyed
        for then, now in zip(before.satellites(enemy)[1:], after.satellites(enemy)[1:], strict=True)
    )
    prize = min(hits * int(rules["patrol_points"][0, index]), max(earned, 0))  # none where the game was forfeited
    orders = {order.satellite: order for order in engagement.orders[index]}
    lost = [
        weights[one.id.number > 0] * (then.fuel - _cost(before, side, orders.get(one.id.number)))
        if one.destroyed and not then.destroyed
        else 0.0
        for then, one in zip(before.satellites(side), after.satellites(side), strict=True)
    ]
    hva, patrols = -round(lost[0]), -round(sum(lost[1:]))
    return ScoreChange(side, earned - prize, prize, hva, patrols, sum(map(bool, lost[1:])), fuel - hva - patrols)


def _cost(game: Game, side: Side, order: Order | None) -> int:
    if order is None or not game.is_legal(side, order):  # a guard whose HVA is out of sight
        return 0
    return game.cost(side, order)


def last_turn_tab(turn: int, changes: Sequence[ScoreChange], outcomes: Sequence[Outcome]) -> Tab:
    """Return why the scores changed in a turn, and every outcome of its engagement."""
    scores = [
        PageLine(f"{change.side} {change.total:+}", ", ".join(change.reasons) or "no change") for change in changes
    ]
    saved = intercepted_attacks(outcomes)
    engagements = [
        PageLine(_name(one.actor), outcome_text(one) + (", aimed at the HVA" if one.actor in saved else ""))
        for one in outcomes
    ]
    heading = f"Engagement of turn {turn}" if turn else "Engagement"
    return Tab(
        "Last turn",
        (
            *([PageLine(f"Score of turn {turn}"), *scores] if scores else ()),
            PageLine(heading),
            *(engagements or [PageLine("", "nobody engaged" if turn else "none yet")]),
        ),
    )


def result_tab(timeline: Timeline) -> Tab:
    """Return who won a game that is over, why, and how the scores came about."""
    result, game = timeline.result, timeline[-1]
    assert result is not None
    won = "Draw" if result.winner is None else f"{result.winner.capitalize()} wins"
    score = f"{game.scores['alpha']} to {game.scores['bravo']}"
    lines = [PageLine(f"{won} in turn {game.turn}, {score}: {result.in_words}")]
    for side, sums in zip(SIDES, score_sums(timeline), strict=True):
        lines += _score_lines(side, sums)
    return Tab("Result", tuple(lines))


class ScoreSums(NamedTuple):
    """How the score of one side came about in a game, in points; the fields are those of ``ScoreChange``."""

    start: int
    goal: int
    enemy_patrols: int
    hva_destroyed: int
    patrols_destroyed: int
    fuel_spent: int
    forfeit: int

    @property
    def end(self) -> int:
        """The score at the end."""
        return sum(self)


def score_sums(timeline: Timeline) -> tuple[ScoreSums, ScoreSums]:
    """Return how the scores of alpha and bravo came about."""
    turns = [score_changes(phase) for phase in timeline.phases if phase.name == "engagement"]
    alpha, bravo = (
        _sums(timeline[0].scores[side], [turn[index] for turn in turns], timeline[-1].scores[side])
        for index, side in enumerate(SIDES)
    )
    return alpha, bravo


def _sums(start: int, changes: Sequence[ScoreChange], end: int) -> ScoreSums:
    goal = sum(change.goal for change in changes)
    prizes = sum(change.enemy_patrols for change in changes)
    hva = sum(change.hva_destroyed for change in changes)
    patrols = sum(change.patrols_destroyed for change in changes)
    fuel = sum(change.fuel_spent for change in changes)
    return ScoreSums(start, goal, prizes, hva, patrols, fuel, end - start - goal - prizes - hva - patrols - fuel)


def _score_lines(side: Side, sums: ScoreSums) -> Iterator[PageLine]:
    yield PageLine(f"{side.capitalize()}: {sums.end} points")
    yield PageLine("fuel at the start", f"{sums.start}")
    names = ("from the goal", "enemy Patrols destroyed", "HVA destroyed", "Patrols destroyed", "fuel spent", "forfeit")
    yield from (PageLine(name, f"{points:+}") for name, points in zip(names, sums[1:], strict=True) if points)


def outcome_text(outcome: Outcome) -> str:
    """Return what an outcome's actor did and what became of it."""
    odds = f"{outcome.probability:.0%}"
    if outcome.action != "guard":
        verb = {"shoot": "shoots at", "collide": "collides with"}[outcome.action]
        result = "destroyed" if outcome.success else "missed"
        return f"{verb} {_name(outcome.target)} at {odds}: {result}"
    if outcome.attacker is None:
        return "guards the HVA: no attack"
    result = "takes the attack" if outcome.success else "fails"
    return f"guards the HVA from {_name(outcome.attacker)} at {odds}: {result}"


def _name(satellite: SatelliteId) -> str:
    return f"{satellite.side} {satellite.short}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
