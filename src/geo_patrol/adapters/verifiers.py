"""Verifiers: games of a language model against an agent, as an environment to evaluate and train with.

``vf-eval geo-patrol-verifiers`` plays them with any model behind an OpenAI-compatible address; ``GeoPatrolConfig`` has the
settings. A rollout is a game: the rules are its system prompt, and every decision phase of the model is a turn.
"""

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

from geo_patrol.base.errors import optional_import
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import load_config
from geo_patrol.envs.arguments import RewardName
from geo_patrol.play.text_game import OnBadLines, TextGame

with optional_import("verifiers"):
    import openai
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire

__all__ = ["GeoPatrolConfig", "GeoPatrolEnv", "GeoPatrolHarness", "GeoPatrolTaskset"]


class GeoPatrolConfig(vf.TasksetConfig):
    """Which games are played, ``--env.taskset.*``."""

    config: str = "geo_patrol"
    """A preset's name or the path of a TOML file."""
    opponent: str = "scripted"
    """An agent's name, see ``geo_patrol.agents.agent_names``."""
    side: Literal["alpha", "bravo", "both"] = "both"
    """The side of the model; "both" alternates, with every seed played from both sides."""
    games: int = 100
    """Number of games, a task each."""
    seed: int = 0
    """Seed of the first game; the next ones follow."""
    reward: RewardName = "outcome"
    """"outcome" (1, 0 or -1 at the end) or "score" (the final score difference less that at the start)."""
    retries: int = 2
    """How often in a phase an answer may be one that cannot be read, before the phase is forfeited."""
    on_bad_lines: OnBadLines = "error"
    """Whether an answer with a line that cannot be read is refused ("error") or played without the line ("skip")."""


class GeoPatrolData(vf.TaskData):
    """What makes a game."""

    config: dict[str, Any]
    """The content of the configuration, as it was when the tasks were made."""
    opponent: str
    side: Side
    seed: int
    reward: RewardName
    retries: int
    on_bad_lines: OnBadLines

    def start(self) -> TextGame:
        """Return the game at its start."""
        return TextGame(
            self.config,
            self.opponent,
            self.side,
            reward=self.reward,
            seed=self.seed,
            retries=self.retries,
            on_bad_lines=self.on_bad_lines,
        )


class GeoPatrolTask(vf.Task[GeoPatrolData]):
    """One game."""


class GeoPatrolTaskset(vf.Taskset[GeoPatrolTask, GeoPatrolConfig]):
    """The games; each has its prompts in its data, so that they are read without playing."""

    def load(self) -> Iterator[GeoPatrolTask]:
        """Yield the games."""
        config = self.config
        settings = config.model_dump(include={"opponent", "reward", "retries", "on_bad_lines"})
        settings["config"] = load_config(config.config).to_dict()
        for index in range(config.games):
            side: Side = SIDES[index % 2] if config.side == "both" else config.side
            seed = config.seed + (index // 2 if config.side == "both" else index)
            data = GeoPatrolData(prompt="", side=side, seed=seed, name=f"{config.config}#{seed} {side}", **settings)
            game = data.start()
            yield GeoPatrolTask(
                data.model_copy(update={"prompt": game.prompt, "system_prompt": game.system}), config.task
            )


class GeoPatrolHarnessConfig(vf.HarnessConfig):
    """The harness has no settings of its own."""


class GeoPatrolHarness(vf.Harness[GeoPatrolHarnessConfig]):
    """Asks the model for one answer to the conversation so far, without a program of its own: a game needs no tools."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Request one answer at the endpoint, where verifiers records it."""
        del trace, runtime, mcp_urls
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += map(message_to_wire, prompt or [])
        try:
            async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0, timeout=None) as client:
                await client.chat.completions.create(model=ctx.model, messages=messages)
        except openai.APIError as error:  # a limit was reached, or the provider failed: verifiers has recorded which
            return vf.ProgramResult(exit_code=1, stdout="", stderr=str(error))
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class GeoPatrolEnvConfig(vf.EnvConfig):
    """The model under evaluation or training, ``--env.player.*``."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """It needs no container, as it can only answer: nothing that it writes is executed."""


class GeoPatrolEnv(vf.Env[GeoPatrolEnvConfig]):
    """Plays a game with the model.

    The trace gets the reward under the name of its kind, and as metrics: outcome, score difference, answers, answers that
    could not be read, lines that were skipped and phases that were forfeited. A game that a limit of verifiers cuts short
    keeps the reward that it has earned so far: 0 for an outcome.
    """

    async def run(self, task: GeoPatrolTask, agents: vf.Agents) -> None:
        """Play one game."""
        game = await asyncio.to_thread(task.data.start)
        reward = 0.0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()  # the first position is the prompt of the task
            while not segment.terminated:
                reward += await asyncio.to_thread(game.answer, segment.last_reply)
                if game.is_over:
                    break
                segment = await interaction.turn(game.prompt)
        trace = interaction.trace
        trace.record_reward(task.data.reward, reward)
        trace.record_metrics(
            {
                "won": float(game.outcome == 1),
                "score_difference": float(game.score_difference),
                "answers": float(game.answers),
                "unreadable": float(game.unreadable),
                "skipped_lines": float(game.skipped_lines),
                "forfeited_phases": float(game.forfeited_phases),
                "is_over": float(game.is_over),
            }
        )
