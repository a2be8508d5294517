"""Section 5.5: its loop, the cliff, the program that a reader writes."""

import pytest

from stacklib.memory.scratchpad.spilling import allocate
from stacklib.pages.accelerators import engines as page
from stacklib.pages.accelerators.engines import drawings, live
from stacklib.plots import spec

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("05-accelerators/engines")


def test_the_loop_says_what_the_engines_take():
    first, last = loop.prints().splitlines()
    times = [float(word) for word in first.replace(",", "").split() if "." in word]
    # The store by DMA, which the loop leaves out, is in the sum alone.
    dma = page.busy("dma").si * 1e6
    assert times[0] == pytest.approx(page.spent("sum").si * 1e6 - dma, abs=0.2)
    assert times[1] == pytest.approx(page.spent("most").si * 1e6, abs=0.1)
    assert last == "longest: tensor"
    assert loop.prints("4 * 2048", "2048").endswith("longest: scalar\n")


def test_a_little_too_much_is_copied_in_every_round():
    rounds = page.rounds().si - 1  # in the last, blocks leave for good
    hand = rounds * page.wanted(page.FULL).si
    assert page.spilled(page.FULL).si == pytest.approx(hand, rel=0.01)
    assert page.spilled(page.FULL, "belady").si < page.spilled(page.FULL).si / 10
    case = page.case()
    plan = allocate(case.program(page.FULL), case.managed, "lru")
    assert plan.loaded == page.copied(page.FULL).si


def show(text: str, **changed):
    return ask(live.explore, live.controls(), program=text, **changed)


@pytest.mark.rows("name", [n for n in live.STARTS if n != "too wide a sum"])
def test_what_a_reader_begins_from_runs(name: str):
    made, told = show(live.STARTS[name])
    assert set(told) == {"sum", "most", "time", "gain"}
    assert made["message"] is None
    slow, few = show(live.STARTS[name], buffers=1)[1], show(live.STARTS[name])[1]
    assert float(slow["time"].split()[0]) >= float(few["time"].split()[0])


@pytest.mark.rows(
    ("text", "says"),
    [
        (live.STARTS["too wide a sum"], "a bank of the PSUM holds 512"),
        ("max vector", "line 1: 'max vector'; write name, engine, columns"),
        ("max warp 512", "unknown engine 'warp'"),
        ("", "program is empty"),
        ("x vector 0", "columns = 0"),
    ],
)
def test_a_program_that_no_core_takes_gets_its_reason(text, says):
    made = live.explore(program=text, tiles=1, buffers=1)
    spec.check(made)
    assert says in made["message"]


def test_the_drawing_joins_engines_and_stores():
    alt = drawings.core_opened().alt
    assert "tensor to PSUM" in alt and "SBUF" in alt
