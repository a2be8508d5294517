"""The GPU benchmark: its cases, its predictions, and its run rehearsed on a CPU."""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import gpu
import gpu_cases
import gpu_models
import gpu_written
import predict_gpu
import pytest
import record
from gpu_timing import CudaTimer, Op, Sampler

from stacklib.evidence import results
from stacklib.roofline import attention, matmul

FOLDER = Path(record.__file__).parent
TORCH_ONLY = ("gpu", "gpu_cases", "gpu_ops", "gpu_report", "gpu_timing", "record")
TORCH_ONLY += ("gpu_numerics", "gpu_written")
# The script under a Python in which our own package cannot be imported. NumPy can be:
# Triton's interpreter stands on it, which no GPU needs.
BLOCKED = """
import sys
sys.modules.update(stacklib=None)
sys.path.insert(0, {folder!r})
import gpu
sys.exit(gpu.main({arguments!r}))
"""


@pytest.fixture(scope="module")
def predicted() -> dict:
    return predict_gpu.forecast()


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory) -> dict:
    """The quick run on a CPU, as a user would start it, with nothing but torch."""
    out = tmp_path_factory.mktemp("rehearsal")
    arguments = ["--device", "cpu", "--quick", "--out", str(out)]
    code = BLOCKED.format(folder=str(FOLDER), arguments=arguments)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (path,) = out.iterdir()
    return {**json.loads(path.read_text()), "printed": done.stdout}


# -- cases -------------------------------------------------------------------


def test_case_ids_are_unique_and_every_section_has_some():
    cases = gpu_cases.cases()
    assert len({c["id"] for c in cases}) == len(cases)
    assert {c["section"] for c in cases} == set(gpu_cases.SECTIONS)
    assert sum(gpu_cases.SECTIONS.values()) == pytest.approx(1)


def test_case_counts_are_those_of_the_roofline_room():
    for case in gpu_cases.cases():
        if case["section"] in ("gemm", "gemv") and case["dtype"] not in ("fp8", "int8"):
            work = matmul(**{x: case[x] for x in "mnk"}, dtype=case["dtype"])
        elif case["section"] == "sdpa":
            names = ("queries", "keys", "heads", "kv_heads", "batch", "causal")
            work = attention(head_dim=case["dim"], **{x: case[x] for x in names})
        else:
            continue
        assert work.operations.si == case["operations"], case["id"]
        assert work.bytes.si == case["bytes"], case["id"]


def test_decode_weights_split_over_devices_keep_their_sum():
    cases = {c["id"]: c for c in gpu_cases.cases()}
    for matrix, (n, k) in gpu_cases.LAYER.items():
        for tp in (1, 2, 4, 8):
            part = cases[f"gemv-bf16-{matrix}-tp{tp}-b1"]
            assert part["n"] * part["k"] * tp == n * k


def test_quick_cases_cover_every_kind_of_call():
    def kinds(cases):
        return {
            (c["section"], c.get("backend", c["dtype"]), c.get("op"), c.get("how"))
            for c in cases
        }

    cases = gpu_cases.cases()
    assert kinds(filter(gpu_cases.small, cases)) == kinds(cases)


# -- predictions -------------------------------------------------------------


def test_every_case_is_predicted_for_every_device_with_a_band(predicted):
    assert [r["id"] for r in predicted["rows"]] == [c["id"] for c in gpu_cases.cases()]
    for row in predicted["rows"]:
        assert set(row["predicted_s"]) == set(gpu_cases.DEVICES.values())
        times, bands = dict(row["predicted_s"]), dict(row["band"])
        if row["id"].startswith("decode") and row["id"].endswith("b64"):
            assert times.pop("rtx_4090") is bands.pop("rtx_4090") is None  # no room
        assert all(t > 0 for t in times.values()), row["id"]
        assert all(0 < low < 1 < high for low, high in bands.values()), row["id"]


def test_triton_is_foretold_by_its_own_kernels(predicted):
    """Not the roofline of the work: registers, programs and spills are in it."""
    time = {r["id"]: r["predicted_s"]["h200_sxm"] for r in predicted["rows"]}
    same = [
        (name, name.replace("triton", peer))
        for name in time
        for peer in ("flash", "cudnn", "torch")
        if "triton" in name and name.replace("triton", peer) in time
    ]
    apart = [a for a, b in same if abs(time[a] / time[b] - 1) > 0.01]
    assert len(apart) > len(same) / 2
    assert time["written-matmul-triton-8192"] > time["gemm-bf16-8192"]


