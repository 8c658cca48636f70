"""Campaigns on a Ray cluster: the tables are those of one process, whatever happens to the nodes."""

import json
import shutil
import time

import numpy as np
import pytest

from geo_patrol import AgentError, load_config
from geo_patrol.evaluation import WorkerError, play_sprt, play_tournament
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, PlannedMatch
from geo_patrol.evaluation.executors import play_in_worker, run_tasks
from geo_patrol.evaluation.ray_executor import RayExecutor
from geo_patrol.studies import play_study, play_sweep
from tests.support.executors import InlineExecutor

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own
    pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning"),
]

AGENTS = ("random", "idle", "turtle")
SETTINGS = {"config": "case4", "overrides": {"turn_limit": 4}, "games": 4 * CHUNK_PAIRS, "seed": 5}
BOT = """
import numpy as np
from pathlib import Path
from neighbour import ORDER

class Bot:
    name, observation = "bot", "tokens"

    def __init__(self):
        self.order = ORDER + int((Path(__file__).parent / "weights.txt").read_text())

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return np.full(action_masks.shape[:2], self.order)
"""


def tables(result):
    return json.dumps(result.to_dict())


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two nodes with a CPU each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def local():
    return tables(play_tournament(AGENTS, **SETTINGS, executor=InlineExecutor()))


def test_campaigns_on_two_nodes_are_those_of_one_process(cluster, local):
    with RayExecutor(cluster.address) as executor:
        assert tables(play_tournament(AGENTS, **SETTINGS, executor=executor)) == local
        assert sum(executor.tasks_by_node.values()) == 6
        assert len(executor.tasks_by_node) == 2
        sweep = {"vary": ["turn_limit=1..4"], "config": "case4", "games": 8, "seed": 3}
        there = play_sweep("random", "turtle", **sweep, executor=executor)
        assert tables(there) == tables(play_sweep("random", "turtle", **sweep, executor=InlineExecutor()))
        question = {"kind": "threshold", "factor": {"turn_limit": "1..4"}, "rate": 0.5, "games": 1000}
        study = {
            "title": "study",
            "config": "case4",
            "agents": ["turtle", ["random", "turtle"]],
            "question": [question],
        }
        there = play_study(study, executor=executor)
        assert tables(there) == tables(play_study(study, executor=InlineExecutor()))
        test = {"config": "case4", "seed": 3, "max_games": 3 * 2 * CHUNK_PAIRS}
        there = play_sprt("turtle", "random", **test, executor=executor)
        assert tables(there) == tables(play_sprt("turtle", "random", **test, executor=InlineExecutor(1)))


def test_files_of_agents_travel_with_the_work(cluster, tmp_path):
    folder = tmp_path / "bots"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    (folder / "neighbour.py").write_text("ORDER = 20")
    (folder / "weights.txt").write_text("7")
    name = f"{folder}/bot.py:Bot"
    chunks = PlannedMatch((name, "idle"), load_config("case4"), seed=1, move_time=1.0).chunks(2)
    (here,) = [play_in_worker(chunk).result for chunk in chunks]
    with RayExecutor(cluster.address, [name]) as executor:
        shutil.rmtree(folder)
        ((_, played),) = run_tasks(executor, play_in_worker, chunks)
    there = played.result
    assert there.failures == ()
    assert there.illegal_orders.sum() > 0
    np.testing.assert_array_equal(there.scores, here.scores)


def test_an_agent_that_a_node_cannot_make_is_an_error(cluster, tmp_path, monkeypatch):
    """It would lose all its games otherwise."""
    monkeypatch.setenv("ONLY_HERE", "7")
    bot = tmp_path / "bot.py"
    bot.write_text(BOT.replace("from neighbour import ORDER", "import os; ORDER = int(os.environ['ONLY_HERE'])"))
    (tmp_path / "weights.txt").write_text("7")
    name = f"{bot}:Bot"
    with (
        RayExecutor(cluster.address, [name]) as executor,
        pytest.raises(WorkerError, match=r"node .*: agent '.*' cannot be made: KeyError: 'ONLY_HERE'"),
    ):
        play_tournament([name, "idle"], games=2, seed=1, config="case4", executor=executor)


def test_errors_of_functions_keep_their_type(cluster):
    def fail(message):
        raise AgentError(message)

    with RayExecutor(cluster.address) as executor, pytest.raises(AgentError, match="no idea") as caught:
        list(run_tasks(executor, fail, ["no idea"]))
    assert type(caught.value) is AgentError


def test_futures_can_be_cancelled(cluster):
    with RayExecutor(cluster.address) as executor:
        futures = [executor.submit(time.sleep, 600) for _ in range(4)]
        assert all(future.cancel() for future in futures)
        assert executor.submit(abs, -1).result(timeout=300) == 1


def test_an_address_without_a_cluster_is_an_error():
    with pytest.raises(WorkerError, match=r"no Ray cluster at '127\.0\.0\.1:1': "):
        RayExecutor("127.0.0.1:1")
