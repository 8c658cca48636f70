"""Replays become arrays: what a side saw, was allowed, ordered and received, game by game."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import ConfigError, RecordingError, geo_patrol_v0, load_config, play_match
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.replays import Recorder, ReplayReader, datasets, play
from geo_patrol.replays.datasets import ReplayDataset, Samples, Transitions
from tests.support.replay_files import record, short_game, write_lines

GOLDEN = Path(__file__).parents[1] / "data" / "reference_games.jsonl.gz"
SCENARIOS = Path(__file__).parents[2] / "examples" / "random_scenarios.toml"


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Return a folder of two files of games of one configuration."""
    folder = tmp_path_factory.mktemp("games")
    play_match("scripted", "random", config="case1", games=6, seed=1, save=folder / "a.jsonl.gz")
    play_match("random", "idle", config="case1", games=4, seed=2, save=folder / "b.jsonl")
    return folder


def is_same(samples, others):
    return all(
        np.array_equal(array, other, equal_nan=array.dtype.kind == "f")
        for array, other in zip(samples, others, strict=True)
    )


def same_rows(samples, transitions):
    names = "observations", "action_masks", "actions", "rewards", "terminations", "games", "sides"
    return all(np.array_equal(getattr(samples, name), getattr(transitions, name)) for name in names)


@pytest.mark.parametrize(
    ("config", "encoding", "reward"),
    [("case1", "onehot", "score"), ("case1", "tokens", "outcome"), ("geo_patrol_hidden", "tokens", "score")],
)
def test_samples_and_transitions_are_what_the_environment_gives(games, tmp_path, config, encoding, reward):
    if config != "case1":
        play_match("scripted", "raider", config=config, games=10, seed=1, save=tmp_path / "a.jsonl.gz")
    dataset = ReplayDataset(games if config == "case1" else tmp_path, encoding=encoding, reward=reward)
    samples, (transitions,) = dataset.read(), dataset.transitions(100_000)
    assert len(dataset.games) == 10
    assert same_rows(samples, transitions)
    assert not transitions.truncations.any()
    env = geo_patrol_v0.parallel_env(config=config, observation=encoding, reward=reward)
    for index, game in enumerate(dataset.games):
        rows = np.flatnonzero(samples.games == index)
        observations, infos = env.reset(seed=game.seed)
        received = np.zeros(2)
        for pair in rows.reshape(-1, 2):
            for side, agent in enumerate(env.possible_agents):
                row = pair[side]
                assert samples.sides[row] == side
                assert (samples.observations[row] == observations[agent]["observation"]).all()
                assert (samples.action_masks[row] == observations[agent]["action_mask"]).all()
                assert (samples.turns[row], samples.phases[row]) == (infos[agent]["turn"] + 1, infos[agent]["phase"])
            before = samples.returns[pair]
            actions = dict(zip(env.possible_agents, samples.actions[pair], strict=True))
            observations, rewards, terminations, _, infos = env.step(actions)
            for row, agent in zip(pair, env.possible_agents, strict=True):
                assert (transitions.next_observations[row] == observations[agent]["observation"]).all()
                assert (transitions.next_action_masks[row] == observations[agent]["action_mask"]).all()
            assert samples.rewards[pair].tolist() == list(rewards.values())
            assert samples.terminations[pair].tolist() == list(terminations.values())
            received += samples.rewards[pair]
            assert (before + received - samples.rewards[pair] == samples.returns[rows[:2]]).all()
        difference = infos["alpha"]["score"] - infos["alpha"]["enemy_score"]
        assert samples.outcomes[rows[0]] == np.sign(difference)
        assert (samples.outcomes[rows[0::2]] == -samples.outcomes[rows[1::2]]).all()
        assert all(terminations.values())


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_batches_have_the_size_asked_for(games, size):
    dataset = ReplayDataset(games, encoding="tokens")
    batches = list(dataset.batches(size))
    everything = dataset.read()
    sizes = [len(batch.actions) for batch in batches]
    assert set(sizes[:-1]) <= {size}
    assert 1 <= sizes[-1] <= size
    assert is_same(Samples._make(map(np.concatenate, zip(*batches, strict=True))), everything)


