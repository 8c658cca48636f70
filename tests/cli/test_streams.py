"""Standard streams that are closed, full or of other encodings: one line or silence, and a status, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from geo_patrol import AgentError, make_agent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell redirects the streams")

FULL = "geo-patrol: output: No space left on device\n"
CITY = "Łódź"
REPLAY = Path(__file__).parents[1] / "data" / "replay.jsonl.gz"


def run(command, **environment):
    """Run a line of a shell, in which geo_patrol is the command."""
    program = f'geo_patrol() {{ "{sys.executable}" -m geo_patrol "$@"; }}\n'
    ran = subprocess.run(
        ["/bin/sh", "-c", program + command],
        capture_output=True,
        env={**os.environ, "COLUMNS": "80", **environment},
        timeout=120,
        check=False,
    )
    return ran.returncode, ran.stdout.decode(errors="backslashreplace"), ran.stderr.decode(errors="backslashreplace")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("configs case1 >&-", 0),
        ("configs nope >&- 2>&- <&-", 2),
        ("configs --nope 2>&-", 2),
        ("play --text --against idle <&-", 0),
        ("play --text --against idle >&-", 0),
    ],
)
def test_a_closed_stream_is_the_null_device(command, status, tmp_path):
    ended, output, errors = run(f"geo_patrol {command}", XDG_STATE_HOME=str(tmp_path))
    assert (ended, errors) == (status, "")
    if status or ">&-" in command:
        assert output == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["--version", "configs"])
def test_a_full_disk_is_reported_once(command):
    assert run(f"geo_patrol {command} >/dev/full") == (2, "", FULL)
    assert run(f"geo_patrol {command} >/dev/full 2>&1") == (2, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", "configs"])
def test_a_broken_pipe_is_silent(command):
    ended, _, errors = run(f"(sleep 0.2; geo_patrol {command}; echo $? >&2) | true")
    assert (ended, errors) == (0, "1\n")


@pytest.fixture
def town(tmp_path, monkeypatch):
    """A preset whose title and file have letters that most encodings lack."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{CITY}.toml").write_text(f'extends = "duel"\nturn_limit = 2\ntitle = "{CITY}"\n', encoding="utf-8")
    return f"{CITY}.toml"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"PYTHONIOENCODING": "cp1252"}, "\\u0141\\xf3d\\u017a"),
        ({"PYTHONIOENCODING": "ascii"}, "\\u0141\\xf3d\\u017a"),
        ({"LC_ALL": "C"}, CITY),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "\\u0141\\xf3d\\u017a"),
    ],
    ids=["cp1252", "ascii", "utf-8 mode", "C"],
)
def test_names_are_escaped_where_the_encoding_lacks_their_letters(town, environment, shown):
    ended, output, errors = run(f"geo_patrol configs {town}; geo_patrol configs no{town}", **environment)
    assert ended == 2
    assert f'title = "{shown}"' in output
    assert errors.startswith("geo-patrol: ")
    assert "Traceback" not in errors


@pytest.mark.slow
def test_input_in_another_encoding_is_no_order(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    for command in ("play --text --against idle", "fly --text"):
        ended, output, errors = run(f"printf '\\377\\nq\\n' | geo_patrol {command}", **environment)
        assert (ended, errors) == (0, "")
        assert output


@pytest.mark.slow
def test_tables_on_standard_output_are_in_utf_8(town):
    command = f"geo_patrol match idle idle -n 2 -c {town} --save games.jsonl -q; geo_patrol replay games.jsonl --csv -"
    ended, output, _ = run(command, PYTHONIOENCODING="cp1252")
    assert (ended, CITY in output) == (0, True)


@pytest.mark.slow
def test_an_agent_whose_file_has_a_name_that_is_no_text_is_refused(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py:Agent")
    with pytest.raises(AgentError, match="its name must be text"):
        make_agent(name)
    ended, output, errors = run(f"geo_patrol match {tmp_path}/$(printf '\\377').py:Agent idle -n 2")
    assert (ended, output, errors.count("\n")) == (2, "", 1)


@pytest.mark.slow
def test_a_page_escapes_a_title_that_is_no_text(tmp_path):
    page = tmp_path / "page.html"
    assert run(f"geo_patrol report {REPLAY} -o {page} --title $(printf '\\377')")[0] == 0
    assert "<title>\\udcff" in page.read_text(encoding="utf-8")
