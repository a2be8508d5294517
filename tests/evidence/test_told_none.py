"""Where no published row is like a run, it has no band, and words say why."""

import pytest

from stacklib import hardware
from stacklib.evidence import measurements
from stacklib.evidence.calibrate import tables
from stacklib.evidence.calibrate.kinds import KIND_BARS, errors_by_kind
from stacklib.evidence.calibrate.public import family_problem, predicted_first
from stacklib.evidence.predict import Refusal, predictor
from stacklib.evidence.validate import outcome
from stacklib.hardware.errors import cells, error_band, silicon, why_none

from .made_row import row

WIDENED, LANES = (f"E_prefill/prompt/narrow/{way}" for way in ("widened", "lanes"))


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("h100_sxm", "NVIDIA"),
        ("rtx_3090", "NVIDIA"),
        ("tesla_p40", "NVIDIA without tensor cores"),
        ("mi300x", "AMD CDNA"),
        ("mi50_32gb", "AMD GCN"),
        ("rx_7900_xtx", "AMD RDNA"),
        ("max_1550", "Intel"),
        ("m2_ultra", "Apple"),
        ("epyc_9755", "AMD, a CPU"),
    ],
)
def test_software_is_written_for_a_kind_of_silicon(device, kind):
    assert silicon(hardware.get(device)) == kind


def prompt(system, date="2024-01-10"):
    """A prompt of 512 tokens by llama.cpp, weights in four bits."""
    return outcome(
        row(
            "E",
            "batch=1;test=pp512",
            system=system,
            software="llama.cpp (Jan 2024)",
            subject="Llama-2 7B Q4_0",
            metric="prefill_speed",
            unit="tokens/s",
            date=date,
        )
    )


def test_a_band_is_of_the_silicon_that_its_rows_ran_on():
    """A llama.cpp of 2024 on an MI300X was many times slower than its products say."""
    known, none = prompt("RTX 4090"), prompt("AMD MI300X")
    assert known.cell == WIDENED and known.low < known.predicted < known.high
    assert none.predicted and none.low is none.high is None
    mi300x = hardware.get("mi300x")
    assert error_band(WIDENED) and error_band(WIDENED, mi300x) is None
    assert "ran on AMD CDNA" in why_none(WIDENED, mi300x)


@pytest.mark.parametrize("system", ["Tesla P40", "AMD Instinct MI50 32GB"])
def test_gpus_without_tensor_cores_have_no_band_of_prompts(system):
    found = prompt(system)
    assert found.predicted and found.low is found.high is None
    assert "none that was tried holds" in why_none(LANES)
    assert cells()[LANES].low == 0


def test_an_engine_without_graphs_is_refused():
    made = row(
        "E",
        "batch=16;isl=128;osl=128;tp=1;quant=fp16",
        system="Intel Max 1550",
        software="vLLM",
        subject="Llama-2-7B",
        metric="e2e_latency",
        unit="s",
    )
    with pytest.raises(Refusal, match="no graphs"):
        predictor("E")(made)


# Of a source whose prompts are read quicker than a card multiplies; of a file that is
# older than the device it names.
LEFT = ("J-G", "C-N")


def test_rows_that_were_predicted_first_test_the_fit_and_do_not_make_it():
    rows = measurements.found() + measurements.unseen() + measurements.last()
    kept = {one.id for one in rows}
    gone = set(predicted_first()) - kept
    assert len(predicted_first(1)) == 732 and {one[:3] for one in gone} <= set(LEFT)
    assert len(gone) < 20
    problem = family_problem("E")
    told = list(zip(problem.cases, problem.weight, strict=True))
    assert all(case.first == (weight == 0) for case, weight in told)
    assert sum(case.first for case, _ in told) > 170


def test_what_was_predicted_first_is_told_with_the_share_that_its_band_held():
    told = tables.first()
    assert tables.rows_first() == sum(row["rows"] for row in told) > 740
    rows = {r["family"].partition(":")[0]: r for r in told if r["round"] == 1}
    assert len(rows) == 9 and rows["B"]["inside"].si < 0.65 < rows["A"]["inside"].si
    assert 0.7 < tables.held_first(turn=1) < 0.9 > tables.held_first(turn=2) > 0.7
    assert 0.7 < tables.held_first(turn=3) < 0.9 < tables.held_first(turn=4)


def test_bars_of_kinds_are_missed_as_the_pages_say():
    """8.2 and the page of predictions name them."""
    off = errors_by_kind()
    high = {kind for kind, bar in KIND_BARS.items() if off[kind].median > bar.median}
    missed = {kind for kind, bar in KIND_BARS.items() if off[kind].p90 > bar.p90}
    assert high == {"one sequence"} and missed == {"one sequence", "served", "most"}
