"""Section 8.2: its loop is the package's step, its live figure holds, its rows too."""

import re
from functools import partial
from itertools import cycle

import pytest

from stacklib.evidence.calibrate.kinds import KIND_BARS, errors_by_kind, kind_error
from stacklib.pages.serving import estimate as page
from stacklib.pages.serving.estimate import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("08-serving/estimate")
readouts = partial(ask, live.explore, live.controls())
LINE = re.compile(r"(\d+): reading ([\d.]+) ms, arithmetic ([\d.]+) ms, step ([\d.]+)")


def printed(**changes):
    return {
        int(b): tuple(map(float, t)) for b, *t in LINE.findall(loop.prints(**changes))
    }


def test_the_loop_reads_what_the_account_reads():
    found = printed()
    for batch, (reading, arithmetic, step) in found.items():
        assert reading == pytest.approx(1e3 * page.reading(batch).si, rel=2e-3)
        due = page.limit(batch)["products with the weights"].t_arithmetic.si
        assert arithmetic == pytest.approx(1e3 * due, rel=0.03, abs=0.01)
        lost = 1e3 * page.lost().si
        assert step == pytest.approx(max(reading, arithmetic) + lost, abs=0.02)
    free = printed(old="lost = 80, 61.02e-6", new="lost = 80, 0")
    assert free[1][2] == pytest.approx(found[1][0], abs=0.01)


def test_what_the_page_says_of_bytes_and_operations():
    assert page.intensity(64).si == pytest.approx(64, rel=0.01)
    assert page.intensity(4096, prompt=True).si == pytest.approx(4096, rel=0.01)
    assert page.read_of_experts(64).to("GB").value == pytest.approx(585, rel=0.01)
    assert 1 < page.growth().si < 2
    at = round(page.turning().si)
    assert page.cache(at).si == pytest.approx(page.weights().si, rel=0.01)
    assert page.band("low", 64) < page.tpot(64) < page.band("high", 64)
    assert page.tpot(64) < page.benched()


def test_every_kind_of_row_has_its_errors_and_bars():
    rows = page.kinds()
    assert len(rows) == len(KIND_BARS) == len(errors_by_kind())
    assert sum(row["rows"] for row in rows) > 500
    for kind in KIND_BARS:
        assert 0 < kind_error(kind) < kind_error(kind, "p90")
    with pytest.raises(KeyError):
        kind_error("median")


def test_two_steps_are_drawn_with_their_bytes():
    text = drawings.two_steps().html
    for words in ("139 GB", "85.9 GB", "1.34 GB", "a step of 64"):
        assert words in text


def test_the_live_figure_says_what_the_page_says():
    _, shown = readouts()
    assert shown["tpot"] == page.tpot(page.CROWD).text("ms")
    assert shown["rate"] == page.rate(page.CROWD).text()
    assert readouts(batch=1)[1]["tpot"] == page.tpot().text("ms")
    spec, shown = readouts(model="llama-3-70b", chips=1)
    assert "does not fit" in spec["message"] and not shown


def test_every_choice_draws():
    """Each format on one device, with one model and one context after the other."""
    menus = {c["name"]: values(c) for c in live.controls()}
    others = (cycle(menus[name]) for name in ("device", "model", "context"))
    for dtype, device, model, context in zip(menus["dtype"], *others, strict=False):
        readouts(model=model, device=device, dtype=dtype, context=context)


def test_the_parts_of_the_live_figure_are_the_step():
    for batch in (1, 64):
        found = page.estimate(batch)
        plain = live.estimate(
            page.MODEL, page.DEVICE, "bf16", page.TP, batch=float(batch), context=4096.0
        )
        assert sum(live.seconds(plain).values()) == pytest.approx(found.tpot.si)
