"""``geo-patrol replay``: what it shows, checks and exports."""

import csv
import gzip
import io
import itertools
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pygame
import pytest

from geo_patrol import load_config, play_match
from geo_patrol.agents.search import SearchAgent
from geo_patrol.game.timeline import Timeline
from geo_patrol.replays import Recorder, ReplayReader, play, read_replay, start
from geo_patrol.web import replay_page
from geo_patrol.window import games, watch
from geo_patrol.window.film import save_gif
from tests.support.commands import run as run_command

GOLDEN = Path(__file__).parents[1] / "data" / "reference_games.jsonl.gz"

run = partial(run_command, "replay")
verify = partial(run_command, "verify")
resume = partial(run_command, "play", "--text", "--resume")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    path = tmp_path_factory.mktemp("played") / "games.jsonl"
    play_match("scripted", "random", config="case1", games=4, seed=7, save=path)
    return path


@pytest.fixture
def tampered(played, tmp_path):
    """Replays whose second game violates the rules in its third phase."""
    lines = [json.loads(line) for line in played.read_text().splitlines()]
    starts = [i for i, line in enumerate(lines) if line["type"] == "game"]
    lines[starts[1] + 3]["after"]["fuel"][0][0] = 3
    path = tmp_path / "tampered.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_text_shows_the_game(played):
    ran = run(played, "--text", "--game", 1)
    replay = read_replay(played, 1)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "GAME 1 of games.jsonl: random (alpha) against scripted (bravo)" in ran.stdout
    assert [int(turn) for turn in re.findall(r"^--- Turn (\d+) -", ran.stdout, re.MULTILINE)] == list(
        range(1, replay.end.turns + 1)
    )
    shown = re.sub(r"\s+", " ", ran.stdout)
    for phase in play(replay):
        for outcome in phase.outcomes:
            assert re.search(rf"{outcome.action} .*{outcome.target} .*{outcome.probability:.1%}", shown)
    score = f"{replay.end.score[0]} to {replay.end.score[1]}"
    assert f"wins in turn {replay.end.turns}, {score}: {', '.join(replay.end.reasons)}" in ran.stdout


def test_a_tampered_game_is_shown_up_to_where_it_leaves_the_rules(tampered):
    ran = run(tampered, "--text", "--game", 1)
    assert ran.exit_code == 1
    assert ran.stderr.startswith("geo-patrol: game 1, turn 2, movement: after.fuel of alpha HVA: recorded 3, replayed ")
    assert ran.stderr.endswith("the game is shown up to there\n")
    assert "Turn 1 -" in ran.stdout
    assert "Turn 2 -" not in ran.stdout
    assert "Not played to its end: turn 2, movement" in ran.stdout


def test_verify_plays_all_games(played, tampered):
    ran = verify(played)
    assert (ran.exit_code, ran.stdout) == (0, f"{played}: 4 of 4 games agree with the rules\n")
    ran = verify(tampered)
    assert ran.exit_code == 1
    assert ran.stdout.startswith(f"{tampered}: 3 of 4 games agree with the rules\n  first difference: game 1, turn 2")


def test_damage_is_reported_and_the_rest_is_shown(played, tmp_path):
    path = tmp_path / "cut.jsonl"
    path.write_bytes(played.read_bytes()[:-200])
    damage = rf"geo-patrol: {path}: line \d+ is cut short\n"
    ran = verify(path)
    assert (ran.exit_code, ran.stdout) == (1, f"{path}: 3 of 4 games agree with the rules\n")
    assert re.fullmatch(damage, ran.stderr)
    ran = run(path, "--text", "--game", 3)
    assert (ran.exit_code, "Turn 1 -" in ran.stdout) == (1, True)
    assert re.fullmatch(damage, ran.stderr)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_row_for_every_game(played, tmp_path):
    target = tmp_path / "games.csv"
    ran = run(played, "--csv", target)
    assert (ran.exit_code, ran.stdout) == (0, f"written: {target}, 4 games\n")
    rows = rows_of(target.read_text())
    for row, replay in zip(rows, ReplayReader(played), strict=True):
        assert (row["alpha"], row["bravo"], row["status"]) == (*replay.agents, "finished")
        assert [int(row["alpha_score"]), int(row["bravo_score"])] == replay.end.score
        assert row["winner"] == (replay.end.winner or "draw")
        assert row["turns"] == str(replay.end.turns)
        *_, last = play(replay)
        for side in ("alpha", "bravo"):
            assert int(row[f"{side}_lost"]) == sum(not one.is_active for one in last.after.satellites(side))
        outcomes = [outcome for phase in replay.phases for outcome in phase.outcomes if outcome.action == "shoot"]
        shots = [int(row[f"{side}_shoot_tries"]) for side in ("alpha", "bravo")]
        assert shots == [sum(one.attacker.side == side for one in outcomes) for side in ("alpha", "bravo")]
    assert run(played, "--csv", "-").stdout == target.read_text()


