"""``stacklib validate``: the promised JSON, the printed report, exit status."""

import csv
import json

import pytest

from stacklib import hardware
from stacklib.evidence.measurements import COLUMNS
from stacklib.evidence.predict import Forecast, registry
from stacklib.evidence.validate import KEYS


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Four rows: predicted exactly, twice too high, no device, not a number."""

    def prepare(row):
        ms = row.number("ms")
        return lambda: Forecast(1e-3 * ms, "s", "memory")

    monkeypatch.setattr(registry, "PREDICTORS", {"A": prepare})
    rows = [
        ("A-1", "A", "H100", "ms=2", "2", "ms"),
        ("A-2", "A", "8x H100", "ms=4", "2", "ms"),
        ("A-3", "A", "toaster", "x=2", "2", "ms"),
        ("C-4", "C", "H100", "", "n/a", "GB/s"),
    ]
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        for id, family, system, config, value, unit in rows:
            row = [id, family, system, "s", "k", config, "latency", value, unit]
            writer.writerow([*row, "repo a/b", "", "saw", ""])
    return str(path)


def test_json_is_as_promised(file, run):
    status, out, err = run("validate", file, "--json")
    found = json.loads(out)
    assert status == 0 and err == ""
    assert tuple(found["families"]) == KEYS
    assert found["families"]["A"] == {
        "predicted": 2,
        "refused": 1,
        "median_error": 0.5,
        "p90_error": 0.9,
        "bias": 0.5,
    }
    assert found["families"]["B"]["median_error"] is None
    band = hardware.error_band("A")  # this toy says nothing of cells
    assert found["rows"][0] == {
        "id": "A-1",
        "predicted": 2.0,
        "low": pytest.approx(2 * band.low),
        "high": pytest.approx(2 * band.high),
        "unit": "ms",
        "bound": "memory",
        "reason": None,
    }
    assert found["rows"][2]["predicted"] is None
    assert "'ms'" in found["rows"][2]["reason"]
    assert "'n/a' is not a number" in found["rows"][3]["reason"]


def test_the_printed_report_has_scores_groups_outliers_and_reasons(file, run):
    status, out, _ = run("validate", file)
    assert status == 0
    assert "A       matrix products        2          1        50.0 %" in out
    assert "8/22 %   missed" in out and "rows never seen" in out
    assert "a/b" in out and "h100_sxm" in out
    assert out.index("A-2") < out.index("A-1  ")
    assert "2 refused" in out and "config does not give 'ms'" in out


def test_the_number_of_outliers_is_chosen(file, run):
    assert "A-1  " not in run("validate", file, "--worst", "1")[1]
    assert "furthest off" not in run("validate", file, "--worst", "0")[1]


def test_one_family_alone(file, run):
    _, out, _ = run("validate", file, "--family", "c", "--json")
    assert [row["id"] for row in json.loads(out)["rows"]] == ["C-4"]


@pytest.mark.parametrize(
    "argv, says",
    [
        (["no-such.csv"], "no-such.csv: No such file"),
        (["--family", "Q"], "unknown family 'Q'"),
        (["--worst", "-1"], "--worst -1: 0 or more"),
        (["--worst", "x"], "'x': a whole number"),
        (["a", "b"], "unrecognized arguments: b"),
    ],
)
def test_bad_input_is_status_2_and_named(argv, says, run):
    status, _, err = run("validate", *argv)
    assert status == 2 and says in err


def test_a_damaged_file_is_status_2_and_one_json_object(tmp_path, run):
    path = tmp_path / "m.csv"
    path.write_text("id,family\n")
    status, out, err = run("validate", str(path), "--json")
    assert status == 2 and "column 'system' is missing" in json.loads(out)["error"]
    assert err.startswith("stacklib: m.csv")


def test_the_books_own_rows_do_not_meet_a_bar_and_the_band_says_what_it_rests_on(run):
    _, out, _ = run("validate", "--family", "C", "--worst", "0")
    first, second = out.split("\n\n")[:2]
    band = hardware.error_band("C")
    assert "fitted" in first and " met" not in first.splitlines()[1]
    row = next(line for line in second.splitlines() if line.startswith("C "))
    assert row.split()[1:3] == [str(band.unseen), f"{100 * band.median:.1f}"]
    assert "missed" in second or " met" in second


def test_the_books_own_rows_need_no_file(run):
    status, out, _ = run("validate", "--family", "I", "--worst", "0")
    assert status == 0 and "silicon, cost, energy" in out and "43" in out
