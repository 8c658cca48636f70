"""Studies: what a file says, and the scenarios and cells that follow from it.

``plan_study`` resolves a ``StudyFile``: every scenario becomes a configuration and every point of the design a ``Cell``, a set of
values that replace those of a scenario.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from geo_patrol.base.arguments import check_seed
from geo_patrol.base.errors import ConfigError, optional_import, show
from geo_patrol.config.presets import current_value, load_config, resolve_overrides
from geo_patrol.config.schema import GameConfig, wrong, wrong_key
from geo_patrol.config.toml_files import preset_names, to_toml, value_text
from geo_patrol.studies.answers import BALANCE, Asking, Cell, Estimate, Pair, Request, answers_differ
from geo_patrol.studies.factors import (
    MAX_CELLS,
    MORRIS_LEVELS,
    Factor,
    Name,
    Settings,
    StudyTable,
    in_words,
    short_pair,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PAIRS = 100
MAX_FACTORS = 100
MAX_QUESTIONS = 50
MAX_GAMES = 10_000_000
"""Games of one cell and pair, or of one search."""

DesignKind: TypeAlias = Literal["grid", "latin-hypercube", "sobol", "morris", "saltelli"]
DESIGNS: dict[DesignKind, str] = {
    "grid": "every combination of values",
    "latin-hypercube": "a Latin hypercube",
    "sobol": "a Sobol' sequence",
    "morris": "Morris trajectories",
    "saltelli": "Saltelli's points for Sobol' indices",
}
"""The designs in words."""
RANKING_DESIGNS: tuple[DesignKind, ...] = ("morris", "saltelli")
"""Those that rankings are made of."""
_Share = Annotated[float, Field(ge=0, le=1)]


# Questions


@dataclass(frozen=True)
class Place:
    """Where a question is asked: in a cell, of a pair of agents.

    Attributes:
        plan: the study.
        cell: the cell, or a scenario as it is.
        pair: who plays alpha and bravo.
        versions: returns what plays them in a cell beyond their names, see ``StudyAgents.versions``.
    """

    plan: "StudyPlan"
    cell: Cell
    pair: Pair
    versions: Callable[[Cell], tuple[str, str]]

    @property
    def who(self) -> str:
        """The pair of agents for people."""
        return short_pair(self.pair)

    @property
    def config(self) -> GameConfig:
        """The configuration of the scenario."""
        return self.plan.scenarios[self.cell.scenario].config

    def request(self, games: int, overrides: Mapping[str, Any] | None = None, *, seed: int = 0) -> Request:
        """Return a request for games, an even number where an agent plays both sides: there every seed has two.

        Args:
            games: how many.
            overrides: further values to be replaced.
            seed: what is added to the study's.
        """
        alpha, bravo = self.pair
        even = games + games % 2 if alpha == bravo else games
        return Request(self.plan.vary(self.cell, overrides or {}), self.pair, even, self.plan.file.seed + seed)

    def answer(self, subject: str, statistic: str, **found: Any) -> Estimate:
        """Return an answer that was found here, whose other attributes are given."""
        return Estimate(subject, statistic, self.cell, self.pair, versions=self.versions(self.cell), **found)


class Compared(NamedTuple):
    """What is compared of an answer.

    Attributes:
        topic: what the answers are about that are compared with each other.
        agreed: what pairs of agents agree on whose answers are alike.
        listed: the answer as one of several.
    """

    topic: str
    agreed: str
    listed: str


class Question(StudyTable):
    """A question of a study, asked in every place. Each kind is a class of ``questions``: its keys in a file, what it plays, and how its answers are told and drawn.

    Attributes:
        title: how reports call it; in words of its own by default.
        kind: what files call the kind.
    """

    designs: ClassVar[tuple[DesignKind, ...]] = tuple(DESIGNS)
    """Of the studies that may ask it."""
    agreement: ClassVar[str]
    """Said where all pairs of agents agree: a template of ``everybody``, ``subject``, and what is ``agreed``."""
    chance: ClassVar[str]
    """Said where they differ by no more than chance: a template of ``everybody``, ``subject``, and their answers, ``listed``."""
    difference: ClassVar[str]
    """Said where the answer depends on the agents, likewise."""

    title: Name | None = None
    kind: str

    @property
    @abstractmethod
    def default_title(self) -> str:
        """The question in words of its own."""

    @property
    def expected(self) -> tuple[int, int]:
        """About how many games it plays in a place beside those of the design, and how many at most."""
        return 0, 0

    def check_plan(self, plan: "StudyPlan") -> None:
        """Raise a ``ConfigError`` if a key or a value that it asks about is wrong."""

    @abstractmethod
    def ask(self, place: Place) -> Asking:
        """Find the answers in a place."""

    @abstractmethod
    def draw(self, plan: "StudyPlan", answers: Sequence[Estimate], width: float) -> "tuple[Figure, str]":
        """Return the figure of the answers, so many inches wide, with its caption."""

    @abstractmethod
    def compared(self, answer: Estimate) -> Compared | None:
        """Return what is compared of an answer between pairs of agents; None of an answer that is not."""

    def differ(self, answers: Sequence[Estimate]) -> bool:
        """Return whether answers that are not alike differ by more than chance."""
        return answers_differ(answers)

    @property
    def heading(self) -> str:
        """The question in words."""
        return self.default_title if self.title is None else self.title

    @property
    def measured(self) -> str:
        """The measure of games that it is about."""
        measure: str = getattr(self, "measure", BALANCE)
        return measure

    def summarise(self, plan: "StudyPlan", answers: Sequence[Estimate]) -> Iterator[str]:
        """Yield whether the pairs of agents agree, in a sentence for each cell and topic; none for a single pair."""
        groups: dict[tuple[str, str], list[Estimate]] = {}
        for answer in answers:
            compared = self.compared(answer)
            if compared is not None:
                groups.setdefault((plan.describe(answer.cell), compared.topic), []).append(answer)
        several = len({where for where, _ in groups}) > 1
        for (where, _), group in groups.items():
            if len(group) > 1:
                yield f"{where}: {self.compare(group)}" if several and where else self.compare(group)

    def compare(self, answers: Sequence[Estimate]) -> str:
        """Return whether several pairs of agents agree, in a sentence."""
        found = list(filter(None, map(self.compared, answers)))
        if len({each.agreed for each in found}) == 1:
            said = self.agreement
        else:
            said = self.difference if self.differ(answers) else self.chance
        pairs = (f"{each.listed} with {short_pair(answer.pair)}" for each, answer in zip(found, answers, strict=True))
        return said.format(
            everybody="both pairs of agents" if len(answers) == 2 else f"all {len(answers)} pairs of agents",
            subject=answers[0].subject,
            agreed=found[0].agreed,
            listed="; ".join(pairs),
        )


# What a file holds


class ScenarioTable(StudyTable):
    """A scenario of a file: a configuration, and values that replace its own beside those of the whole study."""

    name: Name | None = None
    config: str | None = None
    set: Settings = Field(default_factory=dict)


def _read_agents(value: Any) -> Any:
    right = 'a list of agents: "scripted" plays both sides, ["scripted", "policy"] are alpha and bravo'
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MAX_PAIRS:
        raise wrong(right)
    pairs = []
    for each in value:
        pair = (each, each) if isinstance(each, str) else tuple(each) if isinstance(each, (list, tuple)) else ()
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise wrong(right)
        if pair in pairs:
            raise wrong(f"{right}; {' against '.join(pair)} is there twice")
        pairs.append(pair)
    return tuple(pairs)


def _check_whole_seed(value: Any) -> int:
    try:
        return check_seed(value)
    except ValueError:
        raise wrong("a non-negative integer") from None


_COLUMNS = {
    *("title", "scenario", "config", "overrides", "alpha", "bravo", "alpha_version", "bravo_version"),
    *("measure", "turn", "games", "mean", "low", "high", "sd", "rate", "value", "seed", "geo_patrol", "study"),
    *("question", "kind", "subject", "statistic", "answer", "answer_low", "answer_high", "estimate", "text"),
    *("running", "alpha_score", "bravo_score", "alpha_patrols", "bravo_patrols"),
}
"""Columns of tables, beside which those of the factors are."""


class StudyFile(StudyTable):
    """A study, as a file says it.

    Attributes:
        title: what it is called.
        config: a preset's name or a file, of every scenario that names none of its own.
        set: values that replace the configuration's in every scenario, by dotted key; "+20%" is relative.
        scenario: scenarios; without any, the configuration is the only one.
        agents: pairs of agents, alpha and bravo.
        factors: what is varied.
        design: how: every combination of values (grid); a Latin hypercube or a Sobol' sequence, which fill the space of the
            factors; Morris trajectories; Saltelli's extension of a Sobol' sequence, for Sobol' indices.
        samples: number of points of a Latin hypercube or a Sobol' sequence, of trajectories, or of Saltelli's base points.
        games: games of every cell and pair.
        seed: seed of all games and of the design; all cells share their random streams, which makes them easier to compare.
        quantiles: of scores, margins and turns, in tables.
        question: questions to be answered.
    """

    title: Name
    config: str = "geo_patrol"
    set: Settings = Field(default_factory=dict)
    scenario: tuple[ScenarioTable, ...] = Field(default=(), max_length=MAX_PAIRS)
    agents: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_read_agents)]
    factors: dict[str, Factor] = Field(default={}, max_length=MAX_FACTORS)
    design: DesignKind = "grid"
    samples: int | None = Field(default=None, ge=1, le=MAX_CELLS)
    games: int = Field(default=200, ge=1, le=MAX_GAMES)
    seed: Annotated[int, BeforeValidator(_check_whole_seed)] = 1
    quantiles: Annotated[tuple[_Share, ...], Field(max_length=20)] = (0.05, 0.25, 0.5, 0.75, 0.95)
    question: tuple[SerializeAsAny[Question], ...] = Field(default=(), max_length=MAX_QUESTIONS)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.games % 2 and any(alpha == bravo for alpha, bravo in self.agents):
            raise wrong_key("games", self.games, "even where an agent plays both sides, which have games of their own")
        for name in self.factors:
            if name in _COLUMNS:
                raise wrong_key(f"factors.{name}", name, "another name: it is that of a column of tables")
        if self.design == "grid":
            for name, factor in self.factors.items():
                if factor.values is None:
                    raise wrong_key(
                        f"factors.{name}.low", factor.low, 'no range in a grid: values = "1..8", for example'
                    )
            if self.samples is not None:
                raise wrong_key("samples", self.samples, "left out: a grid has every combination of values")
        elif not self.factors:
            raise wrong_key("design", self.design, "left out: there are no factors")
        elif self.samples is None:
            raise wrong_key("samples", None, f"a number of points, for the design {self.design}")
        elif self.design in ("sobol", "saltelli") and self.samples & (self.samples - 1):
            raise wrong_key("samples", self.samples, "a power of 2, such as 64, for a Sobol' sequence")
        for number, question in enumerate(self.question):
            if self.design not in question.designs:
                right = f"asked of a study with design = {' or '.join(map(to_toml, question.designs))}"
                raise wrong_key(f"question.{number}.kind", question.kind, right)
        if self.design in RANKING_DESIGNS and len(self.factors) < 2:
            raise wrong_key("design", self.design, "a design of at least two factors")
        return self


# Scenarios, designs and cells


@dataclass(frozen=True)
class StudyScenario:
    """A scenario of a study.

    Attributes:
        name: what tables call it.
        source: the preset or the file.
        base: the configuration there.
        overrides: what replaces its values, by dotted key, nothing relative in it.
        config: the configuration that follows.
    """

    name: str
    source: str
    base: GameConfig
    overrides: Mapping[str, Any]
    config: GameConfig


@dataclass(frozen=True)
class Design:
    """Points of a design in the unit cube of its factors.

    Attributes:
        kind: see ``StudyFile``.
        samples: see ``StudyFile``.
        names: of the factors.
        units: (points, factors), from 0 to 1; of a grid, the middles of as many parts as there are values.
        seed: seed of the design.
    """

    kind: DesignKind
    samples: int
    names: tuple[str, ...]
    units: NDArray[np.float64]
    seed: int

    @classmethod
    def make(cls, kind: DesignKind, factors: Mapping[str, Factor], samples: int | None, seed: int) -> Self:
        """Make the points of a design, the same ones for the same seed.

        Raises:
            ConfigError: there are too many.
            MissingPackageError: the design needs SciPy or SALib, which is not installed.
        """
        size, count = len(factors), samples or 1
        points = {
            "grid": prod(len(factor.values or ()) for factor in factors.values()),
            "morris": count * (size + 1),
            "saltelli": count * (size + 2),
        }.get(kind, count)
        if points > MAX_CELLS:
            raise ConfigError(f"the design has {points:,} points; {MAX_CELLS:,} are allowed")
        if kind == "grid":
            middles = [
                (np.arange(len(factor.values or ())) + 0.5) / len(factor.values or (1,)) for factor in factors.values()
            ]
            units = np.array(list(product(*middles)), np.float64).reshape(points, size)
        elif kind in ("latin-hypercube", "sobol"):
            with optional_import("stats"):
                from scipy.stats import qmc  # noqa: PLC0415 - an extra
            sampler = (qmc.LatinHypercube if kind == "latin-hypercube" else qmc.Sobol)(
                size, rng=np.random.default_rng(seed)
            )
            units = sampler.random(count)
        else:
            with optional_import("study"):
                from SALib.sample import morris, sobol  # noqa: PLC0415 - an extra
            if kind == "morris":
                units = morris.sample(_problem(tuple(factors)), count, num_levels=MORRIS_LEVELS, seed=seed % 2**32)
            else:
                units = sobol.sample(_problem(tuple(factors)), count, calc_second_order=False, seed=seed % 2**32)
        return cls(kind, count, tuple(factors), np.asarray(units, np.float64), seed)

    @property
    def problem(self) -> dict[str, Any]:
        """The factors, as SALib describes them."""
        return _problem(self.names)


def _problem(names: tuple[str, ...]) -> dict[str, Any]:
    return {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """A study with its scenarios and cells.

    Attributes:
        file: what the file says.
        scenarios: its scenarios.
        design: the points of its design.
        cells: for every scenario, a cell for every point.
    """

    file: StudyFile
    scenarios: tuple[StudyScenario, ...]
    design: Design
    cells: tuple[Cell, ...]

    @property
    def asked_cells(self) -> tuple[Cell, ...]:
        """The cells in which questions are asked: those of a grid, or every scenario as it is."""
        if self.design.kind == "grid":
            return self.cells
        return tuple(Cell(number, (), ()) for number in range(len(self.scenarios)))

    @property
    def varies_further(self) -> bool:
        """Whether questions play games with values that the cells do not have."""
        return any(question.expected != (0, 0) for question in self.file.question)

    def config(self, cell: Cell) -> GameConfig:
        """Return the configuration of a cell: the scenario's own where nothing differs from it, so that the games are the same.

        Raises:
            ConfigError: a key is unknown or a value invalid.
        """
        config = self.scenarios[cell.scenario].config
        changes = {key: value for key, value in cell.overrides if current_value(config, key) != value}
        return load_config(config, changes) if changes else config

    def vary(self, cell: Cell, overrides: Mapping[str, Any]) -> Cell:
        """Return a cell with further values replaced."""
        return Cell(cell.scenario, cell.values, tuple(sorted({**dict(cell.overrides), **overrides}.items())))

    def overrides(self, cell: Cell) -> str:
        """Return what a cell replaces in its configuration, as ``--set`` takes it, with semicolons between."""
        replaced = {**self.scenarios[cell.scenario].overrides, **dict(cell.overrides)}
        return "; ".join(f"{key}={value_text(value)}" for key, value in sorted(replaced.items()))

    def describe(self, cell: Cell) -> str:
        """Return the values of a cell for people; "" if a study has one scenario and no factors."""
        named = zip(self.file.factors, cell.values, strict=True) if cell.values else ()
        values = ", ".join(f"{in_words(name)} {value_text(value)}" for name, value in named)
        scenario = self.scenarios[cell.scenario].name if len(self.scenarios) > 1 else ""
        return ", ".join(filter(None, (scenario, values)))


def plan_study(
    file: StudyFile, folder: Path, *, configs: Sequence[GameConfig] | None = None, checks: bool = True
) -> StudyPlan:
    """Resolve scenarios and design of a study.

    Args:
        file: the study.
        folder: what paths of configurations are relative to.
        configs: the configurations of the scenarios, without what the study sets; they are loaded by default.
        checks: whether to build the configuration of every cell, so that a wrong value is found.

    Raises:
        ConfigError: a configuration cannot be loaded, or a key or value is wrong in some cell.
        MissingPackageError: the design needs a package that is not installed.
    """
    scenarios = tuple(
        _plan_scenario(file, table, number, folder, None if configs is None else configs[number])
        for number, table in enumerate(file.scenario or (ScenarioTable(),))
    )
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) != len(names):
        raise ConfigError(f"scenarios need different names, got {', '.join(map(show, names))}")
    design = Design.make(file.design, file.factors, file.samples, file.seed)
    cells = tuple(
        _make_cell(file, scenario.config, number, units)
        for number, scenario in enumerate(scenarios)
        for units in design.units.tolist()
    )
    plan = StudyPlan(file, scenarios, design, cells)
    if checks:
        for cell in cells:
            plan.config(cell)
    return plan


def _plan_scenario(
    file: StudyFile, table: ScenarioTable, number: int, folder: Path, config: GameConfig | None
) -> StudyScenario:
    source = table.config or file.config
    path = folder / source
    base = config or load_config(path if source not in preset_names() and path.is_file() else source)
    overrides = resolve_overrides(base, file.set) | resolve_overrides(base, table.set)
    resolved = load_config(base, overrides) if overrides else base
    title = table.name or (resolved.title if not file.scenario or table.config else f"scenario {number + 1}")
    return StudyScenario(title, source, base, overrides, resolved)


def _make_cell(file: StudyFile, config: GameConfig, scenario: int, units: Sequence[float]) -> Cell:
    factors = list(file.factors.values())
    is_morris = file.design == "morris"
    values = tuple(factor.at(config, unit, nearest=is_morris) for factor, unit in zip(factors, units, strict=True))
    overrides: dict[str, Any] = {}
    for factor, value in zip(factors, values, strict=True):
        overrides |= factor.overrides(config, value)
    return Cell(scenario, values, tuple(sorted(overrides.items())))
