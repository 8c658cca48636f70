"""What is wrong with a command is said in one message, before anything is played, opened or written."""

import shlex
import sys
from pathlib import Path

import pytest

from geo_patrol.drawing import screen
from tests.support.commands import run

REPLAY = Path(__file__).parents[1] / "data" / "replay.jsonl.gz"
WRONG = [
    ("mtch", "No such command 'mtch'"),
    ("match ~nobody-of-that-name/bot.py:Mine idle", "there is no user 'nobody-of-that-name'"),
    ("match solved:~nobody-of-that-name/x idle", "there is no user 'nobody-of-that-name'"),
    ("match policy:~nobody-of-that-name/x idle", "there is no user 'nobody-of-that-name'"),
    ("match idle idle --config ~nobody-of-that-name/x.toml", "there is no user 'nobody-of-that-name'"),
    ("fly --mission ~nobody-of-that-name/x.toml --text", "there is no user 'nobody-of-that-name'"),
    ("configs case6", "there is no preset 'case6'; did you mean"),
    ("configs case1 case2 case3", "3 names: none lists"),
    ("configs --set turn_limit=3", "--set needs the name of a preset"),
    ("configs lost.toml", "there is no configuration file 'lost.toml'"),
    ("fly -m lost", "there is no mission 'lost'"),
    ("fly -m lost.toml", "there is no mission file 'lost.toml'"),
    ("fly -s turns=0", "turns must be an integer from 1 to 40, got 0"),
    ("fly --solve --text", "--solve and --text exclude each other"),
    ("fly --max-states 5", "--max-states is for --solve"),
    ("fly --solve --max-states 0", "max_states must be an integer from 1 to 10000000, got 0"),
    ("fly --orders coast", "the first turn is a launch"),
    ("fly --orders 'launch D13; fly'", "order must be"),
    ("fly -m sample_probe --orders 'launch D13; coast'", "order 'coast': the flight is over"),
    ("fly --save x.svg", "--save needs --solve, --orders or --text"),
    ("fly --seed 3", "--seed is for --mission random"),
    ("fly -m random --seed -1", "--seed must be a non-negative integer, got -1"),
    ("fly -m random --game chess --solve", "game must be"),
    ("fly --save x.gif --solve", "x.gif must end in .svg or .pdf or .png or .txt"),
    ("fly --blank-map x.txt", "x.txt must end in .svg or .pdf or .png"),
    ("match idle", "SECOND"),
    ("match scriptd random", "there is no agent 'scriptd'; did you mean 'scripted'?"),
    (
        "match idle idle --games 7",
        "games must be an even number of at least 2, got 7; every second game swaps the sides",
    ),
    ("match idle idle --games 0", "games must be an even number of at least 2, got 0"),
    ("match idle idle --games many", "--games"),
    ("match idle idle --seed -1", "seed must be a non-negative integer"),
    ("match idle idle --set bravo.patrols.amo=1", "bravo.patrols.amo = 1: there is no such key; did you mean"),
    ("match idle idle --set turn_limit", "override must be key=value"),
    ("match idle idle --set turn_limit=0", "turn_limit must be an integer from 1 to 10000, got 0"),
    (
        "match idle idle --move-time 0",
        "move time must be seconds for a decision, more than 0 and at most 86400, got 0.0",
    ),
    ("match idle idle --json - --csv -", "--json and --csv both go to -: they must be two files"),
    ("match idle idle --json x --csv ./x", "--json and --csv both go to x: they must be two files"),
    ("match idle idle --show --csv -", "--show prints to standard output"),
    ("play --against perso --text", "there is no agent 'perso'; did you mean 'person'?"),
    ("print -o kit.png", "kit.png must be a file that ends in .pdf, or a folder"),
    ("print -o kit.pdf --sheets boards", "--sheets 'boards': there are board, tokens, rules, turn, reference,"),
    ("print -o kit.pdf --config nothing", "there is no preset 'nothing'"),
    ("print -o kit.pdf --mission nothing", "there is no mission 'nothing'"),
    ("replay FILE --game 1000", "there is no game 1000: the file holds"),
    ("replay FILE --game -1", "--game"),
    ("replay FILE --png 0", "--png must be a turn from 1 to"),
    ("replay FILE --png 99", "--png must be a turn from 1 to"),
    ("replay FILE --png " + "x" * 50, "got xx"),
    ("replay FILE --output x.png", "--output is the file of one picture"),
    ("replay FILE --png 1 --size big", "--size must be width x height, such as 1280x720, got big"),
    ("replay FILE --png 1 --size 10x10", "--size must be 320x240 to 7680x4320, got 10x10"),
    ("replay FILE --gif x.gif --speed 0", "--speed"),
    ("replay FILE --rows phases", "--rows phases needs --csv FILE"),
    ("replay none.jsonl --text", "none.jsonl: cannot be read: No such file or directory"),
    ("replay . --text", "cannot be read: Is a directory"),
    ("solve geo_patrol", "22 satellites: games of 10 at most can be solved"),
    ("sprt idle random --elo0 30", "elo0 must be less than elo1, got 30 and 20"),
    ("sprt idle random --alpha 0.7", "alpha must be a probability above 0 and below 0.5, got 0.7"),
    ("study run nowhere.toml", "nowhere.toml cannot be read"),
    ("study report nowhere", "nowhere holds no study"),
    ("study threshold -v turn_limit=1..3 --rate 0.5 -n 5", "--games must be at least"),
    ("study threshold -v bravo.patrols.cuont=1..8 --rate 0.8", "did you mean count?"),
    ("study threshold -v turn_limit=1..8 --rate 80", "--rate: a share from 0 to 1, such as 0.8 for 80%, got 80"),
    ("study worth --change turn_limit", "--change must be a list of changes; override must be key=value"),
    ("study worth --change turn_limit=+1 --measure wins", "--measure must be 'alpha wins', 'bravo wins'"),
    ("study worth --change turn_limit=+1 --move-time 0", "move time must be seconds for a decision, more than 0"),
    ("study ranking -v turn_limit=1..3", "--vary must be given for at least two factors, got turn_limit"),
    ("study ranking -v turn_limit=1,2 -v turn_limit=3", "vary turn_limit: it is there twice"),
    ("study fair -v turn_limit=1..3 -a idle -a idle", "--agents must be a list of agents"),
    ("sweep -v bravo.patrols.amo=1", "there is no such key; did you mean ammo?"),
    ("sweep -v turn_limit=3..1", "the smaller end comes first"),
    ("sweep -v turn_limit=1,2 --csv x --json ./x", "--json and --csv both go to ./x: they must be two files"),
    ("sweep -v turn_limit=1,2 --parquet -", "must be a path, got '-'"),
    ("sweep -v turn_limit=1,2 --out -", "must be a path, got '-'"),
    ("tournament idle nowhere.py:Bot", "agent 'nowhere.py:Bot': there is no file"),
    ("tournament idle scriptd", "there is no agent 'scriptd'; did you mean 'scripted'?"),
    ("tournament idle random --json /", "/ cannot be written: it is a folder"),
    ("tournament idle", "2 to 100 agents, got 1"),
    ("tournament idle random -p 0", "processes must be an integer from 1 to 1,024, got 0"),
    ("arena idle -p 0", "processes must be an integer from 1 to 1,024, got 0"),
    ("watch scripted random --seed -1", "seed must be a non-negative integer"),
    ("watch scripted random --config case9", "case9"),
]


