"""Figures of studies: what their axes, lines and titles say."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from geo_patrol import play_study
from geo_patrol.studies.charts import network_changes
from geo_patrol.studies.figures import COLUMN_WIDTH, PAGE_WIDTH, study_figures

QUICK = {"config": "case1", "set": {"turn_limit": 2}, "games": 4, "title": "Quick"}


def play(**content):
    return play_study({**QUICK, "agents": ["idle"], **content}, processes=1)


def draw(study, name, width=PAGE_WIDTH):
    return next(each for each in study_figures(study, width) if each.name == name)


def texts(figure):
    figure.draw_without_rendering()
    return [text for text in figure.findobj(match=lambda artist: hasattr(artist, "get_fontsize")) if text.get_text()]


@pytest.fixture(scope="module")
def spread():
    factors = {"bravo.patrols.ammo": "0..3", "bravo.odds.shoot.0": [0.5, 0.75, 1.0], "rules": ["book", "code"]}
    return play(factors=factors, design="latin-hypercube", samples=24)


@pytest.fixture(scope="module")
def searched():
    """Two scenarios, two pairs of agents, and factors with values."""
    scenarios = [{"name": name, "set": {"turn_limit": turns}} for name, turns in (("short", 2), ("longer", 4))]
    agents = ["idle", ["idle", "random"]]
    return play(scenario=scenarios, agents=agents, factors={"bravo.patrols.ammo": [0, 2, 3]})


@pytest.mark.slow
def test_lines_reach_the_values_at_both_ends_and_ticks_are_values_that_were_played(spread):
    axes = [axis for axis in draw(spread, "wins").figure.axes if axis.get_visible()]
    for axis, values in zip(axes, ([0, 1, 2, 3], [0.5, 0.75, 1.0], [0, 1]), strict=True):
        np.testing.assert_allclose(axis.get_xticks(), values)
        np.testing.assert_allclose(axis.lines[0].get_xdata(), values)


@pytest.mark.slow
def test_turns_have_an_axis_for_each_unit_and_the_same_turns(searched):
    named = draw(searched, "turns")
    labels = [axis.get_ylabel().replace("\n", " ") for axis in named.figure.axes]
    assert labels == ["points, mean", "Patrols with fuel, mean", "games that go on"] * 4
    assert {axis.get_xlim() for axis in named.figure.axes} == {(1.0, 4.0)}
    assert "first of the 3 cells" in named.caption
    shown = " ".join(text.get_text() for text in texts(named.figure))
    assert "first cell: short, rounds of each of bravo's Patrols 0; idle (alpha) against random (bravo)" in shown


@pytest.mark.slow
def test_margins_of_pairs_are_side_by_side(searched):
    axis = draw(searched, "margin").figure.axes[0]
    first, second = (container.lines[0].get_xdata() for container in axis.containers)
    assert np.all(second - first > 0.1)
    assert not axis.collections or all(np.ndim(each.get_segments()) for each in axis.collections)


def test_a_ranking_is_in_the_unit_of_its_answers():
    pytest.importorskip("SALib")
    factors = {"bravo.patrols.ammo": "0..3", "alpha.patrols.count": "4..10"}
    question = [{"kind": "ranking", "measure": "bravo wins"}]
    study = play(agents=["random"], factors=factors, design="morris", samples=2, question=question)
    figure = draw(study, "question1").figure
    assert figure.axes[0].get_xlabel().replace("\n", " ") == "mean change of games that bravo wins, percentage points"
    effects = [answer.estimate for answer in study.answered[0].answers if answer.statistic == "mean absolute effect"]
    np.testing.assert_allclose(sorted(figure.axes[0].containers[0].lines[0].get_xdata()), 100 * np.sort(effects))
    assert not figure.legends


@pytest.mark.slow
@pytest.mark.parametrize("width", [PAGE_WIDTH, COLUMN_WIDTH])
def test_texts_are_large_enough_and_inside_figures(spread, searched, width):
    for named in (*study_figures(spread, width), *study_figures(searched, width)):
        assert named.figure.get_figwidth() == width
        for text in texts(named.figure):
            assert text.get_fontsize() >= 6.5
        box = named.figure.get_tightbbox()
        assert box.x0 > -0.05, named.name
        assert box.x1 < width + 0.05, named.name


def test_figures_name_the_only_scenario_and_pair_once():
    study = play(factors={"bravo.patrols.ammo": [0, 2]})
    for named in study_figures(study):
        shown = "; ".join(text.get_text() for text in texts(named.figure)).replace("\N{NO-BREAK SPACE}", " ")
        assert shown.count("Case 1: three rounds") == shown.count("idle on both sides") == 1, named.name


@pytest.mark.slow
@pytest.mark.parametrize("values", [3, 9, 20])
@pytest.mark.parametrize("width", [PAGE_WIDTH, COLUMN_WIDTH])
def test_heat_maps_have_numbers_that_fit_or_a_scale(width, values):
    factors = {"bravo.patrols.ammo": [0, 2], "alpha.patrols.fuel": list(range(60, 60 + values))}
    figure = draw(play(factors=factors, games=2), "wins", width).figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert boxes or len(figure.axes) == 2
    tops = sorted((box for box in boxes if box.y0 > np.mean([box.y0 for box in boxes])), key=lambda box: box.x0)
    assert all(left.x1 <= right.x0 for left, right in pairwise(tops))


def test_a_line_has_a_gap_where_another_network_takes_over():
    assert network_changes([("1", ""), ("1", ""), ("2", ""), ("2", ""), ("1", "")]) == [2, 4]
    assert network_changes([]) == []
