"""Section 9.6: the page's loop and figures beside the package's, and its claim."""

import pytest

from stacklib import pages
from stacklib.diy.silicon.fixed import Convolution, convolve, finish
from stacklib.pages.diy import fpga as page
from stacklib.pages.diy.fpga import drawings

from ...programs import loop_of

loop = loop_of("09-diy/fpga")
IMAGE = [[[0, 0, 90, 9], [0, 7, 99, 0], [0, 80, 12, 0], [5, 70, 0, 0]]]
KERNEL = [[[-1, -1, 2], [-1, 2, -1], [2, -1, -1]]]


@pytest.mark.parametrize("shift", [0, 1, 2, 5])
def test_the_loop_convolves_as_the_package_does(shift):
    told = [int(n) for n in loop.prints("shift=2", f"shift={shift}").split()]
    layer = Convolution((KERNEL,), (0,), shift)
    sums = convolve(layer, IMAGE)[0]
    kept = finish(layer, [sums])[0]
    want = [n for row in kept for n in row]
    # A layer goes on without what is below zero.
    assert [max(n, 0) for n in told] == want and min(told) < 0


def test_the_napkin_is_the_slowest_layer():
    places, kernels, depth = (q.si for q in page.first_layer())
    rows, cols = (q.si for q in page.sides(0))
    tiles = -(-places // rows) * -(-kernels // cols)
    assert tiles * (depth + rows + cols - 1) == page.told("interval").si
    assert page.hoped().si < page.told("interval").si == page.cycles(0).si


def test_every_number_of_a_digit_agrees_and_most_are_read():
    assert page.agree().si == 100 + 72 + 10 and page.right().si > 0.98


def test_more_blocks_end_at_the_first_layer():
    last = {page.told("interval", key).si for key in ("k26", "u50", "u55c")}
    assert last == {sum(q.si for q in page.first_layer()) - 1}
    assert page.over("ceiling").si > 10 * page.digits("k26").si / page.digits().si


def test_a_kernel_of_tiles_runs_as_its_formula_says():
    for shared, kept in ((False, 1), (True, 1), (True, 4)):
        for slots in (1, 2):
            run, hand = (f(slots, shared, kept) for f in (page.kernel, page.by_hand))
            assert run.si == pytest.approx(hand.si)
    kept = int(page.enough().si)
    assert page.reading(kept=kept) <= page.computing() < page.reading(kept=kept - 1)


def test_the_block_in_fixed_point_is_near_its_floats():
    assert max(page.block_error(seed).si for seed in range(3)) < 0.02


def test_a_board_is_no_card_in_operations_and_nearly_one_in_bytes():
    assert pages.judge("fpga-vs-gpu").then.si == pytest.approx(7.1, rel=0.01)
    assert "finds edges" in drawings.convolution_as_pipeline().html