def test_the_four_bars_are_foretold_won_or_lost(predicted):
    found = {bar["bar"]: bar for bar in predicted["bars"]}
    assert len(found) == 4
    assert {bar["foretold"] for bar in found.values()} == {"won", "lost"}
    for bar in found.values():
        assert (bar["least_over_bar"] >= 1) == (bar["foretold"] == "won")


def test_predictions_are_deterministic(predicted):
    assert record.to_text(predicted) == record.to_text(predict_gpu.forecast())


def test_a_faster_device_is_never_predicted_slower(predicted):
    for row in predicted["rows"]:
        times = row["predicted_s"]
        if times["h100_sxm"] is not None:
            assert times["h200_sxm"] <= 1.001 * times["h100_sxm"], row["id"]


def test_a_format_without_a_published_rate_is_not_predicted():
    case = next(c for c in gpu_cases.cases() if c["dtype"] == "fp8")
    assert gpu_models.told(case, "a100_sxm_80gb") is None


def test_the_committed_prediction_knows_every_case():
    told = json.loads((FOLDER / "predictions" / "gpu.json").read_text())
    ids = {r["id"] for r in told["rows"]}
    assert ids == {c["id"] for c in gpu_cases.cases()}


# -- rehearsal ---------------------------------------------------------------


def test_every_case_is_measured_skipped_or_failed_with_a_reason(rehearsed):
    quick = [c["id"] for c in gpu_cases.cases() if gpu_cases.small(c)]
    measured, others = rehearsed["rows"], rehearsed["not_measured"]
    assert sorted(r["id"] for r in (*measured, *others)) == sorted(quick)
    for row in measured:
        assert row["times_s"] and all(t > 0 for t in row["times_s"])
    for row in others:
        assert row["status"] in ("skipped", "failed") and row["reason"]
    assert {r["section"] for r in measured} == set(gpu_cases.SECTIONS)


def test_the_result_file_is_one_the_evidence_room_accepts(rehearsed):
    assert results._fault(rehearsed) is None


def test_rehearsed_rows_join_predictions_by_id(rehearsed, predicted):
    told = {r["id"]: r for r in predicted["rows"]}
    for row in rehearsed["rows"]:
        assert told[row["id"]]["operations"] == row["operations"]
        assert told[row["id"]]["bytes"] == row["bytes"]


def test_the_result_names_device_versions_date_and_prediction(rehearsed):
    assert rehearsed["kind"] == "rehearsal"  # never taken for a GPU's result
    for name in ("device", "driver", "clocks", "versions", "date"):
        assert rehearsed[name]
    sha = record.sha256(FOLDER / "predictions" / "gpu.json")
    assert rehearsed["prediction"]["sha256"] == sha


def test_progress_and_summary_are_printed(rehearsed):
    assert "gemm-bf16-256" in rehearsed["printed"]
    assert "measured" in rehearsed["printed"].splitlines()[-2] or (
        "best" in rehearsed["printed"]
    )


@pytest.mark.rows("name", TORCH_ONLY)
def test_scripts_parse_as_python_3_10_and_import_no_stacklib(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text(), feature_version=(3, 10))
    for node in ast.walk(tree):
        names = [a.name for a in getattr(node, "names", [])]
        names.append(getattr(node, "module", "") or "")
        heads = {n.split(".")[0] for n in names}
        assert not heads & {"stacklib", "numpy", "tomllib"}


def test_every_written_kernel_is_checked_against_float64(rehearsed):
    pytest.importorskip("triton")
    kernels = {c["op"] for c in gpu_cases.written() if c["backend"] == "triton"}
    rows = {r["op"]: r for r in rehearsed["rows"] if r.get("backend") == "triton"}
    assert set(rows) == kernels
    for row in rows.values():
        assert row["error"] <= 2 * row["torch_error"] + 1e-6, row["id"]


def test_the_large_written_cases_have_a_peer_to_be_held_beside():
    cases = [c for c in gpu_cases.written() if not c["check"]]
    by_op = {c["op"]: set() for c in cases}
    for case in cases:
        by_op[case["op"]].add(case["backend"])
    assert by_op["backward"] == {"triton", "flash", "cudnn"}
    for op in (
        "add",
        "softmax",
        "layernorm",
        "rmsnorm",
        "layernorm_linear",
        "sampling",
    ):
        assert by_op[op] == {"triton", "torch"}
    others = {c["id"] for c in gpu_cases.cases() if c["section"] in ("gemm", "sdpa")}
    assert "gemm-bf16-8192" in others  # cuBLAS, for matmul
    for case in cases:  # torch's forward passes of the same shape
        if case["op"] == "flash":
            shape = f"b{case['batch']}-h{case['heads']}-kv{case['kv_heads']}"
            shape += f"-q{case['queries']}-s{case['keys']}-d{case['dim']}"
            shape += "-causal" * case["causal"]
            assert {f"sdpa-flash-{shape}", f"sdpa-cudnn-{shape}"} <= others


