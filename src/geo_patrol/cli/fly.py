"""``geo-patrol fly``: fly a mission of Planetary Probe or Spaceship Commander, or let the solver fly it."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.errors import InputError, bad_input, leave_at_once, plain_errors
from geo_patrol.cli.output import output_file

if TYPE_CHECKING:
    from geo_patrol.flight import Flight, Mission, Solution
    from geo_patrol.flight.pictures.drawing import Drawing

_SUFFIXES = (".svg", ".png", ".txt")
_TEXT_HELP = 'Orders: "launch D13", "coast", "stay", "engines down-right" or "down-right"; back, again, map, log, quit.'


@plain_errors
def fly(
    mission: Annotated[
        str,
        typer.Option("--mission", "-m", metavar="NAME|PATH", help='A mission\'s name, a TOML file, or "random".'),
    ] = "sample",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value of it; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Which random mission; a fresh one by default.")
    ] = None,
    game: Annotated[
        str, typer.Option("--game", metavar="GAME", help="Of a random mission: spaceship_commander, planetary_probe.")
    ] = "spaceship_commander",
    list_missions: Annotated[bool, typer.Option("--list", "-l", help="List the missions and leave.")] = False,
    solve: Annotated[bool, typer.Option("--solve", help="Print the best flight, and whether it is proved.")] = False,
    max_states: Annotated[
        int | None,
        typer.Option("--max-states", metavar="N", help="Flights the solver follows at a time: more prove more."),
    ] = None,
    orders: Annotated[
        str | None, typer.Option("--orders", "-o", metavar="TEXT", help='Fly "launch D13; coast; engines down".')
    ] = None,
    text: Annotated[bool, typer.Option("--text", "-t", help="Play in the terminal instead of a window.")] = False,
    window: Annotated[
        bool, typer.Option("--window", "-w", help="Show a flight of --solve or --orders in a window.")
    ] = False,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write the flight as .svg, .png or .txt.")
    ] = None,
    blank_map: Annotated[
        str | None, typer.Option("--blank-map", metavar="FILE", help="Write the empty map, to print: .svg or .png.")
    ] = None,
    score_sheet: Annotated[
        str | None, typer.Option("--score-sheet", metavar="FILE", help="Write an empty score sheet, to print.")
    ] = None,
) -> None:
    """Fly NASA's paper games on a grid with gravity: in a window, as text, or by the solver.

    Without --solve, --orders or --text a window opens. --blank-map and --score-sheet alone only write their files.
    """
    if list_missions:
        print_missions()
        return
    _check_arguments(solve, orders, text, window, max_states)
    for target, suffixes in ((save, _SUFFIXES), (blank_map, _SUFFIXES[:2]), (score_sheet, _SUFFIXES[:2])):
        _check_suffix(target, suffixes)
    settled = _load(mission, overrides, seed, game)
    _write_sheets(settled, blank_map, score_sheet)
    if (blank_map or score_sheet) and not (solve or orders or text or save or window):
        return
    with output_file(save) if save is not None else nullcontext() as stream:  # known to be writable before the work
        flight = _fly(settled, solve, max_states, orders, text, window)
        if stream is not None and save is not None:
            stream.buffer.write(_picture(flight, save))


def _check_arguments(solve: bool, orders: str | None, text: bool, window: bool, max_states: int | None) -> None:
    chosen = [name for name, given in (("--solve", solve), ("--orders", orders is not None), ("--text", text)) if given]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)}: give one of them")
    if text and window:
        raise InputError("--text and --window: give one of them")
    if max_states is not None and not solve:
        raise InputError("--max-states is for --solve")


def _check_suffix(target: str | None, suffixes: tuple[str, ...]) -> None:
    if target is not None and Path(target).suffix.lower() not in suffixes:
        raise InputError(f"{target} cannot be written: give a file that ends in {' or '.join(suffixes)}")


def _load(mission: str, overrides: list[str] | None, seed: int | None, game: str) -> "Mission":
    import numpy as np

    from geo_patrol.flight import load_mission, random_mission

    with bad_input():
        if mission != "random":
            if seed is not None:
                raise InputError("--seed is for --mission random; other missions have no chance in them")
            return load_mission(mission, overrides)
        if seed is not None and seed < 0:
            raise InputError(f"--seed {seed}: give a whole number from 0")
        return load_mission(random_mission(np.random.default_rng(seed), game=game), overrides)  # type: ignore[arg-type]


def _fly(
    mission: "Mission", solve: bool, max_states: int | None, orders: str | None, text: bool, window: bool
) -> "Flight":
    from geo_patrol.flight import Flight

    if solve:
        solution = _solve(mission, max_states)
        print_solution(solution)
        return _show(solution.flight) if window else solution.flight
    if orders is not None:
        flight = Flight(mission)
        with bad_input():
            flight.fly_all(order for order in orders.split(";") if order.strip())
        print(flight)
        return _show(flight) if window else flight
    flight = play_text(Flight(mission)) if text else _play_window(Flight(mission))
    print(flight)
    return flight


def _solve(mission: "Mission", max_states: int | None) -> "Solution":
    """Solve a mission, with a progress bar on standard error if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    from geo_patrol.flight import solve
    from geo_patrol.flight.solver import MAX_STATES

    console = Console(stderr=True)
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        bad_input(),
        leave_at_once(),
    ):
        task = bar.add_task("searching", total=None)
        return solve(
            mission,
            max_states=MAX_STATES if max_states is None else max_states,
            progress=lambda turn, turns: bar.update(task, completed=turn - 1, total=turns),
        )


