"""Count the words that the project's vocabulary replaces, as identifiers and as parts of identifiers.

``python scripts/count_words.py [PATH...]`` prints each word with its count and where it occurs; ``--check`` exits with
status 1 if any occurrence is left that ``ALLOWED`` does not explain; ``--prose`` also lists phrases in docstrings,
comments and Markdown that should be ordinary technical English. Without paths: src, examples, benchmarks.
"""

import argparse
import ast
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

INSTEAD = {
    "place places": "index, row, i; position or sector where it means that",
    "which": "mask",
    "figure figures": "features (observation); metrics, statistics (reported); values",
    "told said": "metrics, message",
    "given": "provided",
    "wanted": "expected",
    "settled": "resolved",
    "drawn": "sampled",
    "kept": "saved",
    "chance chances": "rng; probability",
    "share shares part parts page pages frame frames": "shard; output buffers; fraction",
    "crew helper helpers hire dismiss": "worker pool, worker, start, shut down",
    "room rooms scratch": "workspace",
    "slot slots": "envs, num_sectors, anchors",
    "rate rates": "learning_rate",
    "ease": "anneal",
    "selves": "past_policies",
    "milestone milestones": "schedule",
    "leaning": "prior weight",
    "pace": "seconds per evaluation",
    "standing": "survivors, remaining",
    "judging judgement": "evaluation",
    "most": "MAX_X, max_x",
    "least": "MIN_X, min_x",
    "better_half": "successive halving",
    "ways": "paths",
    "reading": "perception, parsing",
    "keyed": "seeded",
    "desk": "controller, order entry",
    "trouble troubles": "error, warning",
    "keeper keepers": "recorder",
    "ask asks tell tells hear hears heard look looks": "act, reset, notify, compute, prompt",
}
WORDS = {word: instead for words, instead in INSTEAD.items() for word in words.split()}


class Allowed(NamedTuple):
    """An ordinary use of a word: identifiers that match, in files below a path."""

    identifiers: str
    path: str
    reason: str


