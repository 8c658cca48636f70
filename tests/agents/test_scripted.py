"""The scripts: what they do, strong enough from both sides, and never illegal on any board."""

import numpy as np
import pytest

from geo_patrol import Games, load_config, make_agent, play_match
from geo_patrol.agents.scripted import MixedAgent, Raid, RaiderAgent, TurtleAgent
from geo_patrol.agents.scripted.paths import IN_SECTOR, PathCosts, find_table
from geo_patrol.base.board import sector_at
from geo_patrol.engine.state import COLLIDE, ENGAGEMENT, GUARD, NOOP, SHOOT
from tests.support.strategies import FULL_SIZE_PRESETS

COSTS = (5, 5, 10, 10)
SCRIPTS = ["scripted", "turtle", "raider", "raider:defenders=0,path=cheap,reach=sector", "mixed"]


def start(preset="geo_patrol", count=1, **overrides):
    return Games(load_config(preset, overrides), count, seed=0)


def views_of(batch, side):
    """Return what a side observes in positions that were changed by hand, and its masks."""
    batch.describe()
    return batch.observe("tokens")[:, side], batch.action_masks()[:, side]


def orders_of(agent, batch, side, seed=0):
    return agent.act(*views_of(batch, side), np.random.default_rng(seed))


def play(batch, agents, phases):
    """Play phases, in which no order is illegal."""
    for phase in range(phases):
        orders = np.stack([orders_of(agent, batch, side, phase) for side, agent in enumerate(agents)], axis=1)
        batch.step(orders)
        assert not batch.state.games["illegal_orders"].any()


def near_alpha(batch, enemy_patrol, offset=0):
    """Put an enemy Patrol near alpha's HVA and open the engagement phase."""
    game = batch.state.games[0]
    game["phase"] = ENGAGEMENT
    game["sector"][1, enemy_patrol] = sector_at(4, offset)


def test_turtle_guards_with_all_that_can_and_does_nothing_else():
    batch = start()
    near_alpha(batch, 3)
    allowed = views_of(batch, 0)[1][0, :, GUARD] == 1
    assert allowed.sum() == 6  # two Patrols in the HVA's sector, two on either side
    orders = orders_of(TurtleAgent(), batch, 0)[0]
    assert (orders == np.where(allowed, GUARD, NOOP)).all()


def test_turtle_rests_without_attackers_and_gathers_when_some_approach():
    batch = start()
    batch.state.games[0]["sector"][1, 1:] = sector_at(4, 8)
    assert not orders_of(TurtleAgent(), batch, 0).any()
    batch.state.games[0]["sector"][1, 1] = sector_at(4, 3)
    orders = orders_of(TurtleAgent(), batch, 0)[0]
    away = batch.state.games[0]["sector"][0] != batch.state.games[0]["sector"][0, 0]
    assert (orders[away] != NOOP).all()
    assert not orders[~away].any()


@pytest.mark.parametrize("path", ["quick", "cheap"])
@pytest.mark.parametrize("defenders", [0, 4, 10])
def test_raiders_arrive_exactly_when_the_table_says(path, defenders):
    """Raiders that depart together arrive together, at the cost that the table states for that turn."""
    batch = start()
    game = batch.state.games[0]
    raider = RaiderAgent(Raid(defenders=defenders, path=path, reach="sector", lead=0.0))
    table = find_table(PathCosts(1, 4, (COSTS, COSTS), (1, 1)))
    prices = table.prices[0, IN_SECTOR, game["sector"][1, 0], game["sector"][0, 1:]].astype(int)  # (10, turns)
    arriving = (prices + 5 <= 100).sum(0).clip(max=10 - defenders)
    soonest = int(np.argmax(arriving >= 0.75 * arriving.max()))
    for turn in range(11):
        play(batch, [raider, make_agent("idle")], 1)
        strikers = np.flatnonzero(game["sector"][0, 1:] == game["sector"][1, 0])
        if len(strikers) > 0:
            assert len(strikers) == arriving[turn]
            assert (100 - game["fuel"][0, 1:][strikers] == prices[strikers, turn]).all()
            assert turn == soonest if path == "quick" else turn > soonest
            return
        play(batch, [raider, make_agent("idle")], 1)
    assert defenders == 10


def test_defenders_of_a_raider_stay():
    batch = start()
    play(batch, [RaiderAgent(Raid(defenders=7)), make_agent("idle")], 6)
    moved = batch.state.games[0]["fuel"][0, 1:] < 100 - 3
    assert moved.sum() == 3


