"""Section 6.3: the page's loop is the search, its numbers are the recorded proofs."""

import pytest

from stacklib.interconnect.best import known
from stacklib.interconnect.best.bounds import least_steps
from stacklib.interconnect.schedules.run import run
from stacklib.interconnect.schedules.verify import verify
from stacklib.pages.interconnect import best as page
from stacklib.pages.interconnect.best import drawings, figures

from ...programs import loop_of

loop = loop_of("06-interconnect/best")


def test_the_loop_is_the_search():
    ring = "{0: (1, 3), 1: (0, 2), 2: (1, 3), 3: (0, 2)}"
    row = "{0: (1,), 1: (0, 2), 2: (1, 3), 3: (2,)}"
    told = [int(text.split()[0]) for text in (loop.prints(), loop.prints(ring, row))]
    assert told == [page.tried("ring of 4").si, page.steps("line of 4", 1).si] == [2, 3]


def test_every_optimum_is_proved_again():
    for name, chunks in page.rows():
        made = page.schedule(name, chunks)
        assert made.steps == page.rows()[name, chunks]["low"]
    assert page.proved().si == len(page.rows()) == 33
    assert page.boards(8).si + page.boards(4).si == len(known.BOARDS)


def test_a_schedule_that_was_changed_is_refused(monkeypatch):
    row = page.rows()[page.CUBE, 8]
    page.schedule.cache_clear()
    monkeypatch.setitem(row, "sends", row["sends"][1:])
    with pytest.raises(ValueError, match=r"cube mesh .*: step \d"):
        page.schedule(page.CUBE, 8)
    page.schedule.cache_clear()


def test_the_schedules_sum_real_arrays():
    np = pytest.importorskip("numpy")
    arrays = [np.arange(13) * 10**chip for chip in range(8)]
    for name in page.BOARDS:
        for mine in run(page.schedule(name, page.CHUNKS), arrays):
            assert (mine == sum(arrays)).all()


def test_the_ring_is_optimal_where_chips_have_one_port():
    for name in page.BOARDS:
        fits = page.ring(name).si == page.steps(name, page.CHUNKS).si
        assert fits == (name in (page.SWITCH, page.TREE))
        assert fits == (page.slower(name).si == pytest.approx(1))
        assert page.steps(name, 1).si < page.ring(name).si


def test_no_schedule_has_fewer_steps_than_are_counted():
    for name, chunks in page.rows():
        assert page.least(name, chunks).si <= page.steps(name, chunks).si
    assert page.least(page.CUBE, 8).si < page.steps(page.CUBE, 8).si
    assert page.sends(8).si / page.at_once(page.CUBE).si == pytest.approx(7 / 3)


def test_the_token_is_exchanged_in_one_step():
    assert page.simulated().si == pytest.approx(page.one().si, rel=1e-9)
    assert least_steps(page.wide(), 1) == (1, "far")
    ring = page.collectives.token("ring").si
    assert page.exchange().si * page.saved().si == pytest.approx(ring)
    assert page.collectives.time("in_switch").si < page.one().si


def test_the_drawing_shows_the_found_schedule():
    made = page.schedule(page.CUBE, 1)
    assert verify(made).holds and made.steps == 2
    after = drawings.held(made)[1]
    assert {mask.bit_count() for (mask,) in after} == {2}  # partners have swapped
    assert len(drawings.cube_mesh().html) < 90_000
    assert {drawings.cables(chip).si for chip in range(8)} == {6}


def test_on_a_dgx_1_a_single_ring_is_quickest_at_no_size():
    lines = {mark["name"]: mark["y"] for mark in figures.by_size()["marks"]}
    ring = lines.pop("one ring")
    for at, time in enumerate(ring):
        assert min(other[at] for other in lines.values()) < time