@pytest.mark.parametrize(("command", "message"), WRONG, ids=[command for command, _ in WRONG])
def test_wrong_input_is_one_message_and_status_2(command, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run(*shlex.split(command.replace("FILE", str(REPLAY))))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert message in " ".join(ran.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []
    assert screen.open_screens == []


@pytest.mark.parametrize(
    ("command", "missing", "extra", "otherwise"),
    [
        ("play", "starlette", "play", "; at the terminal: geo-patrol play --text"),
        ("play", "uvicorn", "play", "; at the terminal: geo-patrol play --text"),
        ("play", "websockets", "play", "; at the terminal: geo-patrol play --text"),
        ("play", "segno", "play", "; at the terminal: geo-patrol play --text"),
        ("learn", "starlette", "play", "; a game at the terminal: geo-patrol play --text"),
        ("fly", "starlette", "play", "; at the terminal: geo-patrol fly --text"),
        ("serve", "starlette", "play", ""),
        ("join http://127.0.0.1:1/ --agent random", "websockets", "play", ""),
        ("match idle idle --ray local", "ray", "ray", ""),
        ("sprt idle idle --ray local", "ray", "ray", ""),
        ("tournament idle random --ray local", "ray", "ray", ""),
        ("tournament idle random", "scipy.optimize", "stats", ""),
        ("sweep -v turn_limit=1 --parquet cells.parquet", "pyarrow", "study", ""),
        ("report FILE -o page.html", "jinja2", "plots", ""),
        ("replay FILE --mp4 game.mp4", "imageio_ffmpeg", "video", ""),
    ],
)
def test_a_missing_package_is_named_with_its_extra(command, missing, extra, otherwise, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(f"{missing}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.chdir(tmp_path)
    ran = run(*command.replace("FILE", str(REPLAY)).split())
    package = missing.partition(".")[0]
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"geo-patrol: {package} is not installed: pip install 'geo_patrol[{extra}]'{otherwise}\n"
    assert list(tmp_path.iterdir()) == []
