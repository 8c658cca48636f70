"""Matches between the agents of the package, and the tables of docs/results/experiments.md that they make.

``python -m research.experiments run`` plays them, about half an hour on two cores; ``python -m research.experiments
exploit`` trains responses to the policy of the package, about half an hour on one core for a preset, and ``python -m
research.experiments single-file`` with examples/ppo_geo_patrol.py, a quarter of an hour, and ``python -m research.experiments
views`` with examples/mappo_satellites.py, as long as it is told. All continue where they were interrupted.
``python -m research.experiments publish`` writes the tables from the stored results.
"""

import hashlib
import json
import subprocess
import sys
from itertools import permutations, product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.documents import DOCS, markdown_table, paragraph, with_blocks
from benchmarks.machine import processor_name
from geo_patrol import load_config, preset_names
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.base.versions import versions
from geo_patrol.cli.output import Commands
from geo_patrol.evaluation.results import WinRate
from geo_patrol.evaluation.statistics import Rate
from geo_patrol.evaluation.tournament import Tournament, play_tournament
from geo_patrol.training import responses

DOCUMENT = DOCS / "results" / "experiments.md"
RESULTS = Path(__file__).with_name("experiments.json")
POLICY = "policy:base"
SCRIPTS = {
    "random": "random",
    "idle": "idle",
    "turtle": "turtle",
    "mixed": "mixed",
    "slow": "raider:path=cheap,reach=sector",
    "raider, 3": "raider:defenders=3",
    "raider": "raider",
    "raider, 7": "raider:defenders=7",
    "scripted": "scripted",
    "scripted, 0.5": "scripted:home_share=0.5,dodge=0.9,lead=0.95,foresight=0.75,temperature=6,ending=16",
}
"""The scripts by the names that the tables give them."""
SEED, GAMES, GAMES_ON_PRESETS = 1, 2_000, 200
UNSOLVED = [name for name in preset_names() if name not in {"duel", "skirmish"} and not load_config(name).hides_enemies]
SEARCHES = [
    ("search:rollouts=80,candidates=8", "raider", 300),
    ("search:rollouts=80,candidates=8", "scripted", 300),
    ("search:rollouts=400", "raider", 200),
    ("search:rollouts=400", "scripted", 200),
    ("search:2ms,propose=policy:base", "scripted", 400),
    ("search:2ms,propose=policy:base", POLICY, 400),
    ("search:10ms,propose=policy:base", "raider", 100),
    ("search:10ms,propose=policy:base", "raider:defenders=3", 200),
    ("search:10ms,propose=policy:base", "scripted", 300),
    ("search:10ms,propose=policy:base", POLICY, 400),
]
"""A search, its opponent, and the number of games."""

OTHER_POLICY = "src/geo_patrol/evaluation/data/policy-4.safetensors"
"""A policy of another training, from which a response to the policy of the package starts too; a path from the repository."""
STARTS = {
    "base": "from `base`",
    OTHER_POLICY: "from policy 4 of the arena",
    "nothing": "from nothing",
    "search": "search",
}
"""The responses by what they start from, and the headers of their columns."""
KINDS = list(STARTS)

EXAMPLES = Path(__file__).parents[1] / "examples"
SINGLE_FILE, SATELLITES = EXAMPLES / "ppo_geo_patrol.py", EXAMPLES / "mappo_satellites.py"
VIEWS_CONFIG = "outposts"
VIEWS = {"MAPPO": ("mappo", "own"), "independent PPO": ("ippo", "own"), "MAPPO, joint view": ("mappo", "side")}
"""What learns, by the name that the table gives it: a method and a view of examples/mappo_satellites.py."""

app = Commands(add_completion=False)


