"""The pages of the documentation that are made from the package: public names, presets, environments and commands.

They are written to ``docs/reference/generated/`` before Sphinx reads its sources.
"""

import contextlib
import importlib
import inspect
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import yaml
from sphinx.ext.autodoc.mock import mock
from typer.main import get_command
from typer.testing import CliRunner

from geo_patrol import Game, ReplayReader, environment_id, load_config, play_match, preset_names
from geo_patrol.cli.app import app
from geo_patrol.cli.configs import print_values
from geo_patrol.drawing.svg import svg_text
from geo_patrol.envs.registration import FLIGHT_IDS
from geo_patrol.flight import Flight, load_mission, mission_names
from geo_patrol.replays.files import game_title, replay_timeline
from geo_patrol.scenes.sheets import game_sheets
from geo_patrol.web.protocol import schemas
from geo_patrol.web.replay_page import replay_page
from geo_patrol.web.requests import agent_choices, game_choices

STATIC = Path(__file__).parent / "_static" / "generated"
GENERATED = Path(__file__).parent / "reference" / "generated"
PACKAGES = {
    "geo_patrol": "The names that most programs need.",
    "geo_patrol.envs": "The environments' classes, whose methods and attributes these are.",
    "geo_patrol.geo_patrol_v0": "PettingZoo's environments.",
    "geo_patrol.agents": "Agents, and what they have to provide.",
    "geo_patrol.agents.networks": "Networks of your own as agents.",
    "geo_patrol.agents.policy": "Trained policies of the package's own format.",
    "geo_patrol.evaluation": "Matches, tournaments, sequential tests and ratings.",
    "geo_patrol.studies": "Studies of scenarios.",
    "geo_patrol.solving": "Exact solutions of small games.",
    "geo_patrol.replays": "Recording, reading and checking games.",
    "geo_patrol.replays.datasets": "Replays as arrays.",
    "geo_patrol.scenes": "Pictures of positions.",
    "geo_patrol.evaluation.report": "A report on an agent.",
    "geo_patrol.training": "Training with PyTorch.",
    "geo_patrol.flight": "Planetary Probe and Spaceship Commander.",
}
EXTRAS = [
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "torchrl",
    "tensordict",
    "tianshou",
    "pufferlib",
    "pyspiel",
    "minari",
    "ray",
    "onnxruntime",
]
"""Packages that the documentation is built without."""
CLASSES_OF_ENVIRONMENTS = {
    "geo_patrol.envs.parallel": ["ParallelGeoPatrol"],
    "geo_patrol.envs.aec": ["AecGeoPatrol"],
    "geo_patrol.envs.satellites": ["SatellitesGeoPatrol"],
    "geo_patrol.envs.single": ["SoloGeoPatrol"],
    "geo_patrol.envs.vector": ["VectorGeoPatrol", "VectorSatellites"],
}


def connect(sphinx: Any) -> None:
    """Let a Sphinx application write the pages before it reads its sources."""
    sphinx.connect("builder-inited", lambda _: write_pages())


def write_pages() -> None:
    """Write all pages, and leave those alone that have not changed: Sphinx would read them again."""
    pages = {**api_pages(), **preset_pages(), **environment_pages(), **command_pages(), **mission_pages()}
    pages |= {**printed_sheets(), "citing.md": citation(), "schemas.md": message_schemas()}
    files = {GENERATED / name: text for name, text in pages.items()} | {STATIC / "match.html": recorded_match()}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def api_pages() -> dict[str, str]:
    """Return a page for each package with all its public names, and their index."""
    pages, described = {}, {}
    for package, purpose in PACKAGES.items():
        directives = [
            _directive(module, name, described)
            for module, names in _public_names(package).items()
            for name in names
            if not name.startswith("__")
        ]
        text = (
            f"# {package}\n\n{purpose}\n\n```{{eval-rst}}\n.. currentmodule:: {package}\n\n{''.join(directives)}```\n"
        )
        pages[f"api/{package}.md"] = text
    rows = [f"| [{name}]({name}.md) | {purpose} |\n" for name, purpose in PACKAGES.items()]
    index = f"# Python API\n\n| package | |\n|---|---|\n{''.join(rows)}\n{_toctree(PACKAGES)}"
    return {**pages, "api/index.md": index}


def _public_names(package: str) -> dict[str, list[str]]:
    """Return the public names of a package by the module that they are imported from."""
    if package == "geo_patrol.envs":
        return CLASSES_OF_ENVIRONMENTS
    with mock(EXTRAS):
        return {package: list(importlib.import_module(package).__all__)}


def _directive(module: str, name: str, described: dict[int, str]) -> str:
    """Return what describes a public name: a directive, or a link to where it is described.

    Args:
        module: what it is imported from.
        name: its name there.
        described: by the identity of objects, the names under which they have been described; completed here.
    """
    with mock(EXTRAS):
        value = getattr(importlib.import_module(module), name)
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    known = described.setdefault(id(value), f"{module}.{name}")
    if known != f"{module}.{name}":
        role = "func" if kind == "function" else kind
        return f"``{name}`` is :py:{role}:`{known}`.\n\n"
    return f".. auto{kind}:: {module}.{name}\n{'   :no-value:' if kind == 'data' else ''}\n\n"


