"""The scripted agent: strong enough, never illegal, the same from both sides, on any board."""

import numpy as np
import pytest
from numpy.typing import NDArray

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.scripted import ScriptedAgent
from geo_patrol.agents.scripted.paths import MOVE, MOVES, PRICE, UNREACHABLE, find_paths, make_paths, write_steps
from geo_patrol.base.board import prograde, sector_at
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ENGAGEMENT, MOVEMENT, NUM_SIDES, RULES, SATELLITES, records
from geo_patrol.engine.turn import destination
from geo_patrol.game.game import Games
from tests.support.strategies import FULL_SIZE_PRESETS


def masks_of(games: Games) -> NDArray[np.int8]:
    """Return the action masks of positions that were changed by hand."""
    games.describe()
    return games.action_masks()


def start(config: GameConfig, count: int, seed: int = 0) -> Games:
    return Games(config, count, seed=seed)


def give_orders(agents: list[Agent], batch: Games, generator: np.random.Generator) -> NDArray[np.int64]:
    masks, observations = masks_of(batch), batch.observe("tokens")
    orders = np.zeros((len(batch), NUM_SIDES, SATELLITES), np.int64)
    for side, agent in enumerate(agents):
        orders[:, side] = agent.act(observations[:, side], masks[:, side], generator)
    return orders


def play(alpha: Agent, bravo: Agent, config: GameConfig, count: int, phases: int = 1_000) -> Games:
    """Play games to the end, or for so many phases; no order is ever illegal."""
    batch, generator = start(config, count), np.random.default_rng(0)
    for _ in range(phases):
        if batch.is_over.all():
            break
        batch.step(give_orders([alpha, bravo], batch, generator))
        assert not batch.state.games["illegal_orders"].any()
    return batch


def win_rate(opponent: Agent, preset: str, side: int, count: int) -> float:
    agents: list[Agent] = [ScriptedAgent(), opponent]
    score = play(agents[side], agents[1 - side], load_config(preset), count).scores
    return float((score[:, side] > score[:, 1 - side]).mean())


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("opponent", [RandomAgent(), IdleAgent()], ids=lambda agent: agent.name)
def test_wins_geo_patrol(opponent: Agent, side: int) -> None:
    assert win_rate(opponent, "geo_patrol", side, 200) >= 0.97


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("preset", FULL_SIZE_PRESETS)
def test_wins_every_preset_from_either_side(preset: str, side: int) -> None:
    assert win_rate(RandomAgent(), preset, side, 60) >= 0.9
    assert win_rate(IdleAgent(), preset, side, 20) >= 0.9


BOARDS = [(1, 1, 1), (2, 2, 2), (1, 1, 3), (3, 3, 5), (1, 4, 4), (2, 3, 6), (4, 4, 4), (1, 5, 5), (5, 7, 8), (7, 8, 8)]


def random_overrides(generator: np.random.Generator, board: tuple[int, int, int]) -> dict[str, object]:
    """Sample a configuration with extreme values."""
    overrides: dict[str, object] = dict(
        zip(("board.inner_ring", "board.goal_ring", "board.outer_ring"), board, strict=True)
    )
    for side in ("alpha", "bravo"):
        offsets = [int(offset) for offset in generator.integers(-4, 5, generator.integers(1, 11))]
        overrides[f"{side}.patrols.formation"] = [[offset, 1] for offset in offsets]
        overrides[f"{side}.patrols.fuel"] = int(generator.choice([1, 7, 60, 10_000]))
        overrides[f"{side}.patrols.ammo"] = int(generator.choice([0, 1, 1_000]))
        overrides[f"{side}.patrols.weight"] = generator.choice([0.0, 0.2, 100.0]).item()
        overrides[f"{side}.hva.fuel"] = int(generator.choice([1, 20, 10_000]))
        overrides[f"{side}.hva.ammo"] = int(generator.choice([0, 3]))
        overrides[f"{side}.hva.weight"] = generator.choice([0.0, 1.0]).item()
        for move in ("prograde", "radial_in", "radial_out", "station_keeping"):
            overrides[f"{side}.costs.{move}"] = int(generator.choice([0, 1, 5, 10_000]))
        for kind in ("shoot", "collide", "guard"):
            overrides[f"{side}.costs.{kind}"] = [int(cost) for cost in generator.choice([0, 5, 30], 2)]
            overrides[f"{side}.odds.{kind}"] = [float(odds) for odds in generator.choice([0.0, 0.4, 1.0], 2)]
        overrides[f"{side}.points.goal"] = int(generator.choice([0, 10, 10_000]))
        overrides[f"{side}.points.win"] = int(generator.choice([1, 350, 1_000_000]))
    return overrides


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_is_never_illegal_on_any_board(board: tuple[int, int, int]) -> None:
    generator = np.random.default_rng(sum(board))
    for _ in range(6):
        config = load_config("geo_patrol", random_overrides(generator, board))
        play(ScriptedAgent(), ScriptedAgent(), config, 2, phases=24)
        play(RandomAgent(), ScriptedAgent(), config, 2, phases=24)


