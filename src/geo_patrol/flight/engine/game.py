"""A game in one record, and the compiled functions that Python code calls: each takes an array of one GAME.

An array is quicker to pass to compiled code than a record.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.engine.observe import INFO, OBSERVATION, write_observation
from geo_patrol.flight.engine.scoring import score_of
from geo_patrol.flight.engine.state import (
    COAST,
    FLIGHT,
    ORDERS,
    PARAMS,
    TURN,
    EndingCode,
    Mode,
    make_params,
    record_dtype,
)
from geo_patrol.flight.engine.turn import fly_turn, is_on_map, is_success, plot, write_legal
from geo_patrol.flight.mission import MAX_TURNS, Mission
from geo_patrol.jit import jit

GAME = record_dtype(
    [  # in the order of their alignment, which nested records do not keep
        ("log", TURN, (MAX_TURNS,)),
        ("workspace", TURN),  # overwritten by every call
        ("info", INFO),
        ("num_legal", "i8"),
        ("legal_orders", "i8", (ORDERS,)),  # the first num_legal entries
        ("params", PARAMS),
        ("observation", OBSERVATION),
        ("flight", FLIGHT),
        ("mask", "i1", (ORDERS,)),
    ]
)
"""A mission, the state of a flight, its log, and output buffers."""


def new_game(mission: Mission) -> NDArray[Any]:
    """Return an array of one GAME, with the ship on the pad of its home planet."""
    games = np.zeros(1, GAME)
    games["params"] = params = make_params(mission)
    flight = games[0]["flight"]
    flight["column"], flight["row"] = params["position"][params["home"]]
    flight["mode"], flight["site"], flight["ending"] = Mode.ON_PAD, params["home"], EndingCode.UNDER_WAY
    return games


@jit
def step(games: Any, order: int) -> None:
    """Fly a turn of a spaceship, or the whole flight of a probe, after its mask has been written.

    An order that the mask excludes is replaced: by coasting or staying where that is legal, else by the first legal one.
    """
    game = games[0]
    params, flight = game.params, game.flight
    game.info.illegal_orders = not game.mask[order]
    if not game.mask[order]:
        order = game.legal_orders[0]
    while True:
        fly_turn(params, flight, order, game.log[flight.turn], game.workspace)
        if not params.is_probe or flight.ending != EndingCode.UNDER_WAY:
            return
        order = COAST


@jit
def legal_mask(games: Any, staying: bool) -> NDArray[np.int8]:
    """Write and return the mask of the legal orders; ``staying``: only of those that do not lead off the map."""
    game = games[0]
    write_legal(game.params, game.flight, game.workspace, game.mask)
    for order in range(ORDERS):
        if staying and game.mask[order]:
            plot(game.params, game.flight, order, game.workspace)
            game.mask[order] = is_on_map(game.params, game.workspace.end[0], game.workspace.end[1])
    return game.mask.copy()


@jit
def write_outputs(games: Any) -> None:
    """Write action mask, legal orders, observation and info; a flight that is over may only coast."""
    game = games[0]
    params, flight = game.params, game.flight
    if write_legal(params, flight, game.workspace, game.mask) == 0:
        game.mask[COAST] = 1
    count = 0
    for order in range(ORDERS):
        if game.mask[order]:
            game.legal_orders[count] = order
            count += 1
    game.num_legal = count
    write_observation(params, flight, game.observation)
    info = game.info
    info.score, info.turn = score_of(flight), flight.turn
    info.ending, info.success = flight.ending, is_success(params, flight)
