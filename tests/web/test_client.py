"""The client of the server, over connections that are cut."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from geo_patrol import Game
from geo_patrol.agents import make_agent
from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.play.text_game import TextAgent
from geo_patrol.replays import check, play, read_replay, saved_games_folder
from geo_patrol.web import client as client_module
from geo_patrol.web.client import AgentPlayer, Client, play_seat, seats
from geo_patrol.web.protocol import (
    PAGE,
    Accepted,
    Answer,
    Error,
    Event,
    Left,
    Played,
    Welcome,
    YourTurn,
)
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.commands import run
from tests.support.serving import serving
from tests.web.clients import TABLE, events_of, play_phase_of

SEED = 9


@pytest.fixture
def tables(tmp_path):
    """Serve games in a thread; ``tables.address`` is where."""
    tables = TableStore(tmp_path)
    with serving(tables) as tables.address:
        yield tables


def open_table(tables, **setup):
    """Return a new table, and the link to each seat that has one."""
    table, secrets = tables.open_table(NewTable.model_validate(TABLE | {"seed": SEED} | setup))
    page = f"{tables.address}/static/table.html#table={table.id}"
    return table, {side: f"{page}&secret={secret}" for side, secret in secrets.items()}


class CutConnections(AgentPlayer):
    """An agent whose connection is cut before every fourth phase, with its orders on the way."""

    def __init__(self, agent, seed):
        super().__init__(agent, seed)
        self.client = None
        self.welcomes, self.numbers = [], []

    def handle(self, message):
        """Answer, and cut the connection."""
        if isinstance(message, Welcome):
            self.welcomes.append(message)
            self.numbers += [event.number for event in message.events]
        if isinstance(message, Event):
            self.numbers.append(message.number)
        answers = super().handle(message)
        if isinstance(message, YourTurn) and message.submitted is None and len(self.numbers) % 4 == 3:
            if len(self.welcomes) <= len(self.numbers) // 4:
                self.client._socket.socket.shutdown(socket.SHUT_RDWR)
        return answers


@pytest.mark.slow
def test_a_game_over_cut_connections_is_the_same_as_without_the_server(tables, monkeypatch):
    monkeypatch.setattr("geo_patrol.web.client._WAITS", (0.01,) * 5)
    table, links = open_table(tables)
    player = CutConnections(make_agent("scripted"), SEED)

    def play_bravo():
        with Client(links["bravo"], name="other") as client:
            play_seat(client, AgentPlayer(make_agent("random"), SEED))

    other = threading.Thread(target=play_bravo)
    other.start()
    with Client(links["alpha"], name="cut") as client:
        player.client = client
        end = play_seat(client, player)
    other.join()
    assert len(player.welcomes) > 3
    assert [welcome.first_event for welcome in player.welcomes][1] > 1
    assert player.numbers == list(range(1, table.num_events + 1))
    game = Game("king_of_the_hill", seed=SEED)
    for event in events_of(table):
        if isinstance(event, Played):
            game.step(alpha=event.orders.alpha, bravo=event.orders.bravo)
    assert game.is_over
    assert (end.winner, end.score.model_dump(), end.seed) == (game.winner, game.scores, SEED)
    replay = read_replay(table.replay_path)
    assert check(replay) is None
    assert (replay.is_finished, replay.agents) == (True, ("cut", "other"))


def test_who_is_replaced_does_not_come_back(tables):
    _, links = open_table(tables)
    with Client(links["alpha"]) as first:
        messages = iter(first)
        assert isinstance(next(messages), Welcome)
        with Client(links["alpha"]) as second:
            assert isinstance(next(iter(second)), Welcome)
            *_, last = messages
    assert isinstance(last, Left)


def test_a_server_that_is_gone_is_an_error_in_the_end(tables, monkeypatch):
    monkeypatch.setattr("geo_patrol.web.client._WAITS", (0.0,) * 3)
    _, links = open_table(tables)
    with Client(links["alpha"]) as client:
        client._address = "ws://127.0.0.1:1"
        client._open.close()
        with pytest.raises(ConnectionError, match="cannot be reached any more"):
            list(client)


@pytest.mark.slow
def test_the_bot_of_the_document_plays_a_game(tables, monkeypatch):
    document = (Path(__file__).parents[2] / "docs" / "reference" / "protocol.md").read_text(encoding="utf-8")
    table, links = open_table(tables, bravo="scripted")
    monkeypatch.setattr(sys, "argv", ["bot.py", links["alpha"]])
    exec(re.search(r"```python\n(.*?)```", document, re.DOTALL)[1], {"__name__": "__main__"})
    assert (table.is_over, table.names.alpha) == (True, "ten lines")


join = partial(run, "join")


@pytest.mark.slow
def test_join_plays_an_agent_for_a_whole_game(tables):
    table, links = open_table(tables, bravo="random")
    ran = join(links["alpha"], "--agent", "scripted")
    assert (ran.exit_code, table.is_over) == (0, True)
    score = table.game.scores
    assert f"{score['alpha']} to {score['bravo']}" in ran.stdout
    assert table.names.alpha == "scripted (guest)", "it is not the server's"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda link: link.partition("&")[0], "no seat of this table is open; a link to a seat has its secret"),
        (lambda link: re.sub(r":\d+/", ":1/", link), "ws://127.0.0.1:1 cannot be reached: "),
        (lambda link: link[:-4], "this secret opens no seat of the table"),
    ],
)
def test_join_says_in_a_line_why_there_is_no_seat(tables, change, message):
    _, links = open_table(tables)
    ran = join(change(links["alpha"]), "--agent", "random")
    assert isinstance(ran.exception, SystemExit)
    assert ran.exit_code != 0
    assert ran.stderr.splitlines()[-1].startswith(f"geo-patrol: {message}")


def test_a_seat_is_played_in_words(tables):
    table, links = open_table(tables, bravo="random")
    with Client(links["alpha"], text=True) as client:
        messages = iter(client)

        def answer(turn, text):
            client.send(Answer(game=turn.game, turn=turn.turn, phase=turn.phase, text=text))
            return next(one for one in messages if isinstance(one, Accepted | Error))

        turn = next(one for one in messages if isinstance(one, YourTurn))
        assert "You are alpha" in turn.text
        assert "P1: prograde" in turn.text
        assert "P1 shoot HVA: not in the movement phase" in answer(turn, "P1 shoot HVA").text
        assert answer(turn, "I think.").code == "bad_order"
        assert table.submitted == {}
        words = "Upwards!\n- P1: radial out\nP2 Prograde."
        assert answer(turn, words).orders == ["P1 radial_out", "P2 prograde"]
        next(one for one in messages if isinstance(one, Event))
        assert "- you (alpha): P1 radial_out (to " in next(one for one in messages if isinstance(one, YourTurn)).text
        assert answer(turn, words).orders == ["P1 radial_out", "P2 prograde"]  # once more, after the phase is played
        assert answer(turn, "none").code == "too_late"
        assert answer(turn.model_copy(update={"turn": 9}), words).code == "too_soon"
    assert sorted(events_of(table)[0].orders.alpha) == ["P1 radial_out", "P2 prograde"]
    with Client(links["alpha"]) as client:
        assert next(one for one in client if isinstance(one, YourTurn)).text is None


def test_the_third_answer_that_cannot_be_read_forfeits_the_phase(tables):
    table, links = open_table(tables, bravo="random")
    with Client(links["alpha"], text=True) as client:
        messages = iter(client)
        turn = next(one for one in messages if isinstance(one, YourTurn))
        message = Answer(game=turn.game, turn=turn.turn, phase=turn.phase, text="I do not know.")
        answers = []
        for _ in range(3):
            client.send(message)
            answers.append(next(one for one in messages if isinstance(one, Accepted | Error)))
        assert [getattr(answer, "code", None) for answer in answers] == ["bad_order", "bad_order", None]
        assert answers[-1].orders == ["HVA guard"]
        event = next(one for one in messages if isinstance(one, Event)).event
        assert event.orders.alpha == []
        client.send(message)
        assert next(one for one in messages if isinstance(one, Accepted | Error)).code == "bad_order"
    table.close()
    phases = list(play(read_replay(table.replay_path)))
    assert phases[0].illegal_orders == (1, 0)
    assert all(phase.illegal_orders[0] == 0 for phase in phases[1:])


def test_illegal_orders_of_an_agent_are_left_out_and_counted(tables):
    table, links = open_table(tables, bravo="idle")
    player = AgentPlayer(TextAgent(lambda _: "I do not know."), SEED)
    with Client(links["alpha"]) as client:
        play_seat(client, player)
    assert player.num_illegal == player._agent.forfeited_phases > 0
    assert table.is_over


WORDS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "your_turn" and message["submitted"] is None:
        assert "Legal orders:" in message["text"]
        answer = {key: message[key] for key in ("game", "turn", "phase")}
        print(json.dumps({"type": "answer", **answer, "text": "I wait: none\\nNone."}), flush=True)
"""


