"""Section 5.4: the page's loop and figures beside the package's, and its claims."""

import re

import pytest

from stacklib import pages
from stacklib.pages.accelerators import sram as page
from stacklib.pages.accelerators.sram import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("05-accelerators/sram")
LINE = re.compile(r"(.+): (\d+) chips, ([\d.]+) ms to read, ([\d,]+) tokens")
KEYS = dict(zip(("Groq LPU", "Groq 3 LPU", "WSE-3"), page.HELD, strict=True))


def printed(**changes):
    """What the loop says: key to chips, milliseconds, tokens at most."""
    lines = LINE.findall(loop.prints(**changes))
    return {
        KEYS[name]: (int(n), float(ms), int(most.replace(",", "")))
        for name, n, ms, most in lines
    }


def test_the_loop_lays_out_what_the_package_does():
    for on, (chips, ms, most) in printed().items():
        plan = page.plan(on)
        assert chips == plan.chips
        assert ms == pytest.approx(1e3 * page.reading(on).si, rel=0.01)
        assert most == pytest.approx(plan.longest, rel=0.01)


def test_conversations_are_bought_in_chips():
    said = printed(old="163_840, 1, 4096", new="163_840, 64, 4096")
    for on, (chips, _, _) in said.items():
        model = page.models.get(page.MODEL)
        width = {"fp16": "bf16"}.get(page.HELD[on], "int8")
        bytes = model.weight_bytes(width) + 64 * model.kv_bytes(4096, width)
        have = page.hardware.get(on).memory_capacity
        assert chips == page.fewest(bytes.si, have.si)


def test_served_rates_stay_below_their_roofs():
    assert page.published(page.FIRST).si < page.rate(page.FIRST).si
    assert page.launched().si < page.published(page.WAFER).si < page.rate(page.WAFER).si


def test_a_timetable_has_no_spread_and_lines_follow_the_formula():
    assert page.spread().si == 0
    for spread, c2 in (("fixed", 0.0), ("exponential", 1.0)):
        assert page.stayed(spread).si == pytest.approx(page.by_hand(c2).si, rel=0.05)
    assert page.scatter("fixed").si < page.scatter("exponential").si


def test_at_the_turn_both_memories_cost_the_same():
    for of in ("card", "board"):
        over = page.dollars(of, 1).si / page.dollars(page.HBM, 1).si
        have = page.hardware.get(page.FIRST).memory_capacity
        assert page.turn(of).si / have.si == pytest.approx(over)
    assert page.turn("board").si < have.si < page.turn("card").si


def test_every_model_is_a_row_or_a_sum():
    rows = [page.row(name, page.WAFER) for name in page.WILD]
    assert all(row["longest"].si >= 4096 for row in rows)
    with pytest.raises(ValueError, match="can be joined"):
        page.row("deepseek-v3", page.NEW)


def test_the_drawing_counts_the_chips():
    told = drawings.model_on_chips().html
    assert "beside the weights" in told and "a layer" in told
    assert drawings.ROWS * (page.plan().chips // drawings.ROWS) == page.plan().chips


@pytest.mark.parametrize("place", range(3))
def test_every_choice_draws(place):
    """Each value of each control once, in turn."""
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(said)
    spec, said = ask(live.explore, live.controls(), model="deepseek-v3")
    assert "can be joined" in spec["message"] and not said


JUDGED = [
    ("wse3-bandwidth", "wrong"),
    ("groq-bandwidth", "wrong"),
    ("groq-vs-h100", "wrong"),
    ("wse3-vs-h100", "close"),
    ("groq-attention-hw", "false"),
    ("groq-decode-rate", "agrees with its source"),
]


@pytest.mark.rows("id, verdict", JUDGED)
def test_headlines_are_judged(id, verdict):
    assert pages.judge(id).verdict == verdict
