"""One run for each kind of processor: what it sets, what it saves, what it leaves."""

import json
import os
import subprocess
from statistics import median

import host_common
import kinds
import pytest
import record
from _tools import processors

FILES = sorted((record.HERE / "results").glob("*.json"))
FAR = {"B1 H8 S2048 D64, scores ten times as far apart", "B4 H8 S256 D64"}
MISSED = {
    "avx2": FAR,
    "avx512": FAR
    | {"B1 H8 S1024 D128 causal", "B1 H8 S2048 D64 causal", "B1 H8 S777 D64 causal"}
    | {"B1 H8 S2048 D64, 2 KV heads"},
}


def with_levels(monkeypatch, *levels):
    monkeypatch.setattr(processors, "FOUND", list(levels))


@pytest.mark.rows(
    ("levels", "own", "runs"),
    [
        (("X86_V3", "X86_V4", "AVX512_SPR"), "avx512", {"avx2:Haswell", "avx512"}),
        (("X86_V3",), "avx2", {"avx2"}),
        ((), record.slug(os.uname().machine), {record.slug(os.uname().machine)}),
    ],
)
def test_a_processor_runs_its_own_kind_and_those_below_it(
    monkeypatch, capsys, levels, own, runs
):
    """A stranger's processor has a kind, too, and the others are named as not run."""
    monkeypatch.delenv(record.KIND, raising=False)
    with_levels(monkeypatch, *levels)
    seen = []

    def record_run(command, env):
        seen.append(env[record.KIND])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", record_run)
    assert kinds.own() == own
    assert kinds.each(lambda: pytest.fail("measured in the parent")) == 0
    assert set(seen) == runs
    told = capsys.readouterr().out
    for kind in {*kinds.KINDS} - {one.partition(":")[0] for one in runs}:
        assert f"{kind}: not run" in told


def test_a_run_that_fails_stops_the_rest(monkeypatch):
    monkeypatch.delenv(record.KIND, raising=False)
    failed = subprocess.CompletedProcess([], 3)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    assert kinds.each(lambda: 0) == 3


def test_an_emulated_kind_reaches_numpy_torch_and_numba(monkeypatch):
    with_levels(monkeypatch, "X86_V3", "X86_V4")
    env = kinds.settings("avx2")
    assert env.items() > processors.SETTINGS["Haswell"].items()
    # Without the second, numba adds what the processor has to what the core has.
    assert (env["NUMBA_CPU_NAME"], env["NUMBA_CPU_FEATURES"]) == ("haswell", "")


def test_what_is_saved_is_named_after_its_kind_and_says_what_was_emulated(
    monkeypatch, tmp_path
):
    monkeypatch.setenv(record.KIND, "avx2:Haswell")
    assert kinds.each(lambda: None) == 0  # a run for a kind measures
    head = host_common.head("x", None, host_common.host.Watch(), rows=[])
    assert head["processor"] == "avx2" and head["device"].endswith(", as Haswell")
    host_common.save(tmp_path, "x", head)
    assert json.loads((tmp_path / "results" / "x_avx2.json").read_text()) == head
    monkeypatch.delenv(record.KIND)
    assert "processor" not in host_common.head("x", None, host_common.host.Watch())


RESULTS = {path.stem: json.loads(path.read_text()) for path in FILES}


def test_every_result_names_the_processor_that_it_was_measured_on():
    for name, result in RESULTS.items():
        assert result["device"] and result["date"], name
        kind = result.get("processor")
        if kind:
            assert name == f"{result['kind']}_{kind}"
            flag = {"avx2": "avx2", "avx512": "avx512f"}[kind]
            assert flag in result["machine"]["simd"]
            larger = kind == "avx2" and "avx512f" in result["machine"]["simd"]
            assert result["device"].endswith(", as Haswell") == larger


@pytest.mark.rows("kind", kinds.KINDS)
def test_attention_is_measured_on_both_kinds_and_a_missed_bar_is_known(kind):
    """Stored ratios are those of the medians; what misses its bar is listed here."""
    missed = set()
    for stem in ("numpy", "torch", "heads"):
        result = RESULTS[f"flash_attention_{stem}_{kind}"]
        for row in result["rows"]:
            ratio = median(row["times_s"]) / median(row["peer_times_s"])
            assert row["time_over_peer"] == pytest.approx(ratio, abs=6e-4)
            if row["at_most"] and row["time_over_peer"] > row["at_most"]:
                missed.add(row["id"])
    assert missed == MISSED[kind]