def test_csv_of_games_has_the_sampled_values_of_each_scenario(tmp_path):
    path = tmp_path / "games.jsonl"
    fuel = {"low": 50, "high": 150}
    play_match("random", "idle", config="case1", overrides={"alpha.patrols.fuel": fuel}, games=20, seed=1, save=path)
    rows = rows_of(run(path, "--csv", "-").stdout)
    for row, replay in zip(rows, ReplayReader(path), strict=True):
        assert int(row["alpha.patrols.fuel"]) == replay.config.alpha.patrols.fuel
        assert int(row["bravo.patrols.count"]) == 8
        assert float(row["bravo.odds.shoot.1"]) == 0.4
    assert len({row["alpha.patrols.fuel"] for row in rows}) > 5


def test_csv_of_phases_and_of_engagements(played, tmp_path):
    phases, engagements = (
        rows_of(run(played, "--csv", "-", "--rows", rows).stdout) for rows in ("phases", "engagements")
    )
    replays = list(ReplayReader(played))
    assert len(phases) == sum(len(replay.phases) for replay in replays)
    outcomes = [outcome for replay in replays for phase in replay.phases for outcome in phase.outcomes]
    for row, outcome in zip(engagements, outcomes, strict=True):
        assert (row["side"], row["action"]) == (outcome.actor.side, outcome.action)
        assert (float(row["probability"]), row["success"]) == (outcome.probability, str(int(outcome.success)))
    last = [row for row in phases if row["game"] == "3"][-1]
    assert [int(last["alpha_score"]), int(last["bravo_score"])] == replays[3].end.score


