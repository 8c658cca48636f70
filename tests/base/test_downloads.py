"""Downloads: from a folder or an address, checked before anything is unpacked, and kept."""

import re
import threading
from email.message import Message
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from geo_patrol import GeoPatrolError, __version__, download
from geo_patrol.base import downloads
from geo_patrol.base.downloads import DOWNLOADS, Download
from research.downloads import enter, pack

CONTENTS = {"games.jsonl": b"{}\n", "more/scores.json": b"[]\n"}


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A folder with the files of a release, in which downloads look; what is downloaded goes to another one."""
    folder = tmp_path / "release"
    folder.mkdir()
    pack(folder / "sample-v0.zip", CONTENTS)
    found = {"sample-v0": Download.of(folder / "sample-v0.zip")}
    monkeypatch.setattr(downloads, "downloads", lambda: found)
    monkeypatch.setenv("GEO_PATROL_DOWNLOADS", str(folder))
    for variable in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_): ...


class Short(Quiet):
    """Ends before the content is complete."""

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(20))


@pytest.fixture
def served(release, monkeypatch):
    """Serve the folder with a handler, as the address of the release."""
    servers = []

    def serve(handler):
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=release)))
        threading.Thread(target=servers[-1].serve_forever).start()
        monkeypatch.setenv("GEO_PATROL_DOWNLOADS", f"http://127.0.0.1:{servers[-1].server_port}/")

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_empty(tmp_path):
    return not list((tmp_path / "cache").rglob("*.*"))


def test_a_download_is_kept(release):
    folder = download("sample-v0")
    assert contents(folder) == CONTENTS
    (release / "sample-v0.zip").unlink()
    assert download("sample-v0") == folder
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_from_an_address(served):
    served(Quiet)
    assert contents(download("sample-v0")) == CONTENTS


@pytest.mark.parametrize("change", [lambda content: content[:-1], lambda content: content + b"!" * 9, bytes.upper])
def test_another_file_is_not_unpacked(change, release, tmp_path):
    path = release / "sample-v0.zip"
    path.write_bytes(change(path.read_bytes()))
    message = rf"sample-v0\.zip is not the file of geo_patrol {re.escape(__version__)}: it must have \d+ bytes and the SHA-256"
    with pytest.raises(GeoPatrolError, match=message):
        download("sample-v0")
    assert is_empty(tmp_path)


def test_a_connection_that_ends_early(served, tmp_path):
    served(Short)
    with pytest.raises(GeoPatrolError, match=r"is not the file|cannot be read: .*20 bytes"):
        download("sample-v0")
    assert is_empty(tmp_path)


@pytest.mark.parametrize(
    ("home", "reason"),
    [
        ("http://127.0.0.1:1", "refused"),
        ("htp://x", "unknown url type"),
        ("nowhere", "No such file"),
    ],
)
def test_without_a_network(home, reason, release, monkeypatch, tmp_path):
    monkeypatch.setenv("GEO_PATROL_DOWNLOADS", home)
    with pytest.raises(GeoPatrolError, match=rf"(?i)^{home}/sample-v0\.zip \(0\.0 MB\) cannot be read: .*{reason}"):
        download("sample-v0")
    assert is_empty(tmp_path)


def test_the_address_is_that_of_the_release_on_github(release, monkeypatch):
    asked, known = [], Message()
    known["Project-URL"] = "Documentation, https://owner.github.io/name/"
    known["Project-URL"] = "Source, https://github.com/owner/name"
    monkeypatch.delenv("GEO_PATROL_DOWNLOADS")
    monkeypatch.setattr(downloads, "metadata", lambda _: known)
    monkeypatch.setattr(
        downloads.urllib.request,
        "urlopen",
        lambda url, **_: asked.append(url) or (release / "sample-v0.zip").open("rb"),
    )
    assert contents(download("sample-v0")) == CONTENTS
    assert asked == [f"https://github.com/owner/name/releases/download/v{__version__}/sample-v0.zip"]


def test_an_installation_without_an_address(release, monkeypatch):
    monkeypatch.delenv("GEO_PATROL_DOWNLOADS")
    monkeypatch.setattr(downloads, "metadata", lambda _: Message())
    with pytest.raises(GeoPatrolError, match="does not know the address of its release: set GEO_PATROL_DOWNLOADS"):
        download("sample-v0")


def test_another_process_may_be_faster(release, monkeypatch):
    read = downloads._read

    def read_slowly(found):
        monkeypatch.setattr(downloads, "_read", read)
        download("sample-v0")
        return read(found)

    monkeypatch.setattr(downloads, "_read", read_slowly)
    folder = download("sample-v0")
    assert contents(folder) == CONTENTS
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_unknown_names(release):
    message = "there is no download 'samples'; did you mean 'sample-v0'? There are: sample-v0."
    with pytest.raises(GeoPatrolError, match=re.escape(message)):
        download("samples")


def test_a_file_is_entered_by_its_name(release, tmp_path, monkeypatch):
    listed = tmp_path / "downloads.json"
    listed.write_bytes(DOWNLOADS.read_bytes())
    monkeypatch.setattr("research.downloads.DOWNLOADS", listed)
    enter(release / "sample-v0.zip")
    monkeypatch.undo()
    monkeypatch.setattr(downloads, "DOWNLOADS", listed)
    known = downloads.downloads()
    entered = downloads.downloads.__wrapped__()
    assert entered == known | {"sample-v0": Download.of(release / "sample-v0.zip")}