def test_batches_cross_the_limit_of_games_played_together(games, monkeypatch):
    dataset = ReplayDataset(games)
    together = dataset.read()
    monkeypatch.setattr(datasets, "_PHASES_AT_ONCE", 30)
    assert is_same(dataset.read(), together)


def test_other_forms_of_the_format_give_the_same(games, tmp_path):
    path = tmp_path / "b.jsonl"  # the same with spaces, which are valid JSON
    write_lines(path, [json.loads(line) for line in (games / "b.jsonl").read_bytes().splitlines()])
    assert b'"type": "phase"' in path.read_bytes()
    assert is_same(ReplayDataset(path).read(), ReplayDataset(games / "b.jsonl").read())


def test_a_line_of_another_form_within_a_game_does_not_cut_it_short(tmp_path):
    lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in short_game()]
    path = tmp_path / "games.jsonl"
    path.write_text("".join(3 * lines))
    whole = ReplayDataset(path).read()
    lines[2] = json.dumps(json.loads(lines[2])) + "\n"  # with spaces, which are valid JSON
    path.write_text("".join(3 * lines))
    assert is_same(ReplayDataset(path).read(), whole)


def test_a_blank_line_hides_no_games(games, tmp_path):
    path = tmp_path / "games.jsonl"
    first, *others = (games / "b.jsonl").read_bytes().split(b'\n{"type":"game"')
    path.write_bytes(b'\n{"type":"game"'.join([first + b"\n", *others]))
    dataset = ReplayDataset(path, on_damage="skip")
    samples = dataset.read()
    expected = ReplayDataset(games / "b.jsonl").read()
    assert len(dataset.games) == 4
    assert (samples.actions == expected.actions).all()


def test_games_without_a_seed_are_played_with_their_recorded_outcomes(tmp_path):
    lines = short_game()
    with_seed = ReplayDataset(write_lines(tmp_path / "seed.jsonl", lines)).read()
    lines[0]["seed"] = None
    assert is_same(ReplayDataset(write_lines(tmp_path / "none.jsonl", lines)).read(), with_seed)


@pytest.mark.slow
def test_recorded_games_of_the_published_implementation():
    replay = next(replay for replay in ReplayReader(GOLDEN) if replay.seed is None)
    dataset = ReplayDataset(GOLDEN, config=replay.config, encoding="tokens")
    samples = dataset.read()
    first = samples.observations[samples.games == 0]
    assert dataset.games[0].number == replay.number
    expected = [phase.before.observation(side, "tokens") for phase in play(replay) for side in ("alpha", "bravo")]
    assert (first == np.array(expected)).all()


def test_only_the_decisions_of_one_agent(games):
    everything = ReplayDataset(games, encoding="tokens").read()
    dataset = ReplayDataset(games, encoding="tokens", agent="scripted")
    samples = dataset.read()
    names = [dataset.games[game].agents[side] for game, side in zip(samples.games, samples.sides, strict=True)]
    assert set(names) == {"scripted"}
    assert 0 < len(samples.actions) < len(everything.actions) / 2
    with pytest.raises(RecordingError, match="no decisions of 'nobody'"):
        ReplayDataset(games, agent="nobody").read()


def test_illegal_orders_become_what_was_carried_out(tmp_path):
    path, codes = tmp_path / "game.jsonl", np.zeros((2, 11), np.int64)
    codes[0, :3] = 5, 3, 99  # a shot in a movement phase, radial in, and an order that does not exist
    with Recorder(path, load_config("case1")) as recorder:
        recorder.begin(seed=1, alpha="ann", bravo="bob")
        recorder.record_codes(codes)
    samples = ReplayDataset(path).read()
    assert samples.actions[:, :3].tolist() == [[0, 3, 0], [0, 0, 0]]


def test_unfinished_games_have_no_outcome(tmp_path):
    write_lines(tmp_path / "game.jsonl", short_game()[:4])
    samples = ReplayDataset(tmp_path, reward="outcome").read()
    assert len(samples.actions) == 6
    assert np.isnan(samples.outcomes).all()
    assert not samples.terminations.any()
    assert not samples.returns.any()