@app.command()
def run(
    out: Annotated[Path, typer.Option(help="Folder of the games.")] = Path("runs/experiments"),
    games: Annotated[int, typer.Option(help="Games of a pairing on geo_patrol.")] = GAMES,
    games_on_presets: Annotated[int, typer.Option(help="Games of a pairing on each preset.")] = GAMES_ON_PRESETS,
) -> None:
    """Play all matches, and store their results in research/experiments.json."""
    agents = [*SCRIPTS.values(), POLICY]
    usual = play_tournament(agents, games=games, seed=SEED, folder=out / "geo_patrol")
    results: dict[str, Any] = {
        **_read_results(),
        "versions": versions(),
        "processor": processor_name(),
        "seed": SEED,
        "geo_patrol": _pairings_of(usual),
        "presets": {},
    }
    for preset in UNSOLVED:
        tournament = play_tournament(
            agents, config=preset, games=games_on_presets, seed=SEED, mirror=True, folder=out / "presets" / preset
        )
        results["presets"][preset] = {
            "games": games_on_presets,
            "scores_as_alpha": _scores_as_alpha(tournament).tolist(),
        }
    matches = []
    for number, (search, opponent, count) in enumerate(SEARCHES):
        played = play_tournament([search, opponent], games=count, seed=SEED, folder=out / "searches" / str(number))
        matches.append({"search": search, "opponent": opponent, **_figures(played.record(0, 1))})
    # a search by the clock is as strong as its processor is fast
    results["searches"] = {"versions": versions(), "processor": processor_name(), "seed": SEED, "matches": matches}
    _write_results(results)


@app.command()
def exploit(
    preset: Annotated[list[str], typer.Option(help="Whose responses to train; several times: of each.")] = UNSOLVED,
    out: Annotated[Path, typer.Option(help="Folder of the responses.")] = Path("runs/experiments/responses"),
    minutes: Annotated[float, typer.Option(help="Training time of each.")] = 10.0,
    start: Annotated[list[str], typer.Option(help="What to start from; several times.")] = KINDS,
) -> None:
    """Train responses to the policy on each preset, let a search play it, and store what they win."""
    for name in preset:
        digest = _digest(name)  # responses to other weights are other responses
        found = responses.exploit(
            POLICY,
            config=name,
            minutes=minutes,
            initial_policies=[each for each in start if each != "search"],
            search="10ms" if "search" in start else None,
            device="cpu",
            out=out / digest / name,
        )
        results = _read_results()
        stored = results.setdefault("responses", {})
        played = {
            response.get("begin", "search"): {
                "seconds": response["seconds"],
                "steps": response.get("steps"),
                **response["lower_bound"],
            }
            for response in found.responses
        }
        stored[name] = {
            "weights": digest,
            "versions": versions(),
            "processor": processor_name(),
            "minutes": minutes,
            "responses": played,
            "best": found.lower_bound,  # of one call: the best of several would have been chosen by the games that measured it
        }
        _write_results(results)


@app.command()
def single_file(
    seed: Annotated[list[int], typer.Option(help="Several times: a training for each.")] = [0, 1, 2],  # noqa: B006 - only read
    out: Annotated[Path, typer.Option(help="Folder of the trainings.")] = Path("runs/experiments/single_file"),
) -> None:
    """Train with the defaults of examples/ppo_geo_patrol.py, and store what the policies win."""
    for number in seed:
        folder = out / str(number)
        if not (folder / "result.json").exists():
            command = [sys.executable, SINGLE_FILE, "--device", "cpu", "--seed", str(number), "--out", folder]
            subprocess.run(command, check=True)
        results = _read_results()
        stored = results.setdefault("single_file", {"trainings": {}})
        stored |= {"versions": versions(), "processor": processor_name()}
        stored["trainings"][str(number)] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        _write_results(results)


@app.command()
def views(
    seed: Annotated[list[int], typer.Option(help="Several times: a training by each method.")] = [0, 1, 2],  # noqa: B006 - only read
    minutes: Annotated[float, typer.Option(help="Processor time of each training.")] = 4.0,
    out: Annotated[Path, typer.Option(help="Folder of the trainings.")] = Path("runs/experiments/views"),
) -> None:
    """Train satellites that observe for themselves, or what their side sees, and store what they win."""
    results = _read_results()
    if results.get("views", {}).get("minutes") != minutes:
        results["views"] = {"minutes": minutes, "trainings": {}}
    for number, (name, (method, view)) in product(seed, VIEWS.items()):
        folder = out / f"{method}-{view}-{minutes:g}-{number}"
        if not (folder / "result.json").exists():
            options = {"method": method, "view": view, "config": VIEWS_CONFIG, "seed": number, "minutes": minutes}
            given = [part for option, value in options.items() for part in (f"--{option}", str(value))]
            command = [sys.executable, SATELLITES, *given, "--clock", "cpu", "--device", "cpu", "--out", folder]
            subprocess.run(command, check=True)
        results["views"] |= {"versions": versions(), "processor": processor_name()}
        trained = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        results["views"]["trainings"].setdefault(name, {})[str(number)] = trained
        _write_results(results)