def preset_pages() -> dict[str, str]:
    """Return a page for each preset: its description, its start as a picture, all its values."""
    pages = {}
    for name in preset_names():
        config = load_config(name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            print_values(config, config)
        pages[f"presets/{name}.svg"] = Game(name, seed=0).svg()
        pages[f"presets/{name}.md"] = (
            f"# {name}\n\n{config.title}. {config.description}\n\n"
            f"Registered as `{environment_id(name)}`; the command line takes `--config {name}`.\n\n"
            f"![The start of {config.title}]({name}.svg)\n\n## Values\n\n```toml\n{printed.getvalue()}```\n"
        )
    rows = [f"| [{name}]({name}.md) | {load_config(name).title} |\n" for name in preset_names()]
    listed = CliRunner().invoke(app, ["configs"], env={"COLUMNS": "100"}).stdout
    index = (
        f"# Presets\n\n| preset | |\n|---|---|\n{''.join(rows)}\n"
        f"`geo-patrol configs` prints their differences:\n\n```text\n{listed}```\n\n{_toctree(preset_names())}"
    )
    return {**pages, "presets/index.md": index}


def environment_pages() -> dict[str, str]:
    """Return the page of the registered environments with their spaces."""
    rows = []
    for name in [*map(environment_id, preset_names()), *FLIGHT_IDS]:
        env = gymnasium.make(name).unwrapped
        rows.append(f"| `{name}` | `{_space(env.observation_space)}` | `{_space(env.action_space)}` |\n")
    text = f"# Registered environments\n\n| id | observations | actions |\n|---|---|---|\n{''.join(rows)}"
    return {"environments.md": text}


def _space(space: gymnasium.Space[Any]) -> str:
    """Describe a space in a table's cell."""
    if isinstance(space, gymnasium.spaces.MultiDiscrete) and len(set(space.nvec.tolist())) == 1:
        return f"MultiDiscrete([{space.nvec[0]}] * {len(space.nvec)})"
    if isinstance(space, gymnasium.spaces.Dict):
        return "Dict(" + ", ".join(f"{key}={_space(part)}" for key, part in space.items()) + ")"
    if isinstance(space, gymnasium.spaces.Discrete):
        return f"Discrete({space.n})"
    return f"{type(space).__name__}({space.shape}, {space.dtype})"


def command_pages() -> dict[str, str]:
    """Return a page for each command with its help."""
    group: Any = get_command(app)
    pages, rows = {}, []
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        rows.append((name, command.get_short_help_str(100)))
        pages[f"commands/{name}.md"] = f"# geo-patrol {name}\n\n```text\n{_help(name)}```\n" + "".join(
            f"\n## geo-patrol {name} {each}\n\n```text\n{_help(name, each)}```\n"
            for each in getattr(command, "commands", ())
        )
    table = "".join(f"| [{name}]({name}.md) | {summary} |\n" for name, summary in rows)
    index = f"# Commands\n\n| `geo-patrol ...` | |\n|---|---|\n{table}\n{_toctree([name for name, _ in rows])}"
    return {**pages, "commands/index.md": index}


def _help(*command: str) -> str:
    """Return a command's help as plain text."""
    environment = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
    printed = CliRunner().invoke(app, [*command, "--help"], env=environment, prog_name="geo-patrol").stdout
    return re.sub(r"[ \t]+$", "", re.sub(r"\x1b\[[0-9;]*m", "", printed), flags=re.MULTILINE).strip("\n") + "\n"


def mission_pages() -> dict[str, str]:
    """Return the page of the flight games' missions, with their maps."""
    pages: dict[str, str] = {}
    parts = []
    for name in mission_names():
        mission = load_mission(name)
        pages[f"missions/{name}.svg"] = Flight(mission).svg()
        parts.append(
            f"## {name}\n\n{mission.title}. {mission.description}\n\n![The map of {mission.title}]({name}.svg)\n"
        )
    return {**pages, "missions/index.md": "# Missions\n\n" + "\n".join(parts)}


def printed_sheets() -> dict[str, str]:
    """Return some of the sheets that ``geo-patrol print`` makes."""
    sheets = game_sheets(Game("king_of_the_hill", seed=0))
    return {f"sheets/{name}.svg": svg_text(sheets[name], title=name) for name in ("board", "rules")}


def message_schemas() -> str:
    """Return the page of what messages of the server may contain: presets, agents, JSON schemas."""
    games = [(name, title) for name, title, _ in game_choices()]
    agents = [(name, text.removeprefix(f"{name}: ")) for name, _, text in agent_choices(())]
    tables = "".join(
        f"## {heading}\n\n| | |\n|---|---|\n{''.join(f'| `{name}` | {text} |{chr(10)}' for name, text in rows)}\n"
        for heading, rows in (("Presets", games), ("Agents", agents))
    )
    return (
        f"# Schemas of the protocol\n\nWhat messages of [the protocol](../protocol.md) may contain. `ClientMessage` is any message "
        "to the server, `ServerMessage` any message from it; `TableList` and `TableState` are answers to `GET` requests.\n\n"
        f"{tables}## JSON schemas\n\n```json\n{json.dumps(schemas(), indent=1)}\n```\n"
    )


def citation() -> str:
    """Return the entry of CITATION.cff as BibTeX."""
    cff = yaml.safe_load((Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8"))
    fields = {
        "author": " and ".join(f"{{{author['name']}}}" for author in cff["authors"]),
        "title": f"{{{cff['title']}}}",
        "version": cff["version"],
        "year": str(cff.get("date-released", ""))[:4],
        "url": cff.get("repository-code", ""),
    }
    lines = "".join(f"  {name:7} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"```bibtex\n@software{{geo_patrol,\n{lines}}}\n```\n"


def recorded_match() -> str:
    """Return a page with a few games between two agents, to play back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match.jsonl.gz"
        play_match("policy:base", "scripted", games=4, seed=3, save=path)
        games = [(game_title(replay), replay_timeline(replay)[0]) for replay in ReplayReader(path)]
    return replay_page(games, "policy:base against scripted")


def _toctree(names: Any) -> str:
    return "```{toctree}\n:hidden:\n\n" + "".join(f"{name}\n" for name in names) + "```\n"
