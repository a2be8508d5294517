"""Tables of series on made-up numbers: faults that are planted are found."""

import math

import pytest

from stacklib.evidence import kernel_series, measurements, results
from stacklib.evidence.kernel_series import Line
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.series import port_of
from stacklib.gpu.simt.plan import planned
from stacklib.gpu.simt.slice_of import waits_for_blocks

# The committed table, and what the clock says in less than half a second.
ROWS = {row["id"]: row for row in results.need("kernel_series")["rows"]}
QUICK = [id for id, row in ROWS.items() if row["times_s"][0] < 0.5]


def made(kernel, published, predicted, series="a", kind="scan", source="s", part="p"):
    return Line(series, kernel, kind, source, published, predicted, "", part)


def test_right_numbers_have_no_fault():
    found = [made("one", 10, 10), made("two", 20, 20), made("three", 21, 20.5)]
    told = kernel_series.summary("all", found)
    assert (told.lines, told.refused, told.faults) == (3, 0, ())
    assert told.median == 1 and told.worst == pytest.approx(21 / 20.5)


def test_a_factor_two_either_way_is_as_far_off():
    found = [made("one", 10, 20), made("two", 20, 10)]
    assert kernel_series.summary("", found).median == 2
    assert kernel_series.order_faults(found) == [("two", "one")]


@pytest.mark.rows(
    ("fast", "predicted", "wrong"),
    [(12.0, 9.0, True), (12.0, 10.0, True), (12.0, 10.1, False), (11.9, 5.0, False)],
)
def test_pairs_a_fifth_apart_must_be_in_order(fast, predicted, wrong):
    found = [made("slow", 10, 10), made("fast", fast, predicted)]
    assert bool(kernel_series.order_faults(found)) == wrong


def test_kernels_of_two_series_are_not_compared():
    found = [made("one", 10, 10), made("two", 20, 5, series="b")]
    assert kernel_series.order_faults(found) == []


def test_a_refused_line_has_no_factor_and_counts_as_refused():
    none = Line("a", "wmma", "matmul", "s", 10, None, "tensor cores")
    told = kernel_series.summary("", [none, made("one", 10, 11)])
    assert (told.refused, told.worst) == (1, 1.1)
    with pytest.raises(ValueError, match="tensor cores"):
        _ = none.factor
    assert math.isnan(kernel_series.summary("", [none]).median)


def test_groups_by_series_kind_and_source():
    found = [made("one", 1, 1), made("two", 1, 2, "b", "copy"), made("three", 1, 1)]
    assert [(g.name, g.lines) for g in kernel_series.by(found, "series")] == [
        ("a", 2),
        ("b", 1),
    ]
    assert [g.worst for g in kernel_series.by(found, "kind")] == [1, 2]
    with pytest.raises(ValueError, match="'device'"):
        kernel_series.by(found, "device")


def test_factors_are_medians_of_their_part_and_three_at_most():
    found = [made(str(i), 10, 10 * x) for i, x in enumerate((2, 2, 8))]
    found.append(made("other", 10, 30, part="q"))
    factors = kernel_series.fit(found, ("p", "q", "r"))
    assert factors == pytest.approx({"p": 1 / 2, "q": 1 / 3, "r": 1})
    assert kernel_series.scaled(found[0], factors).factor == pytest.approx(1)
    with pytest.raises(ValueError, match="4 factors: at most 3"):
        kernel_series.fit(found, "pqrs")


@pytest.mark.parametrize("what", ["kind", "source"])
def test_a_fold_never_sees_what_it_scores(what):
    """One group is off by 4, the others by 2: its fold scales by the others' factor."""
    found = [made(str(i), 10, 20, **{what: str(i)}) for i in range(4)]
    odd = made("odd", 10, 40, **{what: "odd"})
    scored = kernel_series.folds([*found, odd], what, ("p",))
    assert scored[-1].factor == pytest.approx(2)
    alone = kernel_series.folds([odd], what, ("p",))
    assert alone[0].factor == 4  # nothing but itself to learn from
    with pytest.raises(ValueError, match="kind or source"):
        kernel_series.folds(found, "series", ("p",))


def test_rates_and_times_become_one_rate():
    rows = {row.id: row for row in measurements.series()}
    rate = next(r for r in rows.values() if r.unit == "TFLOPS")
    assert kernel_series.published(rate, 1.0) == rate.value * 1e12
    time = next(r for r in rows.values() if r.unit == "ms")
    assert kernel_series.published(time, 2.0) == 2.0 / (time.value * 1e-3)
    with pytest.raises(Refusal, match="unit"):
        other = next(r for r in measurements.public() if r.family == "G")
        kernel_series.published(other, 1.0)


def test_every_row_has_a_port_or_a_reason():
    def clock(port, shape, device):
        return port.work(shape) / 1e12, "memory"  # 1e12 a second, whatever it is

    found = kernel_series.lines(clock)
    assert len(found) == len(measurements.series())
    refused = [one.reason for one in found if one.predicted is None]
    assert set(refused) == {"a library's kernels are not known", "bulk tensor copies"}
    ran = [one for one in found if one.predicted is not None]
    assert len(ran) >= 0.85 * len(found)
    assert all(one.predicted == pytest.approx(1e12) for one in ran)


def test_printed_rates_are_below_what_the_devices_can():
    """A wrong count of bytes or FLOP would put some kernel above its roofline."""
    from stacklib import hardware
    from stacklib.evidence.series import port_of
    from stacklib.evidence.systems import device_of

    for row in measurements.series():
        try:
            port = port_of(row)
        except Refusal:
            continue
        device = hardware.get(device_of(row.system)[0])
        flop = row.text("kind") == "matmul"
        if row.text("series") == "liu-sgemv":
            continue  # its matrix stays in the L2
        most = device.peak("fp32").si if flop else device.memory_bandwidth.si
        rate = kernel_series.published(row, port.work(port.published[0]))
        assert rate < most, (row.id, rate, most)


def test_the_table_holds_every_row_of_the_family():
    assert list(ROWS) == [row.id for row in measurements.series()]
    for row in ROWS.values():
        assert (row["predicted"] is None) == bool(row["reason"])


def runs_as_stored(id):
    (given,) = (row for row in measurements.series() if row.id == id)
    line = kernel_series.line(given, kernel_series.estimated)
    told = ROWS[id]["predicted"]  # None where the row is refused
    assert line.predicted == (told and pytest.approx(told, rel=1e-6))
    assert (line.part, line.reason) == (ROWS[id]["part"], ROWS[id]["reason"])


@pytest.mark.rows("id", QUICK, drawn=5)
def test_a_row_of_the_table_is_what_the_clock_says(id):
    runs_as_stored(id)


@pytest.mark.slow
@pytest.mark.rows("id", [id for id in ROWS if id not in QUICK])
def test_every_row_of_the_table_is_what_the_clock_says(id):
    runs_as_stored(id)


@pytest.mark.rows(
    ("series", "kernel", "waits"),
    [
        ("siboehm-sgemm", "double buffering", False),
        ("leimao-sgemm", "V04", False),
        ("yencal-scan", "Lookback (warp)", True),
    ],
)
def test_only_kernels_whose_blocks_wait_for_blocks_are_refused(series, kernel, waits):
    """C is read and written in two of them, in registers that loops had before."""
    rows = measurements.series()
    (row,) = (r for r in rows if r.text("series") == series and r.subject == kernel)
    port = port_of(row)
    step = next(port.steps(port.small))
    given = (step.kernel, step.grid, step.block, "h100-sxm", step.args)
    plan = planned(*given, step.registers, 0, 1)
    assert waits_for_blocks(plan.program) == waits
