"""Files of user-defined agents and policies on their way to machines that do not share a disk with this one.

``collect_files`` reads what agents' names mention. ``unpack_files`` writes it elsewhere; from then on the same names lead
to the copies there, in this process and in those that it starts.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from modulefinder import ModuleFinder
from pathlib import Path, PurePath

from geo_patrol.base.errors import GeoPatrolError

MAX_BYTES = 256 << 20
"""Largest size of all files together."""
_VARIABLE = "GEO_PATROL_AGENT_FILES"
_INDEX = "index.json"
_SEPARATORS = re.compile(r"([,=]|(?<!^[A-Za-z])(?<![:,=][A-Za-z]):|:(?![\\/]))")
"""Of an agent's name; the colon behind the letter of a drive is none."""
_FOLDER_KIND = "rllib"
"""Behind it a name has a folder: the checkpoint is all that is in it."""


@dataclass(frozen=True)
class AgentFiles:
    """Files that agents are made from.

    Attributes:
        paths: where a copy is, by the path as the agent's name has it.
        contents: by the copy's path, relative to a folder for all of them.
    """

    paths: dict[str, str]
    contents: dict[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 of everything."""
        digest = hashlib.sha256(json.dumps(sorted(self.paths.items())).encode())
        for path, content in sorted(self.contents.items()):
            digest.update(f"\n{path} {len(content)}\n".encode() + content)
        return digest.hexdigest()


def mentioned_files(names: Iterable[str]) -> dict[str, Path]:
    """Return the files and the folders of checkpoints that agents' names mention, by the path as it is written there.

    Args:
        names: such as ``bots/mine.py:Mine`` or ``rllib:runs/best``, or with files among the parameters.
    """
    mentioned = {}
    for name in names:
        pieces = _SEPARATORS.split(name)
        for piece, before in zip(pieces, ["", "", *pieces], strict=False):
            path = Path(os.path.expanduser(piece))  # noqa: PTH111 - unlike pathlib, accepts unknown users
            is_file = bool(PurePath(piece).suffix or len(PurePath(piece).parts) > 1) and path.is_file()
            if is_file or (before == _FOLDER_KIND and path.is_dir()):
                mentioned[piece] = path
    return mentioned


def imported_files(source: Path) -> list[Path]:
    """Return the Python files that a Python file imports from its own folder, directly or through others, itself first.

    Found without running them: an import by a computed name, or of ``.`` outside a package, is not seen.
    """
    finder = ModuleFinder([str(source.parent)])
    try:
        finder.run_script(str(source))  # reads it
    except (SyntaxError, ValueError):  # as whoever loads the file is told
        return [source]
    names = (vars(module)["__file__"] for module in finder.modules.values())  # of which type stubs know nothing
    found = {Path(name) for name in names if name}
    return [source, *sorted(found - {source})]


def with_absolute_paths(name: str) -> str:
    """Return an agent's name with absolute paths of the files that it mentions."""
    mentioned = mentioned_files([name])
    return "".join(
        str(mentioned[piece].absolute()) if piece in mentioned else piece for piece in _SEPARATORS.split(name)
    )


def collect_files(names: Sequence[str]) -> AgentFiles:
    """Read the files that agents' names mention; with a Python file those beside it, and the packages below.

    Of the checkpoint in a folder all files are read.

    Raises:
        GeoPatrolError: they are too large.
        OSError: one cannot be read.
    """
    paths: dict[str, str] = {}
    contents: dict[str, bytes] = {}
    for piece, path in mentioned_files(names).items():
        source = path.resolve()
        copies = hashlib.sha256(os.fsencode(source.parent)).hexdigest()[:16]
        paths[piece] = f"{copies}/{source.name}"
        for file in _files_with(source):
            if sum(map(len, contents.values())) + file.stat().st_size > MAX_BYTES:
                raise GeoPatrolError(
                    f"{piece}: more than {MAX_BYTES >> 20} MB would travel with it, the files of its folder: "
                    "put the agent into a folder of its own"
                )
            contents[f"{copies}/{file.relative_to(source.parent).as_posix()}"] = file.read_bytes()
    return AgentFiles(paths, contents)


def _files_with(source: Path) -> Iterable[Path]:
    """Return the files that an agent needs whose name mentions a file or the folder of a checkpoint."""
    if source.is_dir():
        return (path for path in sorted(source.rglob("*")) if path.is_file())
    return _files_of(source.parent) if source.suffix == ".py" else [source]


def _files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of the packages below, without hidden ones."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_file():
            yield path
        elif (path / "__init__.py").is_file():
            yield from _files_of(path)


def unpack_files(files: AgentFiles) -> "tempfile.TemporaryDirectory[str]":
    """Write files into a new folder, to which names lead until it is removed."""
    folder = tempfile.TemporaryDirectory(prefix="geo_patrol-")
    for name, content in files.contents.items():
        path = Path(folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    copies = {written: str(Path(folder.name, path)) for written, path in files.paths.items()}
    Path(folder.name, _INDEX).write_text(json.dumps(copies), encoding="utf-8")
    os.environ[_VARIABLE] = folder.name
    return folder


def local_name(name: str) -> str:
    """Return an agent's name with the paths of unpacked copies in it, where there are any."""
    index = Path(os.environ.get(_VARIABLE, ""), _INDEX)
    if _VARIABLE not in os.environ or not index.is_file():  # the folder was removed
        return name
    copies = json.loads(index.read_text(encoding="utf-8"))
    return "".join(copies.get(piece, piece) for piece in _SEPARATORS.split(name))
