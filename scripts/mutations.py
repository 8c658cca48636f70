"""Mutation test of the rules: change one thing in the engine at a time, and see that a test fails.

    python -m scripts.mutations [--only TEXT] [--jobs N]

Each mutant is a line of ``MUTANTS``: a file, what stands there once, and what to put in its place. Compiling a mutant takes
most of a minute, so that plain Python runs the quick tests first; who survives them meets all tests, compiled. A mutant that
survives both is a rule that no test knows; it ends the program with status 1.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TESTS = (
    "tests/engine/test_rules.py",
    "tests/base/test_board.py",
    "tests/engine/test_distribution.py",
    "tests/engine/test_sight.py",
    "tests/replays",
)
QUICK_TESTS = (
    "tests/engine/test_rules.py",
    "tests/engine/test_sight.py",
    "tests/base/test_board.py",
    "-k",
    "not frequency and not uniformly and not cannot_see and not across_the_board",
)
TIMEOUT = 900
"""Seconds after which a mutant counts as killed: it does not end."""


class Mutant(NamedTuple):
    """A change of a source file."""

    file: str
    old: str
    new: str


def _of(file: str, *changes: tuple[str, str]) -> list[Mutant]:
    return [Mutant(file, old, new) for old, new in changes]


MUTANTS = [
    *_of(
        "base/board.py",
        ("    node = sector + 2\n", "    node = sector + 3\n"),
        ("        node >>= 1\n    return node - 1", "        node >>= 0\n    return node - 1"),
        ("        node <<= 1\n    return node - 2", "        node <<= 0\n    return node - 2"),
        ("return ((sector + 1) >> 1) - 1", "return (sector >> 1) - 1"),
        ("return ((sector + 1) << 1) - 1", "return (sector + 1) << 1"),
        ("if (sector + 1) >> 1 == other + 1 or", "if"),
        ("(prograde(sector) == other or prograde(other) == sector)", "prograde(sector) == other"),
        ("azimuth % (1 << ring)", "azimuth"),
    ),
    *_of(
        "engine/legal.py",
        ("(prograde_cost <= fuel)", "(prograde_cost < fuel)"),
        ("(retrograde_cost <= fuel)", "(retrograde_cost < fuel)"),
        ("((in_cost <= fuel) & (sector >= beyond_inner_ring))", "(in_cost <= fuel)"),
        ("((out_cost <= fuel) & (sector < outer_ring))", "(out_cost <= fuel)"),
        ("NOOP_ALONE | moves if fuel > 0 else NOOP_ALONE", "NOOP_ALONE | moves"),
        ("is_active = game.fuel[side, number] > 0", "is_active = game.fuel[side, number] >= 0"),
        ("occupancy[prograde(sector)] | occupancy[retrograde(sector)]", "occupancy[prograde(sector)]"),
        (
            "return int(adjacent | occupancy[outward] | occupancy[outward + 1])",
            "return int(adjacent | occupancy[outward])",
        ),
        ("here * (shot <= fuel) | near * (near_shot <= fuel)", "here * (shot <= fuel)"),
        ("near * (near_shot <= fuel)", "near * (shot <= fuel)"),
        (" * has_ammo\n", "\n"),
        (" * (number != state.HVA)\n", "\n"),
        (
            "((shots << state.SHOOT | collisions << state.COLLIDE) * (fuel > 0))",
            "(shots << state.SHOOT | collisions << state.COLLIDE)",
        ),
        ("if ((here | near) >> number) & 1:", "if (here >> number) & 1:"),
        ("if (here | near) & enemies:", "if here | near:"),
        ("    if game.done:\n        legal[:] = NOOP_ALONE\n    elif", "    if"),
    ),
    *_of(
        "engine/engagement.py",
        ("GUARD_DECAY = 0.5", "GUARD_DECAY = 0.25"),
        ("return state.SAME_SECTOR if sector == other else state.ADJACENT_SECTOR", "return state.SAME_SECTOR"),
        (
            "    target_side = side if order == state.GUARD else 1 - side\n    distance",
            "    target_side = 1 - side\n    distance",
        ),
        ("game.fuel[side, number] -= engagement_cost(game, rules, side, number, order)", "pass"),
        ("    if rules.code_rules:\n        void_orders", "    if False:\n        void_orders"),
        ("if game.fuel[side, number] <= 0 or game.fuel", "if game.fuel"),
        ("return random_unit(game) < probability", "return random_unit(game) > probability"),
        ("            if success:\n                aim[enemies", "            if False:\n                aim[enemies"),
        ("            probability *= GUARD_DECAY", "            probability *= 1"),
        ("            engagement.destroyed[(1 - side) * state.SATELLITES + target] = 1\n", "            pass\n"),
        ("        target = engagement.aim[shooter]\n", "        target = orders[side, number] - state.SHOOT\n"),
        ("            if not destroyed[collider] and not", "            if not"),
        ("            destroyed[collider] = 1\n", ""),
        ("        waiting[i] = waiting[colliders]\n", ""),
        ("            game.sector[side, outcome.guardian] = game.sector[side, state.HVA]", "            pass"),
        ("            game.ammo[side, number] -= is_shot(orders[side, number])\n", "            pass\n"),
        ("            game.sector[side, outcome.attacker] = game.sector[enemy, outcome.target]\n", ""),
        ("                destroy(game, rules, side, outcome.attacker)\n", "                pass\n"),
        ("    game.fuel[side, number] = 0\n", ""),
        ("    game.destroyed[side, number] = 1\n", ""),
        (
            "game.goal_points[1 - side] += rules.patrol_points[1 - side]",
            "game.goal_points[side] += rules.patrol_points[side]",
        ),
        ("if number != state.HVA and not game.destroyed[side, number]:", "if not game.destroyed[side, number]:"),
        ("if number != state.HVA and not game.destroyed[side, number]:", "if number != state.HVA:"),
    ),
    *_of(
        "engine/sight.py",
        ("                belief.goal_points[enemy] += rules.patrol_points[enemy]\n", "                pass\n"),
        ("not game.destroyed[side, number] and are_within", "are_within"),
        ("are_within(own, sector, reach, inner_ring)", "are_within(own, sector, reach - 1, inner_ring)"),
        ("belief.destroyed[enemy, number] or is_in_sight", "is_in_sight"),
        ("            visible = _FLEET\n", ""),
        ("if attacker == state.NOBODY:", "if False:"),
        ("2 * int(game.turn) + (game.phase != state.MOVEMENT)", "2 * int(game.turn)"),
    ),
    *_of(
        "engine/setup.py",
        ("else rules.patrol_fuel[side, number - 1]", "else rules.initial_fuel[side, 1]"),
        ("else rules.patrol_ammo[side, number - 1]", "else rules.initial_ammo[side, 1]"),
        (
            "            full += rules.patrol_fuel[side, i] * (i < rules.patrol_count[side])\n",
            "            full += rules.patrol_fuel[side, i]\n",
        ),
    ),
    *_of(
        "engine/turn.py",
        (
            "                orders[side, number] = state.NOOP\n                illegal += 1",
            "                illegal += 1",
        ),
        ("                illegal += 1\n", ""),
        (
            "game.fuel[side, number] -= rules.move_cost[side, order]",
            "game.fuel[side, number] -= rules.move_cost[0, order]",
        ),
        ("    return (hva_points + patrol_points) // ", "    return -(-(hva_points + patrol_points)) // -"),
        (
            "if game.fuel[side, state.HVA] <= 0 and not rules.code_rules:\n        return 0",
            "if False:\n        return 0",
        ),
        ("        return rules.adjacent_points[side]\n", "        return 0\n"),
        ("game.score[side] = game.goal_points[side] + fuel_points", "game.score[side] = fuel_points"),
        ("        if game.destroyed[side, state.HVA]:\n", "        if False:\n"),
        ("        elif game.fuel[side, state.HVA] <= 0:\n", "        elif False:\n"),
        ("if game.score[side] >= rules.win_score[side]:", "if game.score[side] > rules.win_score[side]:"),
        ("turns_played = game.turn if rules.code_rules else game.turn + 1", "turns_played = game.turn + 1"),
        ("    if turns_played >= rules.turn_limit:", "    if turns_played > rules.turn_limit:"),
        ("    if alpha_forfeits != bravo_forfeits:", "    if False:"),
        ("            game.score[side] = 0\n", ""),
        ("game.sector[side, number] = prograde(game.sector[side, number])", "pass"),
        (
            "game.fuel[side, number] - rules.station_keeping_cost[side], 0)",
            "game.fuel[side, number] - rules.station_keeping_cost[side], 1)",
        ),
        ("        game.goal[side] = prograde(game.goal[side])\n", ""),
        ("    if reasons and not rules.code_rules:\n        end_game", "    if False:\n        end_game"),
        ("    game.turn += 1\n", ""),
    ),
]


def main() -> None:
    """Run every mutant, and report those that survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="run only mutants whose file or text contains this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at the same time (default 2)")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if arguments.only in f"{mutant.file} {mutant.old}"]
    for mutant in chosen:
        apply(mutant)  # before anything runs: a line that has changed is named at once
    if failure := run(None):
        sys.exit(f"the tests fail without a change: {failure}")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        killers = list(pool.map(run, chosen))
    survivors = [mutant for mutant, killer in zip(chosen, killers, strict=True) if killer is None]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed")
    for mutant in survivors:
        print(f"survived: {mutant.file}: {mutant.old!r} -> {mutant.new!r}")
    sys.exit(bool(survivors))


