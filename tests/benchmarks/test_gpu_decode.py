"""The decode step of make gpu: what it counts, what it computes, what it would miss."""

import json
import time
from math import cos, sin
from types import SimpleNamespace

import gpu
import gpu_cases
import gpu_decode
import gpu_models
import predict_gpu
import pytest
from gpu_report import at_limit
from gpu_timing import CudaTimer, Op

from stacklib import models
from stacklib.diy import power
from stacklib.kernels.schedule.attention_time import Attention, plan, predict
from stacklib.kernels.schedule.cuts import WHOLE
from stacklib.kernels.schedule.rules import RULES
from stacklib.serving import account
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from stacklib.serving.token.work import EXCHANGES, SAMPLING

from .test_gpu_bench import FakeTorch, _options

FULL = [c for c in gpu_cases.decodes() if not c["check"]]
CHECKS = {c["backend"]: c for c in gpu_cases.decodes() if c["check"]}
COVERING = (PRODUCTS, ATTENTION, NORMS, HEAD)
# of a chip's eighth at a batch of 16: heads, KV heads, queries, keys, head
BY_ONE = Attention(16, 8, 1, 1, 4096, 128, cut=WHOLE)


def test_the_eighth_is_an_eighth_of_the_model():
    """By the account of eight chips, of which each does an eighth."""
    for case in FULL:
        asked = {"tp": 8, "batch": float(case["batch"]), "context": 4096.0}
        whole = account("llama-3-70b", "h100-sxm", "bf16", **asked)
        moved = sum(whole[name].bytes for name in COVERING) / 8
        flops = sum(whole[name].operations for name in COVERING) / 8
        assert case["operations"] == pytest.approx(flops, rel=2e-3)
        assert case["bytes"] == pytest.approx(moved, rel=1e-3)
    weights = models.get("llama-3-70b").read_bytes(1, "bf16").si / 8
    assert weights == pytest.approx(17.4e9, rel=5e-3)


def test_the_prediction_is_the_accounts_without_exchanges():
    (case,) = (c for c in FULL if c["id"] == "decode-torch-b16")
    part = account(gpu_models.part(case), "h100_sxm", batch=16.0, mode="calibrated")
    assert part[EXCHANGES].time is None
    rest = part.total() - part[SAMPLING].time - part[ATTENTION].time
    # torch leaves a head to one block, so its attention takes longer than the account's
    by_one_block = plan(BY_ONE, "h100_sxm", "library", by=RULES["fa2"])
    told = rest + 80 * predict(by_one_block).time
    assert told > rest + part[ATTENTION].time
    found = predict_gpu.row(case)["predicted_s"]["h100_sxm"]
    assert found == predict_gpu.digits(told)
    stored = json.loads(gpu.PREDICTION.read_text())["rows"]
    (row,) = (r for r in stored if r["id"] == case["id"])
    assert row["predicted_s"]["h100_sxm"] == pytest.approx(told, rel=0.05)


def test_both_backends_read_the_same_bytes():
    by_batch = {}
    for case in FULL:
        by_batch.setdefault(case["batch"], set()).add(case["bytes"])
    assert set(by_batch) == {1, 16, 64}
    assert all(len(sizes) == 1 for sizes in by_batch.values())


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def state(torch):
    """Weights and cache of the small case, in float64."""
    case = CHECKS["torch"]
    decode = gpu_decode.Decode(gpu.Bench(torch, "cpu", 2**20))
    torch.manual_seed(0)
    made = SimpleNamespace(**decode._weights(case), **decode._sequences(case))
    return gpu_decode._double(torch, made), decode._parts(case)


def test_the_step_is_llamas(torch, state):
    """Written out sequence by sequence, head by head."""
    made, parts = state
    case, x = CHECKS["torch"], made.x.clone()
    heads, dim, last = case["heads"], case["dim"], case["context"] - 1

    def norm(v, w):
        return v / (v.pow(2).mean() + 1e-6).sqrt() * w

    def turned(v):
        half, out = dim // 2, v.clone()
        for i in range(half):
            angle = last * gpu_decode.BASE ** (-2 * i / dim)
            c, s = (torch.tensor(f(angle)).bfloat16() for f in (cos, sin))
            out[i] = v[i] * c - v[i + half] * s
            out[i + half] = v[i + half] * c + v[i] * s
        return out

    logits = []
    for b in range(case["batch"]):
        h = x[b]
        for n, w in enumerate(made.layers):
            qkv = w["qkv"] @ norm(h, w["norm_1"])
            parts_of = qkv.reshape(heads + 2, dim)
            kept = [p[n].reshape(case["batch"], -1, dim)[b] for p in (made.k, made.v)]
            keys, values = (t[: last + 1].clone() for t in kept)
            keys[last], values[last] = turned(parts_of[heads]), parts_of[heads + 1]
            seen = []
            for q in parts_of[:heads]:
                scores = torch.softmax(keys @ turned(q) / dim**0.5, 0)
                seen.append(scores @ values)
            h = h + w["o"] @ torch.cat(seen)
            gate, up = (w["gate_up"] @ norm(h, w["norm_2"])).chunk(2)
            h = h + w["down"] @ (torch.nn.functional.silu(gate) * up)
        logits.append(made.head @ norm(h, made.norm))
    found = gpu_decode.step(torch, case, made, parts)
    assert torch.allclose(found, torch.stack(logits), rtol=1e-9, atol=1e-9)


