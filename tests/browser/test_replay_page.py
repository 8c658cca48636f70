"""Pages of recorded games: what they hold, and how they work in a browser without a network."""

import base64
import gzip
import json
import re

import pytest

from geo_patrol.replays import ReplayReader, read_replay
from geo_patrol.web.records import game_record
from geo_patrol.web.replay_page import replay_page, replay_timeline
from tests.browser.driving import check_page, until


@pytest.fixture(scope="module")
def timelines(recorded):
    return [(f"game {replay.number}", replay_timeline(replay)[0]) for replay in ReplayReader(recorded)]


@pytest.fixture(scope="module")
def page_path(timelines, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "games.html"
    path.write_text(replay_page(timelines, "games"), encoding="utf-8")
    return path


def open_games(open_page, path, *size, **options):
    """Open a page of games without a network; return it when the first game is unpacked."""
    page = open_page(path.as_uri(), *size, offline=True, **options)
    page.wait_for_selector("#alpha li")
    return page


def records_of(page):
    """Return the games that a page holds."""
    return [
        json.loads(gzip.decompress(base64.b64decode(content)))
        for content in re.findall(r'<script type="application/gzip" id="game-\d+">([^<]*)</script>', page)
    ]


def test_a_record_says_what_the_game_says(timelines):
    title, timeline = timelines[0]
    record = game_record(timeline, title)
    assert len(record["moments"]) == len(timeline)
    for game, shown in zip(timeline, record["moments"], strict=True):
        assert (shown["turn"], shown["score"]) == (game.turn, list(game.scores.values()))
        for side, fleet in zip(("alpha", "bravo"), shown["fleets"], strict=True):
            assert [row[1:3] for row in fleet] == [[one.sector, one.fuel] for one in game.satellites(side)]
        for frame in shown["frames"]:
            assert all(0 <= index < len(record["shapes"]) for index in frame)
    used = {shape[1] for shape in record["shapes"] if shape[0] == "U"}
    assert used <= set(record["symbols"])
    texts = [json.dumps(shape) for shape in record["shapes"]]
    assert len(set(texts)) == len(texts), "equal shapes are stored once"


def test_a_page_needs_nothing_else_and_shows_names_as_text(recorded):
    replay = read_replay(ReplayReader(recorded), 0)
    replay.agents = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>')
    page = replay_page([(f"game {replay.number}", replay_timeline(replay)[0])], "<b>title</b>")
    assert "alert(1)</script>" not in page
    assert "<img" not in page
    assert "<b>title</b>" not in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert records_of(page)[0]["names"] == list(replay.agents)


def test_frames_of_a_notebook_play_by_themselves(recorded, tmp_path, open_page):
    frames = [read_replay(ReplayReader(recorded), number)._repr_html_() for number in (0, 1)]
    assert all(frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;') for frame in frames)
    assert [frame.count("<") for frame in frames] == [2, 2]
    path = tmp_path / "notebook.html"
    path.write_text("".join(frames), encoding="utf-8")
    page = open_page(path.as_uri(), offline=True, reduced_motion="reduce")
    first, second = (page.frame_locator("iframe").nth(number) for number in (0, 1))
    second.locator(".step-end").click()
    second.locator("#headline", has_text=" won, ").wait_for()
    assert first.locator("#headline").text_content().startswith("Turn 1, movement")


def test_a_browser_without_a_network_plays_steps_and_seeks(page_path, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    record = records_of(page_path.read_text())[0]
    last = len(record["moments"]) - 1
    headline = page.locator("#headline")
    position = page.locator(".stepping input")
    assert headline.text_content().startswith("Turn 1, movement")
    page.keyboard.press("ArrowRight")
    assert position.input_value() == "1"
    page.click(".step-end")
    assert position.input_value() == str(last)
    assert " won, " in headline.text_content() or "A draw" in headline.text_content()
    page.keyboard.press("Home")
    engaged = next(i for i, moment in enumerate(record["moments"]) if moment["engaged"])
    page.keyboard.press("e")
    assert position.input_value() == str(engaged)
    assert page.locator("#cards li").count() > 0
    page.keyboard.press("Home")
    page.locator(".stepping input").fill("4")
    assert "Turn 3" in headline.text_content()
    page.select_option("#games", "2")
    until(page, "document.title.startsWith('game 2: ')")
    assert position.input_value() == "0"
    page.goto(f"{page_path.as_uri()}#game=3")
    page.reload()
    until(page, "document.title.startsWith('game 3: ')")


def test_the_list_says_who_played_and_how_it_ended(page_path, timelines, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    entries = page.locator("#games option").all_text_contents()
    assert len(entries) == len(timelines)
    for entry, (title, timeline) in zip(entries, timelines, strict=True):
        game, (blue, gold) = timeline[-1], timeline.names
        winner = {"alpha": "blue", "bravo": "gold"}[game.winner]
        assert entry == f"{title}: {blue} (blue) against {gold} (gold), {winner} wins in turn {game.turn}"
    assert page.text_content("#title") == "games"


def test_another_game_shows_its_own_names_at_its_start(page_path, timelines, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    page.keyboard.press("Home")
    number = next(i for i, (_, timeline) in enumerate(timelines) if timeline.names[0] != timelines[0][1].names[0])
    page.select_option("#games", str(number))
    page.locator("#alpha-title", has_text=timelines[number][1].names[0]).wait_for()
    page.select_option("#games", "0")
    page.locator("#alpha-title", has_text=timelines[0][1].names[0]).wait_for()


def test_a_page_calls_players_and_sides_by_one_name_each(timelines, tmp_path, open_page):
    timeline = timelines[0][1]
    path = tmp_path / "page.html"
    names = timeline.names
    shown = []
    for pair in (("raider", "raider"), ("level:sputnik", "bots.py:Bad"), ("person", "person")):
        timeline.names = pair
        path.write_text(replay_page([("game 0", timeline)], "games"), encoding="utf-8")
        page = open_games(open_page, path, reduced_motion="reduce")
        page.keyboard.press("End")
        assert not re.search(r"alpha|bravo|level:|\.py|person", page.inner_text("body"))
        shown.append([page.text_content(f"#{side}-title").partition(":")[0] for side in ("alpha", "bravo")])
    timeline.names = names
    assert shown == [["raider (blue)", "raider (gold)"], ["Sputnik (blue)", "Bad (gold)"], ["Blue", "Gold"]]


def test_cards_tell_targets_attackers_odds_and_results(page_path, timelines, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    page.keyboard.press("e")
    index = int(page.input_value(".stepping input"))
    outcomes = [one for one in timelines[0][1].snapshot(index).outcomes if one.action != "guard"]
    shown = page.locator("#cards p", has_text=re.compile(r", \d+%: ")).all_text_contents()
    assert len(shown) == len(outcomes) > 0
    odds = sorted(f"{100 * outcome.probability:.0f}%" for outcome in outcomes)
    assert sorted(re.search(r"\d+%", text)[0] for text in shown) == odds
    hits = [text for text in shown if text.endswith("hit")]
    assert len(hits) == sum(outcome.success for outcome in outcomes)


def test_a_card_says_why_a_satellite_is_lost_that_was_missed(address, open_page):
    page = open_page(f"{address}/static/start.html", reduced_motion="reduce")
    shot = {"action": "shoot", "attacker": "bravo:P2", "target": "alpha:P6", "success": False}
    collision = {"action": "collide", "attacker": "alpha:P6", "target": "bravo:HVA", "success": True}
    outcomes = [one | {"guardian": None, "odds": 80} for one in (shot, collision)]
    tell = """outcomes => import("/static/words.js").then(({ Cast, drawCards }) =>
      drawCards({ outcomes, changes: [], score: [0, 0] }, new Cast(["a", "b"], null)).map((card) => card.textContent))"""
    _, card = page.evaluate(tell, outcomes)
    assert "6 is lost" in card
    assert "missed" in card
    assert "It collided with " in card


def test_sectors_with_satellites_are_lit(page_path, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    page.keyboard.press("End")
    moment = page.evaluate("page.playback.moment")
    living = {row[1] for fleet in moment["fleets"] for row in fleet if row[5] != "destroyed"}
    assert set(moment["occupied"][1]) == living
    assert page.locator("#board .ground polygon").count() == len(living)


def test_sectors_stay_lit_until_their_satellites_drift(page_path, open_page):
    page = open_games(open_page, page_path, reduced_motion="reduce")
    lit, before, later = page.evaluate(
        """() => {
          const { board, record } = page.playback;
          const moment = record.moments.find(({ engaged, turning, occupied }) => engaged && turning && String(occupied[0]) !== String(occupied[1]));
          const ground = () => document.querySelector('#board .ground').innerHTML;
          board.draw(moment, 0);
          const lit = ground();
          board.draw(moment, (moment.turning[0] - 0.5) / (moment.frames.length - 1));
          const before = ground();
          board.draw(moment, 1);
          return [lit, before, ground()];
        }"""
    )
    assert before == lit
    assert later != lit


def test_a_phone_shows_satellites_large_enough_to_be_read(page_path, open_page):
    page = open_games(open_page, page_path, (390, 844), reduced_motion="reduce")
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
        widths = page.evaluate(
            "[...page.playback.board.moving.querySelectorAll('use')].map((token) => token.getBoundingClientRect().width)"
        )
        assert len(widths) > 2
        assert min(widths) > 20


def test_a_tap_plays_and_a_swipe_steps(page_path, open_page):
    page = open_page(
        page_path.as_uri(), (390, 844), has_touch=True, is_mobile=True, offline=True, reduced_motion="reduce"
    )
    fingers = page.context.new_cdp_session(page)

    def swipe(*across):
        for kind, x in zip(("touchStart", "touchMove", "touchEnd"), (*across, None), strict=True):
            points = [] if x is None else [{"x": x, "y": 300}]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    swipe(300, 100)
    assert page.input_value(".stepping input") == "1"
    swipe(300, 200)
    assert page.input_value(".stepping input") == "2"
    swipe(100, 300)
    assert page.input_value(".stepping input") == "1"
    page.touchscreen.tap(200, 300)
    assert page.text_content(".step-play") == "Pause"
    page.touchscreen.tap(200, 300)
    assert page.text_content(".step-play") == "Play"


def test_satellites_glide_between_the_frames(page_path, open_page):
    page = open_games(open_page, page_path)
    moved = page.evaluate(
        """() => {
          page.playback.pauseAt(0);
          const shapes = (index, progress) => {
            page.playback.board.draw(page.playback.record.moments[index], progress);
            return [...page.playback.board.moving.children].map((element) => element.outerHTML);
          };
          const [start, half, end] = [0, 0.5, 1].map((progress) => shapes(1, progress));
          return [start.length, half.filter((html, i) => html !== start[i] && html !== end[i]).length];
        }"""
    )
    assert moved[0] >= 22
    assert moved[1] > 0


def test_a_game_plays_to_its_end_by_itself(page_path, open_page):
    page = open_games(open_page, page_path)
    page.select_option("#speed", "8")
    if page.text_content(".step-play") == "Play":
        page.click(".step-play")
    page.locator(".step-play", has_text="Play").wait_for(timeout=60_000)
    assert page.evaluate("page.playback.index === page.playback.record.moments.length - 1")


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_a_page_fits_its_window_and_is_accessible(page_path, open_page, size):
    page = open_games(open_page, page_path, size, reduced_motion="reduce")
    page.keyboard.press("End")
    buttons = page.locator("button").all()
    assert all(button.bounding_box()["height"] >= 40 for button in buttons)
    check_page(page, size)
