"""Joined episodes are the batch that RLlib's own pipeline makes, without its additional rows."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from geo_patrol.adapters.rllib import ppo_config

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")


def learner(*, is_joined):
    config = ppo_config("case1", num_envs=8, opponent="random", max_cycles=9).debugging(seed=0)
    if not is_joined:
        config.learners(add_default_connectors_to_learner_pipeline=True, learner_connector=None)
        config._learner_connector = None
    algorithm = config.build_algo()
    return algorithm, algorithm.learner_group._learner


def join(of_learner, episodes):
    connector = of_learner._learner_connector
    return connector(rl_module=of_learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None)


def test_the_batch_is_that_of_rllibs_pipeline():
    algorithm, ours = learner(is_joined=True)
    other, theirs = learner(is_joined=False)
    theirs.module.set_state(ours.module.get_state())
    episodes = algorithm.env_runner.sample(num_timesteps=8 * 40)
    assert any(episode.is_terminated for episode in episodes) or any(episode.is_truncated for episode in episodes)
    found = join(ours, episodes)[DEFAULT_MODULE_ID]
    expected = join(theirs, episodes)[DEFAULT_MODULE_ID]
    rows = expected[Columns.LOSS_MASK]
    assert len(found[Columns.ACTIONS]) == rows.sum() == 8 * 40
    for name in (Columns.ACTIONS, Columns.ACTION_LOGP, Columns.ACTION_DIST_INPUTS, Postprocessing.VALUE_TARGETS):
        np.testing.assert_allclose(found[name], expected[name][rows], atol=1e-5)
    for name, array in expected[Columns.OBS].items():
        np.testing.assert_array_equal(found[Columns.OBS][name], array[rows])
    advantages = found[Postprocessing.ADVANTAGES].numpy()
    correlation = np.corrcoef(advantages, expected[Postprocessing.ADVANTAGES][rows])[0, 1]
    assert correlation == pytest.approx(1, abs=1e-5)  # RLlib standardises them with the additional rows
    assert advantages.mean() == pytest.approx(0, abs=1e-4)
    assert advantages.std() == pytest.approx(1, abs=1e-2)
    algorithm.stop()
    other.stop()
