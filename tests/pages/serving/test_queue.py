"""Section 8.8: the loop is the simulator, and a line is as long as the page says."""

import math
from functools import cache, partial

import pytest

from stacklib.pages.serving import queue as page
from stacklib.pages.serving.queue import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.quantity import chosen
from stacklib.serving import poisson, simulate

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/queue")
readouts = partial(ask, live.explore, live.controls())
FEW = 400  # requests, where a law is held and not a number


KEPT = (page.run, page.capacity, page.rate_at, page.interval)


@pytest.fixture(autouse=True, scope="module")
def fewer():
    """The page's laws hold for fewer requests than it draws, and that is quicker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "REQUESTS", 1_200)
        patch.setattr(page, "MANY", 2_500)
        for each in KEPT:
            each.cache_clear()
        yield
    for each in KEPT:
        each.cache_clear()


def step(work):
    """Seconds of the loop's step."""
    reads = len(work.pieces)
    return (11_000_000 + 45_000 * work.decodes + 46_000_000 * reads) * 1e-9


@cache
def printed(rate, slots, new, requests):
    first = "rate, slots, new, requests = 10, 128, 256, 1000"
    mine = loop.prints(first, f"{first[:29]} {rate}, {slots}, {new}, {requests}")
    return [float(line.split()[1]) for line in mine.splitlines()]


@pytest.mark.parametrize(
    ("rate", "slots", "new", "requests"),
    [(10, 128, 256, 300), (40, 3, 5, 200), (3, 1, 4, 100), (12, 16, 33, 150)],
)
def test_the_loop_is_the_simulator(rate, slots, new, requests):
    found = simulate(
        None,
        traffic=poisson(rate, requests, prompt=512, new=new),
        max_batch=slots,
        chunk=1 << 20,
        scheduler="continuous",
        step_time=step,
    )
    times = sorted(each.ttft for each in found.requests)
    due = [times[math.ceil(p * requests / 100) - 1] / 1e9 for p in (50, 99)]
    assert printed(rate, slots, new, requests) == due


def test_what_the_page_says_of_its_loop():
    p99 = [printed(rate, 128, 256, 1000)[1] for rate in (10, 11.5, 12)]
    assert p99[0] < p99[1] < p99[2]
    once, twice = printed(20, 128, 256, 1000), printed(20, 128, 256, 2000)
    assert [b / a for a, b in zip(once, twice, strict=True)] == pytest.approx(
        [2, 2], rel=0.25
    )


def test_by_hand_and_simulated():
    assert page.most_served(FEW * 5).si == pytest.approx(page.by_hand().si, rel=0.06)
    # Where a prompt is read all the time nothing is left of the machine.
    assert page.reads(page.by_hand()).si == pytest.approx(1)
    assert page.wait(0.999 * page.by_hand()).si > 100 * page.wait().si
    # A prompt that is under way, and those in line: added up until nothing is left.
    u, s = page.reads().si, page.reading().si
    assert page.wait().si == pytest.approx(u * s / 2 * sum(u**n for n in range(400)))
    assert 1 < page.wait().si / page.waited().si < 1.5
    assert page.writing().si > page.inside().si > page.standing().si


def short(rate, factor=1.0):
    """The page's machine with few requests, steps so many times as long."""
    asked = {"tp": page.TP, "max_batch": page.SLOTS, "scheduler": "chunked"}
    rows = page.traffic(rate, FEW)
    return simulate(page.MODEL, page.DEVICE, rows, **asked).again(factor=factor)


def test_traffic_comes_at_its_rate():
    for rate in (0.5, 10.0, 33.0):
        rows = page.traffic(rate, FEW)
        assert (FEW - 1) / (rows[-1].arrival / 1e9) == pytest.approx(rate, rel=1e-6)
    pauses = [row.arrival for row in page.traffic(5.0, FEW)]
    same = [row.arrival / 2 for row in page.traffic(2.5, FEW)]
    assert pauses == pytest.approx(same, abs=2)


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.25])
def test_longer_steps_are_the_same_film_at_a_denser_rate(factor):
    slow = short(8.0, factor).requests
    dense = short(8.0 * factor).requests
    for each, other in zip(slow, dense, strict=True):
        assert each.ttft == pytest.approx(factor * other.ttft, rel=1e-4)


def test_an_error_of_a_step_is_an_error_of_the_load():
    assert page.fifth_longer().si > 1 > page.load().si
    assert page.fifth_shorter().si < page.percentile(99).si / 2
    assert page.safe().si * page.end("high").si == pytest.approx(1)
    assert (1 + page.margin().si) * page.load().si == pytest.approx(1)
    assert math.isinf(page.longest(99)) and page.shortest(99).si < 0.3
    assert page.said(math.inf) == "without end" and page.said(1.2164) == "1,216"


def test_the_figure_and_what_can_be_done_otherwise(monkeypatch):
    monkeypatch.setattr(page, "LOADS", (0.35,))
    grammar.check(figures.waits_spec(title="The last tenth costs most."))
    rows = page.loads()
    assert len(rows) == 2 and rows[1]["p99, longest steps (ms)"] == "without end"
    assert rows[0]["p99, longest steps (ms)"] != "without end"
    told = {row["way"]: row for row in page.otherwise()}
    assert told["static batches"]["TTFT p99 (ms)"] == "without end"
    usual, large, two = (
        [
            int(told[way][f"{word} p99 (ms)"].replace(",", ""))
            for word in ("TTFT", "ITL")
        ]
        for way in [*list(page.OTHERWISE)[:2], "two machines"]
    )
    assert large[0] < usual[0] and large[1] > usual[1]
    assert two[0] < usual[0] and two[1] <= usual[1]


def test_the_drawing():
    found = drawings.line_before_slots()
    assert f"{page.inside().text()} of {page.SLOTS} in use" in found.alt
    assert chosen(page.CHUNK).text() in found.alt


def test_the_live_figure():
    spec, told = readouts(rate=8)
    assert "rate of 8" in spec["title"] and told["p99"].endswith("without end")
    spec, told = readouts(rate=24, scheduler="static")
    assert "utilisation" in spec["message"] and "p99" not in told
    _, told = readouts(rate=2, of="itl", machines=2)
    assert "to" in told["p50"] and "without" not in told["p99"]