def test_a_raider_in_the_sector_alone_does_not_strike_from_afar():
    batch = start()
    game = batch.state.games[0]
    game["phase"] = ENGAGEMENT
    game["sector"][0, 4] = sector_at(4, 9)
    assert orders_of(RaiderAgent(Raid(reach="sector")), batch, 0)[0, 4] == NOOP
    assert orders_of(RaiderAgent(Raid(reach="adjacent")), batch, 0)[0, 4] == SHOOT
    game["sector"][0, 4] = sector_at(4, 8)
    assert orders_of(RaiderAgent(Raid(reach="sector")), batch, 0)[0, 4] == SHOOT
    game["ammo"][0, 4] = 0
    assert orders_of(RaiderAgent(Raid(reach="sector")), batch, 0)[0, 4] == COLLIDE
    order = orders_of(RaiderAgent(Raid(first="patrols")), batch, 0)[0, 4]
    assert order == COLLIDE  # nothing to shoot with
    game["ammo"][0, 4] = 1
    order = orders_of(RaiderAgent(Raid(first="patrols")), batch, 0)[0, 4]
    assert SHOOT < order < COLLIDE


def test_a_raider_does_not_destroy_the_enemy_hva_where_that_loses():
    batch = start()
    game = batch.state.games[0]
    game["phase"] = ENGAGEMENT
    game["sector"][0, 4] = game["sector"][1, 0]
    game["score"][:] = 100, 250
    assert orders_of(RaiderAgent(), batch, 0)[0, 4] not in (SHOOT, COLLIDE)
    game["score"][:] = 151, 250
    assert orders_of(RaiderAgent(), batch, 0)[0, 4] == SHOOT


def test_as_many_guard_as_attack():
    batch = start()
    for patrol in range(1, 4):
        near_alpha(batch, patrol)
    orders = orders_of(RaiderAgent(), batch, 0)[0]
    assert (orders == GUARD).sum() == 3
    guards = np.flatnonzero(orders == GUARD)
    at_home = np.flatnonzero(batch.state.games[0]["sector"][0] == batch.state.games[0]["sector"][0, 0])[1:]
    assert set(at_home) <= set(guards)  # it costs lowest there
    assert ((orders[1:] > SHOOT) & (orders[1:] < COLLIDE)).sum() == 3  # the others within range shoot


def test_the_hva_evades_with_the_probability_dodge():
    batch = start(count=400)
    for game in batch.state.games:
        game["sector"][1, 1] = sector_at(4, 1)
    for dodge, lowest, highest in (
        (0.0, 0, 0),
        (0.5, 0.25, 0.5),
        (1.0, 0.6, 0.9),
    ):  # one of four paths is off the board
        moves = orders_of(RaiderAgent(Raid(dodge=dodge)), batch, 0)[:, 0]
        assert lowest <= (moves != NOOP).mean() <= highest


def test_a_displaced_hva_returns():
    batch = start()
    batch.state.games[0]["sector"][0, 0] = sector_at(4, 2)
    play(batch, [TurtleAgent(), make_agent("idle")], 4)
    assert batch.state.games[0]["sector"][0, 0] == batch.state.games[0]["goal"][0]


@pytest.mark.parametrize(("name", "lowest"), [("scripted", 0.9), ("turtle", 0.9), ("raider", 0.95), ("mixed", 0.75)])
@pytest.mark.parametrize("preset", FULL_SIZE_PRESETS)
def test_every_preset_from_either_side_against_random(preset, name, lowest):
    result = play_match(name, "random", config=preset, games=120, seed=5)
    for side in range(2):
        assert (result.winner[result.first_side == side] == 0).mean() >= lowest


@pytest.mark.parametrize("opponent", ["random", "idle"])
@pytest.mark.parametrize("name", ["scripted", "raider"])
def test_agents_that_ignore_the_position_are_beaten(name, opponent):
    assert (play_match(name, opponent, games=200, seed=1).winner == 0).mean() >= 0.97


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_seed_gives_the_same_match(name):
    first, second = (play_match(name, "scripted", games=20, seed=9) for _ in range(2))
    np.testing.assert_array_equal(first.scores, second.scores)


