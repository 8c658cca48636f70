"""What the documents show works: their code runs, their commands are understood, and what they name exists.

The code and the commands of a page run from top to bottom, in one folder and with one set of names. Games are few (``SHORTER``).
Notebooks run in ``make docs``. Blocks that need a library in a virtual environment of its own are marked e2e, and run there
(``make test-training``, ``make test-libraries``, ``make test-rllib``).
"""

import ast
import contextlib
import doctest
import importlib
import re
import shlex
import tomllib
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from geo_patrol import load_config, play_match
from geo_patrol.agents import playing
from geo_patrol.base.errors import MissingPackageError
from geo_patrol.cli.app import app
from geo_patrol.envs import make
from geo_patrol.flight import load_mission
from geo_patrol.game import game
from geo_patrol.studies.study import load_plan
from tests.support.commands import run

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")])
    if "generated" not in page.parts
]
LIBRARIES = {
    "from geo_patrol.training": "torch",
    "import torch": "torch",
    "torch.onnx": "onnxscript",
    "NumpyToTorch": "array_api_compat",
    "import sb3_contrib|from sb3_contrib": "sb3_contrib",
    "from torchrl": "torchrl",
    "from tianshou": "tianshou",
    "from agilerl": "agilerl",
    "adapters.pufferlib": "pufferlib",
    "import supersuit": "supersuit",
    "pyspiel|open_spiel": "pyspiel",
    "import minari": "minari",
    "adapters.rllib|training.rllib|RayExecutor": "ray",
}
"""What code needs that is in virtual environments of their own, by expressions."""

ONLY_PARSED = {
    "arena": "minutes",
    "exploit": "trains, or solves a game",
    "join": "needs a server",
    "learn": "a page in the browser",
    "play": "a page in the browser",
    "serve": "a server",
    "solve": "half a minute",
    "watch": "a window",
}
"""Commands that are read with all their options but do not run, and why. Each has tests of its own."""
NOT_RUN = {
    "docs/analyse/cluster.md": {"--ray": "needs a cluster: tests/cluster", "dask": "Dask is no extra"},
    "docs/analyse/replays.md": {"tampered.jsonl": "there is no such file", "replay games.jsonl.gz\n": "a window"},
    "docs/analyse/studies.md": {"report defenders": "needs the games of the study, of which the plan alone is made"},
    "docs/analyse/solving.md": {"solved:duel": "needs the file that solving writes"},
    "docs/play/rules.md": {"verify": "half a minute: tests/replays/test_recordings.py"},
    "docs/play/planetary_probe.md": {"--text": "asks for orders", "sample_probe\n": "a page in the browser"},
    "docs/play/spaceship_commander.md": {
        "geo-patrol fly\n": "a page in the browser",
        "--text": "asks for orders",
        "random": "a page in the browser",
    },
    "docs/reference/protocol.md": {"Client(": "needs a server: tests/web/test_client.py"},
    "docs/reference/how_it_is_built.md": {"env.step(actions)": "the arguments stand for any"},
    "docs/train/datasets.md": {"download(": "needs a network: tests/base/test_downloads.py"},
    "docs/train/gpu.md": {"cuda": "needs a GPU: scripts/check_cuda.py"},
    "docs/start/first_agent.md": {"runs/": "needs the file that training writes"},
    "docs/train/networks.md": {"onnx:": "needs files of the reader", "runs/": "needs the file that training writes"},
    "docs/train/agents.md": {"published:": "needs files of others"},
    "docs/train/rllib.md": {"rllib:": "needs the file that training writes"},
    "docs/train/training.md": {"geo-patrol match": "needs the file that training writes"},
}
"""Blocks of code, and lines of commands, that do not run, by a part of their text; and why. Commands are read all the same."""
SHORTER = {
    r"--games \d+|-n \d+": "--games 4",
    r"(study (?:run|threshold|fair|worth|ranking) .*)": r"\1 --dry-run",
    r"games=\d+": "games=8",
    r"--size 960x540 --speed 2": "--size 320x240 --speed 8",
    r"(print (?!.*--(?:sheets|mission)).*)": r"\1 --sheets board",
    r"(print .*--mission.*)": r"\1 --sheets map",
    r"load_config\(\"duel\"\)": 'load_config("duel", {"turn_limit": 2})',
    r"minutes=10": "total_timesteps=8192, num_evaluations=1, eval_games=2, num_threads=1",
}
"""Expressions for what takes long, and what is run instead."""
FOUND = {
    "docs/analyse/searching.md": [
        "abs(games.returns[:, 0].mean()) < 0.5",
        "match.summary().total.win_rate > 0.6 and not match.summary().total.illegal_orders[0]",
        "payoffs.shape == (3, 3) and abs(equilibrium(payoffs).value) < 1e-9",
    ],
    "docs/train/libraries.md": [
        "model.num_timesteps == 2_048",
        "batch['next', 'illegal_orders'].sum() == 0",
        "statistics.train_step == 1024",
        "solver.average_policy() is not None",
    ],
    "docs/train/networks.md": ["result.summary().total.games == 8"],
    "docs/train/tensors.md": ["actions.shape == (256, 11)", "rollout.shape == (33, 256, 1591)"],
    "docs/train/training.md": ["curve[-1].win_rates.keys() == {'random', 'raider', 'scripted'}"],
}
"""What holds of the names of a page's code after it has run, as far as it has."""


