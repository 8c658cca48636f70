"""``geo-patrol report``: one page of HTML that is complete, correct, and safe to open."""

import gzip
import html
import json
import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest

from geo_patrol import load_config, play_match
from geo_patrol.evaluation import report
from geo_patrol.evaluation.report import Collected, relative_sector
from geo_patrol.evaluation.statistics import wilson_interval
from geo_patrol.replays import ReplayReader
from tests.support.commands import run as run_command
from tests.support.replay_files import record

GOLDEN = Path(__file__).parents[1] / "data" / "reference_games.jsonl.gz"
HOSTILE = "<script>alert(1)</script>'\"&$\\frac{"

run = partial(run_command, "report")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    path = tmp_path_factory.mktemp("played") / "games.jsonl.gz"
    play_match("scripted", "random", config="case1", games=30, seed=7, save=path)
    return path


@pytest.fixture(scope="module")
def page(played):
    target = played.with_name("page.html")
    ran = run(played, "-o", target)
    assert (ran.exit_code, ran.stdout) == (0, f"written: {target}\n")
    return target.read_text()


class Page(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.sources, self.open = [], set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.ids |= {attributes["id"]} if "id" in attributes else set()
        self.links += [attributes["href"]] if "href" in attributes else []
        self.sources += [attributes["src"]] if "src" in attributes else []


def words(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<main>")[2])))


@pytest.mark.slow
def test_results_are_those_of_the_match(page):
    result = play_match("scripted", "random", config="case1", games=30, seed=7)
    for tally, where in zip(
        (result.summary().as_alpha, result.summary().as_bravo, result.summary().total),
        ("alpha", "bravo", "either"),
        strict=True,
    ):
        low, high = wilson_interval(tally.wins, tally.games).interval
        row = f"scripted {where} {tally.games} {tally.wins} {tally.draws} {tally.losses} {tally.win_rate:.1%}"
        assert f"{row} {100 * low:.1f} to {high:.1%} {tally.mean_score_difference:+.1f}" in words(page)


@pytest.mark.slow
def test_the_page_says_who_played_and_by_which_seeds(played, page):
    assert "<dt>scripted</dt><dd>follows rules written by hand" in page
    assert "<dt>random</dt><dd>gives legal orders at random</dd>" in page
    first = next(iter(ReplayReader(played)))
    assert f"<td>0</td><td>{first.seed}</td>" in page


def test_the_page_loads_nothing(page):
    made = Page(page)
    assert {tag for tag, _ in made.tags}.isdisjoint({"script", "link", "iframe", "object", "embed", "base", "form"})
    assert all(source.startswith("data:image/svg+xml;base64,") for source in made.sources)
    assert all(link.startswith("#") and link[1:] in made.ids for link in made.links)
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)
    assert "default-src 'none'" in page
    assert page.count('class="position"') > 30
    assert len(made.sources) == 4
    assert len([link for link in made.links if link.startswith("#game-")]) > 30


def test_a_page_without_results(tmp_path):
    record(tmp_path / "game.jsonl", phases=3)
    page = tmp_path / "page.html"
    written = [run(tmp_path / "game.jsonl", "-o", page).exit_code or page.read_text() for _ in range(2)]
    assert written[0] == written[1]
    assert "Results</h2>" not in written[0]
    assert "unfinished" in written[0]
    assert "No satellite was lost" in written[0]


@pytest.mark.slow
def test_untrusted_texts_are_escaped(played, tmp_path):
    path, target = tmp_path / "hostile.jsonl", tmp_path / "page.html"
    lines = [json.loads(line) for line in gzip.decompress(played.read_bytes()).splitlines()]
    for line in lines:
        if line["type"] == "game":
            line["agents"]["alpha"] = line["config"]["title"] = HOSTILE
    lines[3]["after"]["score"][0] += 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"type": "<img src=x onerror=alert(1)>"}\n')
    ran = run(path, "-o", target, "--title", HOSTILE)
    assert ran.exit_code == 0, ran.stderr
    page = target.read_text()
    made = Page(page)
    tags = {tag for tag, _ in made.tags}
    assert "script" not in tags
    assert not any(name.startswith("on") for _, attributes in made.tags for name in attributes)
    assert all(source.startswith("data:") for source in made.sources)
    assert HOSTILE in html.unescape(page)
    assert "These games do not follow the rules" in page
    assert "game 0, turn 2, movement: after.score of alpha: recorded" in page
    assert "29 games" in page


@pytest.mark.slow
def test_games_of_many_boards_and_of_the_published_implementation(tmp_path):
    for config in ("od2d", "case4"):
        play_match("scripted", "idle", config=config, games=2, seed=1, save=tmp_path / f"{config}.jsonl")
    target = tmp_path / "page.html"
    config = load_config("geo_patrol", {"board.outer_ring": 7, "board.goal_ring": 6, "turn_limit": 3})
    play_match("random", "random", config=config, games=2, seed=1, save=tmp_path / "seven.jsonl")
    (tmp_path / "published.jsonl").write_bytes(b"\n".join(gzip.decompress(GOLDEN.read_bytes()).splitlines()[::30]))
    ran = run(*sorted(tmp_path.glob("*.jsonl")), "-o", target, "--positions", 2)
    assert ran.exit_code == 0, ran.stderr
    page = target.read_text()
    assert "rings 1 to 7, goal ring 6" in page
    assert len(page) < 3_000_000


def test_nothing_to_report(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "page.html").write_text("old")
    ran = run(tmp_path / "empty.jsonl", "-o", tmp_path / "page.html")
    assert (ran.exit_code, "there is no game in it" in ran.stderr) == (2, True)
    assert (tmp_path / "page.html").read_text() == "old"


def test_the_statistics_count_what_happened(played, monkeypatch):
    monkeypatch.setattr(report, "MAX_LISTED", 10)
    collected = Collected(positions=0)
    for replay in ReplayReader(played):
        collected.add(replay, "games")
    assert (collected.games, len(collected.listed)) == (30, 10)
    assert len(collected.curves["alpha"][0]) == 30
    assert sum(collected.causes.values()) == sum(collected.losses.values())
    (heat,) = collected.heat.values()
    assert heat.losses.total() == sum(collected.losses.values())


def test_sectors_are_seen_from_the_goal():
    board = load_config("od2d").board  # goal ring 4 of five
    for turns in range(16):
        goal = 15 + turns
        assert relative_sector(goal, goal, board) == 15
        assert relative_sector(15 + (turns + 8) % 16, goal, board) == 23
        assert relative_sector(31 + 2 * turns, goal, board) == 31
        assert relative_sector(31 + 2 * turns + 1, goal, board) == 32
        assert relative_sector(7 + turns // 2, goal, board) == 7
