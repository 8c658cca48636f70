"""OpenSpiel's own tests and algorithms run on the games, and its exploitability is ours."""

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability, external_sampling_mccfr, ismcts, mcts

from geo_patrol import ConfigError, Game, load_config, make_agent, preset_names
from geo_patrol.adapters.openspiel import NUM_SAMPLES, AgentPolicy, read_joint_orders
from geo_patrol.agents import SolvedAgent
from geo_patrol.agents.policy import PolicyAgent, Widths, initial_weights, shapes
from geo_patrol.engine.state import ORDERS
from geo_patrol.evaluation import ExactBoard
from geo_patrol.solving import REWARDS, solve

SHORT = """
extends = "duel"
turn_limit = 2
[both.hva]
fuel = 4
weight = 10
[alpha.patrols]
fuel = 10
[bravo.patrols]
fuel = 8
"""
SIMULTANEOUS, TURN_BASED = "geo_patrol_simultaneous", "geo_patrol"


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Return the path of a duel of two turns with little fuel: a tree that OpenSpiel can walk in a second."""
    path = tmp_path_factory.mktemp("configs") / "short.toml"
    path.write_text(SHORT)
    return str(path)


def load(name, config, **params):
    return pyspiel.load_game(name, {"config": config, **params})


def advance(state, generator, until):
    """Play random actions until a state for which ``until`` is true; return whether there was one."""
    while not state.is_terminal() and not until(state):
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(generator.choice(outcomes, p=probabilities)))
        elif state.is_simultaneous_node():
            state.apply_actions([int(generator.choice(state.legal_actions(player))) for player in range(2)])
        else:
            state.apply_action(int(generator.choice(state.legal_actions())))
    return not state.is_terminal()


@pytest.mark.parametrize("config", ["duel", "skirmish"])
@pytest.mark.parametrize("name", [SIMULTANEOUS, TURN_BASED])
@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_random_simulations_of_small_games(name, config, reward):
    pyspiel.random_sim_test(load(name, config, reward=reward), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize("config", [name for name in preset_names() if not load_config(name).hides_enemies])
def test_random_simulations_of_every_preset(config):
    pyspiel.random_sim_test(load(TURN_BASED, config), num_sims=1, serialize=False, verbose=False)


def test_serialized_states_of_sampled_games_are_the_same():
    game, generator = load(TURN_BASED, "case1"), np.random.default_rng(0)
    state = game.new_initial_state()
    assert advance(state, generator, lambda state: state.is_chance_node())
    assert game.deserialize_state(state.serialize()).chance_outcomes() == state.chance_outcomes()


@pytest.mark.parametrize("seed", range(5))
def test_phases_are_those_of_the_game(seed):
    """The results of joint orders are the distribution that ``Game`` gives, after the drift."""
    generator = np.random.default_rng(seed)
    state, game = load(SIMULTANEOUS, "skirmish").new_initial_state(), Game("skirmish", seed=0)
    while not state.is_terminal():
        actions = [int(generator.choice(state.legal_actions(player))) for player in range(2)]
        codes = np.zeros((2, 11), np.int64)
        codes[:, :3] = [read_joint_orders(action, 3) for action in actions]
        positions = game.action_mask("alpha"), game.action_mask("bravo")
        for player, mask in enumerate(positions):
            assert len(state.legal_actions(player)) == mask.sum(axis=1).prod()
            assert all(mask[number, codes[player, number]] for number in range(11))
        state.apply_actions(actions)
        phase = game.step_actions(codes)
        if state.is_chance_node():
            orders = (list(map(str, side)) for side in phase.orders)
            exact = phase.before.outcome_distribution(*orders)
            probabilities = dict(state.chance_outcomes())
            assert sum(probabilities.values()) == pytest.approx(1)
            assert len(probabilities) <= len(exact.probabilities)
            played = [np.frombuffer(result, game.as_games().state.games.dtype)[0] for result, _ in state.results]
            (index,) = (
                index
                for index, result in enumerate(played)
                if all((result[field] == game.as_games().state.games[field][0]).all() for field in ("fuel", "sector"))
            )
            state.apply_action(index)
        assert state.returns() == [0, 0] or game.is_over
    assert game.is_over
    assert state.returns()[0] == {"alpha": 1, "bravo": -1, None: 0}[game.winner]


def test_sampled_chance_agrees_with_the_exact_distribution(short):
    exact, sampled = (load(SIMULTANEOUS, short, chance_samples=samples) for samples in (0, 20_000))
    state, generator = exact.new_initial_state(), np.random.default_rng(0)
    while not advance(state, generator, lambda state: state.is_chance_node()):
        state = exact.new_initial_state()
    twin = sampled.new_initial_state()
    for actions in zip(state.history()[::2], state.history()[1::2], strict=True):  # no chance before
        twin.apply_actions(actions)
    assert len(state.results) > 1
    expected, found = dict(state.results), dict(twin.results)
    assert found.keys() <= expected.keys()
    for result, probability in expected.items():
        assert found.get(result, 0) == pytest.approx(probability, abs=0.02)  # five standard deviations


def test_large_fleets_are_sampled_by_default():
    assert load(TURN_BASED, "geo_patrol").max_chance_outcomes() == NUM_SAMPLES
    assert load(TURN_BASED, "skirmish").max_chance_outcomes() > NUM_SAMPLES
    assert load(TURN_BASED, "geo_patrol", chance_samples=7).max_chance_outcomes() == 7


def test_orders_are_hidden_until_both_sides_have_given_them():
    game = load(TURN_BASED, "duel")
    seen = set()
    root = game.new_initial_state()
    for action in root.legal_actions():
        state = root.child(action)
        while state.current_player() == 0:
            state.apply_action(state.legal_actions()[-1])
        strings = state.information_state_string(1), state.observation_string(1)
        seen.add((*strings, tuple(state.information_state_tensor(1)), tuple(state.legal_actions())))
    assert len(root.legal_actions()) > 1
    assert len(seen) == 1
    assert root.child(0).information_state_string(0) != root.child(1).information_state_string(0)


def test_hidden_orders_are_drawn_anew():
    state = load(TURN_BASED, "duel").new_initial_state()
    while state.current_player() == 0:
        state.apply_action(state.legal_actions()[0])
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    twins = [state.resample_from_infostate(1, sampler) for _ in range(40)]
    assert {twin.information_state_string(1) for twin in twins} == {state.information_state_string(1)}
    assert len({twin.pending(0) for twin in twins}) > 3


@pytest.mark.parametrize("reward", REWARDS)
def test_exploitability_is_ours(short, reward):
    ours = ExactBoard(load_config(short)).exploitability(make_agent("random"))[reward].mean
    turn_based = load(TURN_BASED, short, reward=reward)
    converted = pyspiel.convert_to_turn_based(load(SIMULTANEOUS, short, reward=reward))
    for game in (turn_based, converted):
        theirs = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
        assert theirs == pytest.approx(ours, abs=1e-9)
    assert ours > 0.5


@pytest.fixture
def mixed():
    """Return an agent whose joint orders are a mixture of three clearly different products over satellites."""
    weights = initial_weights(shapes(Widths(components=3)), np.random.default_rng(1))
    for name in ("component", "simple", "attack", "query", "mixing"):
        weights[name] *= 5
    return PolicyAgent(weights)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("name", ["policy:base", "mixed"])
def test_agents_are_policies_as_exploitable_as_we_say(short, reward, name, mixed):
    """In the turn-based game, orders given those before them; both sides of the best response check every joint order."""
    agent = mixed if name == "mixed" else make_agent(name)
    game = load(TURN_BASED, short, reward=reward)
    theirs = exploitability.exploitability(game, AgentPolicy(game, agent))
    ours = ExactBoard(load_config(short)).exploitability(agent)[reward].mean
    assert theirs == pytest.approx(abs(ours), rel=1e-6, abs=1e-6)  # in single precision


def test_joint_orders_of_a_policy_are_those_of_its_satellites_in_turn(mixed):
    at_once, in_turn = load(SIMULTANEOUS, "skirmish"), load(TURN_BASED, "skirmish")
    both, one = AgentPolicy(at_once, mixed), AgentPolicy(in_turn, mixed)
    state, checked = in_turn.new_initial_state(), 0
    joint = both.action_probabilities(at_once.new_initial_state(), 0)
    assert sum(joint.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="player_id must be 0 or 1 where both choose at once, got -2"):
        both.action_probabilities(at_once.new_initial_state())
    for action, expected in joint.items():
        child, likely = state.clone(), 1.0
        while child.current_player() == 0:
            code = read_joint_orders(action, 3)[len(child.pending(0))]
            likely *= one.action_probabilities(child)[code]
            child.apply_action(code)
        assert likely == pytest.approx(expected, abs=1e-9)
        checked += 1
    assert checked > 50


@pytest.mark.parametrize("name", ["scripted", "search:1ms", "mixed"])
def test_agents_without_probabilities_are_no_policies(name):
    with pytest.raises(ValueError, match="does not give the probabilities of its orders"):
        AgentPolicy(load(TURN_BASED, "duel"), name)


class Equilibrium(policy.Policy):
    """A solved game's joint orders, satellite by satellite: each given the orders that came before it."""

    def __init__(self, game, agent, config):
        super().__init__(game, [0, 1])
        self.agent, self.config = agent, config

    def action_probabilities(self, state, player_id=None):
        player = state.current_player()
        games = state.get_game().positions.read([state.position])
        games.config = self.config
        strategy, given = self.agent.strategy(Game.from_games(games), player), state.pending(player)
        fits = (strategy.orders[:, : len(given)] == given).all(axis=1)
        probabilities = dict.fromkeys(state.legal_actions(), 0.0)
        total = strategy.probabilities[fits].sum()
        for orders, probability in zip(strategy.orders[fits], strategy.probabilities[fits], strict=True):
            probabilities[int(orders[len(given)])] += probability / total if total > 0 else 1 / fits.sum()
        return probabilities