def print_solution(solution: "Solution") -> None:
    """Print the best flight as the paper log does, and how good it is known to be."""
    flight = solution.flight
    print(flight)
    print()
    if not flight.is_success:
        known = "no flight fulfils this mission" if solution.is_proved else "no flight that fulfils it was found"
        print(f"{solution.status.capitalize()}: {known}; this one has the most points, {solution.score}.")
    elif solution.is_proved:
        turns = f" in {flight.turn} turns" if flight.mission.race else ""
        print(f"Proved: no flight scores better than {solution.score} points{turns}.")
    elif flight.mission.race:
        print(
            f"Best found: {flight.turn} turns, {solution.score} points; no flight wins in under {solution.bound_turns}."
        )
    else:
        print(f"Best found: {solution.score} points; no flight has more than {solution.bound}.")
    print(f"{solution.states:,} flights followed in {solution.seconds:.2f} s.")


def _show(flight: "Flight") -> "Flight":
    """Show a flight in a window, turn by turn, until the user closes it."""
    return _play_window(flight, replay=True)


def _play_window(flight: "Flight", *, replay: bool = False) -> "Flight":
    from geo_patrol.flight import Flight
    from geo_patrol.flight.pictures.window import Player, Window, WindowError

    window = Window(fps=2.0)
    try:
        if replay:
            partial = Flight(flight.mission)
            for order in flight.order_codes:
                partial.fly(order)
                window.show(partial)
        return Player(flight, window).play()
    except WindowError as error:
        raise InputError(str(error)) from None
    finally:
        window.close()


def play_text(flight: "Flight") -> "Flight":
    """Let a user fly by typing orders; return the flight when they leave, or standard input ends."""
    from geo_patrol.errors import OrderError
    from geo_patrol.flight.text import heading_text, map_text, result_text

    print(f"{heading_text(flight)}\n\n{map_text(flight)}\n\n{_TEXT_HELP}")
    while True:
        print(result_text(flight) if flight.is_over else f"legal: {_legal_text(flight)}")
        prompt = "over" if flight.is_over else f"turn {flight.turn + 1}"
        print(f"{prompt} > ", end="", flush=True)
        line = sys.stdin.readline()
        words = " ".join(line.lower().split())
        if not line or words in ("quit", "q", "exit"):
            print()
            return flight
        try:
            flight = _obey(flight, words)
        except OrderError as error:
            print(error)


def _obey(flight: "Flight", words: str) -> "Flight":
    """Carry out what was typed, and print what it has changed."""
    from geo_patrol.flight import Flight
    from geo_patrol.flight.text import log_text, map_text, score_text

    match words:
        case "":
            pass
        case "help":
            print(_TEXT_HELP)
        case "map":
            print(map_text(flight))
        case "log":
            print(f"{log_text(flight)}\n\n{score_text(flight)}")
        case "back" | "again":
            flight = Flight.from_orders(flight.mission, flight.order_codes[:-1] if words == "back" else [])
            print(map_text(flight))
        case _:
            before = flight.turn
            flight.fly(words)
            heading, *lines = log_text(flight).splitlines()
            print("\n".join([heading, *lines[before:]]))
    return flight


def _legal_text(flight: "Flight") -> str:
    orders = flight.legal_orders()
    launches = [order.removeprefix("launch ") for order in orders if order.startswith("launch")]
    others = [order.removeprefix("engines ") for order in orders if not order.startswith("launch")]
    return ", ".join([*others, f"launch {' '.join(launches)}"] if launches else others)


def print_missions() -> None:
    """Print the missions of the package."""
    from geo_patrol.flight import load_mission, mission_names
    from geo_patrol.flight.text import goals_text

    for name in mission_names():
        mission = load_mission(name)
        game = "Planetary Probe" if mission.is_probe else "Spaceship Commander"
        print(f"{name:<14} {game}, {mission.turns} turns: {mission.title}")
        print(f"{'':<14} {mission.description}")
        goals = goals_text(mission)
        if goals:
            print(f"{'':<14} {goals}")


def _write_sheets(mission: "Mission", blank_map: str | None, score_sheet: str | None) -> None:
    if blank_map is None and score_sheet is None:
        return
    from geo_patrol.flight.pictures import sheets

    for target, draw in ((blank_map, sheets.blank_map), (score_sheet, sheets.score_sheet)):
        if target is not None:
            with output_file(target) as stream:
                stream.buffer.write(_drawn(draw(mission), target))


def _picture(flight: "Flight", target: str) -> bytes:
    """Return a flight in the form that a file's name asks for."""
    from geo_patrol.flight.pictures.scene import flight_drawing

    if Path(target).suffix.lower() == ".txt":
        return f"{flight}\n".encode()
    return _drawn(flight_drawing(flight), target)


def _drawn(drawing: "Drawing", target: str) -> bytes:
    if Path(target).suffix.lower() == ".svg":
        from geo_patrol.flight.pictures.svg import fit_on_a4, svg_text

        return svg_text(drawing, millimetres=fit_on_a4(drawing)).encode()
    from geo_patrol.flight.pictures.paint import png_bytes

    return png_bytes(drawing)