def test_a_planted_fault_fails_the_check(torch, monkeypatch):
    """A cache that is read one token short, by ours alone."""
    decode = gpu_decode.Decode(gpu.Bench(torch, "cpu", 2**20))
    plain = decode._parts(CHECKS["torch"])

    def parts(self, case):
        if case["backend"] == "torch":
            return plain
        short = {**case, "context": case["context"] - 1, "backend": "torch"}
        return original(self, short)

    original = gpu_decode.Decode._parts
    monkeypatch.setattr(gpu_decode.Decode, "_parts", parts)
    with pytest.raises(ArithmeticError, match="twice torch's"):
        decode.build(dict(CHECKS["written"]))


def test_a_long_step_is_captured_too():
    timer = CudaTimer(FakeTorch())
    found = timer.measure(Op(lambda i: time.sleep(0.001), graph=True))
    assert found["method"] == "graph"


def test_weights_stay_for_the_next_batch_and_go_with_the_section(torch):
    bench = gpu.Bench(torch, "cpu", 2**20)
    op = bench.build(dict(CHECKS["torch"]))
    assert op.graph and op.cold and bench.kept[0][0] == "decode"
    kept = bench.kept[1]
    bench.build({**CHECKS["torch"], "batch": 1})
    assert bench.kept[1] is kept
    bench.build(next(c for c in gpu_cases.cases() if c["id"] == "gemm-bf16-256"))
    assert bench.kept == (None, None)


def held(monkeypatch, tmp_path, limit):
    """A step's watts on a stand-in for a card that says its limit and its draw."""
    tool = tmp_path / "nvidia-smi"
    asked = f"580.1, 1980 MHz, 3201 MHz, {limit}, Enabled"
    lines = (
        f"case $* in *power.limit*) echo '{asked}';; *) echo '1700, 3201, 512.5, 51';;"
    )
    tool.write_text(f"#!/bin/sh\n{lines} esac\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    case = next(c for c in gpu_cases.helds() if not c["check"])
    small = {**case, "seconds": 0.1}
    monkeypatch.setattr(gpu, "cases", lambda: [small])
    run = gpu.Run(FakeTorch(), _options(tmp_path, quick=False))
    one = run.torch.real.ones((2, 2))
    monkeypatch.setattr(run.bench, "build", lambda case: Op(lambda i: one))
    run.run()
    return run.rows[case["id"]], run.line(run.rows[case["id"]])


def test_watts_are_read_while_a_step_is_held_and_were_foretold(monkeypatch, tmp_path):
    row, line = held(monkeypatch, tmp_path, "700.00 W")
    assert row["status"] == "measured" and set(row["watts"]) == {512.5}
    assert row["joules"] == pytest.approx(512.5 * sorted(row["times_s"])[0], rel=0.5)
    board = power("h200-sxm")
    assert row["limit_w"] == 700 and row["predicted_w"] == pytest.approx(board.draw)
    assert "J each predicted" in line


def test_the_limit_in_force_is_foretold_not_the_boards(monkeypatch, tmp_path):
    less, _ = held(monkeypatch, tmp_path, "400.00 W")
    told = power("h200-sxm", 400)
    assert less["predicted_w"] == pytest.approx(told.draw, rel=0.01)
    seconds = gpu.predictions("NVIDIA H200")["power-step-b1"] / told.speed
    assert less["predicted_j"] == pytest.approx(told.draw * seconds, rel=0.02)
    none, line = held(monkeypatch, tmp_path, "[N/A]")
    assert none["limit_w"] is None and "predicted_j" not in none and "J each" in line


def test_half_a_minute_is_the_budget_that_was_added():
    cases = [c for c in gpu_cases.helds() if not c["check"]]
    assert sum(c["seconds"] for c in cases) == 30
    assert gpu_cases.SECTIONS["power"] * gpu.BUDGET_S >= 30
    points = [[100.0, 100.0, 0.5], [200.0, 180.0, 1.0]]
    said = [at_limit(points, watts) for watts in (50, 150, 300)]
    assert said == [(100, 0.5), (140, 0.75), (180, 1.0)]
