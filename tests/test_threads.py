"""No room keeps state between calls: all that is offered, by four threads at once.

What a name's docstring shows is what is called; names that show nothing have their call
below. Each thread starts elsewhere, so that the same room is met by several. What is
returned is then written over: the next caller must not see it.
"""

import ast
import dataclasses
import doctest
import importlib
import io
import linecache
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from inspect import isroutine
from time import process_time
from typing import Any

import numpy as np
import pytest
from _tools import docs

from stacklib.kernels.written import host_triton, rows_triton

ROOMS = [r for r in docs.rooms() if r not in ("pages", "cli", "plots")]
HEAD = """
import numpy as np
from stacklib import accelerators, cost, evidence, gpu, hardware, kernels, memory
from stacklib import diy, frontier, models, quantity, quantizers, roofline, serving
from stacklib import tinylm
from stacklib.hardware.nvidia_smi import smi_sample
x = np.random.default_rng(0).standard_normal((8, 256)).astype(np.float32)
q4 = quantizers.quantize(x, "q4_0")
few = x[None, None, :, :64]
traffic = serving.poisson(5, 20)
rig = '''gpus = "rtx_4080"
cpu = "9950x"
board = "proart_x870e"
psu = "mpg_a1000g"
memory = "vengeance_ddr5_64"
case = "torrent"
cooling = "nh_d15_g2" '''
llama = models.get("llama-3-8b")
riser = smi_sample("rtx4090_riser")
few_parts = {p.kind: (p,) for p in diy.read_build(rig).parts()}
few_parts["storage"] = cost.parts("storage")[:1]
"""
CALLS = """
accelerators.compare("llama-3-8b", ["H100"])
accelerators.control_share(4, place=1, core=16)
accelerators.limits("llama-3-8b", "h100-sxm")
accelerators.machine("TPU v7")
accelerators.stream("llama-3-8b", "wse3")
accelerators.throttle(1, 100)
accelerators.timetable(3, 2, 1, 4)
cost.bill("h100_sxm")
cost.bumps(55)
cost.clock()
cost.factors()
cost.memory_price("hbm3e")
cost.names("prices")
cost.parts("board")
cost.poisson(0.5)
cost.prices("h100_sxm")
cost.reticle()
diy.diagnose(diy.read_rig(smi=riser), "qwen3-14b:q4_k_m")
diy.plan(9000, "qwen3-8b:q4_k_m", most=1, parts=few_parts)
diy.read_build(rig)
diy.read_rig(smi=riser)
diy.speed(diy.read_build(rig), "qwen3-14b:q4_k_m")
diy.temperature(diy.read_build(rig), 1, 22)
diy.tokens_per_joule(100, diy.read_build(rig))
evidence.claims(chapter=7)
gpu.empty((3, 4)).shape
gpu.peaks()
gpu.warps_needed(work=1, latency=24)
hardware.efficiency_quantity("attention_fill")
hardware.error_band("decode")
hardware.link_names()
hardware.memory_names()
hardware.microarchitecture("h100_sxm")
hardware.names()
hardware.stack_fact("bump_gap")
hardware.stack_generations()
kernels.flash_attention(few, few, few)
kernels.naive_attention(few, few, few)
kernels.round_tokens(np.abs(x), top_k=2)
memory.bank_access(list(range(0, 128, 4)))
memory.builds_of("h100_sxm")
memory.coalesce(list(range(0, 128, 4)))
memory.kv_demand("llama-3-8b", context=4096)
memory.transpose(32, "straight")
memory.misses([1, 2, 3, 1, 2, 4], 2, "lru")
models.names()
models.operations(llama, "decode", context=512)
models.published("llama-3-8b")
models.published_parameters("llama-3-8b")
models.work_per_token(llama, 512)
quantity.assumed(1.0, "s", "a second", why="a test")
quantity.bytes_per_element("bf16")
quantity.ceil(quantity.chosen(1.5, ""))
quantity.chosen(1.0, "s")
quantity.constant("byte")
quantity.dtype("bf16")
quantity.log2(8)
quantity.maximum(1, 2)
quantity.minimum(1, 2)
quantity.resolve("fp8", {"fp8": 1}, "format")
quantity.where(True, 1, 2)
quantizers.awq(x, x, "int4_g128", alphas=(0.0, 0.5)).quantized.codes
quantizers.byte_split(3, 5)
quantizers.dequantize(q4)
quantizers.gptq(x[:, :128], np.eye(128), "int4_g128").codes
quantizers.hessian(x)
quantizers.outlier_split(x, 0.01)
quantizers.pack(q4)
quantizers.schemes()
quantizers.smoothquant(x, x)
quantizers.unpack(quantizers.pack(q4), "q4_0", (8, 256))
roofline.attainable(10, 1e12, 1e11)
roofline.attention(queries=8, keys=64, heads=4, kv_heads=2, head_dim=64)
roofline.bound_time(1e9, 1e9, 1e12, 1e11)
roofline.compare_devices("llama-3-8b", ["h100_sxm", "a100_sxm_80gb"])
roofline.decode_work(llama)
roofline.fit_memory("llama-3-8b", on="h100_sxm")
roofline.gemv(n=64, k=64)
roofline.memory_bound_context("llama-3-8b", on="h100_sxm")
roofline.memory_wall()
roofline.ridge_point(1e12, 1e11)
roofline.count_decode("llama-3-8b", context=512)
serving.bursty(10, 20)
serving.chat(10, 20)
serving.agents(1, 4)
serving.poisson(10, 20)
serving.offload()
serving.json_mask(tinylm.load_tokenizer()).allowed(0)
serving.schema_mask({"type": "boolean"}, tinylm.load_tokenizer()).allowed(0)
serving.simulate("llama-3-8b", "h100_sxm", traffic).percentiles("ttft")
tinylm.generate("The", tokens=4)
tinylm.load().logits([1, 2, 3])
tinylm.load_tokenizer().encode("one two")
""".strip().splitlines()
CALLS += [
    f"quantizers.quantize(x, {name!r})"
    for name in ("mxfp8_e4m3", "nvfp4", "int8_channel", "nf4_dq", "q4_k", "q6_k")
]
CALLS += [
    f"quantizers.Format({name!r}).{way}"
    for name in ("e4m3fn", "e8m0", "bf16", "fp16", "int4", "nf4")
    for way in ("encode(x)", "decode(np.arange(4))")
]


