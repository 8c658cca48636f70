"""Exact solutions: against a plain solver, with their sides swapped, and in files."""

from dataclasses import replace

import numpy as np
import pytest

from geo_patrol import Game, load_config
from geo_patrol.agents import make_agent
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.policy import MixtureAgent
from geo_patrol.agents.solved import SolvedAgent
from geo_patrol.base.errors import AgentError, SolvingError
from geo_patrol.base.sides import SIDES
from geo_patrol.evaluation import play_match
from geo_patrol.evaluation.exploitability import ExactBoard
from geo_patrol.solving import Limits, read_solution, solve, write_solution
from tests.solving.plain_solver import REWARDS, PlainSolver, equation_differences, plain_responses

CLOSE = {"goal_ring": 1, "outer_ring": 2, "inner_ring": 1}
SMALL = {
    "duel, two turns": {"top": {"turn_limit": 2}, "both": {"patrols": {"fuel": 7}, "hva": {"fuel": 5}}},
    "asymmetric": {
        "top": {"turn_limit": 2, "board": CLOSE},
        "both": {"hva": {"fuel": 2}},
        "alpha": {"patrols": {"fuel": 30, "ammo": 0}, "odds": {"collide": [0.9, 0.3]}},
        "bravo": {"patrols": {"fuel": 13, "ammo": 2}},
    },
    "two Patrols against one": {
        "top": {"turn_limit": 1, "board": CLOSE},
        "both": {"hva": {"fuel": 3}},
        "alpha": {"patrols": {"fuel": 20, "formation": [[0, 2]]}},
        "bravo": {"patrols": {"fuel": 40}, "odds": {"guard": [0.9, 0.7]}},
    },
    "single Patrols": {
        "top": {"turn_limit": 2, "board": CLOSE},
        "both": {"hva": {"fuel": 3}},
        "alpha": {"patrols": {"fuel": 8, "ammo": 0, "formation": [[0, 2]], "single": {"2": {"fuel": 14, "ammo": 1}}}},
        "bravo": {"patrols": {"fuel": 7, "single": {"1": {"fuel": 12}}}},
    },
    "points for Patrols": {
        "top": {"turn_limit": 2, "board": CLOSE},
        "both": {"hva": {"fuel": 3}, "points": {"patrol": 9}},
        "alpha": {"patrols": {"fuel": 12, "formation": [[0, 2]]}, "points": {"patrol": 4}},
        "bravo": {"patrols": {"fuel": 12}},
    },
    "rules of the code": {
        "top": {"turn_limit": 2, "board": CLOSE, "rules": "code"},
        "both": {"patrols": {"fuel": 7, "ammo": 2}, "hva": {"fuel": 2}},
    },
    "a win score in reach, an armed HVA": {
        "top": {"turn_limit": 3, "board": CLOSE},
        "both": {"patrols": {"fuel": 12}, "hva": {"fuel": 9, "ammo": 1, "weight": 1}, "points": {"win": 118}},
        "bravo": {"hva": {"ammo": 0}},
    },
}


def configure(tables):
    return load_config({"extends": "duel", **tables["top"], **{k: v for k, v in tables.items() if k != "top"}})


def swapped(config):
    data = config.to_dict()
    return load_config({**data, "alpha": data["bravo"], "bravo": data["alpha"]})


@pytest.mark.slow
@pytest.mark.parametrize("tables", SMALL.values(), ids=SMALL)
def test_values_are_those_of_a_plain_solver(tables):
    config = configure(tables)
    solution = solve(config)
    assert solution.certified_gap <= 1e-9
    expected = dict(zip(REWARDS, PlainSolver().values(Game(config, seed=0)), strict=True))
    assert solution.value == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_the_values_of_the_duel_follow_from_each_other():
    """In random positions of every phase, by the plain solver: from the last turn on they are right, by induction."""
    solution = solve(load_config("duel"))
    rng = np.random.default_rng(2)
    for number, phase in enumerate(solution.phases):
        positions = rng.integers(len(phase.values), size=20)
        assert equation_differences(solution, number, positions).max() <= 1e-8
    last = replace(solution.phases[-1], values=solution.phases[-1].values + 1)
    wrong = replace(solution, phases=(*solution.phases[:-1], last))
    assert equation_differences(wrong, len(wrong.phases) - 2, np.arange(3)).max() > 0.5