def test_csv_of_untrusted_games_holds_no_formulas(played, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(played.read_text().replace('"scripted"', '"=HYPERLINK(1)"'))
    assert ",'=HYPERLINK(1),random," in run(path, "--csv", "-").stdout


def test_csv_names_games_that_do_not_follow_the_rules(tampered, tmp_path):
    target = tmp_path / "games.csv"
    ran = run(tampered, "--csv", target)
    assert (ran.exit_code, ran.stdout) == (1, f"written: {target}, 4 games\n")
    assert ran.stderr.startswith(
        "geo-patrol: 1 game against the rules, the first: game 1, turn 2, movement: after.fuel"
    )
    assert [row["status"] for row in rows_of(target.read_text())].count("disagrees") == 1


def test_games_with_hidden_enemies_are_checked_and_listed(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("random", "idle", config="geo_patrol_hidden", games=2, seed=1, save=path)
    assert verify(path).stdout == f"{path}: 2 of 2 games agree with the rules\n"
    rows = rows_of(run(path, "--csv", "-").stdout)
    assert [row["alpha.sensor_range"] for row in rows] == [str(load_config("geo_patrol_hidden").alpha.sensor_range)] * 2


# The window, pictures and films


@pytest.fixture
def watched(monkeypatch):
    """Record what the window would show."""
    shown = []
    show = lambda games, number: shown.append((games.timeline(number), games.title(number)))  # noqa: E731
    monkeypatch.setattr(games, "watch_games", show)
    return shown


def test_the_window_shows_the_game(played, watched):
    assert run(played, "-g", 2).exit_code == 0
    ((timeline, title),) = watched
    assert title == "games.jsonl, game 2: scripted (alpha) against random (bravo)"
    replay = read_replay(played, 2)
    assert len(timeline) == len(replay.phases) + 1
    assert timeline[-1].scores == dict(zip(("alpha", "bravo"), replay.end.score, strict=True))
    assert [phase.outcomes for phase in timeline.phases] == [phase.outcomes for phase in replay.phases]


def test_png_is_the_picture_of_a_turn(played, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictures = []
    for turn in ("1", "2", "2e", "end"):
        ran = run(played, "--png", turn, "--size", "640x360")
        assert (ran.exit_code, ran.stdout) == (0, f"written: games-turn-{turn}.png\n")
        pictures.append(pygame.surfarray.array3d(pygame.image.load(f"games-turn-{turn}.png")))
    assert {picture.shape for picture in pictures} == {(640, 360, 3)}
    assert all((one != other).any() for one, other in itertools.pairwise(pictures))
    assert run(played, "--png", "1", "-o", "other.png").stdout == "written: other.png\n"
    assert len(list(tmp_path.iterdir())) == 5


@pytest.mark.slow
def test_pictures_are_vectors_in_svg_and_pdf_and_refused_in_other_formats(played, tmp_path):
    svg, pdf = tmp_path / "end.svg", tmp_path / "end.pdf"
    assert run(played, "--svg", "end", "-o", svg).stdout == f"written: {svg}\n"
    root = ET.parse(svg).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not list(root.iter("{http://www.w3.org/2000/svg}image"))
    assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 50
    assert run(played, "--pdf", "end", "-o", pdf).exit_code == 0
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/FontFile2" in content
    assert b"/Subtype /Image" not in content
    for name in ("end.tga", "end"):
        ran = run(played, "--png", "end", "-o", tmp_path / name)
        assert (ran.exit_code, f"{name} must end in .png, .svg or .pdf" in ran.stderr) == (2, True)
    before = svg.read_bytes()
    assert run(played, "--png", "end", "-o", svg).exit_code == 0
    assert svg.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [pdf, svg]


@pytest.mark.slow
def test_a_page_holds_all_games_or_one_or_as_many_as_it_may(played, tmp_path, monkeypatch):
    path = tmp_path / "games.html"
    start = '<script type="application/gzip" id="game-'
    monkeypatch.setattr(replay_page, "MAX_GAMES", 4)
    ran = run(played, "--html", path)
    assert (ran.stdout, path.read_text().count(start)) == (f"written: {path}, 4 games\n", 4)
    monkeypatch.setattr(replay_page, "MAX_GAMES", 3)
    note = "3 games; a page holds 3 games, the rest is left out"
    assert run(played, "--html", path).stdout == f"written: {path}, {note}\n"
    assert run(played, "--html", path, "--game", "1").stdout == f"written: {path}, 1 game\n"
    page = path.read_text()
    assert page.count(start) == 1
    assert "game 1: " in page
    assert not re.search(r'(src|href)="[^#]', page), "it refers to nothing outside"


@pytest.mark.slow
def test_one_command_writes_all_that_it_is_asked_for_and_names_faults_once(played, tmp_path):
    damaged, page, table, picture = (tmp_path / name for name in ("damaged.jsonl", "game.html", "games.csv", "end.svg"))
    damaged.write_text(f"{played.read_text()}{{\n")
    ran = run(damaged, "--html", page, "--svg", "end", "-o", picture, "--csv", table, "--text")
    assert (ran.exit_code, ran.stderr.count("not JSON")) == (1, 1)
    assert all(path.stat().st_size > 0 for path in (page, table, picture))
    assert f"written: {picture}\n" in ran.stdout
    assert "GAME 0 of" in ran.stdout
    assert f"written: {table}, 4 games\n" in ran.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="names have no colon there")
def test_films_play_the_game(played, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    gif, mp4 = tmp_path / "12:30.gif", tmp_path / "game.mp4"  # names may have a colon
    gif.write_text("old")
    ran = run(played, "--gif", gif, "--mp4", mp4, "--size", "321x241", "--speed", 8)
    assert (ran.exit_code, ran.stdout) == (0, f"written: {gif}\nwritten: {mp4}\n")
    for path, (width, height) in ((gif, (321, 241)), (mp4, (320, 240))):
        options = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        unpack = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", path, *options]
        film = np.frombuffer(subprocess.run(unpack, capture_output=True, check=True).stdout, np.uint8)
        frames = film.reshape(-1, height, width, 3)
        assert len(frames) > 20
        assert (frames[0] != frames[-1]).any()
        assert frames[-1].std() > 10
    assert sorted(tmp_path.iterdir()) == [gif, mp4]


def test_progress_of_a_film(played, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    replay, progress = read_replay(played), []
    timeline = Timeline(start(replay), replay.agents)
    for phase in play(replay):
        timeline.append(phase)
    save_gif(timeline, tmp_path / "game.gif", (320, 240), 8.0, lambda *counts: progress.append(counts))
    assert len(progress) > 20
    assert progress == [(number, len(progress)) for number in range(1, len(progress) + 1)]


def test_a_film_that_fails_leaves_the_old_one(played, tmp_path, monkeypatch):
    from geo_patrol.window import film

    path = tmp_path / "game.gif"
    path.write_text("old")
    monkeypatch.setattr(film, "_GIF", "nonsense")
    ran = run(played, "--gif", path)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("geo-patrol: ffmpeg cannot write the film: ")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_something_else_is_no_replay():
    ran = run(Path(__file__), "--text")
    assert (ran.exit_code, ran.stderr.startswith(f"geo-patrol: {Path(__file__)}: line 1: not JSON")) == (2, True)


# --save of the other commands


def test_match_saves_its_games(tmp_path):
    match = partial(run_command, "match", "idle", "random", "-n", 6, "--seed", 3, "--save")
    ran = match(f"{tmp_path}/games/")
    (path,) = (tmp_path / "games").iterdir()
    assert f"The games are in {path}" in ran.stderr
    assert len(list(ReplayReader(path))) == 6
    ran = match(path)
    assert ran.exit_code == 2
    assert ran.stderr == f"geo-patrol: {path} is there already: choose another name, or a folder, to keep both\n"
    ran = match(tmp_path / "one.jsonl.zst", "--quiet")
    assert (ran.exit_code, ran.output) == (0, "")
    assert len(list(ReplayReader(tmp_path / "one.jsonl.zst"))) == 6


def test_watch_saves_its_game(tmp_path, monkeypatch):
    def show(timeline, advance, title):
        for _ in range(3):
            advance()

    monkeypatch.setattr(watch, "watch", show)
    path = tmp_path / "game.jsonl"
    ran = run_command("watch", "scripted", "random", "--config", "case1", "--seed", 3, "--save", path)
    assert ran.exit_code == 0, ran.output
    replay = read_replay(path)
    assert replay.agents == ("scripted", "random")
    assert len(replay.phases) == 3
    assert verify(path).exit_code == 0


@pytest.mark.slow
def test_games_that_cannot_be_resumed(played, tmp_path):
    ran = resume(played)
    assert ran.stderr == f"geo-patrol: {played}: its last game, 3, is over; geo-patrol replay shows it\n"
    published = tmp_path / "published.jsonl"
    published.write_bytes(gzip.decompress(GOLDEN.read_bytes()).splitlines()[0])
    assert "has no seed: it cannot be continued" in resume(published).stderr
    ran = resume(played, "--save", tmp_path)
    assert ran.stderr == "geo-patrol: --resume goes on in its file: leave --save out\n"
    ran = resume(played, "--as", "alpha", "--set", "turn_limit=3")
    assert ran.stderr == "geo-patrol: --resume goes on in its file: leave --as and --set out\n"


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("bobby", "there is no agent 'bobby'. The agents are: "),
        ("search:99999999999", "budget must be a time such as 10ms or 1.5s, up to 60s, got '99999999999'"),
        ("search:3600s", "budget must be a time such as 10ms or 1.5s, up to 60s, got '3600s'"),
        ("search:10ms,propose=bot.py:Bot", "there is no agent 'bot.py:Bot'"),
        ("search:rollouts=100000", "search:rollouts=100000 would take too long for its orders: "),
    ],
)
def test_untrusted_games_are_not_resumed_with_any_agent(agent, message, tmp_path):
    path = tmp_path / "game.jsonl"
    with Recorder(path, load_config("case1", {"turn_limit": 101})) as recorder:
        recorder.begin(seed=1, alpha="random", bravo=agent)
        recorder.record()
    before = path.read_bytes()
    ran = resume(path)
    assert ran.exit_code == 2
    assert ran.stderr.startswith(f"geo-patrol: {path}: bravo: ")
    assert message in ran.stderr
    assert path.read_bytes() == before


def test_an_agent_that_thinks_long_does_not_repeat_the_past(tmp_path, monkeypatch):
    path = tmp_path / "game.jsonl"
    with Recorder(path, load_config("case1")) as recorder:
        recorder.begin(seed=1, alpha="search:60s", bravo="person")
        for _ in range(4):
            recorder.record()
    budgets = []

    def plan(self, games, sides, observations, action_masks, generator):
        budgets.append(self.seconds)
        return np.zeros((1, 11), np.int64)

    monkeypatch.setattr(SearchAgent, "plan", plan)
    monkeypatch.setattr("geo_patrol.play.text_game.play_text", lambda live: live.advance())
    ran = resume(path)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("search:60s (alpha) against you (bravo)")
    assert budgets.count(60) == 1  # the others are short searches that load compiled code