ALLOWED = (
    Allowed(r"_?[Ff]igures?|\w+_figure", "src/geo_patrol/evaluation/plots.py", "Matplotlib's Figure"),
    Allowed(r"_?[Ff]igures?", "src/geo_patrol/report/charts.py", "Matplotlib's Figure"),
    Allowed(
        r"_?(draw_)?[Ff]igure|get_figure", "src/geo_patrol/rendering", "Matplotlib's Figure, which `figure` returns"
    ),
    Allowed(r"figure", "benchmarks/plot.py", "Matplotlib's Figure"),
    Allowed(r"[Ff]igure", "benchmarks/baselines.py", "Matplotlib's Figure"),
    Allowed(r"FrameType|_?frame", "src/geo_patrol/cli/errors.py", "the stack frame that a signal handler receives"),
    Allowed(r"_?frame", "src/geo_patrol_command", "the stack frame that a signal handler receives"),
    Allowed(r"\w*frames?\w*|\w*FRAMES?\w*", "src/geo_patrol/rendering", "frames of a film, frames a second"),
    Allowed(r"\w*frames?\w*|\w*FRAMES?\w*", "benchmarks/pictures.py", "frames a second"),
    Allowed(r"\w*(win|learning|frame)_rates?|WinRate|(WIN|LEARNING|FRAME)_RATE", "", "an ordinary term"),
    Allowed(r"rates?|draw_rates?|win_rate_columns", "src/geo_patrol/cli", "win rates"),
    Allowed(r"rates?|draw_rates?", "src/geo_patrol/evaluation", "win rates"),
    Allowed(r"rates?", "src/geo_patrol/report", "win rates"),
    Allowed(r"[Ff]igure", "examples/train_maskable_ppo.py", "Matplotlib's Figure"),
    Allowed(r"frame", "src/geo_patrol/scenes", "a rectangular border"),
    Allowed(r"Look|look(_of)?", "src/geo_patrol/scenes", "the appearance of a satellite"),
    Allowed(r"look", "src/geo_patrol/rendering/paper.py", "the appearance of a shape"),
    Allowed(r"most_(common|important)", "", "superlatives"),
    Allowed(r"\w*pages?|Page", "src/geo_patrol/report", "the page of HTML"),
    Allowed(r"\w*page", "src/geo_patrol/browser", "a page of HTML"),
    Allowed(r"page", "src/geo_patrol/flight/pictures", "the page of help over a window"),
    Allowed(r"page", "tests/flight/test_flight_pictures.py", "the page of help over a window"),
    Allowed(r"\w*frames?|\w*_?FRAMES?_\w+", "src/geo_patrol/browser", "frames of an animation, and HTML's iframe"),
    Allowed(r"_write_page|replay_page", "src/geo_patrol/cli/replay.py", "a page of HTML"),
    Allowed(r"replay_page|replay_frame", "src/geo_patrol/replays/replay.py", "a page of HTML in an iframe"),
    Allowed(r"[Ff]igure|\w+_figure", "src/geo_patrol/cli", "Matplotlib's Figure"),
    Allowed(r"\w*page\w*|\w*frames?\w*", "tests/browser", "pages in a browser, and frames of an animation"),
    Allowed(r"\w*replay_page", "src/geo_patrol/server/app.py", "a page of HTML"),
    Allowed(r"which", "tests/server", "shutil.which"),
    Allowed(r"page", "src/geo_patrol/rendering/svg_writer.py", "a page to print"),
    Allowed(r"PdfPages", "src/geo_patrol/rendering/matplotlib_writer.py", "the name of a class of matplotlib"),
    Allowed(r"\w*page(s|_\w+)?|Page(Layout)?", "src/geo_patrol/sessions", "a page of text in a window"),
    Allowed(r"\w*page(s|_\w+)?|Page(Layout)?", "src/geo_patrol/scenes", "a page of text in a window"),
    Allowed(r"\w*page(s|_\w+)?|Page(Layout)?", "src/geo_patrol/rendering", "a page of text in a window"),
    Allowed(r"\w*page(s|_\w+)?|Page(Layout)?", "tests/rendering", "a page of text in a window"),
    Allowed(r"\w*page(s|_\w+)?|Page(Layout)?", "tests/sessions", "a page of text in a window"),
    Allowed(r"\w*(at_least|at_most|AT_LEAST|AT_MOST)\w*", "", "a bound in plain English"),
    Allowed(r"_?place_\w+", "", "a verb: to put something somewhere"),
    Allowed(r"\w*drawn\w*|\w*DRAWN\w*", "src/geo_patrol/rendering", "drawn with a brush"),
    Allowed(r"\w*drawn\w*|\w*DRAWN\w*", "src/geo_patrol/flight/pictures", "drawn with a brush"),
    Allowed(r"phases?", "src/geo_patrol", "phases of a turn"),
    Allowed(r"home_share", "", "a parameter of the agent `scripted`, part of its name"),
    Allowed(r"chance", "src/geo_patrol/saving.py", "a key of saved games"),
    Allowed(r"chance", "src/geo_patrol/config", "a key of configuration files"),
    Allowed(r"given", "tests", "Hypothesis's decorator"),
    Allowed(r"page|Page|test_\w+_page_\w+", "tests/cli/test_report_command.py", "the page of HTML"),
    Allowed(r"frames", "tests/cli/test_replay_command.py", "frames of a film"),
    Allowed(r"iter_frames", "tests/libraries/test_library_examples.py", "MoviePy's function"),
    Allowed(r"(replay_)?page|test_a_page_\w+", "tests/cli/test_replay_command.py", "a page of HTML"),
    Allowed(r"\w*frames?\w*", "tests/rendering", "frames of a film, and what `render` returns"),
    Allowed(r"frames?|FRAMES_PER_SECOND", "scripts/make_pictures.py", "frames of a film"),
    Allowed(r"\w*page\w*|which", "scripts/make_page_picture.py", "a page in a browser, and `shutil.which`"),
    Allowed(r"FrameType|_frame", "scripts/fuzz_files.py", "the stack frame that a signal handler receives"),
    Allowed(r"(\w+_)?helper", "tests/agents/test_onnx_networks.py", "modules of the package onnx"),
    Allowed(r"(\w+_)?helper", "scripts/fuzz_files.py", "modules of the package onnx"),
    Allowed(r"which", "tests/rendering/test_real_windows.py", "`shutil.which`"),
    Allowed(r"which", "tests/browser/conftest.py", "`shutil.which`"),
    Allowed(r"shares_memory", "tests/rendering/test_picture.py", "NumPy's function"),
    Allowed(r"zstd_frame", "tests/replays/test_damaged_files.py", "a frame of the Zstandard format"),
    Allowed(r"frame_stack_v1", "examples/supersuit_random.py", "SuperSuit's function"),
    Allowed(r"frame_stack_v1", "tests/libraries/test_supersuit.py", "SuperSuit's function"),
    Allowed(r"[Ff]igure", "scripts/plot_curves.py", "Matplotlib's Figure"),
    Allowed(r"[Ff]igure|test_\w*figure\w*", "tests/rendering/test_figure.py", "Matplotlib's Figure"),
    Allowed(r"draw_rates?|test_\w*(win|error)_rates?_\w+", "tests", "rates of draws, wins and errors"),
)