def _digest(preset: str) -> str:
    """Return the first digits of a hash of the weights, in half precision, with which the policy plays a preset."""
    weights = PolicyAgent("base").weights_for([load_config(preset)])
    halved = b"".join(weights[name].astype(np.float16).tobytes() for name in sorted(weights))
    return hashlib.sha256(halved).hexdigest()[:8]


def _read_results() -> dict[str, Any]:
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return results


def _write_results(results: dict[str, Any]) -> None:
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _pairings_of(tournament: Tournament) -> list[dict[str, Any]]:
    names = tournament.agents
    return [
        {"agent": names[first], "opponent": names[second], **_figures(tournament.record(first, second))}
        for first, second in permutations(range(len(names)), 2)
    ]


def _figures(record: WinRate) -> dict[str, Any]:
    return {"games": record.games, "score": record.score, "won": record.win_rate, "interval": record.win_interval}


def _scores_as_alpha(tournament: Tournament) -> np.ndarray[Any, Any]:
    """Return the scores of row as alpha against column as bravo, a draw one half."""
    counts = tournament.counts
    return (counts[:, :, 0] + counts[:, :, 1] / 2) / np.maximum(counts.sum(axis=2), 1)


@app.command()
def publish() -> None:
    """Write the tables of docs/results/experiments.md from research/experiments.json."""
    DOCUMENT.write_text(with_blocks(DOCUMENT, tables(_read_results())), encoding="utf-8")