@pytest.mark.slow
def test_a_program_plays_in_words(tables, tmp_path):
    program = tmp_path / "words.py"
    program.write_text(WORDS, encoding="utf-8")
    table, links = open_table(tables, bravo="scripted")
    assert join(links["alpha"], "--command", f"{sys.executable} {program}", "--text").exit_code == 0
    assert table.is_over
    assert not any(event.orders.alpha for event in events_of(table)[:-1])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_a_program_in_javascript_plays(tables):
    table, links = open_table(tables, bravo="scripted")
    assert join(links["alpha"], "--command", "node examples/bot.js").exit_code == 0
    assert table.is_over
    assert any(event.orders.alpha for event in events_of(table)[:-1])


NODE = ["node", "--experimental-websocket"]
"""Node 20 has its WebSocket only with this option, which later versions accept."""
needs_websocket = pytest.mark.skipif(
    shutil.which("node") is None
    or subprocess.run([*NODE, "-e", "WebSocket"], capture_output=True, check=False).returncode != 0,
    reason="Node.js with a WebSocket is not installed",
)


@pytest.mark.slow
@needs_websocket
def test_the_bot_in_javascript_connects_by_itself(tables):
    table, links = open_table(tables, bravo="random")
    bot = subprocess.run(
        [*NODE, "examples/bot.js", links["alpha"]], check=True, timeout=120, capture_output=True, text=True
    )
    assert table.is_over
    assert table.names.alpha == "bot.js"
    assert bot.stderr == ""
    again = subprocess.run([*NODE, "examples/bot.js", links["alpha"]], check=False, timeout=60)
    assert again.returncode == 0, "it ends if the game is over already"