# They change what this thread asks for, read files, measure, or start processes; or
# need what only another call makes (those are called by their own rooms' tests).
NOT_CALLED = """
evidence.claim evidence.leaf_faults grading.check grading.discover grading.find_root
grading.grade grading.grade_all grading.parse grading.prove grading.stub
hardware.efficiency_override kernels.advise kernels.fuse memory.cheapest_tier
models.from_file models.from_gguf models.from_safetensors quantity.counting
quantity.one_of quantity.recorded quantity.stamp quantizers.read_gguf
quantizers.write_gguf roofline.bound_on roofline.measure_host roofline.predict_gemm
serving.trace sweep.progress
"""


def shown() -> Iterator[tuple[str, str]]:
    """Examples in docstrings of what rooms offer, statements of one docstring a job."""
    for room in ROOMS:
        module = importlib.import_module(f"stacklib.{room}")
        for name in module.__all__:
            offered = getattr(module, name)
            parts = doctest.DocTestParser().get_examples(offered.__doc__ or "")
            if parts and getattr(offered, "__module__", "").startswith("stacklib"):
                yield (
                    offered.__module__,
                    "".join(p.source for p in parts if not p.options),
                )


def told(value: Any, depth: int = 0) -> str:
    """A value in words that are the same in every thread."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hash(value.tobytes())}"
    if depth < 6 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (getattr(value, f.name, None) for f in dataclasses.fields(value))
        return type(value).__name__ + str([told(part, depth + 1) for part in fields])
    if isinstance(value, dict) and depth < 6:
        return str([(told(k, depth + 1), told(v, depth + 1)) for k, v in value.items()])
    if isinstance(value, list | tuple) and depth < 6:
        return str([told(part, depth + 1) for part in value])
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


class Job:
    """Statements, and the values of their expressions."""

    def __init__(self, module: str, source: str) -> None:
        self.source = source
        self.file = f"<job {hash(source)}>"  # kernels are read from their source
        lines = source.splitlines(keepends=True)
        linecache.cache[self.file] = (len(source), None, lines, self.file)
        self.space = vars(importlib.import_module(module)) if module else SPACE
        self.parts = [
            compile(ast.Expression(part.value), self.file, "eval")
            if isinstance(part, ast.Expr)
            else compile(ast.Module([part], []), self.file, "exec")
            for part in ast.parse(source).body
        ]

    def run(self) -> list[Any]:
        """Run it in names of its own; an error is a value, too."""
        space, found = dict(self.space), []
        for code in self.parts:
            try:
                found.append(eval(code, space))
            except Exception as error:
                found.append(error)
        return found


SPACE: dict[str, Any] = {}
exec(HEAD, SPACE)


def write_over(value: Any) -> None:
    """Put other things into whatever may be written to."""
    with suppress(ValueError, TypeError):
        if isinstance(value, np.ndarray) and value.size:
            value[...] = value.dtype.type(1) - value
    if isinstance(value, dict | list | set):
        for part in [*(value.values() if isinstance(value, dict) else value)]:
            if isinstance(part, np.ndarray | dict | list):
                write_over(part)
        value.clear()


@pytest.fixture(scope="module")
def jobs() -> list[tuple[Job, str, float]]:
    """What each gave alone when all was loaded, and the seconds it took."""
    made = [Job(*each) for each in dict.fromkeys(shown())]
    made += [Job("", call) for call in CALLS]
    found = []
    with redirect_stdout(io.StringIO()):
        for job in made:
            for _ in range(2):
                began = process_time()
                alone = told(job.run())
                took = process_time() - began
                if took > 1:  # much longer than anything that is loaded first
                    break
            found.append((job, alone, took))
    return found


def test_most_of_what_is_offered_is_called(jobs):
    """The rest is listed above with its reasons."""
    called = set(re.findall(r"\w+", " ".join(job.source for job, *_ in jobs)))
    missing = set()
    for room in ROOMS:
        module = importlib.import_module(f"stacklib.{room}")
        functions = (n for n in module.__all__ if isroutine(getattr(module, n)))
        missing |= {f"{room}.{name}" for name in functions if name not in called}
    assert missing == set(NOT_CALLED.split())
    failed = [job.source for job, alone, _ in jobs if "Error(" in alone]
    assert len(failed) <= 1, failed  # the one that shows an unknown name


def in_threads(jobs: list[tuple[Job, str, float]], together: bool = True) -> list[str]:
    """What differs in one of four threads, at the same job or each at another."""
    apart: list[str] = []
    gate = threading.Barrier(4)

    def work(thread: int) -> None:
        start = 0 if together else thread * len(jobs) // 4
        for job, alone, _ in jobs[start:] + jobs[:start]:
            if together:
                gate.wait()
            if (found := told(job.run())) != alone:
                apart.append(f"{job.source}: {found[:300]} for {alone[:300]}")

    pool = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        with redirect_stdout(io.StringIO()):
            for thread in pool:
                thread.start()
            for thread in pool:
                thread.join()
    finally:
        sys.setswitchinterval(often)
    return apart


def test_four_threads_get_what_one_gets(jobs):
    assert in_threads([job for job in jobs if job[2] < 0.05]) == []


@pytest.mark.slow
def test_four_threads_get_what_one_gets_again_and_again(jobs):
    for together in (True, False, True, False, True):
        assert in_threads(jobs, together) == []


def test_what_was_returned_is_the_callers(jobs):
    """Written over, it is not what the next caller gets."""
    shared = []
    with redirect_stdout(io.StringIO()):
        for job, alone, took in jobs:
            if took < 0.05:
                for value in job.run():
                    write_over(value)
                if told(job.run()) != alone:
                    shared.append(job.source)
    assert shared == []


def test_a_shared_array_is_caught():
    source = (
        "room = quantity.__dict__.setdefault('planted', np.zeros(64))\n"
        "for i in range(64):\n    room[i] = hash(object()) % 7 + sum(range(200))\n"
        "room.copy()"
    )
    job = Job("", source)
    try:
        assert in_threads([(job, "other", 0.0)])
        kept = Job("", "quantity.__dict__.setdefault('planted', [1, 2])")
        SPACE["quantity"].__dict__.pop("planted")
        (value,) = kept.run()
        write_over(value)
        assert kept.run() == [[]]
    finally:
        SPACE["quantity"].__dict__.pop("planted", None)


def test_a_redirection_is_of_its_own_thread():
    """Another thread's launches went to the tile machine, and into its report."""
    x = np.ones((2, 8), np.float32)
    with ThreadPoolExecutor(1) as other, host_triton.on_tiles() as ran:
        assert other.submit(lambda: host_triton.Elsewhere.go).result() is None
        with pytest.raises((ImportError, ValueError), match="Triton"):
            other.submit(rows_triton.softmax, x).result()
        assert not ran
        rows_triton.softmax(x)
        assert len(ran) == 1
