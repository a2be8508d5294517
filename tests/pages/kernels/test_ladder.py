"""Annex of 4.4: six versions that are right, in the published order."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from stacklib.kernels.series import matmul
from stacklib.pages.kernels import ladder as page

NOTEBOOK = Path(__file__).parents[3] / "chapters/04-kernels/annex-ladder.ipynb"


def printed() -> list[tuple[float, str, bool]]:
    """Rate, what is waited for, and whether it was right, of every version."""
    said = []
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            found = re.fullmatch(
                r"([\d.]+) TFLOP/s, waits for (\w+) (\w+)\n",
                "".join(output.get("text", "")),
            )
            if found:
                said.append((float(found[1]), found[2], found[3] == "True"))
    return said


def test_each_version_of_the_page_is_right_and_faster_than_the_one_before():
    said = printed()
    assert len(said) == len(page.VERSIONS)
    assert all(right for *_, right in said)
    rates = [rate for rate, *_ in said]
    assert rates == sorted(rates)


def test_both_orders_are_one_at_the_published_size():
    assert page.same_order().si == len(page.VERSIONS)
    told = [page.published(name).si for name in page.VERSIONS]
    assert told == sorted(told)


def test_a_kernel_with_a_fault_is_not_right():
    kernel = matmul.tiles_of_32(blocks_down=False)
    assert page.right(kernel, (32, 32), 1024, 8)

    def late(t, a, b, c, m, n, k, alpha, beta):
        row, column = t.thread.y, t.thread.x
        total = 0.0
        for i in range(1, k):
            total = t.fma(a[row * k + i], b[i * n + column], total)
        c[row * n + column] = total

    assert not page.right(late, (32, 32), (32, 32), 4)


def test_a_product_that_is_no_whole_number_of_tiles_is_refused():
    with pytest.raises(ValueError, match="100 x 64 is no whole number of tiles"):
        page.timed(matmul.rows_along, (32, 32), (32, 32), 4, (100, 64, 32))
