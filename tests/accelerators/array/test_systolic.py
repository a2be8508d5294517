"""The stepped array: its product, its clock, its operands, its registers' width."""

import random

import numpy as np
import pytest

from stacklib.accelerators import SystolicArray, cycles, sram_reads, utilisation
from stacklib.accelerators.array import registers, registers_numpy, step
from stacklib.accelerators.array.cycles import DATAFLOWS as AXES
from stacklib.accelerators.rtl.feed import Cycle, by_formula, first_difference
from stacklib.accelerators.rtl.stepped import as_cycles, by_steps

from ...rows import refusals

DATAFLOWS = ("os", "ws", "is")
draw = random.Random(5)


def numbers(rows: int, cols: int, low: int = -128, high: int = 127):
    return [[draw.randint(low, high) for _ in range(cols)] for _ in range(rows)]


def a_case(side: int = 7, size: int = 16):
    product = {axis: draw.randint(1, size) for axis in "mnk"}
    return product | {axis: draw.randint(1, side) for axis in ("rows", "cols")}


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_three_hundred_shapes_give_the_product_at_the_cycle_of_the_formula(dataflow):
    """Last cycle, use and reads equal their closed forms, with overlap and without."""
    for at in range(300):
        case, overlap = a_case(), at % 4 == 3
        a, b = numbers(case["m"], case["k"]), numbers(case["k"], case["n"])
        array = SystolicArray(case["rows"], case["cols"], dataflow, overlap=overlap)
        run = array.run(a, b)
        assert (run.product == np.array(a) @ np.array(b)).all(), case
        asked = {**case, "dataflow": dataflow, "overlap": overlap}
        assert run.last_cycle == cycles(**asked), asked
        assert run.utilisation == utilisation(**asked)
        assert run.reads == sram_reads(**asked), asked


def foreseen(run, a, b):
    """Each cycle of folds that do not overlap from indices alone: nothing is stepped.

    The cell in row r and column c multiplies what its fold's clock, t - r - c, says.
    """
    cut, hold = run.work.cut, run.work.sums.hold
    for cycle in range(cut.count * cut.fold):
        number, at = divmod(cycle, cut.fold)
        down, across = divmod(number, cut.across)
        made = [[[0] * cut.cols for _ in range(cut.rows)] for _ in range(3)]
        for r in range(min(cut.rows, cut.along - down * cut.rows)):
            for c in range(min(cut.cols, cut.beside - across * cut.cols)):
                t = at - cut.fill - r - c
                if not 0 <= t < cut.streamed:
                    continue
                axes = (down * cut.rows + r, across * cut.cols + c, t)
                m, n, k = (
                    axes[AXES[cut.dataflow].index(axis)] for axis in ("m", "n", "k")
                )
                first = 0 if cut.dataflow == "os" else down * cut.rows
                total = 0
                for x in range(first, k + 1):  # as a register of its width meets them
                    total = hold(total + a[m][x] * b[x][n])
                for part, value in zip(made, (a[m][k], b[k][n], total), strict=True):
                    part[r][c] = value
        yield Cycle(cycle, *(tuple(map(tuple, part)) for part in made))


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_every_operand_of_every_cycle_is_where_its_indices_say(dataflow):
    for _ in range(6):
        case = a_case(4, 6)
        a, b = numbers(case["m"], case["k"]), numbers(case["k"], case["n"])
        run = SystolicArray(case["rows"], case["cols"], dataflow, "int12").run(a, b)
        told = as_cycles(run.frames(), busy=True)
        assert first_difference(told, foreseen(run, a, b)) is None


