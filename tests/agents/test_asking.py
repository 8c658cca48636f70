"""How agents are asked for orders: by plan, otherwise act_seeded, otherwise act, wherever they play."""

import gymnasium
import numpy as np
import pytest

from geo_patrol import AgentError, Games, make_vec, play_match, play_out
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.isolation.agent import IsolatedAgent
from geo_patrol.agents.protocol import compute_actions, is_stateless
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
    def plan(self, games, sides, observations, action_masks, generator):
        assert len(games) == len(sides) == len(action_masks)
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


@pytest.mark.slow
def test_an_agent_in_a_process_of_its_own_is_asked_alike():
    for kind, method in ((Seeded, "act_seeded"), (Acts, "act"), (PlansSeeded, "plan")):
        agent = IsolatedAgent(f"{__file__}:Tells{kind.__name__}", move_time=100)
        with pytest.raises(AgentError, match=f"{method} raised ValueError: asked by {method}"):
            in_match(agent)
        agent.close()


class Tells:
    def _note(self, method, masks):
        raise ValueError(f"asked by {method}")


class TellsActs(Tells, Acts):
    pass


class TellsSeeded(Tells, Seeded):
    pass


class TellsPlansSeeded(Tells, PlansSeeded):
    pass


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
