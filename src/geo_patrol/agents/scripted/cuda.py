"""Scripted agents on a GPU: kernels that call the scripts' own functions, with a thread for each game. Needs the extra ``[cuda]``.

A script plays the games of an environment in which it is the opponent. It reads what it observes and its random key, and writes its
orders into the record of the episode. They are those that the same agent gives on a processor, with two exceptions: ``mixed``
chooses its tactics by another stream, and ``scripted`` takes exponentials, whose last bits differ from a processor's.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch

from geo_patrol.agents.scripted import raiders, script, scripted
from geo_patrol.agents.scripted.paths import (
    MOVES,
    PathCosts,
    Paths,
    end_of_sectors,
    find_table,
    write_steps,
)
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import cuda as kernels
from geo_patrol.engine import state, steps
from geo_patrol.engine.cuda import cuda
from geo_patrol.engine.rng import stream_number
from geo_patrol.game.cuda import CudaGames, DeviceRecords, for_kernels, upload_arrays

_SIDES, _SATELLITES = state.NUM_SIDES, state.SATELLITES


def scripted_kernel() -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel of ``scripted``, and arguments of the types that it takes; see ``DeviceScript``."""

    def act(
        index: int,
        episodes: state.Records,
        observations: Any,
        masks: Any,
        style: scripted.ScriptedStyle,
        games: state.Records,
        rules: state.Records,
        strike: Any,
        threat: Any,
        home: Any,
        moves: Any,
        prices: Any,
    ) -> None:
        i = cuda.grid(1)
        if i >= len(episodes) or episodes[i].is_over != 0 or episodes[i].opponent != index:
            return
        plans = scripted.Plans(
            strike[i],
            threat[i],
            home[i],
            moves,
            prices[i],
            cuda.local.array(_SATELLITES, numba.int64),
            cuda.local.array(MOVES, numba.int64),
            cuda.local.array(MOVES, numba.float64),
        )
        fight = scripted.Fight(
            cuda.local.array(_SATELLITES, numba.float64),
            cuda.local.array(_SATELLITES, numba.int64),
            cuda.local.array(1, numba.int64),
            cuda.local.array(_SATELLITES, numba.float64),
            cuda.local.array(1, numba.float64),
        )
        stream, orders = episodes[i].opponent_stream, episodes[i].opponent_actions
        key = stream_number(stream[0], stream[1])  # which the step takes from the stream
        script.read_rules(observations[i], rules[i])
        scripted.decide_row(observations[i], masks[i], style, key, games[i], rules[i], plans, fight, orders)

    records, paths = (
        (state.records(layout, 1) for layout in (state.GAME, state.RULES)),
        np.zeros((1, 1, 2, 1), np.int32),
    )
    board = np.zeros((1, MOVES), np.int64), np.zeros((1, 1), np.int32)
    return act, (0, *_SEEN, scripted.ScriptedStyle(), *records, paths, paths, paths, *board)


def raider_kernel() -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel of raiders and ``turtle``, and arguments of the types that it takes; see ``DeviceScript``."""

    def act(
        index: int,
        episodes: state.Records,
        observations: Any,
        masks: Any,
        tactics: state.Records,
        choices: Any,
        games: state.Records,
        rules: state.Records,
        for_alpha: Paths,
        for_bravo: Paths,
        occupancy: Any,
        nearness: Any,
    ) -> None:
        i = cuda.grid(1)
        if i >= len(episodes) or episodes[i].is_over != 0 or episodes[i].opponent != index:
            return
        workspace = state.Workspace(
            occupancy[i],
            cuda.local.array((_SIDES, _SATELLITES, 2), numba.int64),
            nearness[i],
            cuda.local.array((_SIDES, _SATELLITES, 3), numba.int64),
            cuda.local.array((_SIDES, _SATELLITES), numba.uint64),
            cuda.local.array((_SIDES, _SATELLITES), numba.int64),
        )
        plan = raiders.RaidPlan(cuda.local.array(_SATELLITES, numba.int64), cuda.local.array(MOVES, numba.float64))
        legal = cuda.local.array((_SIDES, _SATELLITES), numba.int32)
        stream, orders = episodes[i].opponent_stream, episodes[i].opponent_actions
        key = stream_number(stream[0], stream[1])  # which the step takes from the stream
        if episodes[i].length == 0:
            choices[i] = int(script.uniform(key, _CHOICE) * len(tactics))
        tactic = tactics[choices[i]]
        paths = for_bravo if episodes[i].seat == state.ALPHA else for_alpha
        raiders.order_row(
            observations[i], masks[i], paths, tactic, key, games[i], rules[i], legal, workspace, plan, orders
        )

    records = (state.records(layout, 1) for layout in (raiders.TACTICS, state.GAME, state.RULES))
    table = Paths(np.zeros((1, 1, 1, 1, 1), np.int16), np.zeros((1, 1, 1, 1, 1), np.int8))
    choices, sectors = np.zeros(1, np.int32), np.zeros((1, 1), np.int32)
    tactics, *buffers = records
    return act, (0, *_SEEN, tactics, choices, *buffers, table, table, sectors, sectors)


_CHOICE = 2
"""The number of a key by which ``mixed`` chooses its tactics, after those by which a raider's HVA gives way."""
_SEEN = (
    steps.NO_EPISODES.records,
    np.zeros((1, 1), np.int16),
    np.zeros((1, state.SATELLITES, state.ORDERS), np.int8),
)