def test_a_product_as_large_as_its_array_is_what_the_circuit_does():
    for case in (a_case(4, 5) for _ in range(20)):
        a, b = numbers(case["m"], case["k"]), numbers(case["k"], case["n"])
        assert first_difference(by_steps(a, b), by_formula(a, b)) is None


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_a_cycle_looked_up_is_that_of_the_whole_film(dataflow, overlap):
    a, b = numbers(9, 11), numbers(11, 10)
    run = SystolicArray(3, 4, dataflow, overlap=overlap).run(a, b)
    film = list(run.frames())
    assert [frame.cycle for frame in film] == list(range(run.last_cycle + 1))
    assert sum(np.sum(frame.busy) for frame in film) == 9 * 11 * 10
    for at in (0, 1, 17, run.last_cycle // 2, run.last_cycle):
        assert (
            first_difference(*map(as_cycles, ([run.operands(at)], [film[at]]))) is None
        )


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_lists_and_arrays_hold_the_same_registers(dataflow):
    array = SystolicArray(4, 3, dataflow, "int14")
    work = array.lay_out(numbers(7, 6), numbers(6, 5))
    for one, other in zip(
        step.steps(work, ops=registers),
        step.steps(work, ops=registers_numpy),
        strict=True,
    ):
        assert one.feeder.counts == other.feeder.counts
        for name in ("moving", "valid", "other", "waiting", "sums"):
            assert getattr(one, name) == getattr(other, name).tolist(), name


def test_a_large_array_multiplies_128_cubed():
    a, b = (np.array(numbers(128, 128)) for _ in "ab")
    run = SystolicArray(32, 32, "ws").run(a, b)
    assert (run.product == a @ b).all() and run.last_cycle == 3551


@pytest.mark.rows("dataflow", DATAFLOWS)
def test_a_narrow_register_wraps_and_counts(dataflow: str):
    a, b = np.full((2, 40), 127), np.full((40, 3), 127)
    run = SystolicArray(4, 4, dataflow, "int16").run(a, b)
    exact = 40 * 127 * 127
    assert (run.product == (exact + 2**15) % 2**16 - 2**15).all()
    # 645,160 passes a border of 65,536 ten times on the way up, for each of six sums
    # where one register takes all; two registers in a row may pass it less often.
    assert run.overflows == 60 if dataflow == "os" else 0 < run.overflows <= 60
    kept = SystolicArray(4, 4, dataflow, "int16", overflow="saturate").run(a, b)
    assert (kept.product == 2**15 - 1).all() and kept.overflows > 0
    wide = SystolicArray(4, 4, dataflow, "int64").run(a, b)
    assert (wide.product == exact).all() and wide.overflows == 0


def test_the_widest_register_without_a_sign_stays_whole():
    product = SystolicArray(2, 2, accumulate="uint64").run([[1], [-1]], [[1]]).product
    assert product.tolist() == [[1], [2**64 - 1]] and product.dtype == np.uint64


def test_a_fault_in_an_accumulator_is_found_where_it_begins(monkeypatch):
    """One cell loses the carry out of bit 7: the first sum that needs it is named."""
    a, b = numbers(4, 4), numbers(4, 4)
    good = SystolicArray(4, 4).run(a, b)
    exact = registers.multiply_add

    def broken(sums, x, y):
        made = exact(sums, x, y)
        old, term = sums[1][2], x[1][2] * y[1][2]
        if (old & 255) + (term & 255) > 255:
            made[1][2] -= 256
        return made

    film = list(good.frames())
    monkeypatch.setattr(registers, "multiply_add", broken)
    bad = SystolicArray(4, 4).run(a, b)
    found = first_difference(*map(as_cycles, (bad.frames(), film)))
    assert (found.row, found.col, found.what) == (1, 2, "sums")
    assert 3 <= found.cycle <= 6 and found.second - found.first == 256
    assert str(found).startswith(f"cycle {found.cycle}, place (1, 2): sums is ")
    wrong = np.argwhere(bad.product != np.array(a) @ np.array(b)).tolist()
    assert wrong == [[1, 2]]


def multiplied(a, b, **array):
    SystolicArray(**({"rows": 2, "cols": 2} | array)).run(a, b)


test_what_is_no_product = refusals(
    ([[1, 2]], [[1, 2]], "a is 1 x 2 and b 1 x 2: a needs as many columns"),
    ([[200]], [[1]], r"a\[0, 0\] = 200: int8 holds whole numbers from -128 to 127"),
    ([[1.5]], [[1]], r"a\[0, 0\] = 1.5"),
    ([[float("nan")]], [[1]], r"a\[0, 0\] = nan"),
    ([[1]], [[True]], r"b\[0, 0\] = True"),
    ([], [[1]], "a is no matrix"),
    ([[]], [[1]], "a has rows of"),
    ([[1, 2], [3]], [[1]], r"a has rows of \[1, 2\] numbers"),
    (np.zeros((2, 0), int), np.zeros((0, 2), int), "a has rows of"),
    (np.ones((2, 2)), np.ones((2, 2), int), r"a\[0, 0\] = 1.0"),
    ("12", [[1]], "a is no matrix"),
    by=multiplied,
)
test_what_is_no_array = refusals(
    ({"rows": 0}, "rows = 0"),
    ({"cols": 1.5}, "cols = 1.5"),
    ({"accumulate": "fp32"}, "accumulate = 'fp32': whole numbers of 2 to 64 bits"),
    ({"weights": "int65"}, "weights = 'int65'"),
    ({"overflow": "clip"}, "unknown overflow 'clip'"),
    ({"dataflow": "nvdla"}, "unknown dataflow 'nvdla'"),
    by=lambda wrong: multiplied([[1]], [[1]], **wrong),
    error=(ValueError, LookupError),
)


def test_no_cycle_after_the_last():
    run = SystolicArray(2, 2).run([[1]], [[1]])
    for cycle in (3, -1, 0.5, True):
        with pytest.raises(ValueError, match="cycle = "):
            run.operands(cycle)
