"""How many requests an engine holds, and how long it takes to empty a queue of them.

Largest throughputs are of runs whose requests are all there at the beginning. Held at
once are as many as memory has room for, and no more than the engine's setting or its
default. Where answers end by themselves, nobody replaces the last ones: their lengths
are taken as exponential, which forgets how long they have run already, so that of
``held`` requests ``held * exp(-k / new)`` are left after ``k`` steps more.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from stacklib.hardware.nvidia_smi import GIB
from stacklib.serving.estimates import steady
from stacklib.serving.estimates.step import Step

from ..measurements import Measurement
from .inference_rows import MOST, Run, said

SHARE = 0.9  # vLLM's ``gpu_memory_utilization``; of SGLang's own about as much
# vLLM, engine/arg_utils.py (``get_batch_defaults``), and the one default before 2025:
# requests at once, tokens of a pass; an A100 has those of a small memory.
SMALL, LARGE, LARGE_GIB = (256.0, 2048), (1024.0, 8192), 70.0
LATER = "2025"
_QUEUED = re.compile("vllm|sglang|lmdeploy|tgi|text-generation")


def limits(row: Measurement, run: Run) -> tuple[float, int]:
    """Requests that an engine holds at the most, and tokens of a pass."""
    most, chunk = float(MOST), steady.CHUNK
    if "vllm" in row.software.lower() and "mlperf" not in row.metric:
        memory = run.device.memory_capacity.si / 1e9
        large = memory >= LARGE_GIB and not run.device.key.startswith("a100")
        most, chunk = LARGE if large and not "" < row.date < LATER else SMALL
    asked = said(row, "max_num_seqs"), said(row, "max_batched_tokens")
    return asked[0] or most, int(asked[1] or chunk)


def held(row: Measurement, run: Run, step: Step, tokens: float, most: float) -> float:
    """Requests of ``tokens`` at once, ``most`` at the most; below 1 not even one."""
    chips = run.tp * run.ep * run.stages
    software = row.software.lower()
    if not _QUEUED.search(software):
        # Its windows must be asked for (TensorRT-LLM, pull requests 5151 and 5722).
        return steady.held(step, tokens, chips, most, "tensorrt" in software)
    room = SHARE * GIB * run.device.memory_capacity.si * chips
    room -= step.frame.shape.weights * chips / (run.tp * run.stages)
    return min(most, room / steady.request_bytes(step, tokens))


def emptied(step: Step, load: steady.Load, requests: float, stages: float) -> float:
    """Tokens a second of a run of ``requests`` that end by themselves.

    Of ``stages`` engines side by side; each replaces what ends while any wait.
    """
    mine = requests / stages
    load = replace(load, batch=min(load.batch, mine))
    seconds = (mine - load.batch) * load.new / steady.rate(step, load)
    seconds += load.batch * steady.added(step, load)
    left = load.batch
    while left > 1:  # until half of them are left, a step is that of those between
        between = replace(load, batch=max(1.0, left / math.sqrt(2)))
        seconds += math.log(2) * load.new * steady.step_time(step, between)
        left /= 2
    return stages * mine * load.new / seconds