def test_plays_the_largest_board() -> None:
    overrides = {"board.inner_ring": 1, "board.goal_ring": 10, "board.outer_ring": 10}
    play(ScriptedAgent(), RandomAgent(), load_config("geo_patrol", overrides), 1, phases=12)


@pytest.mark.parametrize("phase", [MOVEMENT, ENGAGEMENT])
def test_same_input_gives_same_orders(phase: int) -> None:
    batch = play(RandomAgent(), RandomAgent(), load_config("king_of_the_hill"), 50, phases=6 + phase)
    agents: list[Agent] = [ScriptedAgent(), ScriptedAgent()]
    first = give_orders(agents, batch, np.random.default_rng(7))
    np.testing.assert_array_equal(first, give_orders(agents, batch, np.random.default_rng(7)))


def half_turn(sector: int) -> int:
    ring = (sector + 1).bit_length() - 1
    return int(sector_at(ring, sector + 1 - (1 << ring) + (1 << ring - 1))) if sector else 0


@pytest.mark.parametrize("phases", [6, 7])
def test_mirrored_positions_get_the_same_orders(phases: int) -> None:
    batch = play(ScriptedAgent(), RandomAgent(), load_config("od2d"), 20, phases=phases)
    mirror = batch.copy()
    for game, twin in zip(batch.state.games, mirror.state.games, strict=True):
        for field in ("score", "goal_points", "fuel", "ammo", "destroyed"):
            twin[field] = game[field][::-1]
        for side in range(NUM_SIDES):
            twin["goal"][side] = half_turn(int(game["goal"][1 - side]))
            twin["sector"][side] = [half_turn(int(sector)) for sector in game["sector"][1 - side]]
    agent = ScriptedAgent()
    for side in range(NUM_SIDES):
        seen, mirrored = batch.observe("tokens")[:, side], mirror.observe("tokens")[:, 1 - side]
        masks, mirrored_masks = masks_of(batch)[:, side], masks_of(mirror)[:, 1 - side]
        orders = agent.act(seen, masks, np.random.default_rng(1))
        np.testing.assert_array_equal(orders, agent.act(mirrored, mirrored_masks, np.random.default_rng(1)))


def test_rows_do_not_depend_on_the_rest_of_the_batch() -> None:
    batch = play(RandomAgent(), RandomAgent(), load_config("geo_patrol"), 10, phases=7)
    masks, observations = masks_of(batch)[:, 0], batch.observe("tokens")[:, 0]
    agent = ScriptedAgent()
    whole = agent.act(observations, masks, np.random.default_rng(3))
    np.testing.assert_array_equal(whole[:4], agent.act(observations[:4], masks[:4], np.random.default_rng(3)))


@pytest.mark.parametrize("board", [(1, 4, 4), (1, 4, 5), (2, 3, 6)], ids=str)
def test_paths_lead_to_the_target_at_their_price(board: tuple[int, int, int]) -> None:
    inner, goal, outer = board
    rules = records(RULES, 1)
    rules["inner_ring"], rules["outer_ring"] = inner, outer
    rules["move_cost"][0, 0, 1:] = (5, 5, 10, 10)
    rules["station_keeping_cost"][0, 0] = 1
    sectors = 1 << (outer + 1)
    steps, paths, workspace = np.zeros((sectors, MOVES), np.int64), make_paths(9), np.zeros(sectors, np.int64)
    write_steps(inner, outer, steps)
    aim, start_sector = sector_at(goal, 1 << (goal - 1)), sector_at(goal, 0)
    for turns in range(9):
        sector, spent, target = start_sector, 0, aim
        if turns == 0:
            find_paths(rules[0], 0, target, UNREACHABLE, steps, workspace, paths)
        promised = paths[turns, PRICE, sector]
        if promised == UNREACHABLE:
            continue
        for left in range(turns, -1, -1):
            find_paths(rules[0], 0, target, UNREACHABLE, steps, workspace, paths)
            move = paths[left, MOVE, sector]
            spent += rules["move_cost"][0, 0, move] + (left > 0)
            sector = destination(sector, move)
            if left > 0:
                sector, target = prograde(sector), prograde(target)
        assert (sector, spent) == (target, promised)
        find_paths(rules[0], 0, aim, UNREACHABLE, steps, workspace, paths)


def test_known_paths_to_the_other_side_of_geo_patrol() -> None:
    """An attack takes four turns at least; the cheapest path into the opposite sector takes eight drifts and 28 fuel."""
    rules = records(RULES, 1)
    rules["inner_ring"], rules["outer_ring"] = 1, 4
    rules["move_cost"][0, 0, 1:] = (5, 5, 10, 10)
    rules["station_keeping_cost"][0, 0] = 1
    steps, paths, workspace = np.zeros((32, MOVES), np.int64), make_paths(9), np.zeros(32, np.int64)
    write_steps(1, 4, steps)
    find_paths(rules[0], 0, 23, 0, steps, workspace, paths)
    assert paths[:4, PRICE, 15].tolist() == [UNREACHABLE, UNREACHABLE, UNREACHABLE, 23]
    find_paths(rules[0], 0, 23, UNREACHABLE, steps, workspace, paths)
    prices = paths[:, PRICE, 15]
    assert (prices.argmin(), prices.min()) == (8, 28)
