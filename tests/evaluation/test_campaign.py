"""Tournaments: their tables count the games that were played, their folders store them."""

import json
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, load_config, play_match
from geo_patrol.evaluation import FolderError, campaign, play_sprt, play_tournament
from geo_patrol.evaluation.campaign import GAMES, PLAN, Campaign, ChunkStore, Journal, digest_files
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, PlannedMatch
from geo_patrol.evaluation.results import DRAW
from geo_patrol.studies import play_sweep
from tests.support.executors import tables

pytestmark = pytest.mark.usefixtures("without_workers")

OWN = Path(__file__).parents[1] / "support" / "own_agents.py"
SETTINGS = {"config": "case4", "games": 2 * CHUNK_PAIRS + 4, "seed": 5}
AGENTS = ("scripted", "random", "idle")


@pytest.fixture(scope="module")
def tournament():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("geo_patrol.evaluation.executors.usable_cores", lambda: 1)
        return play_tournament(AGENTS, **SETTINGS)


def test_every_pairing_is_the_match_of_that_seed(tournament):
    for (first, second), match in zip(tournament.pairings, tournament.matches, strict=True):
        alone = play_match(AGENTS[first], AGENTS[second], **SETTINGS)
        assert match.agents == alone.agents
        np.testing.assert_array_equal(match.games, alone.games)


def test_tables_count_what_was_played(tournament):
    match = tournament.matches[1]  # scripted against idle
    as_alpha = match.winner[match.first_side == 0]
    as_bravo = match.winner[match.first_side == 1]
    assert tournament.counts[0, 2].tolist() == [(as_alpha == 0).sum(), (as_alpha == DRAW).sum(), (as_alpha == 1).sum()]
    assert tournament.counts[2, 0].tolist() == [(as_bravo == 1).sum(), (as_bravo == DRAW).sum(), (as_bravo == 0).sum()]
    summary = match.summary()
    for side, tally in ((0, summary.as_alpha), (1, summary.as_bravo), (None, summary.total)):
        record = tournament.record(0, 2, side)
        assert (record.wins, record.draws, record.losses) == (tally.wins, tally.draws, tally.losses)
        assert record.win_interval == tally.win_interval
    total = tournament.record(0)
    assert total.games == 2 * SETTINGS["games"]
    assert total.wins == sum(int((match.winner == 0).sum()) for match in tournament.matches[:2])
    best, worst = int(tournament.ratings.elo.argmax()), int(tournament.ratings.elo.argmin())
    assert (AGENTS[best], AGENTS[worst]) == ("scripted", "random")
    np.testing.assert_allclose(tournament.equilibrium.rows, [1, 0, 0], atol=1e-9)
    assert tournament.equilibrium.value == pytest.approx(0, abs=1e-9)
    assert tournament.agent_errors == ()


def test_games_are_stored_by_what_they_depend_on():
    match = PlannedMatch(("idle", "random"), load_config("case1"), seed=1)
    changes = (
        {"agents": ("idle", "turtle")},
        {"agents": ("random", "idle")},
        {"names": ("idle", "other")},
        {"config": load_config("case2")},
        {"seed": 2},
        {"swaps": False},
        {"files": {"weights.npz": "01"}},
    )
    keys = [
        chunk.key for each in (match, *(replace(match, **change) for change in changes)) for chunk in each.chunks(300)
    ]
    assert len(set(keys)) == len(keys) == 3 * 8
    assert [chunk.key for chunk in replace(match).chunks(2 * CHUNK_PAIRS)] == keys[:2]


def test_a_longer_match_plays_only_what_is_new(tmp_path):
    match = PlannedMatch(("idle", "random"), load_config("duel"), seed=1)
    reported = []
    with Campaign(match.agents, processes=1, progress=lambda *counts: reported.append(counts)) as playing:
        alone = {chunk.key: played for chunk, played in ChunkStore(playing, None).play(match.chunks(300))}
        for pairs, lines in ((CHUNK_PAIRS + 2, 2), (300, 4), (300, 4)):
            with closing(Journal(tmp_path, {"kind": "test"})) as journal:
                found = {chunk.key: played for chunk, played in ChunkStore(playing, journal).play(match.chunks(pairs))}
            assert (tmp_path / GAMES).read_bytes().count(b"\n") == lines
    assert reported[-1] == (600, 600)
    for key, played in alone.items():
        np.testing.assert_array_equal(found[key].result.games, played.result.games)
        np.testing.assert_array_equal(found[key].curve, played.curve)


