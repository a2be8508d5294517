"""The scalar models run on the standard library alone, as a browser needs them."""

import subprocess
import sys
from pathlib import Path

import pytest
from _tools import tree

# Only the standard library and stacklib may be imported; anything else says so.
PROLOGUE = """
import sys
sys.path[:] = [{root!r}, *sys.path]

class Plain:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and top != "stacklib":
            raise ImportError(f"the plain-Python core imports {{top}}")

sys.meta_path.insert(0, Plain())
"""
# One call of each promised function, by room; a room that does not exist yet waits.
CALLS = {
    "quantity": """
from stacklib.quantity import Quantity, explain, maximum
time = Quantity(70, "GB") / Quantity(3.35, "TB/s")
assert explain(maximum(time, time))""",
    "hardware": """
from stacklib import hardware
for name in hardware.names():
    assert hardware.get(name).name
assert len(hardware.levels("h100")) == 6""",
    "models": """
from stacklib import models
assert models.get("llama-3-70b").parameters > 0""",
    "roofline": """
from stacklib import hardware, models, roofline
h100, llama = hardware.get("h100-sxm"), models.get("llama-3-70b")
assert roofline.decode_step(llama, on=h100, dtype="bf16", tp=2).time
assert not roofline.fit_memory(llama, on=h100, dtype="bf16").fits
assert roofline.ridge(h100, "bf16")
assert roofline.memory_time(1e9, h100) > roofline.link_time(1.0, "nvlink5") > 0
assert roofline.matmul(m=1, n=8, k=8, dtype="bf16").operations
from stacklib.roofline.host import pipelines
assert pipelines.compare(64)
from stacklib.roofline.host.streams import plateaus, sizes
at = sizes(2**26, 2)
assert len(plateaus(at, [1e9 if s < 2**20 else 1e8 for s in at])) == 2""",
    "cost": """
from stacklib import cost
assert cost.wafer_price("n5").low and cost.defect_density("n5").high
assert cost.memory_price("hbm3e").low and cost.parts("board")
assert cost.prices("h100-sxm") and cost.bill("h100-sxm").total
from stacklib.quantity import Quantity
assert cost.die(Quantity(814, "mm2"), node="n5").cost.low
assert cost.sram("n5").low and cost.dram().low and cost.hbm(12).high
from stacklib.cost.stacks import build, hbm_costs
assert cost.factors().total.high
given = dict(capital=4e4, power=700, pue=1.3, cooling=0, storage=0, network=0, people=0)
assert cost.token(1e3, utilisation=0.5, years=4, **given).total.low
assert cost.break_even(1e3, rent=3, **given).utilisation.low
assert build(2, hbm_costs(plain=True), die=0.9, bond=0.98).good""",
    "gpu": """
from stacklib import gpu
from stacklib.gpu.chip.chips import chip
assert gpu.schedule(4, work=4, latency=36).cycles
assert gpu.utilisation(4, work=4, latency=36) == 0.5
assert gpu.peak_of("h100", "bf16").built and gpu.instruction("h100").threads
assert gpu.place_of((3, 2), (16, 16)).lane == 3 and chip("h100").harvested
assert gpu.fill(threads=100, blocks=133, units=132).idle_units == 131
from stacklib.hardware import read_smi, smi_sample
assert gpu.spec_sheet(read_smi(smi_sample("h100_busy"))[0]).ridge
assert gpu.tile_waves(m=256, n=256, rows=128, columns=128, units=132).waves == 1""",
    "memory": """
from stacklib import memory
assert memory.sectors([4 * lane for lane in range(32)])
assert memory.bank_conflicts([4 * lane for lane in range(32)]) is not None
memory.Swizzle
from stacklib.memory.cache.chase_model import gpu_levels, served
from stacklib.memory.ladder.rungs import ladder
levels = gpu_levels("h100-sxm")
assert ladder("h100-sxm") and sum(served(2**20, levels)) == 1""",
    "kernels": """
from stacklib import kernels
from stacklib.kernels.attention.exponent import exponent_counted
from stacklib.kernels.attention.flash import flash_attention
from stacklib.kernels.attention.witnesses import Tiling, formula
from stacklib.kernels.launch import fuse, recompute, threads
from stacklib.kernels.launch.launches import Launches, run_launches
from stacklib.kernels.plan import advise, published, search, tile_profile
from stacklib.kernels.rows import norms, primitives, sampling_time
count = kernels.io_count(tokens=8, head_dim=8, tile_q=4, tile_k=4, causal=True)
assert count.bytes == 2 * 8 * (8 + 2 * (4 + 8) + 8) and kernels.pipeline
exponent_counted(tokens=512, head_dim=8, on_chip=4096)
formula(Tiling(8, 8, 4, 4))
assert abs(run_launches(Launches(3, 2e-6, 1e-6)).time - 7e-6) < 1e-12
search.search({"x": [1, 2]}, lambda p: p["x"], method="random", budget=2, seed=0)""",
    "accelerators": """
from stacklib import accelerators
assert accelerators.cycles(m=4, n=4, k=4, rows=2, cols=2, dataflow="os")
plan = accelerators.sram_machine("llama-3-70b", on="groq-lpu", dtype="int8")
assert plan.chips == 310 and accelerators.timetable(3, 2, 1, 4)
(row,) = accelerators.compare("llama-3-70b", ["TPU v7"])
assert row.fits and accelerators.stream("llama-3-70b", "wse3", "fp16").time.si > 0.9
assert accelerators.limits("llama-3-70b", "h100-sxm").end.si >= 1
rows = [("load", "load", ["tcm:x"], ["r"]), ("add", "vector", ["r"], ["s"])]
accelerators.verify(rows, accelerators.pack(rows).packets)
assert accelerators.organise("trainium").cycles == 16
assert accelerators.control_share(4, place=1, core=16) == 0.5
assert accelerators.throttle(1, 100, clock=1.25, exponent=1).kept == 0.8
from stacklib.accelerators.rtl import feed, gates, stepped
told = gates.by_gates([[1, -2]], [[3], [4]])
assert feed.first_difference(stepped.by_steps([[1, -2]], [[3], [4]]), told) is None
assert accelerators.SystolicArray(15, 15, "ws").run([[1]], [[2]]).product == [[2]]
assert accelerators.engines([("max", "vector", 8)]).busiest == "vector"
assert len(accelerators.network("resnet-50")) == 54""",
    "interconnect": """
from stacklib import interconnect
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.closed import closed_cost
from stacklib.interconnect.schedules.cost import cost
made = all_reduce(9, "double_binary_tree", chunks=8)
assert interconnect.verify(made).holds and interconnect.cost
assert cost(made, size=1, alpha=1, beta=1).time > 0""",
    "quantizers": """
from stacklib import quantizers
assert quantizers.Format("e4m3fn").encode(1.0) is not None""",
    "paged_kv": """
from stacklib import paged_kv
pool, tree = paged_kv.BlockAllocator(4, 2), paged_kv.PrefixTree()
pool.free(pool.allocate([1, 2, 3]))
assert pool.match([1, 2, 3]).tokens == 2 and not tree.insert([1, 2])
pool.check()
assert tree.match([1, 3]).why.place == 1
from stacklib.memory.tiers.seen import tiers_from
from stacklib.quantity import Quantity
tiers = tiers_from("sm")[1:3]
cache = paged_kv.TieredCache(tiers, "regret", block=Quantity(40, "GB"))
assert cache.run([1, 2, 3, 1]).hits == (0, 1)
assert paged_kv.kv_transfer("llama-3-70b", 50_000, rails=8).time""",
    "serving": """
from stacklib import serving
found = serving.account("llama-3-70b", "h100", "nvfp4", tp=8, mode="calibrated")
assert found.total().si > 0 and not found.missing()
assert serving.account("tiny", on="this-machine").total().si > 0
house = serving.simulate("llama-2-7b", "h100-sxm", serving.poisson(10, 5))
assert house.percentiles("ttft", band=True)[50] > 0
assert serving.explain_price(1.0, "llama-3-8b", "h100", tp=1).borders
asked = {"gpus": 2, "on": "h100", "traffic": (64, 64), "slo": {"tpot": 0.005}}
assert serving.search("llama-3-8b", **asked).best.tpot <= 0.005
assert serving.context_multiplier("llama-3-8b", 8192, on="h100").held.si > 1
from stacklib.serving.readings.read import log_sample
read = serving.read_log(log_sample("vllm"))
assert serving.diagnose(read, "llama-3-8b", "h100").causes
from stacklib.serving.estimates.reductions import narrow, together
from stacklib.serving.estimates.room import admitted, room
assert room("llama-3-70b", "h100-sxm", tp=8).conversations.si == 371
assert admitted(4, 32) == together([narrow("fp8")]).factor.si == 2
from stacklib.serving.engine.dry import DryRun
run = DryRun(blocks=4, block_size=4, max_batch=2, chunk=4)
one = run.submit([1, 2, 3], most=2)
while run.busy: run.step()
assert sum(run.explain(one.id).parts.values()) == run.explain(one.id).total > 0
from stacklib.serving.slots.batches import continuous, harmonic, steps
assert steps(continuous([3, 1, 2], 2)) == 3 and harmonic(2) == 1.5
from stacklib.serving.agentic.session import Turn, told
waits = serving.session(told())
assert serving.machine_share(waits.steps).length > serving.offload().time
from stacklib.serving.agentic.graph import Call, routing
graph = serving.call_graph({"a": Call(5), "b": Call(3)}, [("a", "b", "all")])
assert routing(graph, 2).recovered > 0
from stacklib.serving.agentic.tails import Hop, drawn, exponential_tail
assert serving.tail(drawn([Hop(1)] * 3, 50)).ratio > exponential_tail([Hop(1)]).ratio
asked = dict(tp=8, batch=64.0, context=4096.0)
quick = serving.estimate("llama-3-70b", "h100", "bf16", **asked)
assert quick.tpot < quick.ttft and quick.fits and quick.error.low
assert serving.estimate("gpt-oss-120b", "b200", batch=4, draft=(0.7, 4)).tpot.si > 0
from stacklib.serving.speculation.cost import gain
from stacklib.serving.speculation.formula import tokens_per_pass
fast = gain("llama-3-70b", "llama-3.2-1b", "h100", acceptance=0.8, tp=8)
assert 2 < fast.si < tokens_per_pass(0.8, 4)""",
    "diy": """
from stacklib import diy
parts = dict(gpus="2 x rtx_3090", cpu="epyc_7302", board="romed8_2t", storage=())
parts |= dict(memory="8 x ksm32r_32", psu="evga_1600_p2", cooling="nh_u14s_tr4")
assert diy.verify(diy.Build(case="enthoo_pro_2_server", **parts)) == []
assert diy.read_build and diy.verify(diy.Build(case="nr200", **parts))[0].mend
assert diy.fpga(diy.small_cnn(), "pynq_z2").interval == 124
assert diy.tapeout({"AND": 100}).tiles == "1x1" and diy.checklist("a: 1", "")
assert diy.realism()[0].stars == 1 and diy.timeline().weeks.low.si == 12""",
    "frontier": """
from stacklib import frontier
told = frontier.journey("llama-3-70b", "h100-sxm", "bf16", tp=8)
assert told.time == told.estimate.tpot and told.dollars.low.si > 0
many = frontier.binding_layer(dict(model="llama-3-70b", on="h100", tp=8, batch=64))
assert many.binding.layer == "memory" and 0 <= many.unmoved < 0.03
switch, torus = frontier.topology_fit("deepseek-v3")
assert torus.exchanges > 2 * switch.exchanges
assert frontier.factors({"a": (3, 5), "b": 2}).high.si == 10
assert frontier.codesign({"format": ["bf16", "fp4"]}).gain > 2
assert frontier.hardening() and frontier.watch().score.settled == 0
rows = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]
placed = frontier.place(rows)
assert frontier.rules(frontier.route(placed)) == []
assert frontier.timing(placed, {"NOT": 0.5}).least > 0.5
assert frontier.ir_drop(placed, volts=1, ohm=1, amps=1e-3).worst > 0
assert frontier.in_memory(8, 8).times and frontier.supply(2026).gpus
assert frontier.campus().gpus and frontier.respin(9, 0.9).sets > 1""",
}


def run_plain(code: str, root: Path = tree.ROOT) -> str:
    """Run code with nothing but the standard library; its error, or nothing."""
    source = PROLOGUE.format(root=str(root)) + code
    command = [sys.executable, "-I", "-S", "-c", source]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def exists(room: str) -> bool:
    package = tree.ROOT / "stacklib" / room
    return package.with_suffix(".py").exists() or (package / "__init__.py").exists()


@pytest.mark.rows("room", [room for room in CALLS if exists(room)])
def test_a_promised_function_needs_no_library(room: str):
    assert run_plain(CALLS[room]) == ""


LIBRARIES = ["numpy", "pandas", "matplotlib", "torch", "numba"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_planted_import_is_seen(tmp_path: Path, library: str):
    (tmp_path / "stacklib").mkdir()
    (tmp_path / "stacklib" / "__init__.py").write_text(
        f"def f():\n    import {library}"
    )
    assert run_plain("import stacklib", tmp_path) == ""
    error = run_plain("import stacklib; stacklib.f()", tmp_path)
    assert error == f"ImportError: the plain-Python core imports {library}"