def test_an_agent_that_comes_late_knows_the_last_position(tables):
    table, links = open_table(tables, preset="geo_patrol", bravo="idle")
    for _ in range(PAGE + 3):
        play_phase_of(table)
    player = AgentPlayer(make_agent("idle"), 1)
    with Client(links["alpha"]) as client:
        for message in client:
            player.handle(message)
            if isinstance(message, YourTurn) and message.submitted is None:  # otherwise the game goes on at once
                break
    assert (player._position.turn, player._position.phase) == (table.game.position.turn, table.game.phase)


def fetch(tables, path, body):
    request = urllib.request.Request(f"{tables.address}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


@pytest.fixture
def opened(tables, monkeypatch):
    """A class of short games against an agent, and its address; those who wait ask again at once."""
    monkeypatch.setattr(client_module, "_POLL_SECONDS", 0.01)
    short = 'extends = "king_of_the_hill"\nturn_limit = 1\n'
    opened = fetch(tables, "/api/classes", {"scenario": short, "pairs": False, "agent": "idle"})
    return opened | {"address": f"{tables.address}/class/{opened['class']}"}


def table_of(link):
    return link.partition("table=")[2].partition("&")[0]


def test_a_bot_plays_one_game_after_another_in_a_class(tables, opened, monkeypatch):
    played = []
    for link in seats(opened["address"].replace(opened["class"], opened["class"].lower()), "bot"):
        with Client(link, "another name") as client:
            assert play_seat(client, AgentPlayer(make_agent("idle"), 1)) is not None
        played.append(link)
        if len(played) == 2:
            break
    assert len(set(played)) == 2
    names = [tables.items[table_of(link)].names for link in played]
    assert [(one.alpha, one.bravo) for one in names] == [("bot", "idle"), ("idle", "bot")]
    taken = client_module._Taken(secret="-")
    with pytest.raises(GeoPatrolError, match="add a letter"):
        client_module._ask(f"{tables.address}/api/classes/{opened['class']}/pupils", type(taken), {"name": "bot"})


def test_a_server_that_restarts_is_waited_for_in_a_class(tables, opened, monkeypatch):
    monkeypatch.setattr(client_module, "_WAITS", (0.0,) * 3)
    links = seats(opened["address"], "bot")
    first = next(links)
    tables.items[table_of(first)].resign("alpha")
    request, lost = client_module._request, iter(range(100))

    def lose(address, model, body=None):
        """Lose two of three requests, half of those on the way back."""
        number = next(lost)
        if number % 3 == 0:
            raise ConnectionError
        answer = request(address, model, body)
        if number % 3 == 1:
            raise ConnectionError
        return answer

    monkeypatch.setattr(client_module, "_request", lose)
    assert table_of(next(links)) != table_of(first)

    def refuse(*_):
        raise ConnectionError

    monkeypatch.setattr(client_module, "_request", refuse)
    with pytest.raises(ConnectionError):
        next(links)


def test_the_same_command_goes_on_with_the_same_seat(tables, opened, monkeypatch):
    address = opened["address"]
    links = seats(address, "bot")
    first = next(links)
    with pytest.raises(GeoPatrolError, match="plays there already, from this computer: use another --name"):
        next(seats(address, "bot"))
    links.close()
    assert next(seats(address, "bot")) == first
    removed = {"secret": opened["secret"], "pupil": "bot"}
    fetch(tables, f"/api/classes/{opened['class']}/remove", removed)
    assert table_of(next(seats(address, "bot"))) != table_of(first), "another pupil"
    if sys.platform != "win32":  # where files have no such modes
        for path in (saved_games_folder().parent / "seats").iterdir():
            assert path.stat().st_mode & 0o077 == 0


def test_an_open_seat_is_taken_and_the_same_command_goes_on_with_it(tables):
    table, _ = tables.open_table(NewTable(alpha="idle", bravo="open"))
    address = f"{tables.address}/table/{table.id}"
    (link,) = seats(address, "bot")
    assert table.side_of(link.rpartition("secret=")[2]) == "bravo"
    assert list(seats(address, "bot")) == list(seats(link, "bot")) == [link]
    for other in (address, f"{tables.address}/static/table.html#table={table.id}"):
        with pytest.raises(GeoPatrolError, match="no seat of this table is open"):
            next(seats(other, "another bot"))
    table.leave_seat("bravo")
    (other,) = seats(address, "bot")
    assert other != link


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_seats_are_taken_where_no_secret_can_be_kept(tables, monkeypatch, tmp_path, variable):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv(variable, str(tmp_path / "file"))
    table, _ = tables.open_table(NewTable(alpha="idle", bravo="open"))
    (link,) = seats(f"{tables.address}/table/{table.id}", "bot")
    assert table.side_of(link.rpartition("secret=")[2]) == "bravo"


def test_what_a_link_lacks_is_said(tables):
    with pytest.raises(GeoPatrolError, match="there is no class"):
        next(seats(f"{tables.address}/class/XXXXXX", "bot"))
    with pytest.raises(GeoPatrolError, match="there is no table"):
        next(seats(f"{tables.address}/table/000", "bot"))
    with pytest.raises(ConnectionError):
        next(seats("http://127.0.0.1:1/class/XXXXXX", "bot"))
