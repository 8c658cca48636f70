"""``geo-patrol watch``: watch two agents play, in a window."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.errors import bad_input, leave_at_once, plain_errors
from geo_patrol.cli.loading import load_rules, quick
from geo_patrol.cli.options import ANY_AGENT, ConfigOption, OverridesOption

if TYPE_CHECKING:
    from geo_patrol.agents import Agent
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.sessions.live import LiveGame


@plain_errors
def watch(
    alpha: Annotated[str, typer.Argument(metavar="ALPHA", help=f"Agent: {ANY_AGENT}.")],
    bravo: Annotated[str, typer.Argument(metavar="BRAVO", help="Its opponent, perhaps of the same kind.")],
    config: ConfigOption = "geo_patrol",
    overrides: OverridesOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Repeats a game exactly; a fresh one by default.")
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FOLDER|FILE", help="Keep the game as a replay file, a new one.")
    ] = None,
) -> None:
    """Watch two agents play a game, phase by phase, and go back and forth in it.

    Space pauses, the arrow keys step, E jumps to the next engagement, ? shows all keys.
    """
    agents = seat(alpha), seat(bravo)
    live = begin_game(config, overrides, agents, seed)
    from geo_patrol.rendering.watch import watch as show

    if save is None:
        show(live.timeline, live.advance, live.title)
        return
    from geo_patrol.cli.saving import Keeper

    with Keeper.begin(save, live) as keeper:
        show(live.timeline, live.advance, live.title)
    if keeper.path.exists():
        print(f"The game is saved. Look at it with: geo-patrol replay {shlex.quote(str(keeper.path))}")


def seat(name: str) -> "Agent":
    """Make an agent by its name.

    Raises:
        InputError: there is none of that name.
    """
    with bad_input(), leave_at_once():  # loads what is compiled
        from geo_patrol.agents import make_agent

        return make_agent(name)


def begin_game(
    config: "str | GameConfig",
    overrides: list[str] | None,
    agents: "tuple[Agent | None, Agent | None]",
    seed: int | None,
    *,
    has_window: bool = True,
    instead: str = "geo-patrol match --show prints a game",
) -> "LiveGame":
    """Begin a game; what its agents and its rules need is compiled before a window opens.

    Args:
        config: a preset's name, the path of a TOML file, or a finished configuration.
        overrides: single values of it.
        agents: who orders for alpha and for bravo; None is a person.
        seed: of the game; None takes one from the operating system.
        has_window: whether it is for a window, which needs a screen.
        instead: what to do without a screen.

    Raises:
        InputError: an argument is wrong.
        NoScreenError: there is no screen.
    """
    with bad_input(), leave_at_once():  # loads what is compiled
        from geo_patrol.config.presets import load_config
        from geo_patrol.sessions.live import LiveGame

        settled = load_config(config, overrides)
        live = LiveGame(settled, agents, seed)
    if has_window:
        _check_screen(instead)
    with leave_at_once():
        _warm_up(settled, agents)
        return live


def _check_screen(instead: str) -> None:
    from geo_patrol.rendering.screen import NoScreenError, init_display

    try:
        init_display()
    except NoScreenError as error:
        raise NoScreenError(f"{error}; or without one: {instead}") from None


def _warm_up(config: "GameConfig", agents: "tuple[Agent | None, Agent | None]") -> None:
    from geo_patrol.sessions.live import LiveGame

    load_rules()
    alpha, bravo = (quick(agent) if agent and _is_built_in(agent) else None for agent in agents)
    trial = LiveGame(config, (alpha, bravo), seed=0)
    trial.advance()
    trial.advance()


def _is_built_in(agent: "Agent") -> bool:
    """Tell whether an agent comes with the package: others may remember whom they played, or take their time."""
    return type(agent).__module__.partition(".")[0] == "geo_patrol"
