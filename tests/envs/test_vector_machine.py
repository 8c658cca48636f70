"""A vector environment, whatever is done with it, in any order: its model are single environments."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from geo_patrol import make_vec
from tests.envs.vector_reference import Singles, assert_same, scramble

GAMES = 3
VARIANTS = {
    "extends": "case1",
    "turn_limit": 2,
    "variants": [
        {"name": "even", "chance": 1},
        {"name": "rich", "chance": 1, "both": {"patrols": {"fuel": {"low": 60, "high": 100}}}},
        {"name": "blind", "chance": 1, "both": {"odds": {"shoot": [0.1, 0.1]}}},
    ],
}
SETTINGS = [
    {"config": VARIANTS, "observation": "tokens", "count_events": True},
    {"config": VARIANTS, "observation": "tokens", "opponent": "random", "seats": "alternate", "reward": "outcome"},
    {"config": "case1", "mask_in": "obs", "opponent": "scripted", "seats": "bravo", "max_cycles": 4},
    {"config": {"extends": "geo_patrol_hidden", "turn_limit": 3}, "mask_in": "none", "max_cycles": 5},
    {"config": {"extends": "od2d", "illegal_orders": "forfeit"}, "observation": "tokens", "max_cycles": 6},
]
LISTS = st.lists(st.none() | st.integers(0, 2**63 - 1) | st.just(2**64 + 5), min_size=GAMES, max_size=GAMES)
SEEDS = st.none() | st.integers(0, 3) | st.integers(0, 3).map(np.int64) | LISTS | LISTS.map(tuple)
WEIGHTS = st.sampled_from(["rich", "blind", {"even": 1, "blind": 2}, {"rich": 0.25, "even": 0.75}])


def read_seeds(seed):
    return seed if seed is None or isinstance(seed, (list, tuple)) else [int(seed) + i for i in range(GAMES)]


class VectorMachine(RuleBasedStateMachine):
    """Every call returns what single environments do, and a call that is refused changes nothing."""

    saves = Bundle("saves")

    @initialize(
        options=st.sampled_from(SETTINGS),
        mode=st.sampled_from(["next_step", "same_step", "disabled"]),
        threads=st.integers(1, 2),
        copy=st.booleans(),
        seed=st.integers(0, 99),
    )
    def open(self, options, mode, threads, copy, seed):
        self.options, self.mode, self.rng = options, mode, np.random.default_rng(seed)
        self.make = lambda: make_vec(num_games=GAMES, autoreset=mode, threads=threads, copy=copy, **options)
        self.envs = self.make()
        self.singles = Singles(games=GAMES, mode=mode, **options)
        self.per_game = self.envs.num_envs // GAMES
        assert_same(self.envs.reset(seed=seed), self.singles.reset(read_seeds(seed)))

    @property
    def over(self):
        return np.array([game.is_over for game in self.singles.games])

    @rule(seed=SEEDS, selected=st.none() | st.lists(st.booleans(), min_size=GAMES, max_size=GAMES).filter(any))
    def reset(self, seed, selected):
        mask = None if selected is None else np.array(selected)
        options = None if mask is None else {"reset_mask": np.repeat(mask, self.per_game)}
        assert_same(self.envs.reset(seed=seed, options=options), self.singles.reset(read_seeds(seed), mask))

    def sample(self):
        """Return legal orders; which, only those of environments that are asked after every step have in common."""
        actions = self.envs.sample_actions()
        orders = np.take_along_axis(self.masks(), actions[..., None], axis=-1)
        assert orders.all()
        return actions

    def masks(self):
        masks = [game.env.action_masks(*of) for game in self.singles.games for of in game.sides]
        return np.reshape(masks, (self.envs.num_envs, 11, 28))

    @rule(is_scrambled=st.booleans())
    def step(self, is_scrambled):
        actions = self.sample()
        actions = scramble(actions, self.rng) if is_scrambled else actions
        if self.mode == "disabled" and self.over.any():
            with pytest.raises(RuntimeError, match="games are over"):
                self.envs.step(actions)
            return
        given = actions.copy()  # with copy=False, the environment samples the next ones into the same array
        assert_same(self.envs.step(actions), self.singles.step(given))

    @rule(count=st.integers(2, 6))
    def play(self, count):
        for _ in range(count):
            self.step(is_scrambled=False)

    @rule(target=saves)
    def save(self):
        saved = json.loads(json.dumps(self.envs.save()))
        twin = self.make()
        twin.restore(saved)
        assert_same(twin.sample_actions(), self.envs.sample_actions())
        twin.close()
        return SimpleNamespace(vector=saved, singles=self.singles.save())

    @rule(saved=saves, in_a_new_one=st.booleans())
    def restore(self, saved, in_a_new_one):
        if in_a_new_one:
            self.envs.close()
            self.envs, self.singles = self.make(), Singles(games=GAMES, mode=self.mode, **self.options)
            self.singles.reset()
        self.envs.restore(saved.vector)
        self.singles.restore(saved.singles)
        assert_same(self.envs.view(), self.singles.view())

    @precondition(lambda self: "variants" in self.options["config"])
    @rule(weights=WEIGHTS)
    def set_variants(self, weights):
        self.envs.set_variants(weights)
        for game in self.singles.games:
            game.env.set_variants(weights)

    @rule()
    def do_what_is_refused(self):
        saved = self.envs.save()
        for call, error in (
            (lambda: self.envs.step(np.zeros((self.envs.num_envs, 10), np.int64)), "actions must"),
            (lambda: self.envs.reset(seed=-1), "seed"),
            (lambda: self.envs.reset(options={"reset_mask": [True]}), "reset_mask"),
            (lambda: self.envs.restore({**saved, "config": {}}), "config"),
            (lambda: self.envs.set_variants("none such"), "variants?"),
        ):
            with pytest.raises(ValueError, match=error):
                call()
        assert self.envs.save() == saved

    @invariant()
    def the_games_are_the_same(self):
        for i, game in enumerate(self.singles.games):
            assert self.envs.game(i) == game.env.game()
        assert_same(self.envs.view(), self.singles.view())

    def teardown(self):
        if hasattr(self, "envs"):
            self.envs.close()


VectorMachine.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestVector = pytest.mark.slow(VectorMachine.TestCase)