@pytest.mark.parametrize("reward", REWARDS)
def test_a_solution_cannot_be_exploited(short, reward):
    config = load_config(short)
    game, agent = load(TURN_BASED, short, reward=reward), SolvedAgent(solve(config), reward)
    assert exploitability.exploitability(game, Equilibrium(game, agent, config)) == pytest.approx(0, abs=1e-9)


def test_external_sampling_cfr_approaches_an_equilibrium(short):
    np.random.seed(0)  # noqa: NPY002 - its own source of randomness
    game = load(TURN_BASED, short)
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(100):
        solver.iteration()
    uniform = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
    assert exploitability.exploitability(game, solver.average_policy()) < 0.3 < uniform


@pytest.mark.parametrize("config", ["duel", "case1"])
@pytest.mark.parametrize("search", ["mcts", "ismcts"])
def test_tree_search_plays(search, config):
    game, generator = load(TURN_BASED, config), np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, generator)
    if search == "mcts":
        bot = mcts.MCTSBot(game, 1.4, 5, evaluator, random_state=generator)
    else:
        bot = ismcts.ISMCTSBot(game, evaluator, uct_c=1.4, max_simulations=5, random_state=generator)
    state = game.new_initial_state()
    assert bot.step(state) in state.legal_actions()
    while state.current_player() == 0:
        state.apply_action(state.legal_actions()[0])
    assert bot.step(state) in state.legal_actions()


