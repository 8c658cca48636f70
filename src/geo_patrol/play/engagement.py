"""An engagement as it is told: beat by beat in the rules' order, and as cards by target."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from geo_patrol.base.sides import SIDES, enemy_of
from geo_patrol.game.notation import Order, Outcome, SatelliteId

Beats = tuple[tuple[Outcome, ...], ...]
"""Outcomes that are shown together, one group after another."""


def beats(outcomes: Iterable[Outcome]) -> Beats:
    """Return the outcomes of an engagement as they are played back: guard by guard, all shots, collision by collision.

    Guards without an attack share a beat.
    """
    kinds: dict[str, list[Outcome]] = {"guard": [], "shoot": [], "collide": []}
    for outcome in outcomes:
        kinds[outcome.action].append(outcome)
    idle = tuple(one for one in kinds["guard"] if one.attacker is None)
    busy = (one for one in kinds["guard"] if one.attacker is not None)
    guards = [tuple(group) for _, group in groupby(busy, key=lambda one: one.guardian)]
    collisions = [(one,) for one in kinds["collide"]]
    return tuple(filter(None, (*guards, idle, tuple(kinds["shoot"]), *collisions)))


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
