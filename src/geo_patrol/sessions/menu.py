"""The start menu without any drawing: lists to choose from, one after the other, until it is known what to open."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from geo_patrol.agents.registry import DIFFICULTIES
from geo_patrol.config.presets import load_config
from geo_patrol.config.toml_files import preset_names
from geo_patrol.sides import SIDES, Side

MAX_FILES = 50
_OTHER_AGENTS = ("raider", "random")
"""Agents to watch besides those to play against."""


@dataclass(frozen=True)
class PlayGame:
    """Play a preset; the agents of alpha and bravo by their names, None for a person."""

    config: str
    agents: tuple[str | None, str | None]


@dataclass(frozen=True)
class WatchGame:
    """Watch two agents, given by their names, play a preset."""

    config: str
    agents: tuple[str, str]


@dataclass(frozen=True)
class OpenReplay:
    """Show the games of a file, or go on with the last one if it was interrupted."""

    path: Path


@dataclass(frozen=True)
class ChosenGame:
    """Show a game of the file that is open, given by its number."""

    number: int


@dataclass(frozen=True)
class FlyMission:
    """Fly a mission, given by its name."""

    mission: str


@dataclass(frozen=True)
class Learn:
    """Play the guided first game of "geo_patrol" or "spaceship_commander"."""

    game: str


Choice: TypeAlias = PlayGame | WatchGame | OpenReplay | ChosenGame | FlyMission | Learn


@dataclass(frozen=True)
class Entry:
    """A line of a menu.

    Attributes:
        label: what it is.
        note: more about it.
        open: returns the list that comes next, or what has been chosen.
    """

    label: str
    note: str
    open: "Callable[[], EntryList | Choice]"


@dataclass
class EntryList:
    """Entries to choose from.

    Attributes:
        title: the question.
        entries: the answers.
        index: index of the selected entry.
        first: index of the first entry that is shown, where there are more than fit.
    """

    title: str
    entries: tuple[Entry, ...]
    index: int = 0
    first: int = 0


class Menu:
    """The lists that have been opened, the first one at the bottom.

    Args:
        first: the first list.
        message: shown above it, such as why something could not be opened.

    Attributes:
        choice: what has been chosen; None until then.
        message: shown above the list.
    """

    def __init__(self, first: EntryList, message: str = "") -> None:
        self._lists = [first]
        self.choice: Choice | None = None
        self.message = message

    @property
    def current(self) -> EntryList:
        """The list that is shown."""
        return self._lists[-1]

    @property
    def is_first(self) -> bool:
        """Whether nothing has been chosen yet."""
        return len(self._lists) == 1

    def select(self, index: int) -> None:
        """Select an entry; the index wraps around."""
        self.current.index = index % len(self.current.entries)

    def move(self, step: int) -> None:
        """Select the entry so many lines further down."""
        self.select(self.current.index + step)

    def open(self) -> None:
        """Open the selected entry."""
        self.message = ""
        opened = self.current.entries[self.current.index].open()
        if isinstance(opened, EntryList):
            self._lists.append(opened)
        else:
            self.choice = opened

    def back(self) -> bool:
        """Return to the list before; return False if there is none."""
        self.message = ""
        if self.is_first:
            return False
        self._lists.pop()
        return True


def start_list(games_folder: Path, missions: Callable[[], Iterable[Entry]]) -> EntryList:
    """Return the first list.

    Args:
        games_folder: where the games are saved that people play.
        missions: returns an entry for each mission of the flight games.
    """
    return EntryList(
        "GEO Patrol",
        (
            Entry("Play", "against an agent, or against somebody at this screen", lambda: _preset_list(_opponent_list)),
            Entry("Learn", "the rules, in a guided first game", _lesson_list),
            Entry("Watch", "two agents play", watch_list),
            Entry("Open a game", "that was saved, to watch it or to go on", lambda: _file_list(games_folder)),
            Entry(
                "Flight games",
                "Spaceship Commander and Planetary Probe",
                lambda: EntryList("Which mission?", tuple(missions())),
            ),
        ),
    )


def _lesson_list() -> EntryList:
    return EntryList(
        "Which game?",
        (
            Entry("GEO Patrol", "ten steps", lambda: Learn("geo_patrol")),
            Entry("Spaceship Commander", "six steps", lambda: Learn("spaceship_commander")),
        ),
    )


def watch_list() -> EntryList:
    """Return the list of presets to watch."""
    return _preset_list(_alpha_list)


def _menu_key(preset: str) -> tuple[bool, bool, str]:
    """Return what presets are sorted by: games, then the published cases, then boards for exact solutions."""
    return preset in ("duel", "skirmish"), preset.startswith("case"), preset


def _preset_list(following: Callable[[str], EntryList]) -> EntryList:
    def entry(name: str) -> Entry:
        config = load_config(name)
        return Entry(f"{config.title} ({name})", config.description, lambda: following(name))

    names = sorted(preset_names(), key=_menu_key)
    return EntryList("Which game?", tuple(map(entry, names)))


def _opponent_list(config: str) -> EntryList:
    agents = [
        Entry(f"{one.name.capitalize()}: {one.agent}", one.summary, _side_opener(config, one.agent))
        for one in DIFFICULTIES
    ]
    person = Entry("Another person", "at this screen", lambda: PlayGame(config, (None, None)))
    return EntryList("Against whom?", (*agents, person))


def _side_opener(config: str, agent: str) -> Callable[[], EntryList]:
    def agents(side: Side) -> tuple[str | None, str | None]:
        return (None, agent) if side == "alpha" else (agent, None)

    def entry(side: Side, note: str) -> Entry:
        return Entry(side.capitalize(), note, lambda: PlayGame(config, agents(side)))

    notes = "blue", "gold"
    return lambda: EntryList("Which side do you play?", tuple(map(entry, SIDES, notes)))


def _alpha_list(config: str) -> EntryList:
    return _agent_list("Who plays alpha?", lambda alpha: _bravo_list(config, alpha))


def _bravo_list(config: str, alpha: str) -> EntryList:
    return _agent_list("Who plays bravo?", lambda bravo: WatchGame(config, (alpha, bravo)))


def _agent_list(title: str, following: "Callable[[str], EntryList | Choice]") -> EntryList:
    notes = {one.agent: one.summary for one in reversed(DIFFICULTIES)}
    notes |= dict.fromkeys(_OTHER_AGENTS, "")
    return EntryList(title, tuple(Entry(name, note, lambda name=name: following(name)) for name, note in notes.items()))  # type: ignore[misc]


def _file_list(folder: Path) -> EntryList:
    """Return the newest files of a folder."""
    found = sorted(_files(folder), reverse=True)[:MAX_FILES]
    entries = [
        Entry(path.name, time.strftime("%d %B %Y, %H:%M", time.localtime(when)), _opener(path)) for when, path in found
    ]
    nothing = Entry("No game has been saved yet", str(folder), lambda: _file_list(folder))
    return EntryList("Which game?", tuple(entries) or (nothing,))


def _opener(path: Path) -> Callable[[], Choice]:
    return lambda: OpenReplay(path)


def _files(folder: Path) -> Iterable[tuple[float, Path]]:
    for path in folder.glob("*.jsonl*"):
        if path.is_file():
            yield path.stat().st_mtime, path
