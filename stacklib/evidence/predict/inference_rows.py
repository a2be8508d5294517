"""What a row of published inference ran: model, chips, formats, lengths, and who asked.

Tables spell the same thing many ways (``isl``, ``input_len``, ``pp512``), and leave out
what their readers know. What is left out is what its software does: TensorRT-LLM keeps
the cache in 8 bits where a checkpoint of 8-bit or NVFP4 weights says so, llama.cpp
reads a prompt by 512 tokens, a benchmark of random tokens draws lengths from .8 of the
nominal on; TensorRT-LLM's overview of its own speeds says how each table was made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity
from stacklib.quantity.keys import keys_of
from stacklib.serving.estimates import steady
from stacklib.serving.estimates.step import Step, step_of

from ..measurements import Measurement, Refusal
from ..systems import device_of
from .inference_models import kept_in, model_named

ENGINES = re.compile(
    r"trt|tensorrt|vllm|sglang|deepseek|lmdeploy|tgi|text-generation|mlc|dynamo|triton"
)
TENSORRT = re.compile(r"trt|tensorrt")
DRAWN = 0.9  # of a nominal length, where it is drawn from .8 of it on
SHORT = 256  # tokens cached where a row says nothing
NODE = 8  # chips of a machine
XPU = ("Intel", "gpu")  # vllm/platforms/xpu.py: falls back to eager mode
MOST = 2048  # requests of TensorRT-LLM's largest batch, by its own default
# TensorRT-LLM, docs/source/.../perf-overview.md at 00f37686 (v1.0) and 03e27c7d (v1.2),
# read 2026-11-29: requests of each run, where it is not 1,500, by tokens read and
# written; batches of its graphs, to which decodes are padded; a model with experts has
# whole attention on each chip (``enable_attention_dp``), balanced for DeepSeek alone;
# gpt-oss keeps its cache in fp8 on Blackwell.
OVERVIEW = "perf-overview.md"
_REQUESTS = {
    (128, 128): 30_000.0,
    (128, 2048): 3000.0,
    (2048, 128): 3000.0,
    (500, 2000): 3000.0,
    (1000, 1000): 3000.0,
    (1024, 1024): 3000.0,
    (20_000, 2000): 1000.0,
    (32_768, 1024): 1000.0,
    (1024, 32_768): 1000.0,
}
_CAPTURED = (1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512, 1024, 2048, 4096, 8192)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ISL = ("isl", "input_len", "input_length", "prompt_len", "in", "input", "prompt")
_OSL = ("osl", "output_len", "output_length", "gen", "out", "output", "new", "tg")
HELD = ("concurrency", "max_concurrency", "users", "batch", "batch_size", "bs", "b")
# Mean lengths of data sets, in tokens: MLPerf Inference v4.1's, ShareGPT's as papers on
# serving use it.
_SETS = {
    "mixtral": (366.0, 145.9),
    "gpt j": (850.0, 69.0),
    "openorca": (294.0, 294.0),
    "sharegpt": (230.0, 200.0),
}
BEAMS = 4.0  # sequences that MLPerf's GPT-J searches for each that it returns


@dataclass(frozen=True, slots=True)
class Run:
    """A row read: everything that is asked of the model."""

    model: LanguageModel
    device: Accelerator
    dtype: Any
    kv_dtype: str | None
    tp: int
    ep: int
    stages: int  # pipeline stages, each of ``tp`` chips
    chips: int
    serves: bool  # whether an engine serves requests, or a runner one sequence
    prompt: float | None
    new: float | None
    held: float | None  # requests at once
    queued: float | None  # requests of the whole run
    drawn: bool  # whether lengths are drawn
    beams: float  # sequences for each that is returned
    overview: bool  # whether TensorRT-LLM's overview has it

    @property
    def step(self) -> Step:
        """The step of one replica, with the efficiency factors in force."""
        keys = keys_of(self.model, self.device.key, self.dtype, self.kv_dtype)
        return step_of((*keys, self.tp, self.ep), "engine", "calibrated")

    @property
    def replicas(self) -> int:
        """Copies of the model on all chips."""
        return max(1, self.chips // (self.tp * self.ep * self.stages))

    def lengths(self) -> tuple[float, float]:
        """Tokens read and written, on average."""
        if self.prompt is None or self.new is None:
            raise Refusal("config gives neither 'isl' and 'osl' nor a known data set")
        share = DRAWN if self.drawn else 1.0
        return share * self.prompt, share * self.new * self.beams

    def load(self, held: float | None = None) -> steady.Load:
        """The requests of a row, or ``held`` of them."""
        prompt, new = self.lengths()
        many = self.held if held is None else held
        if many is None:
            raise Refusal("config gives neither 'concurrency' nor 'batch'")
        load = steady.Load(max(1.0, many), max(1.0, prompt), max(1.0, new))
        if not self.overview:
            return load
        balanced = self.model.key.startswith("deepseek")
        return replace(load, captured=_CAPTURED, balanced=balanced)

    @property
    def requests(self) -> float | None:
        """Requests of the whole run, where its source says how many."""
        if not self.overview or self.prompt is None or self.new is None:
            return self.queued
        return _REQUESTS.get((int(self.prompt), int(self.new)), 1500.0)


def said(row: Measurement, *keys: str) -> float | None:
    """The first number that a row gives under one of some names, in any case."""
    spelled = {k.lower(): v for k, v in row.config.items() if v is not True}
    for key in keys:
        found = _NUMBER.match(str(spelled.get(key, "")))
        if found and float(found[0]) > 0:
            return float(found[0])
    return None


def _ways(row: Measurement, chips: int) -> tuple[int, int, int]:
    """How chips share a model: each matrix, experts, stages."""
    text = f"{row.settings};{row.software}".lower()

    def number(*names: str) -> int:
        for name in names:
            if found := re.search(rf"\b{name}[ =:]?(\d+)", text):
                return int(found[1])
        return 0

    tp = number("tp", "tensor_parallel", "tensor_parallel_size")
    stages = number("pp", "pipeline_parallel") if "test=pp" not in text else 1
    ep = number("dep", "moe_ep", "ep")
    if number("dep"):
        return 1, ep, 1
    if ep > 1 and tp > 1:  # experts by whole ones on the chips that share the rest
        return tp, 1, stages or 1
    if not tp:
        tp = 1 if ep > 1 or "mlperf" in row.metric else max(1, chips // (stages or 1))
    return tp, max(1, ep), stages or 1


def _set_of(row: Measurement, model: LanguageModel) -> tuple[float, float] | None:
    text = f"{model.key} {row.subject} {row.settings}".lower()
    if "mlperf" not in text + row.metric and "sharegpt" not in text:
        return None
    if "sharegpt" in text:
        return _SETS["sharegpt"]
    return next((both for word, both in _SETS.items() if word in text), (294.0, 294.0))


def run_of(row: Measurement) -> Run:
    """A row as a run.

    - raises ``Refusal`` for a device, model or format that is not known, and for what
      ran on several kinds of them
    """
    key, many = device_of(row.system)
    device = hardware.get(key)
    host = re.search(r"\bCPU\b", str(row.config.get("device", "")))
    if host and device.kind != "cpu":
        raise Refusal(f"config device={row.config['device']}: layers ran on the host")
    if "vllm" in row.software.lower() and (device.vendor, device.kind) == XPU:
        raise Refusal("vLLM on Intel's GPUs has no graphs: kernels wait for the host")
    model = model_named(row.subject)
    kept = kept_in(row, model)
    dtype: Any = kept
    if kept.endswith("bpw"):
        dtype = Quantity(float(kept.split()[0]), "bit")
    elif kept == "bf16" and "bf16" not in device.formats and "fp16" in device.formats:
        dtype = "fp16"
    software = row.software.lower()
    serves = bool(ENGINES.search(software))
    narrow = isinstance(dtype, str) and re.search("fp8|nvfp4", dtype)
    cache = "fp8" if TENSORRT.search(software) and narrow else None
    chips = int(said(row, "ngpus", "gpus", "chips") or many)
    tp, ep, stages = _ways(row, chips)
    overview = OVERVIEW in row.source
    if overview and model.experts is not None:
        tp, ep = 1, tp * ep
        if kept == "mxfp4" and "fp4" in device.formats:
            cache = "fp8"
    if "per_node" in row.metric or ep > NODE:
        raise Refusal("groups over several machines: the network between is unknown")
    lengths = (said(row, *_ISL), said(row, *_OSL))
    if "ttft" in row.metric and lengths[1] is None:
        lengths = lengths[0], 1.0
    if lengths == (None, None) and (of_set := _set_of(row, model)):
        lengths = of_set
    return Run(
        model,
        device,
        dtype,
        cache,
        tp,
        ep,
        stages,
        max(chips, tp * ep * stages),
        serves,
        *lengths,
        said(row, *HELD),
        said(row, "num_prompts", "num_requests"),
        "random" in row.notes.lower() or "inferencex" in row.source.lower(),
        BEAMS if model.key == "gpt j 6b" and "mlperf" in row.metric else 1.0,
        overview,
    )
