"""All contestants by name."""

from benchmarks.contestants import cartpoles, memory, ours, pettingzoo_games, pgx_games
from benchmarks.contestants.base import Contestant

CONTESTANTS: dict[str, Contestant] = {
    contestant.name: contestant
    for module in (ours, cartpoles, pgx_games, pettingzoo_games, memory)
    for contestant in module.CONTESTANTS
}