def test_finished_games_are_not_played_again(tmp_path, monkeypatch):
    """Nor where an editor gave the files byte order marks; the seed is that of the folder."""
    settings = {"config": "case4", "games": 2, "folder": tmp_path}
    played = play_tournament(["random", "idle"], **settings, seed=5)
    for name in (PLAN, GAMES):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / name).read_bytes())
    asked, reported = [], []
    monkeypatch.setattr(campaign, "play_here", lambda _, chunks, *__, **___: iter(asked.extend(chunks) or ()))
    again = play_tournament(["random", "idle"], **settings, progress=lambda *counts: reported.append(counts))
    assert tables(again) == tables(played)
    assert (asked, reported) == ([], [(2, 2)])


def test_a_folder_with_something_else_is_refused(tmp_path, monkeypatch):
    arguments = {"games": 4, "seed": 3, "folder": tmp_path / "out"}
    play_tournament(["random", "idle"], **arguments)
    for changed, message in (
        ({"games": 6}, "the number of games was 4 and is now 6"),
        ({"seed": 4}, "the seed was 3 and is now 4"),
        ({"config": "case1"}, r"config\.title was 'GEO Patrol' and is now 'Case 1"),
        ({"mirror": True}, "the option to play agents against themselves was False and is now True"),
        ({"move_time": 0.5}, "the time for a decision in seconds was 0.1 and is now 0.5"),
    ):
        with pytest.raises(FolderError, match=message):
            play_tournament(["random", "idle"], **{**arguments, **changed})
    with pytest.raises(FolderError, match="the list of agents was"):
        play_tournament(["idle", "random"], **arguments)
    with pytest.raises(FolderError, match="the command was 'tournament' and is now 'study'"):
        play_sweep("random", "idle", ["turn_limit=1"], **arguments)
    with monkeypatch.context() as patch:
        patch.setattr(campaign, "digest_files", lambda _: {"net.npz": "1"})
        with pytest.raises(FolderError, match="is another file or has changed"):
            play_tournament(["random", "idle"], **arguments)
    journal = tmp_path / "out" / GAMES
    for damage in (b"no json", b"{}", journal.read_bytes().replace(b'"turns":[', b'"turns":[1,').strip()):
        journal.write_bytes(damage + b"\n")
        with pytest.raises(FolderError, match="is damaged in line 1: delete that line"):
            play_tournament(["random", "idle"], **arguments)
    (tmp_path / "out" / PLAN).write_text("[1]")
    with pytest.raises(FolderError, match="was not written by geo-patrol"):
        play_tournament(["random", "idle"], **arguments)
    (tmp_path / "out" / PLAN).unlink()
    with pytest.raises(FolderError, match=r"has games\.jsonl but no plan\.json, which says what the games are"):
        play_tournament(["random", "idle"], **arguments)
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="is not a folder"):
        play_tournament(["random", "idle"], **{**arguments, "folder": tmp_path / "file"})


def test_what_an_agents_file_imports_from_its_folder_belongs_to_the_plan(tmp_path):
    (tmp_path / "tactics").mkdir()
    files = {
        "bot.py": "import helpers",
        "helpers.py": "from tactics.raid import go",
        "other.py": "",
        "tactics/__init__.py": "",
    }
    for name, content in {**files, "tactics/raid.py": "go = 1", "tactics/notes.py": ""}.items():
        (tmp_path / name).write_text(content)
    seen = [digest_files([f"{tmp_path}/bot.py:Bot"])]
    for name in ("other.py", "tactics/notes.py", "helpers.py", "tactics/__init__.py", "tactics/raid.py", "bot.py"):
        (tmp_path / name).write_text(f"{(tmp_path / name).read_text()}  # changed")
        seen.append(digest_files([f"{tmp_path}/bot.py:Bot"]))
    assert [one != next_one for one, next_one in pairwise(seen)] == [False, False, True, True, True, True]
    (tmp_path / "bot.py").write_text("no Python (")
    assert len(digest_files([f"{tmp_path}/bot.py:Bot"])) == 1


@pytest.mark.parametrize("left_games", [False, True])
def test_a_plan_that_another_process_wrote_before_the_lock_was_taken(left_games, tmp_path, monkeypatch):
    folder, lock = tmp_path / "games", campaign.FileLock

    class Late(lock):
        def acquire(self, **options):
            monkeypatch.setattr(campaign, "FileLock", lock)
            other = campaign.Journal(folder, {"kind": "tournament", "seed": 1})
            if left_games:
                (folder / "games.jsonl").write_text("{}\n")
            other.close()
            return super().acquire(**options)

    monkeypatch.setattr(campaign, "FileLock", Late)
    with pytest.raises(FolderError, match="the seed was 1 and is now 2"):
        campaign.Journal(folder, {"kind": "tournament", "seed": 2})
    campaign.Journal(folder, {"kind": "tournament", "seed": 1}).close()  # the lock is free, the plan as it was


