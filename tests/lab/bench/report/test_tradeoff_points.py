"""The points of the plot and their Pareto front."""

from hypothesis import given
from hypothesis import strategies as st

from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import entries
from taskshield_lab.bench.report.tradeoff_points import OVERALL, Point, front, measured, of_paper
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run

POINTS = st.builds(Point, utility=st.integers(0, 5), asr=st.integers(0, 5))


def point(utility: float, asr: float) -> Point:
    return Point(utility=utility, asr=asr)


def test_the_front_has_the_points_that_no_other_beats() -> None:
    safe, middle, useful = point(40, 1), point(60, 5), point(90, 50)
    beaten = [point(60, 6), point(39, 1), point(30, 70), point(60, 5)]
    assert front([useful, *beaten, safe, middle]) == [safe, middle, useful]


def test_one_point_may_beat_all() -> None:
    assert front([point(50, 50), point(100, 0), point(100, 1), point(99, 0)]) == [point(100, 0)]
    assert front([]) == []


@given(st.lists(POINTS))
def test_every_point_is_on_the_front_or_beaten_by_it(points: list[Point]) -> None:
    best = front(points)
    assert not any(one.beats(other) for one in best for other in best)
    assert all(each in best or any(one.beats(each) for one in best) for each in points)
    assert [each.asr for each in best] == sorted(each.asr for each in best)


def test_points_are_the_measured_figures_in_per_cent() -> None:
    found = entries([(header(), synthetic.benchmark_runs())])
    (track,) = measured(found)
    for suite, each in {**found[0].result.suites, OVERALL: found[0].result.overall}.items():
        assert each.clean_utility and each.utility and each.asr
        assert track.clean[suite] == 100 * each.clean_utility.value
        assert track.attacked[suite] == point(100 * each.utility.value, 100 * each.asr.value)


def test_what_was_not_measured_has_no_point() -> None:
    (clean,) = measured(entries([(header(), [run()])]))
    assert clean.clean == {"banking": 0, OVERALL: 0} and clean.attacked == {}
    (attacked,) = measured(entries([(header(), [run(goal=1)])]))
    assert attacked.clean == {} and attacked.attacked[OVERALL] == point(0, 0)


def test_published_points_are_those_of_our_models_and_attack() -> None:
    replayed = header(way="replay")
    model = paper_figures.GPT_4O_MINI
    tracks = of_paper(entries([(replayed, [run(goal=1, agent=model)])]))
    assert len(tracks) == 6
    assert tracks[-1].label == f"paper: Task Shield, {model}"
    assert tracks[-1].attacked[OVERALL] == point(54.53, 2.23)
    assert tracks[-1].clean["travel"] == 55
    assert of_paper(entries([(header(), [run(goal=1)])])) == []
    other = entries([(replayed, [run(goal=1, agent=model, attack="injecagent")])])
    assert of_paper(other) == []
