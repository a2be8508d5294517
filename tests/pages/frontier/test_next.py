"""Section 10.2: the page's loop beside the package, its tables, figure and claims."""

import re

import pytest

from stacklib import pages, serving
from stacklib.pages.frontier import next as page
from stacklib.pages.frontier.next import claims, drawings, live

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("10-frontier/next")


def last_of(said):
    """What the loop ends with: before, after, times."""
    return [float(x) for x in re.findall(r"[\d.]+", said.splitlines()[-1])]


def test_the_loop_ends_at_both_estimates():
    tokens = [1e3 * page.token(on).si for on in (page.OLD, page.NEW)]
    assert last_of(loop.prints()) == pytest.approx(
        [*tokens, page.faster().si], rel=5e-3
    )
    quick = last_of(loop.prints("(4.882", "(0.488"))
    assert quick[2] == pytest.approx(page.leaner().si, rel=5e-3)


def test_a_gain_is_the_harmonic_mean_of_its_parts():
    groups = list(page.GROUPS)
    assert sum(page.share(g).si for g in groups) == pytest.approx(1)
    parts = sum(page.share(g).si / page.gain(g).si for g in groups)
    assert 1 / parts == pytest.approx(page.faster().si)
    assert page.faster().si < page.most().si < page.sheet("HBM").si


def test_no_case_gains_more_than_at_the_roof_nor_than_the_memory():
    for row in page.cases():
        assert 1 < row["times"].si < row["at the roof"].si < page.sheet("HBM").si


def test_more_answers_never_make_the_newer_one_slower():
    for batch in (1, 8, 64, 128, 256, 512):
        asked = {"dtype": "bf16", "tp": 8, "batch": batch, "context": 1024}
        old, new = (
            serving.estimate(page.MODEL, k, **asked) for k in (page.OLD, page.NEW)
        )
        assert new.tpot.si < old.tpot.si, batch


def test_pairs_differ_in_the_device_alone():
    for old, new in page.pairs():
        same = "model chips dtype batch prompt".split()
        assert [getattr(old, f) for f in same] == [getattr(new, f) for f in same]
    by_hand = [old.itl_ms / new.itl_ms for old, new in page.pairs()]
    assert page.last_time("slower").si == sum(ratio < 1 for ratio in by_hand)
    assert page.slowest("watts", "W").si < 0.5 * page.chip(page.OLD).tdp.si


def test_drawing_and_figure_have_both():
    told = drawings.two_generations().html
    assert "B200" in told and "Rubin" in told and "engine 4.88 ms" in told
    _, said = ask(live.explore, live.controls())
    assert said["times"].startswith(f"{page.faster().si:.3g}")
    for changed in ({"old": "a100_sxm_80gb"}, {"new": "mi355x", "kept": "nvfp4"}):
        assert ask(live.explore, live.controls(), **changed)[1]["times"]


JUDGED = [
    ("rubin-six-chips", "cited"),
    ("rubin-10x-token-cost", "cited"),
    ("rubin-4x-fewer-gpus", "close"),
    ("hw-gen-5-10x", "wrong"),
    ("nvidia-yearly-arch", "wrong"),
    ("single-chip-never-10x", "depends"),
    ("hopper-blackwell-30x", "conflict"),
    ("chip-3-5x", "close"),
    ("architecture-gain", "open"),
    ("v4-ascend-day0", "cited"),
]


@pytest.mark.rows("id, verdict", JUDGED)
def test_what_is_promised_is_judged(id, verdict):
    assert pages.judge(id).verdict == verdict


def test_a_ratio_at_a_fixed_speed_has_no_end():
    slow, told, fast = (claims.at_speed(claims.TARGET * x) for x in (2, 1, 0.6))
    assert slow.si < told.si < 30 < fast.si