def test_a_planted_error_fails_the_check(monkeypatch):
    torch = pytest.importorskip("torch")
    bench = gpu.Bench(torch, "cpu", 2**20)
    case = {"op": "broken", "check": True, "backend": "triton"}
    x = torch.arange(8).float()
    monkeypatch.setattr(
        gpu_written.Written,
        "_broken",
        lambda self, case: (lambda x: x + 1e-3, lambda x: x + 0, (x,)),
        raising=False,
    )
    with pytest.raises(ArithmeticError, match="twice torch's"):
        gpu_written.Written(bench).build(case)


# -- the CUDA path, on a stand-in for torch.cuda --------------------------------


class FakeEvent:
    def __init__(self, enable_timing: bool) -> None:
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at - self.at) * 1e3 + 1e-3


class FakeCuda:
    """torch.cuda as far as the benchmark uses it; graphs replay nothing."""

    Event = FakeEvent
    captured = 0

    def __init__(self, name: str = "NVIDIA H200") -> None:
        self.props = SimpleNamespace(
            name=name,
            multi_processor_count=132,
            major=9,
            minor=0,
            total_memory=2**37,
            L2_cache_size=2**20,
        )
        self.broken = False

    def get_device_properties(self, index: int) -> SimpleNamespace:
        return self.props

    def get_arch_list(self) -> list[str]:
        return ["sm_90"]

    def synchronize(self) -> None:
        if self.broken:
            raise RuntimeError("CUDA error: an illegal memory access")

    def empty_cache(self) -> None:
        self.synchronize()

    def Stream(self):
        return SimpleNamespace(wait_stream=lambda other: None)

    def current_stream(self):
        return self.Stream()

    def stream(self, side):
        return contextlib.nullcontext()

    def CUDAGraph(self):
        return SimpleNamespace(replay=lambda: None)

    def graph(self, graph):
        FakeCuda.captured += 1
        return contextlib.nullcontext()


class FakeTorch:
    """torch with its CUDA device replaced by the CPU."""

    def __init__(self, **cuda: str) -> None:
        import torch

        self.real, self.cuda = torch, FakeCuda(**cuda)

    def __getattr__(self, name: str):
        found = getattr(self.real, name)
        if name not in ("randn", "randint", "empty", "ones", "zeros"):
            return found

        def on_cpu(*args, **options):
            options.pop("device", None)
            return found(*args, **options)

        return on_cpu


def _options(out: Path, **changes) -> argparse.Namespace:
    options = gpu.parse(["--quick", "--out", str(out)])
    return argparse.Namespace(**{**vars(options), **changes})


@pytest.fixture
def run(tmp_path) -> gpu.Run:
    return gpu.Run(FakeTorch(), _options(tmp_path))


@pytest.fixture
def few(monkeypatch):
    """One copy, one product, one launch through a graph."""
    ids = {"copy-copy-1MiB", "gemm-bf16-256", "launch-graph-n10"}
    chosen = [c for c in gpu_cases.cases() if c["id"] in ids]
    monkeypatch.setattr(gpu, "cases", lambda: chosen)
    return [c["id"] for c in chosen]


def test_cuda_path_runs_and_writes_its_device(run, few):
    run.run()
    data = json.loads(run.path.read_text())
    assert run.path.name == "gpu_nvidia-h200.json" and data["kind"] == "gpu"
    assert data["device_key"] == "h200_sxm"
    assert [r["id"] for r in data["rows"]] == few
    assert {r["status"] for r in data["rows"]} == {"measured"}
    assert "predicted" in run.line(data["rows"][-1])  # an H200 is predicted
    assert "predicted" in run.line(data["rows"][0])  # and so is a launch
    assert "measured': 3" in run.summary()


def test_short_calls_are_captured_in_a_graph_and_long_ones_are_not():
    timer = CudaTimer(FakeTorch())
    before = FakeCuda.captured
    assert timer.measure(Op(lambda i: None, copies=3))["method"] == "graph"
    assert FakeCuda.captured == before + 1
    slow = timer.measure(Op(lambda i: time.sleep(0.001)))
    assert slow["method"] == "events" and min(slow["times_s"]) >= 0.001


def test_a_refused_graph_falls_back_to_events(monkeypatch):
    timer = CudaTimer(FakeTorch())

    def refuse(graph):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(timer.torch.cuda, "graph", refuse)
    found = timer.measure(Op(lambda i: None))
    assert found["method"] == "events" and "capturing" in found["graph_refused"]


