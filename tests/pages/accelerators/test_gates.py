"""Section 5.3: what one multiplier costs, in gates."""

import inspect
import json
import math

import pytest
from _tools import tree
from hypothesis import given
from hypothesis import strategies as st

from stacklib.accelerators.rtl import netlist
from stacklib.pages.accelerators import gates

NOTEBOOK = tree.ROOT / "chapters" / "05-accelerators" / "gates.ipynb"
RESULTS = tree.ROOT / "benchmarks" / "results"


def rows(part: str) -> dict:
    """Rows of a stored run by their names."""
    told = json.loads((RESULTS / f"rtl_{part}.json").read_text("utf-8"))
    assert told["versions"]["yosys"].startswith("0.70")
    return {row["id"]: row for row in told["rows"]}


@given(st.integers(1, 12), st.data())
def test_the_loop_multiplies(bits: int, data) -> None:
    below = st.integers(0, 2**bits - 1)
    a, b = data.draw(below), data.draw(below)
    assert gates.multiply(a, b, bits) == (a * b, 6 * bits**2)


def test_the_page_shows_the_loop_as_it_is() -> None:
    source = inspect.getsource(gates.multiply).splitlines()
    body = [line for line in source[1:] if '"""' not in line]
    shown = "".join(
        "".join(cell.source)
        for cell in tree.read_notebook(NOTEBOOK).cells
        if "pyrun" in cell.source
    )
    assert "\n".join(body) in shown


def test_kept_netlists_have_the_counts_that_are_told() -> None:
    told = rows("gates")
    for name in ("mac", "array_2x2", "byte_split"):
        assert netlist.stored(name).counts == told[name]["cells"]
    assert told["byte-split"] == {
        "id": "byte-split",
        "pairs": 2**24,
        "equal": 2**24,
        "proved_8x4": True,
    }


def test_every_account_agreed_on_every_product() -> None:
    for row in rows("witnesses").values():
        assert set(row["equal"].values()) == {row["products"]}
    assert sum(row["products"] for row in rows("witnesses").values()) == 1000
    assert gates.took("cycles").si - gates.took("last_cycle").si == 1


def test_netlists_run_ten_times_faster_than_in_icarus() -> None:
    assert rows("speed")["ratio"]["of"] >= 10


def test_three_rows_are_refused_bare_and_fit_behind_the_shell() -> None:
    told = rows("placed")
    assert told["bare-2"]["pins"] == 163 and "refused" in told["bare-3"]
    for size in (3, 4):
        shell = told[f"shell-{size}"]
        assert shell["pins"] == 8 and shell["logic_cells"] < shell["of"]
        bare = told[f"bare-{size}"]["luts"]
        assert shell["shell_luts"] == shell["luts"] - bare > 0
    assert told["mac-8"]["with_dsps"]["dsps"] == 1


def test_numbers_of_the_page_hang_together() -> None:
    assert gates.square().si == (7 / 8) ** 2
    assert gates.square().si < gates.ratio("product").si < gates.ratio("mac").si < 1
    assert math.isclose(gates.energy("sum-32").si, 0.1e-12)
    published = {"product-8": 0.2e-12, "product-32": 3.1e-12}
    for name, joules in published.items():
        assert gates.energy(name).si == pytest.approx(joules, rel=0.1)
    ahead, warps = gates.waiting()
    assert warps / ahead > 10
    shares = [gates.control(side).si for side in gates.SIDES]
    assert shares == sorted(shares, reverse=True)
    assert gates.less().si == 1024
    assert gates.most_active(1.0).si == 0.8
    assert len(gates.rows()) == len(gates.WIDTHS)