def refuse(call, action, state):
    """See that an action is refused, and that the state stays as it is."""
    before = str(state)
    with pytest.raises(ValueError, match=r"action|over"):
        call(action)
    assert str(state) == before


def test_illegal_actions_of_the_turn_based_game_are_refused():
    state, generator = load(TURN_BASED, "duel").new_initial_state(), np.random.default_rng(0)
    for action in (-5, -2, 27, 28, 1 << 40):
        refuse(state.apply_action, action, state)
    assert advance(state, generator, lambda state: state.is_chance_node())
    for action in (-2, len(state.chance_outcomes())):
        refuse(state.apply_action, action, state)
    advance(state, generator, lambda _: False)
    refuse(state.apply_action, 0, state)


def test_illegal_actions_of_the_simultaneous_game_are_refused():
    game, generator = load(SIMULTANEOUS, "duel"), np.random.default_rng(0)
    state = game.new_initial_state()
    legal = state.legal_actions(0)
    illegal = next(action for action in range(game.num_distinct_actions()) if action not in legal)
    for action in (-5, -2, illegal, ORDERS**4, 1 << 60):
        refuse(state.apply_actions, [action, state.legal_actions(1)[0]], state)
        refuse(state.apply_actions, [legal[0], action], state)
    assert advance(state, generator, lambda state: state.is_chance_node())
    for action in (-2, len(state.chance_outcomes())):
        refuse(state.apply_action, action, state)


def test_search_finds_a_shot_that_wins(tmp_path):
    path = tmp_path / "shot.toml"  # one turn, a shot that cannot miss, and fuel for nothing else
    path.write_text(
        'extends = "duel"\nturn_limit = 1\n[both.hva]\nfuel = 2\n[alpha.patrols]\nfuel = 30\n[both.odds]\nshoot = [1.0, 1.0]\n'
    )
    game, generator = load(TURN_BASED, str(path)), np.random.RandomState(0)
    state, numpy = game.new_initial_state(), np.random.default_rng(0)
    bot = mcts.MCTSBot(game, 1.4, 200, mcts.RandomRolloutEvaluator(1, generator), random_state=generator)

    def can_shoot_the_hva(state):
        return state.current_player() == 0 and 5 in state.legal_actions()

    for _ in range(200):
        state = game.new_initial_state()
        if advance(state, numpy, can_shoot_the_hva):
            break
    assert bot.step(state) == 5


def test_parameters():
    with pytest.raises(ConfigError, match="11 satellites a side have too many joint orders"):
        load(SIMULTANEOUS, "geo_patrol")
    with pytest.raises(ValueError, match="reward must be 'outcome' or 'score', got 'points'"):
        load(TURN_BASED, "duel", reward="points")
    with pytest.raises(ValueError, match="chance_samples must be from -1 to"):
        load(TURN_BASED, "duel", chance_samples=-2)
    with pytest.raises(ConfigError, match="there is no preset"):
        load(TURN_BASED, "nothing")
    assert load(SIMULTANEOUS, "duel").num_distinct_actions() == ORDERS**2
