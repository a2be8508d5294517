"""Every number of a tile lies in one lane; bytes per cycle are those of a walk."""

import itertools

import pytest

from stacklib.pages.gpu.tensor_cores import drawings, operands


@pytest.mark.parametrize(
    ("which", "sides"),
    [
        (operands.left_of, (operands.ROWS, operands.DEPTH)),
        (operands.right_of_lane, (operands.DEPTH, operands.COLUMNS)),
        (operands.sums_of, (operands.ROWS, operands.COLUMNS)),
    ],
)
def test_lanes_share_a_tile_out(which, sides):
    every = [place for lane in range(32) for place in which(lane)]
    assert sorted(every) == sorted(itertools.product(*map(range, sides)))


@pytest.mark.parametrize(("rows", "columns"), [(16, 8), (64, 64), (64, 256)])
def test_tile_rate_is_bytes_over_cycles(rows, columns):
    cycles = rows * columns * 16 / 2048
    walked = sum(2 * 16 for _ in range(rows + columns)) / cycles
    found = operands.tile_rate("h100-sxm", rows, columns).to("B/cycle").value
    assert found == pytest.approx(walked, rel=2e-3)


def test_long_sums_lose_more_bits():
    told = [drawings._places(shift).nodes[-1].lines[-1].text for shift in (4, 8, 11)]
    assert told[0] == "all its bits stay"
    assert [int(text.split()[0]) for text in told[1:]] == [2, 5]