@pytest.mark.parametrize("name", ["asymmetric", "two Patrols against one", "a win score in reach, an armed HVA"])
def test_swapping_the_sides_changes_the_sign_of_the_value(name):
    config = configure(SMALL[name])
    other = swapped(config)
    value, negative = solve(config).value, solve(other)
    assert abs(value["score"]) > 0.1, "otherwise this test shows nothing"
    assert {reward: -negative.value[reward] for reward in REWARDS} == pytest.approx(value, abs=1e-9)
    for reward in REWARDS:
        found = ExactBoard(other).exploitability(SolvedAgent(negative, reward))[reward]
        assert (found.as_alpha, found.as_bravo) == pytest.approx((-value[reward], -value[reward]), abs=1e-6)


@pytest.fixture(scope="module")
def config():
    return load_config("duel", {"turn_limit": 2})


@pytest.fixture(scope="module")
def duel(config):
    return solve(config, Limits(threads=2))


@pytest.mark.parametrize("reward", REWARDS)
def test_best_responses_gain_nothing_against_the_equilibrium(config, duel, reward):
    agent = SolvedAgent(duel, reward)
    exploitability = ExactBoard(config).exploitability(agent)[reward]
    assert exploitability.mean == pytest.approx(0, abs=1e-6)
    assert exploitability.as_alpha == pytest.approx(duel.value[reward], abs=1e-6)


def test_wrong_values_in_a_file_are_exploited(config, duel):
    """The agent plays what follows from its file, and so is exploited if the file is wrong."""
    rng = np.random.default_rng(1)
    phases = [replace(phase, values=phase.values + rng.normal(0, 0.5, phase.values.shape)) for phase in duel.phases]
    board = ExactBoard(config)
    found = board.exploitability(SolvedAgent(replace(duel, phases=tuple(phases))))["outcome"]
    assert found.mean > 0.01
    with pytest.raises(SolvingError, match="was solved for another game"):
        board.exploitability(SolvedAgent(replace(duel, phases=duel.phases[:-2])))