def test_files_that_agents_are_made_from_belong_to_the_plan(tmp_path):
    """A checkpoint as a whole, which is a folder."""
    bot, weights, module = tmp_path / "bot.py", tmp_path / "net.npz", tmp_path / "best" / "module" / "weights.pkl"
    names = [f"{bot}:Bot", f"kind:{weights},greedy=true", f"kind:share=0.5,file={weights}", "raider:defenders=2"]
    names.append(f"rllib:{tmp_path}/best,greedy")
    assert digest_files(names) == {}
    module.parent.mkdir(parents=True)
    for file in (bot, weights, module):
        file.write_text("one")
    one = digest_files(names)
    assert set(one) == {str(bot), str(weights), f"{tmp_path}/best"}
    weights.write_text("two")
    two = digest_files(names)
    assert two == {**one, str(weights): two[str(weights)]} != one
    module.rename(module.with_name("other.pkl"))
    assert digest_files(names) != two


@pytest.mark.parametrize("seed", [None, "1"])
def test_a_plan_without_a_seed_is_damaged(seed, tmp_path):
    (tmp_path / PLAN).write_text(json.dumps({"format": "geo_patrol plan", "seed": seed}))
    with pytest.raises(FolderError, match=r"has a damaged plan.json: seed must be a non-negative integer"):
        play_tournament(["random", "idle"], games=2, folder=tmp_path)


def test_illegal_orders_are_reported(monkeypatch):
    from geo_patrol.agents.basic import IdleAgent

    def guard_all(self, observations, action_masks, generator):
        return np.full(action_masks.shape[:2], 27)

    monkeypatch.setattr(IdleAgent, "act", guard_all)
    (errors,) = play_tournament(["random", "idle"], games=2, seed=3, overrides={"turn_limit": 2}).agent_errors
    assert (errors.agent, errors.failures, errors.games_lost, errors.message) == ("idle", 0, 0, "")
    assert errors.illegal_orders > 0


@pytest.mark.parametrize("pair", [("idle", "turtle"), ("scripted", "idle")])
def test_a_single_seed_tells_no_interval_of_an_equilibrium(pair):
    found = play_tournament(pair, games=2, seed=1, processes=1).equilibrium_intervals
    assert found.value == (-1, 1)
    assert found.rows.tolist() == [[0, 1]] * 2


@pytest.mark.slow
def test_mirror_matches_show_the_advantage_of_a_side():
    result = play_tournament(["idle", "random"], config="case1", games=40, seed=1, mirror=True)
    assert result.pairings == [(0, 1), (0, 0), (1, 1)]
    assert result.counts[1, 1].sum() == 40
    assert result.counts[0, 1].sum() == 20
    assert result.record(1).games == 40  # against others only
    match = result.matches[2]
    assert result.counts[1, 1, 0] == ((match.winner != DRAW) & (match.winner == match.first_side)).sum()
    sides = result.side_equilibrium
    assert (sides.rows @ result.payoffs).min() == pytest.approx(sides.value)
    assert result.to_dict()["side_equilibrium"]["value"] == sides.value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agents": ["idle"]}, "2 to 100 agents, got 1"),
        ({"agents": ["idle", "idle"]}, "agent 'idle' is there twice"),
        ({"agents": ["idle", "idel"]}, "there is no agent 'idel'; did you mean 'idle'"),
        ({"games": 3}, "games must be an even number of at least 2, got 3"),
        ({"seed": -1}, "seed must be a non-negative integer"),
        ({"processes": 0}, "processes must be an integer from 1 to 1,024, got 0"),
        ({"config": "case9"}, "there is no preset 'case9'"),
        ({"move_time": 0}, "move time must be seconds for a decision, more than 0 and at most 86400, got 0"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        play_tournament(**{"agents": ["idle", "random"], **arguments})


@pytest.mark.slow
def test_an_agent_that_cannot_be_made_is_reported_before_anything_is_played(tmp_path):
    with pytest.raises(AgentError, match=r"cannot be made: FileNotFoundError: weights\.npz"):
        play_tournament(["idle", f"{OWN}:NeverMade"], folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_reprs_are_short():
    agents, config = ["idle", "random"], {**load_config("case1").to_dict(), "turn_limit": 1}
    tournament = play_tournament(agents, config=config, games=2, seed=1)
    assert repr(tournament) == f"<Tournament of idle, random: {tournament.config.title}, 2 games per pairing, seed 1>"
    sweep = play_sweep(*agents, ["turn_limit=1,2"], config="case1", games=2, seed=1)
    assert repr(sweep) == (
        "<Study 'idle against random: turn_limit': turn_limit varied in 2 cells, idle-random, random-idle,"
        f" 1 games per cell and pair, seed 1, {sweep.digest}>"
    )
    sprt = play_sprt(*agents, config=config, max_games=2, seed=1)
    assert repr(sprt).startswith(f"<SprtResult idle against random, {sprt.match.config.title}, 2 games, seed 1:\n")
    assert len(repr(sprt).splitlines()) == 2