def test_every_copy_of_the_operands_is_used():
    used = []
    CudaTimer(FakeTorch()).measure(Op(used.append, copies=7))
    assert set(used) == set(range(7))


def test_copies_together_exceed_l2(run):
    for size in (1, 10**4, 10**6, 10**9):
        copies = run.bench.copies(size)
        assert copies == 256 or copies * size >= 3 * 2**20


def test_a_failing_case_is_recorded_and_the_run_goes_on(run, few, monkeypatch):
    build = run.bench.build

    def refuse(case):
        if case["section"] == "copy":
            raise RuntimeError("CUDA out of memory.\n Tried to allocate")
        return build(case)

    monkeypatch.setattr(run.bench, "build", refuse)
    run.run()
    data = json.loads(run.path.read_text())
    status = {r["id"]: r for r in (*data["rows"], *data["not_measured"])}
    assert status["copy-copy-1MiB"]["status"] == "failed"
    assert "out of memory. Tried" in status["copy-copy-1MiB"]["reason"]
    assert status["gemm-bf16-256"]["status"] == "measured"


def test_output_that_is_not_finite_is_a_failure(run, few, monkeypatch):
    nan = Op(lambda i: run.torch.real.full((2, 2), float("nan")))
    monkeypatch.setattr(run.bench, "build", lambda case: nan)
    run.run()
    assert "NaN" in run.rows["gemm-bf16-256"]["reason"]


def test_only_the_sections_asked_for_are_measured_and_the_others_kept(tmp_path, few):
    first = gpu.Run(FakeTorch(), _options(tmp_path, sections=["copy"]))
    first.run()
    assert set(first.rows) == {"copy-copy-1MiB"}
    left = {r["id"]: r for r in json.loads(first.path.read_text())["not_measured"]}
    assert left["gemm-bf16-256"]["reason"] == "not asked for"
    second = gpu.Run(FakeTorch(), _options(tmp_path, resume=1, sections=["gemm"]))
    second.run()
    assert set(second.rows) == {"copy-copy-1MiB", "gemm-bf16-256"}
    kept = {r["id"] for r in json.loads(second.path.read_text())["rows"]}
    assert kept == set(second.rows)


def test_no_time_left_is_skipped_and_a_second_start_measures_only_that(tmp_path, few):
    first = gpu.Run(FakeTorch(), _options(tmp_path, budget=-1.0))
    first.run()
    assert {r["reason"] for r in first.rows.values()} == {"time budget"}
    kept = {**first.rows["gemm-bf16-256"], "status": "measured", "times_s": [42.0]}
    first.rows["gemm-bf16-256"] = kept
    first.save()
    second = gpu.Run(FakeTorch(), _options(tmp_path, resume=1))
    second.run()
    assert second.rows["gemm-bf16-256"]["times_s"] == [42.0]
    assert second.rows["copy-copy-1MiB"]["status"] == "measured"


def test_a_lost_context_starts_a_new_process_that_skips_the_culprit(
    run, few, monkeypatch
):
    def die(case):
        run.torch.cuda.broken = True
        raise RuntimeError("CUDA error: an illegal memory access")

    monkeypatch.setattr(run.bench, "build", die)
    with pytest.raises(gpu.ContextLost) as lost:
        run.run()
    left = json.loads(run.path.read_text())["not_measured"]
    rows = {r["id"]: r["status"] for r in left}
    assert rows["copy-copy-1MiB"] == "failed"  # recorded, so not tried again
    assert rows["gemm-bf16-256"] == "skipped"
    started = []
    monkeypatch.setattr(gpu.os, "execv", lambda path, argv: started.append(argv))
    gpu.restart(run, lost.value)
    assert started[0][-3:] == ["--resume", "1", "--quick"]
    run.options.resume = gpu.RESTARTS
    assert gpu.restart(run, lost.value) == 1


def test_only_exact_device_names_take_predictions():
    assert gpu.predictions("NVIDIA H200")
    assert gpu.predictions("NVIDIA H200 NVL") == {}
    assert gpu.predictions("NVIDIA H100 PCIe") == {}


def test_clock_samples_survive_absence_and_nonsense(monkeypatch, tmp_path):
    assert Sampler(None).stop() == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Sampler("0").stop() == []
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho '1980, 3201, 412.5, 51'\necho '[N/A], x'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    rows = Sampler("0").stop()
    assert rows and all(row == [1980.0, 3201.0, 412.5, 51.0] for row in rows)


def test_without_a_cuda_device_the_message_names_the_rehearsal(capsys):
    import torch

    if torch.cuda.is_available():
        pytest.skip("no-CUDA message: not run (this machine has a CUDA device)")
    assert gpu.main([]) == 2
    assert "--device cpu --quick" in capsys.readouterr().err