class AllOrNone(RandomAgent):
    """Gives random orders to all of its satellites, or to none, each with a probability that depends on the position."""

    def component_probabilities(self, observations, action_masks):
        active = 1 / (2 + observations[:, 1] % 3)
        independent = RandomAgent().order_probabilities(observations, action_masks)
        idle = IdleAgent().order_probabilities(observations, action_masks)
        return np.stack([active, 1 - active], axis=1), np.stack([independent, idle], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("agent", [RandomAgent(), IdleAgent(), AllOrNone()], ids=["random", "idle", "all or none"])
def test_best_responses_gain_against_other_agents_as_a_plain_solver_says(agent):
    config = configure(SMALL["two Patrols against one"])
    found = ExactBoard(config).exploitability(agent)
    assert found["score"].mean > 0.01
    for side in SIDES:
        expected = dict(zip(REWARDS, plain_responses(config, agent, side), strict=True))
        assert {reward: getattr(found[reward], f"as_{side}") for reward in REWARDS} == pytest.approx(expected, abs=1e-9)


def test_best_responses_to_a_mixture_see_its_draws():
    board = ExactBoard(configure(SMALL["duel, two turns"]))
    policies = [make_agent("random"), make_agent("idle")]  # quicker than networks
    first, second = (board.exploitability(policy)["score"] for policy in policies)
    found = board.exploitability(MixtureAgent(policies, [3, 1], "mixture"))["score"]
    assert first.mean != pytest.approx(second.mean)
    assert found.as_alpha == pytest.approx(0.75 * first.as_alpha + 0.25 * second.as_alpha, abs=1e-9)
    assert found.as_bravo == pytest.approx(0.75 * first.as_bravo + 0.25 * second.as_bravo, abs=1e-9)


def test_agents_without_probabilities_are_refused(config):
    with pytest.raises(SolvingError, match="cannot be solved exactly"):
        ExactBoard(config).exploitability(make_agent("scripted"))


def test_a_file_holds_the_solution(duel, tmp_path):
    path = tmp_path / "duel.safetensors"
    write_solution(path, duel)
    write_solution(tmp_path / "again.safetensors", duel)
    assert path.read_bytes() == (tmp_path / "again.safetensors").read_bytes()
    same = read_solution(path)
    assert (same.value, same.certified_gap, same.config) == (duel.value, duel.certified_gap, duel.config)
    assert same.num_positions == duel.num_positions
    game = Game(duel.config, seed=0).as_games().state.games[0]
    for side in range(2):
        ours, theirs = (each.strategy(game, side, "score") for each in (duel, same))
        assert np.array_equal(ours.orders, theirs.orders)
        assert np.array_equal(ours.probabilities, theirs.probabilities)


def test_other_files_are_refused(duel, tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(SolvingError, match="No such file"):
        read_solution(path)
    for content in (b"", b"x" * 100, b"\xff" * 8 + b"{}"):
        path.write_bytes(content)
        with pytest.raises(SolvingError, match="not a solution"):
            read_solution(path)
    write_solution(path, duel)
    data = bytearray(path.read_bytes())
    path.write_bytes(bytes(data).replace(b"geo_patrol solution 1", b"geo_patrol solution 9"))
    with pytest.raises(SolvingError, match="format must be 'geo_patrol solution 1', got 'geo_patrol solution 9'"):
        read_solution(path)
    path.write_bytes(bytes(data[: len(data) // 2]))
    with pytest.raises(SolvingError, match="not a solution"):
        read_solution(path)


@pytest.mark.parametrize("reward", REWARDS)
def test_the_agent_receives_at_least_the_value(config, duel, reward):
    agent = SolvedAgent(duel, reward)
    match = play_match(agent, "random", config=config, games=400, seed=1)
    if reward == "score":
        gains = match.scores[:, 0] - match.scores[:, 1]
    else:
        gains = np.where(match.winner < 0, 0, 1 - 2 * match.winner)
    assert gains.mean() > duel.value[reward] + 3 * gains.std() / np.sqrt(len(gains)), "random loses more than the value"


def test_the_agent_refuses_other_games_and_positions(duel):
    agent = SolvedAgent(duel)
    with pytest.raises(AgentError, match="knows 'Duel' alone"):
        agent.strategy(Game("duel"), 0)
    game = Game(duel.config).save()
    game["position"]["fuel"][0][0] = 7
    with pytest.raises(SolvingError, match="cannot be reached"):
        agent.strategy(Game.restore(game), 0)
    with pytest.raises(ValueError, match="reward must be 'score' or 'outcome', got 'wins'"):
        SolvedAgent(duel, "wins")


def test_a_game_is_refused_before_its_moves_are_listed_and_its_positions_are_tabulated():
    """Here both would take more memory than there is: 5^5 moves of each of 3,125 configurations, and all of their pairs."""
    fleets = {f"{side}.patrols": {"formation": [[0, 4]], "fuel": 12, "ammo": 1} for side in SIDES}
    large = load_config("geo_patrol", {**fleets, "turn_limit": 5, "alpha.hva.fuel": 12, "bravo.hva.fuel": 12})
    progress = []
    with pytest.raises(SolvingError, match="the first 1 of 5 turns may have more than 1,000,000 positions"):
        solve(large, Limits(1_000_000, report=progress.append))
    assert progress == []


def test_games_that_are_too_large_are_refused():
    limits = Limits(max_positions=1000)
    message = (
        "Duel: the first 2 of 4 turns may have more than 1,000 positions: try less fuel, fewer turns, fewer Patrols"
    )
    with pytest.raises(SolvingError, match=message):
        solve(load_config("duel"), limits)
    with pytest.raises(SolvingError, match=message):
        ExactBoard(load_config("duel"), limits).exploitability(make_agent("idle"))
    with pytest.raises(SolvingError, match="22 satellites: games of 10 at most can be solved"):
        solve(load_config("geo_patrol"))
    with pytest.raises(SolvingError, match="sampled at each reset"):
        solve(load_config("duel", {"alpha.hva.fuel": {"low": 4, "high": 5}}))
