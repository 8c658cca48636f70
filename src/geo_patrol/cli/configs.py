"""``geo-patrol configs``: list the presets, show one in full, or compare two."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.base.sides import SIDES
from geo_patrol.cli.output import InputError, bad_input, open_console, plain_table, print_table

if TYPE_CHECKING:
    from rich.console import Console

    from geo_patrol.config.schema import GameConfig, SideConfig


_WIDTH = 80
_BASE = "geo_patrol"
_TEXTS = ("title", "description")

Pairs = dict[str, tuple[Any, Any]]
"""By dotted key, the values of two configurations; None where one has no such key."""


def configs(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME [NAME2]]", help="Presets' names, or TOML files.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="See what replacing a value does; may be repeated."),
    ] = None,
) -> None:
    """List the presets and their differences; show one in full (NAME), or compare two (NAME NAME2).

    Lines of the form key = value can be passed to --set.
    """
    from geo_patrol.config.presets import load_config

    names = names or []
    if len(names) > 2:
        raise InputError(f"{len(names)} names: none lists the presets, one shows it, and two are compared")
    if overrides and not names:
        raise InputError("--set needs the name of a preset whose values it replaces")
    with bad_input():
        plain = [load_config(name) for name in names]
        changed = [load_config(name, overrides) for name in names]
    if not names:
        print_presets()
    elif len(names) == 1:
        print_values(plain[0], changed[0])
    else:
        print(" -> ".join(f"{name} ({config.title})" for name, config in zip(names, changed, strict=True)))
        print_differences(changed[0], changed[1])


def print_presets() -> None:
    """Print all presets, and the differences of each to geo_patrol."""
    from geo_patrol.config.presets import load_config
    from geo_patrol.config.toml_files import preset_names

    names = sorted(preset_names(), key=lambda name: (name != _BASE, name))
    presets = {name: load_config(name) for name in names}
    console = open_console()
    _print_tables(console, presets)
    for name, config in presets.items():
        if name != _BASE:
            print(f"{_BASE} -> {name}")
            print_differences(presets[_BASE], config)
            print()
    print("geo-patrol configs NAME shows one in full, geo-patrol configs NAME NAME2 compares two.")


def _print_tables(console: "Console", presets: "dict[str, GameConfig]") -> None:
    """Print the names of all presets, and the values in which most of them differ."""
    from geo_patrol.envs.registration import environment_id

    names = plain_table("preset", "title", "Gymnasium id")
    values = plain_table("preset", numbers=("rings", "goal", "alpha's Patrols", "bravo's Patrols", "win at", "turns"))
    for name, config in presets.items():
        names.add_row(name, config.title, environment_id(name))
        board, scores = config.board, dict.fromkeys(_short(config.side(side).points.win) for side in SIDES)
        rings, fleets = f"{board.inner_ring}-{board.outer_ring}", map(_fleet, (config.alpha, config.bravo))
        values.add_row(name, rings, str(board.goal_ring), *fleets, " / ".join(scores), str(config.turn_limit))
    values.caption = "Patrols: how many x fuel of each, rounds of each"
    values.caption_justify = "left"
    for table in (names, values):
        print_table(console, table)
        console.print()


def _fleet(side: "SideConfig") -> str:
    from geo_patrol.config.toml_files import Choice

    patrols = side.patrols
    formation = patrols.formation
    formations = formation.choices if isinstance(formation, Choice) else (formation,)
    sizes = dict.fromkeys(str(sum(count for _, count in groups)) for groups in formations)
    count = "|".join(sizes) if patrols.count is None else _short(patrols.count)
    single = "; some differ" if patrols.single else ""
    return f"{count} x {_short(patrols.fuel)}, {_short(patrols.ammo)}{single}"


def _short(value: Any) -> str:
    """Return a value, or a short text for a range or a choice."""
    from geo_patrol.config.toml_files import Choice, Range

    if isinstance(value, Range):
        return f"{value.low}-{value.high}"
    return "|".join(map(str, value.choices)) if isinstance(value, Choice) else str(value)


def print_values(before: "GameConfig", after: "GameConfig") -> None:
    """Print a configuration line by line, with the former values of those that changed."""
    for key, (old, new) in _compare(before, after).items():
        if new is None:
            print(f"# {key} = {_toml(old)}  # no longer")
        else:
            print(f"{key} = {_toml(new)}" + ("" if old == new else f"  # was {_toml(old)}"))


def print_differences(before: "GameConfig", after: "GameConfig") -> None:
    """Print the values that differ, without title and description."""
    pairs = _compare(before, after)
    different = {key: pair for key, pair in pairs.items() if pair[0] != pair[1] and key not in _TEXTS}
    if not different:
        print("  no differences")
        return
    width = max(map(len, different))
    for key, (old, new) in different.items():
        line = f"  {key:<{width}}  {_toml(old)} -> {_toml(new)}"
        if len(line) <= _WIDTH:
            print(line)
        else:
            print(f"  {key:<{width}}  {_toml(old)}\n  {'->':>{width}}  {_toml(new)}")


def _compare(before: "GameConfig", after: "GameConfig") -> Pairs:
    """Pair the values of two configurations; pairs that are the same for both sides are under "both"."""
    from geo_patrol.config.toml_files import flatten

    old, new = dict(flatten(before.to_dict())), dict(flatten(after.to_dict()))
    pairs = {key: (old.get(key), new.get(key)) for key in [*old, *(key for key in new if key not in old)]}
    merged: Pairs = {}
    for key, pair in pairs.items():
        side, _, rest = key.partition(".")
        alpha, bravo = f"alpha.{rest}", f"bravo.{rest}"
        if side not in SIDES:
            merged[key] = pair
        elif pairs.get(alpha) == pairs.get(bravo):
            merged[f"both.{rest}"] = pair
        else:  # side by side
            merged |= {of_side: pairs[of_side] for of_side in (alpha, bravo) if of_side in pairs}
    return merged


def _toml(value: Any) -> str:
    """Return a value as TOML, or that there is none."""
    from geo_patrol.config.toml_files import to_toml

    return "not set" if value is None else to_toml(value)
