"""``geo-patrol fly``: fly a mission of Planetary Probe or Spaceship Commander, or let the solver fly it."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from geo_patrol.cli.options import NoBrowser, OverridesOption, Port, named_file, print_changes
from geo_patrol.cli.output import InputError, bad_input, check_outputs, output_file, progress_bar

if TYPE_CHECKING:
    from geo_patrol.drawing.shapes import Drawing
    from geo_patrol.flight import Flight, Mission, Solution

_SUFFIXES = (".svg", ".pdf", ".png")
_TEXT_HELP = """\
Orders: "launch D13", "coast", "stay", "engines down-right" or "down-right".
  u, undo     take the last turn back
  r, again    start again
  i, hint     the order that the solver finds best
  b, board    the map
  o, orders   the log of the flight and its points
  q, quit     leave
  ?, help     this help"""

_Mission: TypeAlias = Annotated[
    str, typer.Option("--mission", "-m", metavar="NAME|PATH", help='A mission\'s name, a TOML file, or "random".')
]
_Save: TypeAlias = Annotated[
    str | None,
    typer.Option("--save", parser=named_file, metavar="FILE", help="Write the flight as .svg, .pdf, .png or .txt."),
]
_BlankMap: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--blank-map", parser=named_file, metavar="FILE", help="Write the empty map, to print: .svg, .pdf or .png."
    ),
]
_ScoreSheet: TypeAlias = Annotated[
    str | None,
    typer.Option("--score-sheet", parser=named_file, metavar="FILE", help="Write an empty score sheet, to print."),
]


def fly(
    mission: _Mission = "sample",
    overrides: OverridesOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of a random mission; random by default.")
    ] = None,
    game: Annotated[
        str,
        typer.Option("--game", metavar="GAME", help="Game of a random mission: spaceship_commander, planetary_probe."),
    ] = "spaceship_commander",
    list_missions: Annotated[bool, typer.Option("--list", "-l", help="List the missions and exit.")] = False,
    solve: Annotated[bool, typer.Option("--solve", help="Print the best flight, and whether it is proved.")] = False,
    max_states: Annotated[
        int | None,
        typer.Option("--max-states", metavar="N", help="Flights that the solver keeps for each turn: more prove more."),
    ] = None,
    orders: Annotated[
        str | None, typer.Option("--orders", "-o", metavar="TEXT", help='Fly "launch D13; coast; engines down".')
    ] = None,
    text: Annotated[bool, typer.Option("--text", "-t", help="Play in the terminal instead of the browser.")] = False,
    save: _Save = None,
    blank_map: _BlankMap = None,
    score_sheet: _ScoreSheet = None,
    no_browser: NoBrowser = False,
    port: Port = 0,
) -> None:
    """Fly NASA's paper games on a grid with gravity: in the browser, as text, or by the solver.

    Without --solve, --orders or --text the page of the mission opens. --blank-map and --score-sheet alone only write their
    files.
    """
    if list_missions:
        print_missions()
        return
    flags = (("--solve", solve), ("--orders", orders is not None), ("--text", text))
    modes = [name for name, is_set in flags if is_set]
    if len(modes) > 1:
        raise InputError(f"{' and '.join(modes)} exclude each other")
    if max_states is not None and not solve:
        raise InputError("--max-states is for --solve")
    _check_suffix(save, (*_SUFFIXES, ".txt"))
    for sheet in (blank_map, score_sheet):
        _check_suffix(sheet, _SUFFIXES)
    check_outputs({"--save": save, "--blank-map": blank_map, "--score-sheet": score_sheet})
    if save and not modes:
        raise InputError("--save needs --solve, --orders or --text")
    loaded = _load(mission, overrides, seed, game)
    _write_sheets(loaded, blank_map, score_sheet)
    if modes:
        with output_file(save) if save else nullcontext() as stream:  # opened before the work: it may not be writable
            flight = _fly(loaded, solve, max_states, orders)
            if stream is not None and save:
                stream.buffer.write(_encode_flight(flight, save))
    elif not (blank_map or score_sheet):
        _open_page(loaded, has_browser=not no_browser, port=port)


def _check_suffix(target: str | None, suffixes: tuple[str, ...]) -> None:
    if target is not None and Path(target).suffix.lower() not in suffixes:
        raise InputError(f"{target} must end in {' or '.join(suffixes)}")


def _load(mission: str, overrides: list[str] | None, seed: int | None, game: str) -> "Mission":
    import numpy as np

    from geo_patrol.flight import load_mission, random_mission
    from geo_patrol.flight.mission import list_changes

    with bad_input():
        if mission != "random" and seed is not None:
            raise InputError("--seed is for --mission random; other missions are not random")
        if seed is not None and seed < 0:
            raise InputError(f"--seed must be a non-negative integer, got {seed}")
        source = random_mission(np.random.default_rng(seed), game=game) if mission == "random" else mission  # type: ignore[arg-type]
        loaded = load_mission(source, overrides)
        print_changes(list_changes(load_mission(source), loaded, overrides))
    return loaded


def _fly(mission: "Mission", solve: bool, max_states: int | None, orders: str | None) -> "Flight":
    """Let the solver fly, or the orders, or else the user in the terminal; print the flight and return it."""
    from geo_patrol.flight import Flight

    if solve:
        solution = _solve(mission, max_states)
        print_solution(solution)
        return solution.flight
    if orders is not None:
        flight = Flight(mission)
        with bad_input():
            flight.fly_all(order.strip() for order in orders.split(";") if order.strip())
    else:
        flight = play_text(Flight(mission))
    print(flight)
    return flight


def _open_page(mission: "Mission", *, has_browser: bool, port: int) -> None:
    """Let the user fly in the browser, with hints."""
    from geo_patrol.cli.compiling import compile_flight_games
    from geo_patrol.cli.serve import check_pages, open_page

    check_pages("; at the terminal: geo-patrol fly --text")
    from geo_patrol.web.flights import flight_page

    open_page(
        lambda _server: flight_page(mission), [("flights", compile_flight_games)], has_browser=has_browser, port=port
    )


def _solve(mission: "Mission", max_states: int | None) -> "Solution":
    """Solve a mission, with a progress bar on standard error if it is a terminal."""
    from geo_patrol.flight import solve
    from geo_patrol.flight.solver import MAX_STATES

    if max_states is None:
        max_states = MAX_STATES
    with progress_bar("searching") as progress, bad_input():
        return solve(mission, max_states=max_states, progress=lambda turn, turns: progress(turn - 1, turns))


def print_solution(solution: "Solution") -> None:
    """Print the best flight, whether it is proved or bounded, and the best one that is known if that is better."""
    from geo_patrol.flight import rank
    from geo_patrol.flight.best import best_known

    flight = solution.flight
    known = best_known(flight.mission)
    print(flight)
    print()
    if not flight.is_success:
        result = "no flight fulfils this mission" if solution.is_proved else "no flight that fulfils it was found"
        print(f"{solution.status.capitalize()}: {result}; this one has the most points, {solution.score}.")
    elif solution.is_proved:
        turns = f" in {flight.turn} turns" if flight.mission.race else ""
        print(f"Proved: no flight scores better than {solution.score} points{turns}.")
    elif flight.mission.race:
        best = f"{flight.turn} turns, {solution.score} points"
        print(f"Best found: {best}; no flight wins in under {solution.bound_turns}.")
    else:
        print(f"Best found: {solution.score} points; no flight has more than {solution.bound}.")
    if known is not None and known.rank(flight.mission) > rank(flight):
        print(f"A flight with {known.reached(flight.mission)} is known.")
    print(f"{solution.states:,} flights expanded in {solution.seconds:.2f} s.")


def play_text(flight: "Flight") -> "Flight":
    """Let the user fly by typing orders until they quit or standard input ends; return the flight."""
    from geo_patrol.base.errors import OrderError
    from geo_patrol.flight.best import best_known
    from geo_patrol.flight.flight import heading_text, map_text, result_text
    from geo_patrol.play.text_game import read_command

    best = best_known(flight.mission)

    print(f"{heading_text(flight)}\n\n{map_text(flight)}\n\n{_TEXT_HELP}")
    while True:
        print(result_text(flight, best) if flight.is_over else f"legal: {_legal_text(flight)}")
        prompt = "over" if flight.is_over else f"turn {flight.turn + 1}"
        print(f"{prompt} > ", end="", flush=True)
        line = sys.stdin.readline()
        words = " ".join(line.lower().split())
        if not line or read_command(words) == "quit":
            print()
            return flight
        try:
            flight = _execute(flight, words)
        except OrderError as error:
            print(error)


def _execute(flight: "Flight", words: str) -> "Flight":
    """Execute a line of input, print its result, and return the flight after it."""
    from geo_patrol.flight import Flight
    from geo_patrol.flight.flight import log_text, map_text, score_text
    from geo_patrol.play.text_game import read_command

    match read_command(words):
        case "help":
            print(_TEXT_HELP)
        case "board":
            print(map_text(flight))
        case "orders":
            print(f"{log_text(flight)}\n\n{score_text(flight)}")
        case "undo" | "again" as command:
            flight = Flight.from_orders(flight.mission, flight.order_codes[:-1] if command == "undo" else [])
            print(map_text(flight))
        case "hint":
            print(_hint(flight))
        case _ if words:
            before = flight.turn
            flight.fly(words)
            heading, *lines = log_text(flight).splitlines()
            print("\n".join([heading, *lines[before:]]))
    return flight


def _hint(flight: "Flight") -> str:
    """Return the next order of the best flight that goes on from here."""
    from geo_patrol.flight.best import best_known
    from geo_patrol.flight.solver import QUICK_STATES, rank, solve

    if flight.is_over:
        return "The flight is over; undo takes turns back."
    solution, best = solve(flight, max_states=QUICK_STATES), best_known(flight.mission)
    text = solution.summary
    if not flight.turn and best is not None and best.rank(flight.mission) > rank(solution.flight):
        text += f"; a flight with {best.reached(flight.mission)} is known"
    return f"{flight.order_text(solution.flight.order_codes[flight.turn])}: {text}"


def _legal_text(flight: "Flight") -> str:
    orders = flight.legal_orders()
    launches = [order.removeprefix("launch ") for order in orders if order.startswith("launch")]
    others = [order.removeprefix("engines ") for order in orders if not order.startswith("launch")]
    return ", ".join([*others, f"launch {' '.join(launches)}"] if launches else others)


def print_missions() -> None:
    """Print the missions of the package."""
    from geo_patrol.flight import load_mission, mission_names
    from geo_patrol.flight.flight import goals_text

    for name in mission_names():
        mission = load_mission(name)
        print(f"{name:<14} {mission.game_title}, {mission.turns} turns: {mission.title}")
        print(f"{'':<14} {mission.description}")
        goals = goals_text(mission)
        if goals:
            print(f"{'':<14} {goals}")


def _write_sheets(mission: "Mission", blank_map: str | None, score_sheet: str | None) -> None:
    if blank_map is None and score_sheet is None:
        return
    from geo_patrol.flight.pictures import scene

    for target, draw in ((blank_map, scene.blank_map), (score_sheet, scene.score_sheet)):
        if target is not None:
            with output_file(target) as stream:
                stream.buffer.write(_encode_drawing(draw(mission), target))


def _encode_flight(flight: "Flight", target: str) -> bytes:
    """Return a flight in the file format of a file's suffix."""
    from geo_patrol.flight.pictures.scene import flight_drawing

    if Path(target).suffix.lower() == ".txt":
        return f"{flight}\n".encode()
    return _encode_drawing(flight_drawing(flight), target)


def _encode_drawing(drawing: "Drawing", target: str) -> bytes:
    if Path(target).suffix.lower() == ".pdf":
        from geo_patrol.drawing.figures import pdf_bytes

        return pdf_bytes([drawing])
    if Path(target).suffix.lower() == ".svg":
        from geo_patrol.drawing.sheet import PAPERS, fit
        from geo_patrol.drawing.svg import svg_text

        return svg_text(drawing, millimeters=fit(drawing, PAPERS["a4"])).encode()
    from geo_patrol.drawing.painter import png_bytes

    return png_bytes(drawing)