def apply(mutant: Mutant) -> str:
    """Return the text of the changed file.

    Raises:
        SystemExit: what is to be replaced does not stand there exactly once.
    """
    text = (ROOT / "src/geo_patrol" / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        sys.exit(f"{mutant.file}: {mutant.old!r} stands there {text.count(mutant.old)} times, not once")
    return text.replace(mutant.old, mutant.new)


def run(mutant: Mutant | None) -> str | None:
    """Run the tests on a mutant, or on the rules as they are; return the first test that failed, or None."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("src", "tests", "configs", "scripts", "examples", "docs"):
            ignored = shutil.ignore_patterns("__pycache__", "_build", "*.gif", "*.png")
            shutil.copytree(ROOT / name, Path(folder, name), ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)
        if mutant is not None:
            Path(folder, "src/geo_patrol", mutant.file).write_text(apply(mutant), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": f"{folder}/src", "PYTHONWARNINGS": "ignore"}
        killer = test(folder, environment | {"NUMBA_DISABLE_JIT": "1"}, QUICK_TESTS)
        if killer is None:
            killer = test(folder, environment, TESTS)
    seconds = time.perf_counter() - start
    what = "no change" if mutant is None else f"{mutant.file}: {mutant.old.strip()[:60]!r}"
    print(f"{seconds:5.1f} s  {what}: {killer or 'passed'}", flush=True)
    return killer


def test(folder: str, environment: dict[str, str], tests: tuple[str, ...]) -> str | None:
    """Run tests in a folder; return the first that failed, or None."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (lines or [f"status {ran.returncode}"])[0] if ran.returncode else None


if __name__ == "__main__":
    main()