def half_turn(sectors):
    """Return the sectors on the other side of the Earth, which is sector 0."""
    first = 1 << np.floor(np.log2(sectors + 1)).astype(int)  # of its ring: this is its number of sectors, too
    return np.where(sectors == 0, 0, first - 1 + (sectors + 1 - first + first // 2) % first)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("phases", [6, 7, 11])
def test_mirrored_positions_get_the_same_orders(name, phases):
    batch = start("od2d", 20)
    play(batch, [make_agent("raider"), make_agent("scripted")], phases)
    mirror = batch.copy()
    games, twins = batch.state.games, mirror.state.games
    for field in ("score", "goal_points", "fuel", "ammo", "destroyed"):
        twins[field] = games[field][:, ::-1]
    for field in ("goal", "sector"):
        twins[field] = half_turn(games[field][:, ::-1])
    for side in range(2):
        orders = orders_of(make_agent(name), batch, side, seed=3)
        np.testing.assert_array_equal(orders, orders_of(make_agent(name), mirror, 1 - side, seed=3))


@pytest.mark.parametrize("name", SCRIPTS[:4])
def test_rows_do_not_depend_on_the_rest_of_the_batch(name):
    sampled = {"both.costs.prograde": {"low": 3, "high": 8}, "both.costs.radial_in": {"choices": [5, 10]}}
    batch = start("geo_patrol", 30, **sampled)
    play(batch, [make_agent("raider"), make_agent("raider")], 5)
    agent, (seen, masks) = make_agent(name), views_of(batch, 1)
    keys = np.arange(30, dtype=np.uint64)
    singles = [agent.act_seeded(seen[i : i + 1], masks[i : i + 1], keys[i : i + 1]) for i in range(30)]
    np.testing.assert_array_equal(agent.act_seeded(seen, masks, keys), np.concatenate(singles))


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_empty_batch_and_masks_without_a_choice(name):
    seen, masks = views_of(start(), 0)
    assert make_agent(name).act(seen[:0], masks[:0], np.random.default_rng(0)).shape == (0, 11)
    masks = masks.copy()
    masks[:, :, 1:] = 0
    assert not make_agent(name).act(seen, masks, np.random.default_rng(0)).any()


BOARDS = [(1, 1, 1), (2, 2, 2), (1, 1, 3), (3, 3, 5), (2, 3, 6), (4, 4, 4), (1, 5, 5), (7, 8, 8), (1, 10, 10)]


def random_overrides(generator, board):
    """Sample a configuration with extreme values."""
    overrides = dict(zip(("board.inner_ring", "board.goal_ring", "board.outer_ring"), board, strict=True))

    def pick(key, *values):
        overrides[key] = generator.choice(values).item()

    for side in ("alpha", "bravo"):
        offsets = generator.integers(-4, 5, generator.integers(1, 11)).tolist()
        overrides[f"{side}.patrols.formation"] = [[offset, 1] for offset in offsets]
        pick(f"{side}.patrols.fuel", 1, 7, 60, 10_000)
        pick(f"{side}.patrols.ammo", 0, 1, 1_000)
        pick(f"{side}.patrols.weight", 0.0, 0.2, 100.0)
        pick(f"{side}.hva.fuel", 1, 20, 10_000)
        pick(f"{side}.hva.ammo", 0, 3)
        pick(f"{side}.hva.weight", 0.0, 1.0)
        for move in ("prograde", "radial_in", "radial_out", "station_keeping"):
            pick(f"{side}.costs.{move}", 0, 1, 5, 10_000)
        for kind in ("shoot", "collide", "guard"):
            overrides[f"{side}.costs.{kind}"] = generator.choice([0, 5, 30], 2).tolist()
            overrides[f"{side}.odds.{kind}"] = generator.choice([0.0, 0.4, 1.0], 2).tolist()
        pick(f"{side}.points.goal", 0, 10, 10_000)
        pick(f"{side}.points.win", 1, 350, 1_000_000)
        pick(f"{side}.points.patrol", 0, 5)
    return overrides


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_is_never_illegal_on_any_board(board):
    generator = np.random.default_rng(sum(board))
    agents = [make_agent(name) for name in ("scripted", "mixed", "random", "scripted", "raider")]
    for _ in range(1 if board[2] == 10 else 5):
        overrides = random_overrides(generator, board)
        for pair in ((agents[0], agents[3]), agents[1:3], agents[3:]):
            play(start("geo_patrol", 2, **overrides), pair, 12 if board[2] == 10 else 24)


def test_mixed_draws_once_a_game():
    agent, batch = MixedAgent(), start(count=50)
    agent.reset(np.ones(50, np.bool_))
    play(batch, [agent, agent], 1)
    sampled = agent.tactics.copy()
    assert len(np.unique(sampled["defenders"])) > 3
    play(batch, [agent, agent], 3)
    np.testing.assert_array_equal(agent.tactics, sampled)
    new = np.arange(50) < 25
    agent.reset(new)
    orders_of(agent, batch, 0, seed=77)
    assert (agent.tactics[25:] == sampled[25:]).all()
    assert (agent.tactics[:25] != sampled[:25]).any()


def test_names_carry_the_parameters_that_differ():
    assert make_agent("raider").name == "raider"
    assert make_agent("raider:defenders=2, lead=0.25").name == "raider:defenders=2,lead=0.25"
    assert make_agent(make_agent("raider:path=cheap").name).raid == Raid(path="cheap")
    assert make_agent("scripted:home_share=0.5").style.home_share == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raidr", "there is no agent 'raidr'; did you mean 'raider'?"),
        ("raider:defenders", "agent 'raider:defenders': 'defenders': parameters are name=value"),
        ("raider:defender=3", "there is no parameter 'defender'; did you mean 'defenders'? It takes: defenders, path"),
        ("raider:defenders=3,defenders=4", "defenders is given twice"),
        ("raider:defenders=11", "agent 'raider:defenders=11': defenders must be at most"),
        ("raider:defenders=two", "defenders must be an integer, got 'two'"),
        ("raider:path=slow", "path must be 'quick' or 'cheap', got 'slow'"),
        ("raider:lead=nan", "lead must be"),
        ("turtle:defenders=3", "agent 'turtle:defenders=3': 'turtle' takes no parameters"),
        ("solved:,score", "agent 'solved' needs the file that geo-patrol solve has written: 'solved:FILE'"),
    ],
)
def test_wrong_names_and_parameters(name, message):
    with pytest.raises(ValueError, match="agent") as raised:
        make_agent(name)
    assert message in str(raised.value)
