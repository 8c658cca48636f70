"""What pages say about a game: its rules, its last turn, its result."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.toml_files import largest
from geo_patrol.drawing.sheet import PageLine, Tab
from geo_patrol.engine import state
from geo_patrol.engine.engagement import GUARD_DECAY
from geo_patrol.game.game import Game
from geo_patrol.game.notation import MOVES, Outcome, SatelliteId
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.advice import ScoreChange, score_changes
from geo_patrol.play.engagement import intercepted_attacks

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
        rounds = [_count(ammo, "round") for _, ammo in rules["initial_ammo"]]
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
            f"Fuel that is left counts too: {_whole_weights(rules, 0, 'the HVA')}, {_whole_weights(rules, 1, 'Patrols')}.",
        )
        self.drift = (
            "Everything goes one sector counterclockwise, the goals as well. Inner rings are shorter: satellites there get ahead.",
            f"Each satellite that has fuel pays {_both(rules['station_keeping_cost'], '{}')}. Without fuel it does nothing any more.",
        )


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
    patrols = _count(rules["patrol_count"][index], "Patrol")
    return f"HVA with {hva} fuel and {hva_ammo} ammo; {patrols} with {patrol} fuel and {ammo} ammo"


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
    hva = sum(change.hva_destroyed for change in changes)
    patrols = sum(change.patrols_destroyed for change in changes)
    fuel = sum(change.fuel_spent for change in changes)
    return ScoreSums(start, goal, hva, patrols, fuel, end - start - goal - hva - patrols - fuel)


def _score_lines(side: Side, sums: ScoreSums) -> Iterator[PageLine]:
    yield PageLine(f"{side.capitalize()}: {sums.end} points")
    yield PageLine("fuel at the start", f"{sums.start}")
    names = ("from the goal", "HVA destroyed", "Patrols destroyed", "fuel spent", "forfeit")
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
