"""Section 6.16: rates that add, the best interval, killed processes, and the loop."""

import pytest

from stacklib.evidence import results
from stacklib.interconnect.failures import cluster
from stacklib.pages.interconnect import failures as page
from stacklib.pages.interconnect.failures import drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/failures")


def test_the_loop_is_the_closed_form():
    share = float(loop.prints("40 * 86400", "2000 * 86400").split(" %")[0])
    # It lets a restart pass without failures: half a per cent more is useful.
    assert share == pytest.approx(100 * page.useful(page.best()).si, abs=0.6)


def test_the_givens_of_the_loop_are_the_pages():
    assert page.best().si == pytest.approx(250, abs=1)
    assert page.cost().si == pytest.approx(2.84, abs=0.005)
    assert page.restart().si == 600
    assert page.between().si == pytest.approx(11_135, abs=1)
    assert page.between(page.LARGE).si == pytest.approx(1824, abs=1)


def test_kinds_of_causes_are_all_of_them():
    parts = ("gpu", "host", "network", "software")
    assert sum(page.share_of(part).si for part in parts) == pytest.approx(1)
    assert sum(page.causes_of(part).si for part in parts) == 419


def test_the_printed_share_is_not_that_of_its_count():
    assert page.faulty_share().si == pytest.approx(148 / 419)
    assert page.faulty_printed().si < page.faulty_share().si - 0.05


def test_drawn_and_derived_agree():
    assert page.drawn_between().si == pytest.approx(page.between().si, rel=0.05)
    assert page.short().si <= page.WAITING
    assert cluster.more_than(int(page.spares().si), page.broken().si) <= page.WAITING
    for row in page.rows():
        assert row["lost, drawn"].si == pytest.approx(row["lost"].si, rel=0.06)
    assert page.mean_replayed().si == pytest.approx(page.mean_steps().si, rel=0.02)


def test_at_a_large_size_restarts_are_what_is_lost():
    best = page.best(page.LARGE)
    mean = page.between(page.LARGE)
    saving = (page.cost() / best).si + (best / (2 * mean)).si
    assert (page.restart() / mean).si > 3 * saving


def test_the_training_that_was_killed_ended_as_the_other():
    (_, killed) = results.need("interrupted_training")["rows"]
    assert killed["weights_differ"] is False
    assert killed["repeated"] == 16 and killed["resumed_at"] == [16, 16, 40]


def test_the_live_figure_says_what_is_wrong_with_an_interval():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "too rare" in live.explore(**given)["title"]
    assert "too frequent" in live.explore(**given | {"minutes": 0.25})["title"]
    assert "hardly helps" in live.explore(**given | {"minutes": 4})["title"]
    hopeless = given | {"gpus": 200_000, "years": 1, "minutes": 480}
    useful = next(
        r for r in live.explore(**hopeless)["readouts"] if r["name"] == "useful"
    )
    assert useful["tree"]["value"] == 0


def test_the_drawing_plays_what_the_page_says():
    """A unit is work, saving, repeating or starting; saving in between leaves most."""
    for every in drawings.WAYS.values():
        doing = drawings.spent(every)
        assert len(doing) == drawings.UNITS and set(doing) <= set(drawings.ROLES)
        assert doing.count(drawings.STARTING) == drawings.START * len(drawings.FAIL)
    counts = {
        name: drawings.spent(every).count(drawings.WORK)
        for name, every in drawings.WAYS.items()
    }
    assert max(counts, key=lambda name: counts[name]) == "in between"