def tables(results: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the document by the names of their markers."""
    made = {
        "scripts": _table_of_scripts(results["geo_patrol"], results["seed"]),
        "policy": _table_of_policy(results["geo_patrol"]),
        "presets": _table_of_presets(results["presets"]),
    }
    if results.get("searches"):
        made["searches"] = _table_of_searches(results["searches"])
    if results.get("single_file"):
        made["single_file"] = _table_of_single_file(results["single_file"])
    if results.get("views"):
        made["views"] = _table_of_views(results["views"])
    if results.get("responses"):
        made["responses"] = _table_of_responses(results["responses"])
    return made


def _table_of_scripts(pairings: list[dict[str, Any]], seed: int) -> str:
    scores = {(pairing["agent"], pairing["opponent"]): pairing["score"] for pairing in pairings}
    rows = [
        [label, *("-" if name == other else f"{100 * scores[name, other]:.1f}" for other in SCRIPTS.values())]
        for label, name in SCRIPTS.items()
    ]
    note = (
        f"{pairings[0]['games']:,} games of `geo_patrol` a pairing, half of them with the sides swapped, seed {seed}:"
    )
    return f"{note}\n\n{markdown_table(['%', *SCRIPTS], rows)}"


def _table_of_policy(pairings: list[dict[str, Any]]) -> str:
    found = {pairing["opponent"]: pairing for pairing in pairings if pairing["agent"] == POLICY}
    columns = [(found[name]["won"], *found[name]["interval"]) for name in SCRIPTS.values()]
    labels = ["games won, %", "95% interval, from", "to"]
    rows = [[label, *(f"{100 * column[i]:.1f}" for column in columns)] for i, label in enumerate(labels)]
    return f"{pairings[0]['games']:,} games against each:\n\n{markdown_table([f'`{POLICY}`', *SCRIPTS], rows)}"


def _table_of_presets(presets: dict[str, dict[str, Any]]) -> str:
    scripts, columns, weak = len(SCRIPTS), {}, []
    for preset, result in presets.items():
        alpha = np.array(result["scores_as_alpha"])
        bravo = 1 - alpha.T  # row as bravo against column as alpha
        columns[preset] = [
            alpha[scripts, :scripts].mean(),
            alpha[:scripts, :scripts].mean(axis=1).max(),
            bravo[scripts, :scripts].mean(),
            bravo[:scripts, :scripts].mean(axis=1).max(),
        ]
        for side, scores in (("alpha", alpha), ("bravo", bravo)):
            weak += [
                (score, f"{100 * score:.0f}% as {side} in `{preset}` against `{label}`")
                for label, score in zip(SCRIPTS, scores[scripts, :scripts], strict=True)
            ]
    labels = [f"{POLICY} as alpha", "best script as alpha", f"{POLICY} as bravo", "best script as bravo"]
    rows = [[label, *(f"{100 * column[i]:.1f}" for column in columns.values())] for i, label in enumerate(labels)]
    weakest = ", ".join(text for _, text in sorted(weak)[:5])
    return f"{markdown_table(['%', *columns], rows)}\n\n{paragraph(f'Its weakest pairings: {weakest}.')}"


def _table_of_searches(searches: dict[str, Any]) -> str:
    rows = [
        [
            f"`{row['search']}`",
            f"`{row['opponent']}`",
            f"{row['games']:,}",
            f"{100 * row['won']:.1f}% ({100 * row['interval'][0]:.1f}-{100 * row['interval'][1]:.1f}%)",
            f"{100 * row['score']:.1f}%",
        ]
        for row in searches["matches"]
    ]
    table = markdown_table(["search", "against", "games", "won, 95% interval", "score, a draw one half"], rows)
    note = f"Seed {searches['seed']}; processor: {searches['processor']}."
    return f"{table}\n\n{paragraph(note)}"


def _table_of_single_file(stored: dict[str, Any]) -> str:
    trainings = stored["trainings"]
    opponents = list(next(iter(trainings.values()))["win_rates"])
    rows = [
        [
            seed,
            f"{training['steps'] / 1e6:.2f} M",
            f"{training['seconds']['environment'] / sum(training['seconds'].values()):.0%}",
            *(str(Rate.from_dict(training["win_rates"][opponent])) for opponent in opponents),
        ]
        for seed, training in trainings.items()
    ]
    header = ["seed", "steps", "of the time in the environment", *(f"against `{name}`" for name in opponents)]
    note = f"Processor: {stored['processor']}, one thread."
    return f"{markdown_table(header, rows)}\n\n{paragraph(note)}"


def _table_of_views(stored: dict[str, Any]) -> str:
    opponents = ["random", "raider", "scripted"]
    rows = []
    for name, trainings in stored["trainings"].items():
        for seed, trained in trainings.items():
            won = (str(Rate(trained[each], trained[f"{each} low"], trained[f"{each} high"])) for each in opponents)
            rows.append([name, seed, f"{trained['steps'] / 1e6:.2f} M", *won])
        if len(trainings) > 1:
            means = (np.mean([trained[each] for trained in trainings.values()]) for each in opponents)
            steps = np.mean([trained["steps"] for trained in trainings.values()])
            rows.append([name, "mean", f"{steps / 1e6:.2f} M", *(f"{100 * mean:.1f}%" for mean in means)])
    header = ["", "seed", "steps", *(f"against `{name}`" for name in opponents)]
    note = f"{stored['minutes']:g} minutes of processor time each. Processor: {stored['processor']}, one thread."
    return f"{markdown_table(header, rows)}\n\n{paragraph(note)}"


def _table_of_responses(presets: dict[str, dict[str, Any]]) -> str:
    rows = []
    for preset in sorted(name for name in presets if presets[name]["weights"] == _digest(name)):
        found, best = presets[preset]["responses"], presets[preset]["best"]
        cells = [
            (
                f"{100 * found[start]['win_rate']:.1f}%"
                + (f", {found[start]['steps'] / 1e6:.1f} M steps" if found[start]["steps"] else "")
                if start in found
                else "-"
            )
            for start in STARTS
        ]
        rows.append([f"`{preset}`", *cells, str(Rate.from_dict(best))])
    return markdown_table(["", *STARTS.values(), "the best of them: the bound"], rows)


if __name__ == "__main__":
    app()