@dataclass(frozen=True)
class Block:
    """A block of a page that can be run: ``kind`` is "commands", "doctest", "python" or "toml"."""

    page: str
    line: int
    kind: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"

    @property
    def why_not(self):
        """Return why the block is not run, None if it is."""
        return next((why for part, why in NOT_RUN.get(self.page, {}).items() if part in self.text), None)


def names_of(code):
    """Return the names that code binds, and those that it uses."""
    bound, used = set(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.split(".")[0])
    return bound, used


def read_blocks(page):
    """Yield the blocks of a page, and the libraries that each of them needs, by what it imports or uses of blocks before."""
    name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    needed_for = {}
    for found in re.finditer(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        language, content = found.groups()
        kind = {"python": "doctest" if ">>> " in content else "python", "toml": "toml"}.get(language)
        if not language and re.search(r"^(\$ )?geo-patrol (?!.*: )", content, re.MULTILINE):
            kind = "commands"
        libraries = set()
        if kind == "python":
            bound, used = names_of(content)
            libraries = {library for pattern, library in LIBRARIES.items() if re.search(pattern, content)}
            libraries = libraries.union(*(needed_for[name] for name in (used - bound) & needed_for.keys()))
            needed_for |= dict.fromkeys(bound, libraries)
        if kind:
            yield Block(name, text.count("\n", 0, found.start()) + 2, kind, content), sorted(libraries)


BLOCKS = [block for page in PAGES for block in read_blocks(page)]


class Page:
    """A page's code and commands, run as far as they have been asked for."""

    def __init__(self, page, folder):
        self.blocks = [(block, libraries) for block, libraries in BLOCKS if block.page == page]
        self.folder = folder
        self.names = {"__name__": "__main__"}
        self.num_run = 0

    def run_to(self, wanted):
        """Run all blocks up to one, but those that cannot be run."""
        while self.num_run < len(self.blocks) and self.blocks[self.num_run][0].line <= wanted.line:
            block, libraries = self.blocks[self.num_run]
            self.num_run += 1
            if not block.why_not and all(map(find_spec, libraries)):
                getattr(self, f"run_{block.kind}")(block)

    def run_python(self, block):
        text = block.text
        for pattern, replacement in SHORTER.items():
            text = re.sub(pattern, replacement, text)
        exec(compile("\n" * (block.line - 1) + text, block.page, "exec"), self.names)

    def run_doctest(self, block):
        examples = doctest.DocTestParser().get_doctest(block.text, self.names, block.page, block.page, block.line - 1)
        examples.globs = self.names
        assert doctest.DocTestRunner().run(examples, clear_globs=False).failed == 0

    def run_toml(self, block):
        content = tomllib.loads(block.text)
        path = self.folder / "block.toml"
        path.write_text(block.text, encoding="utf-8")
        if content.keys() == {"factors"}:  # each of them is an example
            for name, factor in content["factors"].items():
                design = {"design": "latin-hypercube", "samples": 4} if "low" in factor else {}
                load_plan({"title": "", "config": "case1", "agents": ["random"], "factors": {name: factor}, **design})
        elif "agents" in content:
            load_plan(content)
        else:
            (load_mission if "planets" in content else load_config)(path)

    def run_commands(self, block):
        for line, arguments in commands(block.text):
            if any(part in f"{line}\n" for part in NOT_RUN.get(block.page, {})) or arguments[0] in ONLY_PARSED:
                continue
            result = run(*arguments, columns=120)
            assert result.exit_code == 0, f"{line}: {result.output}"
            if line.startswith("$ "):
                shown = block.text.partition(f"{line}\n")[2]
                assert set(shown.splitlines()) <= set(re.findall(r"(.*?) *\n", result.output))


def commands(text):
    """Yield the commands of a block with their arguments."""
    for line in re.sub(r"\\\n", " ", re.sub(r"(?m)\s+#.*$", "", text)).splitlines():
        if found := re.match(r"(?:\$ )?geo-patrol (.*)", line):
            shorter = found[1]
            for pattern, replacement in SHORTER.items():
                shorter = re.sub(pattern, replacement, shorter)
            words = [word for word in shlex.split(shorter) if word != "..."]
            yield line, [str(ROOT / word) if "/" in word and (ROOT / word).is_file() else word for word in words]


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the pages by name; ``games.jsonl.gz`` of a reader is there where a page begins with it."""
    found = {block.page: Page(block.page, tmp_path_factory.mktemp("page")) for block, _ in BLOCKS}
    for page in ("docs/analyse/replays.md", "docs/play/watching_and_playing.md"):
        for name, games in (("games.jsonl.gz", 14), ("more.jsonl.zst", 2)):
            turns = {"turn_limit": 8}
            play_match("scripted", "scripted", games=games, seed=1, save=found[page].folder / name, overrides=turns)
    (found["docs/play/printing.md"].folder / "my_scenario.toml").write_text('extends = "case1"\n', encoding="utf-8")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "libraries"),
    [
        pytest.param(block, libraries, id=str(block), marks=[pytest.mark.e2e] if libraries else [])
        for block, libraries in BLOCKS
    ],
)
def test_a_block_runs(block, libraries, pages, monkeypatch, without_workers):
    if block.kind != "commands" and block.why_not:
        pytest.skip(block.why_not)
    for library in libraries:
        pytest.importorskip(library)
    if "ray" in libraries:
        importlib.import_module("ray").init("local", num_cpus=4, include_dashboard=False, ignore_reinit_error=True)
    page = pages[block.page]
    monkeypatch.chdir(page.folder)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(page.folder / "minari"))
    monkeypatch.setattr("geo_patrol.window.watch.watch", lambda _: None)  # a window that stays open
    with warnings.catch_warnings():
        if libraries:  # they warn of classes of their own
            warnings.simplefilter("ignore")
        page.run_to(block)
    for statement in FOUND.get(block.page, ()):
        with contextlib.suppress(NameError):
            assert eval(statement, page.names), statement


def test_every_entry_of_what_does_not_run_is_of_a_block():
    for page, parts in NOT_RUN.items():
        texts = [block.text for block, _ in BLOCKS if block.page == page]
        texts += [f"{line}\n" for text in texts for line, _ in commands(text)]
        assert not [part for part in parts if not any(part in text for text in texts)], page


def command_of(words):
    """Return the command that words begin with, and the words that follow."""
    command, words = get_command(app), [*words]
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    return command, words


@pytest.mark.parametrize("block", [block for block, _ in BLOCKS if block.kind == "commands"], ids=str)
def test_commands_are_understood(block):
    for line, words in commands(block.text):
        command, rest = command_of(words)
        assert not hasattr(command, "commands"), f"{line}: there is no such command"
        command.make_context(command.name, rest)


def resolve(name):
    """Look up a name of the package; one that needs a library that is missing is looked up no further."""
    found, path = None, ""
    with contextlib.suppress(MissingPackageError):
        for part in name.split("."):
            path = f"{path}.{part}".lstrip(".")
            try:
                found = importlib.import_module(path)
            except ModuleNotFoundError as error:
                if not error.name.startswith("geo_patrol"):
                    return
                found = getattr(found, part)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    for quoted in re.findall(r"`geo-patrol ([^`]*)`", text):
        command, rest = command_of(shlex.split(quoted))
        known = {option for parameter in command.params for option in parameter.opts} | {"--help", "--version"}
        assert {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)} <= known, quoted
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    fenced = "\n".join(re.findall(r"(?ms)^```\n(.*?)^```", text))
    for listed in re.findall(r"(?m)^make ([a-z][a-z -]*)", fenced) + re.findall(r"`make ([a-z][a-z -]*)", text):
        assert {re.sub("^test-library-.*", "test-libraries", target) for target in listed.split()} <= targets, listed
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for listed in re.findall(r"(?:geo_patrol|\.)\[([a-z0-9,_-]+)\]", text):
        assert set(listed.split(",")) <= extras.keys(), listed
    for path in re.findall(
        r"(?<![\w./])((?:examples|research|scripts|benchmarks|tests|src|configs)/[\w/]*\w(?:\.\w+)+)", text
    ):
        is_of_a_commit = re.search(r"of\s+commit [0-9a-f]{7}", text)
        assert is_of_a_commit or (ROOT / path).exists() or path == "research/arena/mine.json", path
    for module in re.findall(r"python -m ((?:research|scripts|benchmarks)[\w.]*)", text):
        assert find_spec(module), module
    for name in re.findall(r"`(geo_patrol(?:\.\w+)+)[`(]", text):
        resolve(name)


def anchors(text):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """Those to generated pages are checked by ``make docs``."""
    text = page.read_text(encoding="utf-8")
    for path, anchor in re.findall(r"\]\((?!\w+:|\S*generated/)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        target = (page.parent / path) if path else page
        assert target.exists(), path
        is_on_the_site = (ROOT / "docs") in target.resolve().parents
        assert is_on_the_site or (ROOT / "docs") not in page.parents or target.suffix != ".md", (
            f"{path} is on no page of the site"
        )
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{path}#{anchor}"


@pytest.mark.parametrize("module", [game, make, playing])
def test_examples_of_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 1
    assert result.failed == 0


def test_a_match_prints_what_the_page_shows():
    text = (ROOT / "docs" / "analyse" / "tournaments.md").read_text(encoding="utf-8")
    arguments = re.search(r"^geo-patrol (match scripted random .*)$", text, re.MULTILINE)[1]
    printed = run(*arguments.split()).stdout
    shown = re.search(r"```\n(scripted against random\n.*?)```", text, re.DOTALL)[1]
    printed, shown = (
        [line.rstrip() for line in lines.splitlines() if "games per second" not in line] for lines in (printed, shown)
    )
    assert printed == shown
