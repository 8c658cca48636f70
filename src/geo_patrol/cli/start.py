"""The start menu of ``geo-patrol play`` and ``geo-patrol watch``: what is chosen is opened in the same window."""

from typing import TYPE_CHECKING

from geo_patrol.cli.errors import InputError, leave_at_once
from geo_patrol.cli.games import WITHOUT_SCREEN, GameSaver, check_screen, load_agent, start_game, take_seats
from geo_patrol.errors import GeoPatrolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geo_patrol.rendering.screen import Screen
    from geo_patrol.sessions.menu import Choice, Entry, EntryList, OpenReplay, PlayGame, WatchGame


def run_menu(first: "EntryList | None" = None) -> None:
    """Show the start menu, and open what is chosen, until the window is closed.

    Args:
        first: the list to start with; the first one of the menu by default.

    Raises:
        NoScreenError: there is no screen.
    """
    check_screen(WITHOUT_SCREEN)
    with leave_at_once():  # loads what is compiled
        from geo_patrol.rendering.screen import Screen
        from geo_patrol.rendering.start import StartWindow
        from geo_patrol.replays import saved_games_folder
        from geo_patrol.sessions.menu import Menu, start_list

    message, screen = "", Screen("geo_patrol")
    try:
        while screen.is_open:
            menu = Menu(first or start_list(saved_games_folder(), _missions), message)
            message, first = "", None
            choice = StartWindow(screen, menu).run()
            if choice is None:
                return
            try:
                _open(choice, screen)
            except (GeoPatrolError, InputError, OSError) as error:
                message = str(error)
    finally:
        screen.close()


def _missions() -> "Iterator[Entry]":
    """Yield an entry of the menu for each mission of the flight games."""
    from geo_patrol.flight import load_mission, mission_names
    from geo_patrol.sessions.menu import Entry, FlyMission

    for name in mission_names():
        mission = load_mission(name)
        note = f"{mission.game_title}. {mission.description}"
        yield Entry(f"{mission.title} ({name})", note, lambda name=name: FlyMission(name))  # type: ignore[misc]


def _open(choice: "Choice", screen: "Screen") -> None:
    """Open what was chosen; return when it is left."""
    from geo_patrol.sessions import menu

    match choice:
        case menu.PlayGame():
            _play(choice, screen)
        case menu.WatchGame():
            _watch(choice, screen)
        case menu.OpenReplay():
            _open_file(choice, screen)
        case menu.FlyMission(mission):
            from geo_patrol.flight import Flight
            from geo_patrol.flight.pictures.play import fly

            fly(Flight(mission), screen)
        case menu.Learn("geo_patrol"):
            from geo_patrol.rendering.learn import learn

            learn(screen=screen)
        case menu.Learn():
            from geo_patrol.flight.pictures.learn import learn as learn_to_fly

            learn_to_fly(screen)


def _play(choice: "PlayGame", screen: "Screen") -> None:
    from geo_patrol.replays import saved_games_folder

    alpha, bravo = (None if name is None else load_agent(name) for name in choice.agents)
    live = start_game(choice.config, None, (alpha, bravo), None)
    with GameSaver.create(f"{saved_games_folder()}/", live) as saver:
        take_seats(saver, screen)


def _watch(choice: "WatchGame", screen: "Screen") -> None:
    from geo_patrol.rendering.watch import watch

    alpha, bravo = map(load_agent, choice.agents)
    live = start_game(choice.config, None, (alpha, bravo), None)
    watch(live.timeline, live.advance, live.title, screen=screen)


def _open_file(choice: "OpenReplay", screen: "Screen") -> None:
    """Go on with the last game of a file if it was interrupted; otherwise show its games."""
    from geo_patrol.errors import RecordingError
    from geo_patrol.rendering.games import watch_games
    from geo_patrol.replays import ReplayReader
    from geo_patrol.replays.game_list import GameList

    try:
        saver = GameSaver.resume(choice.path, has_window=True)
    except (RecordingError, InputError):
        watch_games(GameList(ReplayReader(choice.path)), screen=screen)
        return
    with saver:
        take_seats(saver, screen)