class DeviceScript:
    """A script as an opponent on a GPU.

    Args:
        agent: ``scripted``, ``raider``, ``turtle`` or ``mixed``, with any parameters.
        config: what is played.
        num_games: how many games.
        device: where they are.

    Raises:
        ValueError: the agent is another one, or cannot play this configuration on a GPU.
    """

    def __init__(self, agent: Any, config: GameConfig, num_games: int, device: torch.device) -> None:
        board = config.board
        end = end_of_sectors(board.outer_ring)
        games, rules = (
            DeviceRecords.upload(state.records(layout, num_games), device).array for layout in (state.GAME, state.RULES)
        )

        def scratch(*shape: int) -> Any:
            return for_kernels(torch.zeros((num_games, *shape), dtype=torch.int32, device=device))

        if type(agent) is scripted.ScriptedAgent:
            moves = np.zeros((end, MOVES), np.int64)
            write_steps(board.inner_ring, board.outer_ring, moves)
            horizons = scripted.STRIKE_TURNS, scripted.THREAT_TURNS, scripted.HOME_TURNS
            paths = (scratch(turns, 2, end) for turns in horizons)
            on_device = for_kernels(torch.from_numpy(moves).to(device))
            self._kernel = kernels.compiled(scripted_kernel)
            self._arguments: tuple[Any, ...] = (agent.style, games, rules, *paths, on_device, scratch(end))
        elif type(agent) in (raiders.TurtleAgent, raiders.RaiderAgent, raiders.SteadyRaiderAgent, raiders.MixedAgent):
            sectors = 1 << (board.outer_ring + 2)  # as ``state.make_workspace`` allocates
            tactics = raiders.all_tactics() if type(agent) is raiders.MixedAgent else agent.tactics
            tables = [upload_arrays(find_table(costs), device) for costs in _path_costs(config)]
            self._kernel = kernels.compiled(raider_kernel)
            of_tactics = DeviceRecords.upload(tactics, device).array, scratch()
            self._arguments = (*of_tactics, games, rules, *tables, scratch(sectors), scratch(sectors))
        else:
            raise ValueError("it is none of the scripts that have a kernel")

    def act(self, index: int, games: CudaGames, observations: torch.Tensor, masks: torch.Tensor) -> None:
        """Write the orders of the games against the opponent with an index into the records of their episodes.

        Args:
            index: the opponent's.
            games: all games, with their episodes.
            observations: (n, size) int16, what the opponents' sides observe in "tokens".
            masks: (n, 11, 28) int8, their legal orders.
        """
        seen = for_kernels(observations), for_kernels(masks)
        games.launch(self._kernel, index, games.episodes.array, *seen, *self._arguments)


def _path_costs(config: GameConfig) -> tuple[PathCosts, PathCosts]:
    """Return the path costs of every game as alpha and as bravo see them: the own ones first.

    Raises:
        ValueError: they differ from game to game, for which there would have to be a table of each.
    """
    found = set()
    for _, scenario in config.scenarios():
        sides = [scenario.alpha, scenario.alpha if scenario.mirror else scenario.bravo]
        found.add(tuple(tuple(getattr(side.costs, name) for name in _PATH_COSTS) for side in sides))
    alpha, bravo = next(iter(found))
    if len(found) > 1 or not all(isinstance(cost, int) for cost in (*alpha, *bravo)):
        raise ValueError("its tables of paths need costs of moves that are the same in all games")
    rings = config.board.inner_ring, config.board.outer_ring
    return (
        PathCosts(*rings, (alpha[:-1], bravo[:-1]), (alpha[-1], bravo[-1])),
        PathCosts(*rings, (bravo[:-1], alpha[:-1]), (bravo[-1], alpha[-1])),
    )


_PATH_COSTS = ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")
