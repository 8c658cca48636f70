"""Starting games for the commands that watch, play or resume one."""

from typing import TYPE_CHECKING

from geo_patrol.cli.errors import bad_input, leave_at_once
from geo_patrol.cli.loading import load_rules, quick

if TYPE_CHECKING:
    from geo_patrol.agents import Agent
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.sessions.live import LiveGame


def load_agent(name: str) -> "Agent":
    """Create the agent of a name.

    Raises:
        InputError: no agent has that name.
    """
    with bad_input(), leave_at_once():  # loads compiled code
        from geo_patrol.agents import make_agent

        return make_agent(name)


def start_game(
    config: "str | GameConfig",
    overrides: list[str] | None,
    agents: "tuple[Agent | None, Agent | None]",
    seed: int | None,
    *,
    has_window: bool = True,
    alternative: str = "geo-patrol match --show prints a game",
) -> "LiveGame":
    """Start a game, after compiling what its agents and its rules need.

    Args:
        config: the name of a preset, the path of a TOML file, or a finished configuration.
        overrides: single values that replace those of ``config``.
        agents: the agents of alpha and bravo; None for a person.
        seed: the seed of the game; None takes one from the operating system.
        has_window: whether the game is shown in a window, which needs a screen.
        alternative: what to suggest to the user if there is no screen.

    Raises:
        InputError: an argument is wrong.
        NoScreenError: there is no screen.
    """
    with leave_at_once():  # loads compiled code
        from geo_patrol.config.presets import load_config
        from geo_patrol.engine.batch import check_seed
        from geo_patrol.sessions.live import LiveGame

        with bad_input():
            resolved = load_config(config, overrides)
            if seed is not None:
                check_seed(seed)
        live = LiveGame(resolved, agents, seed)
    if has_window:
        _check_screen(alternative)
    with leave_at_once():
        _warm_up(resolved, agents)
        return live


def _check_screen(alternative: str) -> None:
    from geo_patrol.rendering.screen import NoScreenError, init_display

    try:
        init_display()
    except NoScreenError as error:
        raise NoScreenError(f"{error}; or without one: {alternative}") from None


def _warm_up(config: "GameConfig", agents: "tuple[Agent | None, Agent | None]") -> None:
    from geo_patrol.sessions.live import LiveGame

    load_rules()
    alpha, bravo = (quick(agent) if agent and _is_builtin(agent) else None for agent in agents)
    trial = LiveGame(config, (alpha, bravo), seed=0)
    trial.advance()
    trial.advance()


def _is_builtin(agent: "Agent") -> bool:
    """Return whether an agent comes with the package: others may be stateful or slow."""
    return type(agent).__module__.partition(".")[0] == "geo_patrol"
