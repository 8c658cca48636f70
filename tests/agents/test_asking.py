"""How agents are asked for orders: by plan, otherwise act_seeded, otherwise act, wherever they play."""

import gymnasium
import numpy as np
import pytest

from geo_patrol import AgentError, Games, make_agent, make_vec, play_match, play_out
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.isolation.agent import IsolatedAgent
from geo_patrol.agents.protocol import compute_actions, copy_games, is_stateless
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import load_config
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.play.live import LiveGame

CALLS: set[str] = set()


class Acts:
    name = "acts"
    observation = "tokens"

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        assert isinstance(generator, np.random.Generator)
        return self._note("act", action_masks)

    def _note(self, method, masks):
        CALLS.add(method)
        return np.zeros(masks.shape[:2], np.int64)


class Seeded(Acts):
    def act_seeded(self, observations, action_masks, keys):
        assert keys.dtype == np.uint64
        assert keys.shape == (len(action_masks),)
        return self._note("act_seeded", action_masks)


class PlansSeeded(Seeded):
    """Checks the games that it gets, and plays the first of them to its end."""

    def plan(self, games, sides, observations, action_masks, generator):
        for game, side, observation, mask in zip(games, sides, observations, action_masks, strict=True):
            np.testing.assert_array_equal(game.observation(SIDES[side], "tokens"), observation)
            assert (mask == game.action_mask(SIDES[side])).all() or not mask[:, 1:].any()  # in games of other opponents
        while not games[0].is_over:
            games[0].step()
        return self._note("plan", action_masks)


class Plans(Acts):
    plan = PlansSeeded.plan


class OverridesAct(RandomAgent):
    def act(self, observations, action_masks, generator):
        CALLS.add("act")
        return super().act(observations, action_masks, generator)


class OverridesSeeded(RandomAgent):
    def act_seeded(self, observations, action_masks, keys):
        CALLS.add("act_seeded")
        return super().act_seeded(observations, action_masks, keys)


class WithoutSeeded(Seeded):
    act_seeded = None


class Wrapper:
    """Forwards everything but ``act``."""

    def __init__(self):
        self.wrapped = Seeded()

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def reset(self, new_games):
        pass

    act = Acts.act
    _note = Acts._note
    observation = "tokens"
    name = "wrapper"


def in_match(agent):
    play_match(agent, IdleAgent(), games=2, seed=0, overrides={"turn_limit": 1})


def in_play_out(agent):
    play_out(Games("geo_patrol", 2, seed=0), agent, IdleAgent(), max_phases=2)


def in_gymnasium(agent):
    env = gymnasium.make("GeoPatrol/GeoPatrol-v0", opponent=agent)
    env.reset(seed=0)
    env.step(np.zeros(11, np.int64))


def in_vector_environment(agent, **options):
    envs = make_vec("geo_patrol", 4, opponent=agent, **options)
    envs.reset(seed=0)
    envs.step(np.zeros(envs.action_space.shape, np.int64))


def in_mixture(agent):
    in_vector_environment([(agent, 1), ("idle", 1)], threads=2)


def in_live_game(agent):
    LiveGame(load_config("geo_patrol"), (agent, None), seed=0).advance()


PLACES = [in_match, in_play_out, in_gymnasium, in_vector_environment, in_mixture, in_live_game]
AGENTS = {
    Acts: "act",
    Seeded: "act_seeded",
    PlansSeeded: "plan",
    Plans: "plan",
    OverridesAct: "act",
    OverridesSeeded: "act_seeded",
    WithoutSeeded: "act",
    Wrapper: "act",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("kind", "method"), AGENTS.items())
def test_an_agent_is_asked_alike_everywhere(kind, method, place):
    CALLS.clear()
    place(kind())
    assert {method} == CALLS


class Tells:
    def _note(self, method, masks):
        raise ValueError(f"asked by {method}")


class TellsSeeded(Tells, Seeded):
    pass


class TellsPlans(Tells, PlansSeeded):
    pass


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), [("TellsSeeded", "act_seeded"), ("TellsPlans", "plan")])
def test_an_agent_in_a_process_of_its_own_is_asked_alike(name, method):
    agent = IsolatedAgent(f"{__file__}:{name}", move_time=100)
    with pytest.raises(AgentError, match=f"{method} raised ValueError: asked by {method}"):
        in_match(agent)
    agent.close()


def test_planners_get_copies_that_have_random_streams_of_their_own_from_the_generator():
    batch, calls = Games("geo_patrol", 3, seed=1), []

    class Keeps(PlansSeeded):
        def plan(self, games, *arguments):
            calls.append(games)
            return super().plan(games, *arguments)

    before = batch.state.games.tobytes()
    for _ in range(2):
        seen, masks = batch.observe("tokens")[:, 1], batch.action_masks()[:, 1]
        compute_actions(Keeps(), "keeps", seen, masks, np.random.default_rng(5), lambda: copy_games(batch), 1)
    assert batch.state.games.tobytes() == before
    first, second = calls
    assert first[1:] == second[1:]
    for row, game in enumerate(first[1:], start=1):
        assert game.is_same_position(batch[row])
        assert game != batch[row]


def test_planners_do_not_plan_from_observations():
    batch = Games("geo_patrol", 1, seed=0)
    with pytest.raises(AgentError, match="agent 'search' plans from games, not from observations: call plan"):
        make_agent("search").act(batch.observe("tokens")[:, 0], batch.action_masks()[:, 0], np.random.default_rng(0))


def test_a_subclass_that_overrides_act_alone_may_keep_a_state():
    assert is_stateless(RandomAgent())
    assert not is_stateless(OverridesAct())


def test_random_and_idle_draw_from_a_generator_as_recorded_matches_have_it():
    masks = np.ones((3, 11, 28), np.int8)
    for agent in (RandomAgent(), IdleAgent()):
        here, there = np.random.default_rng(1), np.random.default_rng(1)
        asked = compute_actions(agent, "agent", np.zeros((3, 1)), masks, here)
        np.testing.assert_array_equal(asked, agent.act(np.zeros((3, 1)), masks, there))
        assert here.bit_generator.state == there.bit_generator.state


class Fails(IdleAgent):
    name = "fails"

    def act(self, observations, action_masks, generator):
        return super().act(observations, action_masks, generator)

    def reset(self, new_games):
        raise KeyError("no weights")


@pytest.mark.parametrize("place", PLACES)
def test_a_reset_that_raises_is_an_error_of_the_agent_everywhere(place):
    with pytest.raises(AgentError, match=r"^agent 'fails.*': reset raised KeyError: 'no weights'$"):
        place(Fails())


def test_there_is_no_game_after_a_reset_that_raised():
    env = SoloGeoPatrol(opponent=(opponent := Seeded()))
    env.reset(seed=0)
    saved = env.save()
    opponent.reset = Fails().reset
    with pytest.raises(AgentError, match="reset raised KeyError"):
        env.restore(saved)
    env.step(np.zeros(11, np.int64))  # nothing has changed
    with pytest.raises(AgentError, match="reset raised KeyError"):
        env.reset()
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(11, np.int64))
