"""One cost evaluation: what a decode step takes, asked once, and swept over arrays.

Twice: the bound (``roofline.decode_step``), and what an engine takes, calibrated
(``serving.estimate``); of that also a first token, and the first call of a pair.

    pip install llm-analysis mlsysim       # not among the pinned packages
    python benchmarks/cost_evaluation.py   # -> results/cost_evaluation.json

Every call starts from names that were looked up before, as a sweep or a search makes
it. The peers answer the same question in their own terms: llm-analysis knows the shape
as Llama-2-70B (another vocabulary), mlsysim shares no model over chips. A third one
keeps its recorded time.
"""

import contextlib
import importlib
import io
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from statistics import median
from typing import Any

import host_common

from stacklib import models
from stacklib.roofline import decode_step
from stacklib.roofline.host import measure as host
from stacklib.serving import estimate

STEM = "cost_evaluation"
ROUNDS, CALLS, SIDE = 15, 200, 1000
BATCH, CONTEXT = 64, 4096
PAIR = "llama-3-70b"
CASES = {
    "llama-3-70b": {"on": "h100-sxm", "dtype": "bf16", "tp": 8},
    "gpt-oss-120b": {"on": "h100-sxm", "dtype": "fp8", "tp": 8},
    "deepseek-v3": {"on": "b200-sxm", "dtype": "fp8", "tp": 8},
    "deepseek-v4-pro": {"on": "b300", "dtype": "fp4", "tp": 8},
    "gemma-3-27b": {"on": "a100-sxm-80gb", "dtype": "bf16", "tp": 4},
    "qwen3-30b-a3b": {"on": "mi300x", "dtype": "fp8", "tp": 1},
}
RECORDED = {"LLM-Viewer": 57e-6, "aiconfigurator": 449e-3}  # s; not re-run
Call = Callable[[], Any]


def ours(model: str, batch: Any, context: Any = float(CONTEXT)) -> Any:
    """Seconds of a step, plain."""
    case: dict[str, Any] = CASES[model]
    return decode_step(model, **case, batch=batch, context=context).time


def traced(model: str) -> float:
    """Seconds of a step whose every number opens to its derivation."""
    return float(
        decode_step(model, **CASES[model], batch=BATCH, context=CONTEXT).time.si
    )


def token(model: str, batch: Any, context: Any = float(CONTEXT)) -> Any:
    """Seconds of a token as an engine takes it, plain."""
    return estimate(model, **CASES[model], batch=batch, context=context).tpot


def first_token() -> Any:
    """Seconds of a first token, plain."""
    asked = {"batch": float(BATCH), "context": float(CONTEXT)}
    return estimate(PAIR, **CASES[PAIR], **asked).ttft


def pair() -> Any:
    """Seconds of a token of a model that nothing was kept of: it is a copy."""
    asked = {"batch": float(BATCH), "context": float(CONTEXT)}
    return estimate(replace(models.get(PAIR)), **CASES[PAIR], **asked).tpot


def sweep(model: str, of: Callable[..., Any], side: int = SIDE) -> tuple[Call, int]:
    """A call over a square of batches and contexts, and how many points that is."""
    import numpy

    batch = numpy.arange(1, side + 1)[:, None]
    context = 32 * numpy.arange(side)[None, :]
    return lambda: of(model, batch, context), batch.size * context.size


def peers() -> dict[str, Call]:
    """The peers that are installed, each as a call without arguments."""
    found = {}
    for name, make in (("llm-analysis", _llm_analysis), ("mlsysim", _mlsysim)):
        try:
            found[name] = make()
        except ImportError:
            print(f"{name} is not installed: not run", file=sys.stderr)
    return found


def _llm_analysis() -> Call:
    config = importlib.import_module("llm_analysis.config")
    analysis = importlib.import_module("llm_analysis.analysis")
    logging.disable(logging.WARNING)
    step = analysis.LLMAnalysis(
        config.get_model_config_by_name("upstage_Llama-2-70b-instruct-v2"),
        config.get_gpu_config_by_name("h100-sxm-80gb"),
        config.get_dtype_config_by_name("w16a16e16"),
        config.ParallelismConfig(tp_size=8),
    )
    return lambda: step.inference(
        batch_size_per_gpu=1, seq_len=CONTEXT, num_tokens_to_generate=1
    )


def _mlsysim() -> Call:
    package = importlib.import_module("mlsysim")
    solver = importlib.import_module("mlsysim.solvers").ServingModel()
    model, device = package.Models.Language.Llama3_70B, package.Hardware.Cloud.H100
    return lambda: solver.solve(model, device, seq_len=CONTEXT, batch_size=1)


def seconds(call: Call, calls: int) -> float:
    """Seconds a call, over several of them, its own prints swallowed."""
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - began) / calls


def measure(
    rounds: int = ROUNDS, calls: int = CALLS, side: int = SIDE
) -> dict[str, Any]:
    """Every call in turn, so that other work meets all alike."""
    watch = host.Watch()
    rivals = peers()
    asked: dict[str, tuple[Call, int, int]] = {}
    for model in CASES:
        asked[f"plain-{model}"] = (lambda m=model: ours(m, float(BATCH))), calls, 1
        asked[f"traced-{model}"] = (lambda m=model: traced(m)), calls // 20, 1
        asked[f"token-{model}"] = (lambda m=model: token(m, float(BATCH))), calls, 1
        for name, of in (("sweep", ours), ("token-sweep", token)):
            swept, points = sweep(model, of, side)
            asked[f"{name}-{model}"] = swept, 1, points
    asked["first-token"] = first_token, calls // 10, 1
    asked["first-call"] = pair, calls // 50, 1
    asked |= {name: (call, calls // 20, 1) for name, call in rivals.items()}
    samples: dict[str, list[float]] = {name: [] for name in asked}
    for call, _, _ in asked.values():
        seconds(call, 1)  # what is kept between calls is made
    for _ in range(rounds):
        for name, (call, many, _) in asked.items():
            samples[name].append(seconds(call, max(many, 1)))
    rows = [
        {"id": name, "points": asked[name][2], "times_s": times}
        for name, times in samples.items()
    ]
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        recorded_not_rerun_s=RECORDED,
        versions=host.versions() | {name: version(name) for name in rivals},
        why_no_prediction="a comparison of speed with named peers in one run",
    )


def show(result: dict[str, Any]) -> None:
    """One line a call, the slowest first; sweeps as points a second."""
    rows = [(median(r["times_s"]) / r["points"], r["id"]) for r in result["rows"]]
    for took, name in sorted(rows, reverse=True):
        if "sweep" in name:
            print(f"{name:24} {1 / took / 1e6:9.1f} M points/s")
        else:
            print(f"{name:24} {1e6 * took:9.1f} us")


def main() -> int:
    """Measure, show and write."""
    result = measure()
    show(result)
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