def test_configurations_are_not_mixed_by_accident(tmp_path):
    record(tmp_path / "a.jsonl", "case1")
    record(tmp_path / "b.jsonl", "case2")
    with pytest.raises(ConfigError, match=r"b\.jsonl, game 0: .*Case 2.*but game 0 of .*a\.jsonl is .*Case 1"):
        ReplayDataset(tmp_path).read()
    selected = ReplayDataset(tmp_path, config="case2")
    selected.read()
    assert [game.path.name for game in selected.games] == ["b.jsonl"]
    mixed = ReplayDataset(tmp_path, mixed=True).read()
    parts = [ReplayDataset(tmp_path / name).read() for name in ("a.jsonl", "b.jsonl")]
    assert (mixed.observations == np.concatenate([part.observations for part in parts])).all()
    record(tmp_path / "c.jsonl", "od2d")
    rings = load_config("od2d").board.outer_ring
    with pytest.raises(ConfigError, match=rf"c\.jsonl, game 0: a board of {rings} rings, .* has 4"):
        ReplayDataset(tmp_path, mixed=True).read()


def test_games_with_sampled_values_are_played_together(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("random", "random", config=SCENARIOS, games=8, seed=3, save=path)
    samples = ReplayDataset(path, mixed=True, encoding="tokens").read()
    for replay in ReplayReader(path):
        expected = [phase.before.observation("bravo", "tokens") for phase in play(replay)]
        assert (samples.observations[(samples.games == replay.number) & (samples.sides == 1)] == expected).all()


def remove_a_satellite(lines):
    for fleets in (lines[1]["after"][field] for field in ("sector", "fuel", "ammo")):
        fleets[0].pop()


CHANGES = {
    "fuel": lambda lines: lines[3]["after"]["fuel"][1].__setitem__(0, 1),
    "order": lambda lines: lines[1]["orders"].update(alpha=[]),
    "turn": lambda lines: lines[2].update(turn=2),
    "score": lambda lines: lines[-1]["score"].__setitem__(0, 77),
    "satellite": remove_a_satellite,
    "phase": lambda lines: lines.pop(2),
    "end": lambda lines: lines.__delitem__(slice(4, -1)),
}
"""What makes a game break the rules."""


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["written by Recorder", "other JSON"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_games_that_break_the_rules_are_named(change, separators, tmp_path):
    sound, changed = short_game(), short_game()
    change(changed)
    lines = [json.dumps(line, separators=separators) + "\n" for line in [*sound, *changed, *sound]]
    (tmp_path / "games.jsonl").write_text("".join(lines))
    with pytest.raises(RecordingError, match=r"games\.jsonl: game 1"):
        ReplayDataset(tmp_path).read()
    dataset = ReplayDataset(tmp_path, on_damage="skip")
    samples = dataset.read()
    assert [game.number for game in dataset.games] == [0, 2]
    assert (samples.observations[samples.games == 0] == samples.observations[samples.games == 1]).all()
    assert dataset.fault_count == 1
    assert "game 1" in dataset.faults[0]


@pytest.mark.parametrize(
    "orders", [b",", b"|,|", b'"P1 prograde",', b'"P1 prograde","P1 prograde"', b'"P1"', b"1", b"\n"]
)
def test_orders_that_cannot_be_read_are_named(orders, tmp_path):
    path = tmp_path / "game.jsonl"
    record(path, "case1", phases=1)
    path.write_bytes(re.sub(rb'"alpha":\[[^]]*\],"bravo"', b'"alpha":[' + orders + b'],"bravo"', path.read_bytes()))
    with pytest.raises(RecordingError, match=r"game\.jsonl: line 2"):
        ReplayDataset(path).read()


def test_damaged_files_are_named(games, tmp_path):
    whole = (games / "a.jsonl.gz").read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.jsonl").write_bytes((games / "b.jsonl").read_bytes())
    (tmp_path / "c.jsonl").write_bytes(b"nothing\n")
    with pytest.raises(RecordingError, match=r"a\.jsonl\.gz: is cut short"):
        ReplayDataset(tmp_path).read()
    dataset = ReplayDataset(tmp_path, on_damage="skip")
    dataset.read()
    assert len([game for game in dataset.games if game.path.name == "b.jsonl"]) == 4
    assert dataset.fault_count == len(dataset.faults) == 2
    assert "a.jsonl.gz: is cut short" in dataset.faults[0]
    assert "c.jsonl: line 1: not JSON" in dataset.faults[1]


def test_arguments(games, tmp_path):
    for arguments, message in [
        ({"reward": "points"}, "reward must be 'score' or 'outcome', got 'points'"),
        ({"on_damage": "ignore"}, "on_damage must be 'raise' or 'skip', got 'ignore'"),
        ({"config": "case1", "mixed": True}, "config selects the games of one configuration"),
    ]:
        with pytest.raises(ValueError, match=message):
            ReplayDataset(games, **arguments)
    with pytest.raises(ValueError, match="size must be a positive integer, got 0"):
        ReplayDataset(games).batches(0)
    with pytest.raises(RecordingError, match="there is no such file or folder"):
        ReplayDataset(tmp_path / "missing")
    with pytest.raises(RecordingError, match="there is no replay file in this folder"):
        ReplayDataset(tmp_path)


@pytest.mark.parametrize("size", [1, 7])
def test_batches_do_not_cut_transitions(games, size):
    dataset = ReplayDataset(games, encoding="tokens", agent="scripted")
    (everything,) = dataset.transitions(100_000)
    batches = list(dataset.transitions(size))
    assert {len(batch.actions) for batch in batches[:-1]} <= {size}
    assert is_same(Transitions._make(map(np.concatenate, zip(*batches, strict=True))), everything)
    assert same_rows(dataset.read(), everything)


def test_the_last_transition_of_an_unfinished_game_is_truncated(tmp_path):
    write_lines(tmp_path / "game.jsonl", short_game()[:4])
    (transitions,) = ReplayDataset(tmp_path).transitions()
    assert np.flatnonzero(transitions.truncations).tolist() == [4, 5]
    assert not transitions.terminations.any()


@pytest.mark.parametrize("encoding", ["tokens", "onehot"])
def test_the_probabilities_of_recorded_orders(games, encoding):
    dataset = ReplayDataset(games, encoding=encoding)
    (transitions,) = dataset.transitions(100_000, behavior={"random": "random", "idle": IdleAgent(), "nobody": "idle"})
    names = np.array([dataset.games[game].agents for game in transitions.games])
    names = names[np.arange(len(names)), transitions.sides]
    legal = transitions.action_masks.sum(axis=2)
    is_random = names == "random"
    assert transitions.log_probs[is_random] == pytest.approx(-np.log(legal[is_random]).sum(axis=1))
    assert (transitions.log_probs[names == "idle"] == 0).all()
    assert np.isnan(transitions.log_probs[names == "scripted"]).all()


def test_orders_that_an_agent_never_gives_have_no_probability(games):
    (transitions,) = ReplayDataset(games, agent="random").transitions(100_000, behavior={"random": "idle"})
    assert (transitions.log_probs == np.where(transitions.actions.any(axis=1), -np.inf, 0)).all()


def test_the_joint_probability_of_a_mixture_over_satellites(games):
    class Together(IdleAgent):
        """Lets all satellites idle, or give any legal order, with equal probabilities."""

        def component_probabilities(self, observations, action_masks):
            uniform = RandomAgent().order_probabilities(observations, action_masks)
            orders = np.stack([self.order_probabilities(observations, action_masks), uniform], axis=1)
            return np.full((len(orders), 2), 0.5), orders

    dataset = ReplayDataset(games, encoding="tokens", agent="random")
    (uniform,), (mixed,) = (
        dataset.transitions(100_000, behavior={"random": agent}) for agent in (RandomAgent(), Together())
    )
    expected = 0.5 * np.exp(uniform.log_probs) + 0.5 * ~mixed.actions.any(axis=1)
    assert np.exp(mixed.log_probs) == pytest.approx(expected)


def test_behavior_must_give_probabilities(games):
    dataset = ReplayDataset(games)
    with pytest.raises(ValueError, match="behavior: agent 'scripted' must have order_probabilities"):
        dataset.transitions(behavior={"scripted": "scripted"})
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        dataset.transitions(behavior={"scripted": "nobody"})
    with pytest.raises(ValueError, match="size must be a positive integer, got 0"):
        dataset.transitions(0)
