"""Published kernels, run: what is stored is what runs, and how far it is off."""

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.evidence import kernel_runs, kernel_times
from stacklib.evidence.validate import outcome, quantile, read_back
from stacklib.gpu.chip import microbenchmarks as kernels
from stacklib.roofline.bound import hierarchy

ROWS = {row.id: row for row in kernel_runs.FAMILY}
# One of every kernel and every part that bounds one, some of which are run again.
AGAIN = (
    "C-0023",
    "C-0024",
    "C-0026",
    "C-0034",
    "C-0053",
    "C-0054",
    "C-0060",
    "C-0078",
    "C-0084",
    "C-0120",
    "C-0125",
    "C-0149",
)


def runs_as_stored(id):
    found = outcome(ROWS[id], kernel_runs.estimate)
    stored = kernel_times.stored()[id]
    assert f"{found.predicted:.4g}" == stored["estimated"]
    assert found.bound == stored["bound"]


@pytest.mark.rows("id", AGAIN, drawn=5)
def test_what_is_stored_is_what_runs(id):
    runs_as_stored(id)


@pytest.mark.slow
@pytest.mark.rows("id", [i for i, row in kernel_times.stored().items() if row["bound"]])
def test_all_that_is_stored_is_what_runs(id):
    runs_as_stored(id)


def test_every_row_is_estimated_or_refused_with_a_reason():
    stored = kernel_times.stored()
    assert set(stored) == set(ROWS)
    for cells in stored.values():
        assert bool(cells["estimated"]) != bool(cells["reason"])
        assert bool(cells["estimated"]) == bool(cells["by_source"])
    ran = [o for o in kernel_times.outcomes() if o.predicted is not None]
    nvidia = [o for o in ran if o.bound]
    assert len(ran) == len(nvidia) == 66


@pytest.mark.rows("column", ["estimated", "by_source", "by_device"])
def test_errors_are_within_the_bar_of_family_c(column):
    errors = kernel_times.errors(column)
    assert len(errors) >= 25
    assert quantile(errors, 0.5) <= 0.10
    assert quantile(errors, 0.9) <= 0.30


def test_a_row_read_back_is_no_test():
    tests = len(kernel_times.errors("estimated"))
    ran = [o for o in kernel_times.outcomes() if o.predicted is not None]
    assert tests + sum(read_back(o.row, o.bound) for o in ran) == len(ran)


def test_a_column_that_is_none():
    with pytest.raises(ValueError, match="column = 'fitted'"):
        kernel_times.outcomes("fitted")


@pytest.mark.parametrize("units", [4, 16, 32])
def test_a_slice_stands_for_the_chip(units, monkeypatch):
    """Seconds a byte do not depend on how many units are simulated."""
    device = hardware.get("a100-sxm-80gb")
    monkeypatch.setattr(kernel_runs, "UNITS", units)
    part = kernel_runs.slice_of(device, units)
    assert int(part.compute_units.si) == units
    monkeypatch.setattr(kernel_runs, "slice_of", lambda d, n=units: part)
    done, took = kernel_runs._streamed(device, "scale")
    expected = hierarchy.stream_rate(device, "mixed").rate
    assert done / took.seconds == pytest.approx(expected, rel=0.02)


def test_the_file_is_written_and_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kernel_runs, "FILE", tmp_path / "times.csv")
    monkeypatch.setattr(kernel_runs, "text", lambda: "id\n")
    assert kernel_runs.main() == 0 and kernel_runs.FILE.read_text("utf-8") == "id\n"
    assert capsys.readouterr().out == "wrote times.csv\n"


def test_a_slice_is_never_more_than_the_chip():
    device = hardware.get("h100-sxm")
    assert kernel_runs.slice_of(device, 500).compute_units == device.compute_units


@pytest.mark.rows("level", ["l1", "l2", "dram", "shared"])
@pytest.mark.rows("key", ["v100-sxm2-32gb", "h100-sxm", "b200-sxm", "rtx-4090"])
def test_a_chase_finds_the_latency_of_its_level(key, level):
    """The caches have to put the ring where it belongs."""
    device = hardware.get(key)
    try:
        expected = hierarchy.load_cycles(device, level)
    except hardware.UnknownSpec:
        pytest.skip(f"nobody measured {level} of {key}")
    loads, took = kernel_runs._chased(device, level)
    # The replay counts whole cycles.
    assert took.seconds / loads * device.clock.si == pytest.approx(expected, 0.01, 0.5)


def test_loads_on_their_way_together_are_waited_for_once():
    n = 1024
    src = np.ones(4 * n)
    args = ("h100-sxm", src, gpu.empty(n, float))
    wide = gpu.launch(kernels.stream_read_wide, n // 256, 256, *args).report
    plain = gpu.launch(kernels.stream_read, 4 * n // 256, 256, *args).report
    waits = [
        sum(
            report.times.replayed.by_line[line]["long_scoreboard"] > 0
            for line in report.times.replayed.by_line
            if "long_scoreboard" in report.times.replayed.by_line[line]
        )
        for report in (wide, plain)
    ]
    # Four loads and one wait, against one load and one wait.
    assert waits == [1, 1]
    assert wide.counters.warps["load_global"] == 4 * n // 32
    assert wide.time < 1.5 * plain.time


def test_a_chain_waits_for_every_load():
    ring = np.roll(np.arange(64), -1)
    out = gpu.empty(1, np.int64)
    ran = gpu.launch(kernels.chase, 1, 1, "h100-sxm", ring, out, 50)
    assert ran.results["out"][0] == 50
    device = hardware.get("h100-sxm")
    least = 50 * hierarchy.load_cycles(device, "l1")
    assert ran.report.times.replayed.stalls["long_scoreboard"] >= 0.95 * least


def test_another_makers_device_is_refused():
    row = next(r for r in ROWS.values() if r.system.startswith("MI210"))
    assert "compute capability none" in outcome(row, kernel_runs.estimate).reason


def test_the_middle_and_the_ninth_of_ten(monkeypatch):
    given = [k / 10 for k in range(11)]
    monkeypatch.setattr(kernel_times, "errors", lambda column: given)
    assert [q.si for q in kernel_times.quantiles("by_source")] == [0.5, 0.9]