PHRASES = (
    r"pleasant to", r"as any other", r"\bhears?\b", r"\bheard\b", r"\b(is|are|was|were|be) told\b", r"\bwhom\b",
    r"[Ww]hat there is to", r"in any case", r"by the way of", r"the same again", r"\bfigures?\b", r"who wants", r"\bshall\b",
    r"\bto hold\b", r"\bcrew\b", r"\bhelpers?\b", r"\bchances?\b", r"\bselves\b", r"\bleaning\b", r"better half", r"\bdesk\b",
    r"\bkeepers?\b", r"\btroubles?\b", r"\bscratch\b", r"the worse\b", r"\bplaces? in\b", r"\bnobody\b", r"\bas a matter of\b",
    r"\bthereof\b", r"\bwants\b", r"\bgoes with\b", r"\bby hand\b", r"\bminds?\b",
)  # fmt: skip


class Identifier(NamedTuple):
    """A name in a file."""

    name: str
    line: int


def identifiers(path: Path) -> Iterator[Identifier]:
    """Yield all names of a module: its own, functions, classes, parameters, attributes, variables, imports.

    Keywords of calls repeat the names of parameters, which are counted where they are defined.
    """
    yield Identifier(path.stem, 0)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield Identifier(name, node.lineno)
            case ast.arg(arg=name) | ast.Attribute(attr=name) | ast.Name(id=name):
                yield Identifier(name, node.lineno)
            case ast.alias(name=name, asname=alias):
                for component in (alias or name).split("."):
                    yield Identifier(component, node.lineno)


def words_in(name: str) -> set[str]:
    """Return the replaced words among the components of a snake_case or CamelCase name."""
    components = {component.lower() for component in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    found = components & WORDS.keys()
    return found | {word for word in WORDS if "_" in word and word in name.lower()}


def is_allowed(name: str, path: Path) -> bool:
    """Return whether ``ALLOWED`` explains a name in a file; its path is relative to the project."""
    return any(
        re.fullmatch(allowed.identifiers, name) and path.as_posix().startswith(allowed.path) for allowed in ALLOWED
    )


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown file, or of the docstrings and comments of a module."""
    if path.suffix == ".md":
        yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        return
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
                yield from enumerate(token.string.splitlines(), token.start[0])


def files_below(paths: list[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files of a kind below the paths, sorted."""
    found = {file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))}
    return sorted(file.resolve() for file in found if file.suffix in suffixes)


def count_words(paths: list[Path], *, quiet: bool) -> int:
    """Print the words that are left, each with where it occurs, and return how many occurrences that are."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[str, list[str]] = defaultdict(list)
    allowed = 0
    for file in files_below(paths, (".py",)):
        path = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        for name, line in identifiers(file):
            for word in words_in(name):
                if is_allowed(name, path):
                    allowed += 1
                else:
                    counts[word][name] += 1
                    where[word].append(f"{path}:{line}: {name}")
    for word in sorted(counts, key=lambda word: -counts[word].total()):
        names = ", ".join(f"{name} {count}" for name, count in counts[word].most_common(8))
        files = {line.split(":")[0] for line in where[word]}
        print(f"{word}: {counts[word].total()} in {len(files)} files -> {WORDS[word]} ({names})")
        if not quiet:
            print(*(f"    {line}" for line in where[word]), sep="\n")
    total = sum(count.total() for count in counts.values())
    print(f"{total} left, {allowed} in their ordinary meaning")
    return total


def list_phrases(paths: list[Path]) -> None:
    """Print the lines of prose with phrases that should be ordinary technical English."""
    pattern = re.compile("|".join(PHRASES), re.IGNORECASE)
    for file in files_below(paths, (".py", ".md")):
        for number, line in prose(file):
            if found := pattern.search(line):
                print(f"{file}:{number}: [{found[0]}] {line.strip()}")


def main() -> None:
    """Count, list, and with ``--check`` leave with status 1 if any word is left."""
    parser = argparse.ArgumentParser(description="Count the words that the project's vocabulary replaces.")
    parser.add_argument(
        "paths", nargs="*", type=Path, default=[ROOT / name for name in ("src", "examples", "benchmarks")]
    )
    parser.add_argument("--check", action="store_true", help="exit with status 1 if any word is left")
    parser.add_argument("--quiet", action="store_true", help="print the counts without the lines")
    parser.add_argument("--prose", action="store_true", help="list doubtful phrases of docstrings and comments as well")
    arguments = parser.parse_args()
    total = count_words(arguments.paths, quiet=arguments.quiet)
    if arguments.prose:
        list_phrases(arguments.paths)
    if arguments.check and total:
        sys.exit(1)


if __name__ == "__main__":
    main()
