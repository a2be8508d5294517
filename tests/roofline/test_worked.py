"""Formulas of the room on round numbers and known devices, counted another way."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from stacklib import hardware, models
from stacklib.quantity import Quantity
from stacklib.roofline.bound import (
    bakeoff,
    cache_aware,
    gains,
    hierarchy,
    littles_law,
    scaling,
    trend,
)
from stacklib.roofline.bound.decode import decode_bytes
from stacklib.roofline.bound.decode_plain import plain_step
from stacklib.roofline.bound.scaling_run import _timed
from stacklib.roofline.count import elementwise, traffic_cuts
from stacklib.roofline.count.numpy_block import softmax
from stacklib.roofline.host._predict import HostPrediction, call_time
from stacklib.roofline.host.pipelines import Cache, Predictor
from stacklib.roofline.journey.token_journey import closed_form, journey, walk
from stacklib.roofline.timing.queued import Kernel, SimulatedDevice
from stacklib.roofline.timing.threaded import ThreadDevice
from stacklib.roofline.work.fit import Infeasible

H100, A100 = hardware.get("h100"), hardware.get("a100")


def test_levels_serve_what_they_hold():
    held, rates = (10, 100, 1000), (9.0, 3.0, 1.0)
    served = [
        cache_aware.served_at(n, held, rates) for n in (1, 10, 11, 100, 101, 9999)
    ]
    assert served == [9, 9, 3, 3, 1, 1]
    assert cache_aware.attainable_by_level(2.0, 7.0, rates) == (7, 6, 2)
    assert cache_aware.traffic_time(70.0, (9.0, 9.0, 9.0), 7.0, rates) == 10
    assert cache_aware.traffic_time(7.0, (9.0, 9.0, 9.0), 7.0, rates) == 9
    near, *_, far = slopes = cache_aware.slopes_of("h100")
    for level in slopes:
        size = level.capacity.si
        assert cache_aware.home(size, slopes) is level
        assert cache_aware.home(size - 1, slopes) is level
    assert cache_aware.home(near.capacity.si + 1, slopes) is slopes[1]
    with pytest.raises(Infeasible, match="of memory: does not fit"):
        cache_aware.home(far.capacity.si + 1, slopes)
    assert far.ridge(H100.peak("bf16")).si == pytest.approx(989.4e12 / 3.35e12)
    assert near.capacity.si == 132 * hardware.level("h100", "l1").capacity.si


def test_streams_caches_and_rows_by_their_parts():
    drawn = {k: 3.35e12 * hardware.efficiency(f"dram_{k}") for k in hierarchy.KINDS}
    for kind, rate in drawn.items():
        assert hierarchy.stream_rate("h100", kind) == hierarchy.Bandwidth(rate, "dram")
    idle = hardware.level("h100", "dram").latency.si
    late = idle * hardware.efficiency("loaded_latency")
    few = hierarchy.stream_rate("h100", "read", 0.5)
    assert few.rate == pytest.approx(132 * 2048 * 0.5 / late)
    assert (few.bound, hierarchy.stream_rate("h100", "read", 99).bound) == (
        "concurrency",
        "dram",
    )
    for over in (0.5, 1.5, 4.0, 30.0):  # h = exp(-x (1 - h)), by trying
        h = hierarchy.hit_share(over * 7.0, 14.0, 0.5)
        assert h == pytest.approx(
            1.0 if over < 1 else math.exp(-over * (1 - h)), abs=1e-6
        )
    for operation, passes in {"softmax": 3, "layernorm": 3, "gelu": 2}.items():
        name = "launch_softmax" if operation == "softmax" else "launch_elementwise"
        for size in (1e4, 1e9):
            call, stream = hardware.efficiency(name), passes * size / drawn["mixed"]
            found = hierarchy.row_operation_rate("h100", size, operation)
            assert found.rate == pytest.approx(2 * size / (call + stream))
            assert found.bound == ("dram" if stream > call else "launch")


def test_gains_are_ratios_of_the_sheets():
    gain = gains.generation_gain("a100", "h100")
    assert gain.bandwidth.si == pytest.approx(
        H100.memory_bandwidth.si / A100.memory_bandwidth.si
    )
    assert gain.fp16.si == pytest.approx(989.4 / 312, rel=1e-3) and gain.fp8 is None
    assert gain.headline.si == pytest.approx(1978.9 / 312, rel=1e-3)
    assert gain.tokens.si == pytest.approx(gain.bandwidth.si, rel=1e-6)
    assert 1.8 < gain.tokens_narrow.si / gain.tokens.si < 2.2
    steps = gains.generation_gains(["v100", "a100", "h100"])
    assert [(g.older.short, g.newer.short) for g in steps] == [
        (a.older.short, a.newer.short)
        for a in (gains.generation_gain(*p) for p in pairwise(["v100", "a100", "h100"]))
    ]


def test_little_on_a_device():
    found = littles_law.in_flight("h100", each=16)
    needed = hardware.level("h100", "dram").latency.si * 3.35e12
    assert found.needed.si == pytest.approx(needed)
    assert found.threads.si == math.ceil(needed / 16)
    assert (found.resident.si, found.asked.si) == (132 * 2048, 132 * 2048 * 16)
    assert found.reached.si == 1 and found.occupancy.si == pytest.approx(
        needed / (132 * 2048 * 16)
    )
    thin = littles_law.in_flight("h100", each=1)
    assert thin.reached.si < 1
    assert thin.reached.si == pytest.approx(132 * 2048 / needed)
    assert littles_law.share(30.0, 2.0, 60.0) == 0.25
    assert littles_law.time_per_load(4, 8.0, 64.0, 64) == 2
    assert littles_law.time_per_load(4, 8.0, 16.0, 64) == 4


def test_counts_of_rows_and_elements():
    n, rows = 6 * 8, 6
    for work, operations, moved in [
        (elementwise.softmax(rows=6, columns=8), None, 2 * 2 * n),
        (elementwise.residual_add(elements=n), n, 2 * 3 * n),
        (elementwise.swiglu(elements=n), None, 2 * 3 * n),
        (elementwise.transpose(rows=6, columns=8), 0, 2 * 2 * n),
        (elementwise.embedding(tokens=6, hidden=8), 0, 2 * 2 * n + 4 * rows),
        (elementwise.rms_norm(rows=6, columns=8), None, 2 * (2 * n + 8)),
        (elementwise.layer_norm(rows=6, columns=8), None, 2 * (2 * n + 2 * 8)),
    ]:
        assert work.bytes.si == moved, work.name
        assert operations is None or work.operations.si == operations, work.name
    turned = elementwise.rotary(tokens=6, heads=3, head_dim=8, sequences=2)
    pairs, angles = 2 * 3 * 6 * 4, 6 * 4  # two products and a sum a number
    assert turned.operations.si == 6 * pairs
    assert turned.bytes.si == 2 * (4 * pairs + 2 * angles)
    shape = {"tokens": 16, "heads": 4, "kv_heads": 2, "head_dim": 8}
    three = traffic_cuts.unfused_attention(**shape).bytes.si
    assert three == 2 * (2 * 16 * 4 * 8 + 2 * 16 * 2 * 8) + 4 * 4 * 16 * 16 * 2
    cuts = {cut.name: cut for cut in traffic_cuts.famous_cuts()}
    assert cuts["8-bit weights and cache"].traffic.si == pytest.approx(0.5, rel=1e-3)
    assert cuts["shared KV heads"].traffic.si == pytest.approx(1 / 8, rel=1e-2)
    assert cuts["shared KV heads"].work.si == 1 == cuts["FlashAttention"].work.si


def test_a_step_of_plain_numbers_is_its_sums():
    model, batch, context = models.get("llama-3-8b"), 3.0, 999.0
    step = plain_step(model, "h100", "bf16", 2, batch, context, "fp8")
    read = model.parameters.si - model.embedding_parameters.si
    kv = 2 * 32 * 8 * 128
    assert step.operations == batch * (2 * read + 4 * 32 * 32 * 128 * 1000)
    assert step.bytes == 2 * read + batch * kv * 1000
    assert step.need == (2 * model.parameters.si + batch * kv * 999) / 2
    assert step.t_memory == pytest.approx(step.bytes / 2 / 3.35e12)
    assert step.t_compute == pytest.approx(step.operations / 2 / 989.4e12)
    assert (step.time, step.bound) == (step.t_memory, "memory")
    assert step.busy == pytest.approx(step.t_compute / step.time) == 1 - step.idle
    assert step.intensity == step.operations / step.bytes
    assert step.tokens_per_s == batch / step.time
    assert plain_step(model, "h100", "bf16", 1, 2e3, 0.0, None).bound == "compute"


def test_laws_of_scaling_undo_one_another():
    for share, gain in ((0.25, 4.0), (0.9, 10.0), (0.5, 1.5)):
        whole = scaling.speed_up_of_part(share, gain)
        assert whole == pytest.approx(1 / ((1 - share) + share / gain))
        assert scaling.share_from_speed_up(gain, whole) == pytest.approx(share)
        assert scaling.gain_from_speed_up(share, whole) == pytest.approx(gain)
        parts = scaling.speed_up_of_parts((share, 1 - share), (gain, 1))
        assert parts == pytest.approx(whole)
        for workers in (2, 8):
            assert scaling.karp_flatt(
                scaling.amdahl(share, workers), workers
            ) == pytest.approx(share)
            assert scaling.gustafson(share, workers) == share + (1 - share) * workers
        assert scaling.amdahl_limit(share) == 1 / share
    run = scaling.run_chunks(scaling.even_chunks(0.25, 16.0, 6), 4)
    assert (run.time, run.work, run.speed_up) == (4 + 2 * 2, 16, 2)
    assert run.idle == pytest.approx(1 - 16 / 32)


def test_trends_of_known_growth():
    years = [2000.0 + i for i in range(9)]
    exact = trend.fit_trend(years, [3.0 * 2 ** (i / 2) for i in range(9)])
    assert exact.growth == pytest.approx(2) and exact.spread == pytest.approx(1)
    for freedom, t in ((1, 12.706), (2, 4.303), (3, 3.182), (9, 2.262), (30, 2.042)):
        assert trend.student_t(freedom) == pytest.approx(t, abs=2e-3)


def test_a_call_a_bake_off_and_a_queue():
    assert call_time(60.0, 8.0, 20.0, 4.0, 0.5) == 3.5
    times = {"t_compute": 1.0, "t_memory": 2.0, "overhead": 3.0}
    for longest in times:
        qs = {k: Quantity(9.0 if k == longest else v, "s") for k, v in times.items()}
        found = HostPrediction(None, **qs, time=qs["overhead"])
        assert found.bound == longest.removeprefix("t_")
    one = bakeoff.bake_off(1000, 1.0, "h100")
    assert one.transfer == pytest.approx(3 * 4e6 / 63e9) and one.pays
    assert one.there_and_back == one.gpu + one.transfer == 1 / one.speedup
    assert one.speedup_resident == 1 / one.gpu
    device = SimulatedDevice(launch_s=1.0, first_s=5.0, depth=2, boost=2.0, boost_s=3.0)
    for _ in range(4):  # ten seconds of work: at the boost while it is cool
        device.launch(Kernel("k", 10.0, cold=2.0))
    # 12 s of work: 3 s do six, the rest takes 6; then 10 s each, two in the queue
    ends = [6 + 9, 25, 35, 45]
    assert (device.device, device.busy, device.ran) == (ends[-1], 39, 4)
    assert device.host == ends[1] + 1  # the fourth waited for the second
    device.synchronize()
    assert device.clock() == 45 == device.record().seconds


def test_a_journey_is_its_closed_form_and_its_walk():
    for tp, exchange in ((1, "direct"), (8, "direct"), (8, "ring")):
        of = {"on": "h100", "tp": tp, "exchange": exchange}
        found = journey("llama-3-8b", **of)
        form = closed_form("llama-3-8b", **of)
        assert found.time.si == pytest.approx(form.si, rel=1e-9)
        spans = [s for s in walk(found, "llama-3-8b") if not s.event.under]
        assert spans[-1].stop == pytest.approx(form.si)
        assert sum(found.share(layer).si for layer in range(9)) == pytest.approx(1)
        assert found.energy_ceiling.si == pytest.approx(tp * 700 * form.si)
        assert found.price.si == pytest.approx(tp * 2.69 / 3600 * form.si)


def test_small_parts_of_the_host_study(monkeypatch):
    x = np.array([[1.0, 2.0, 4.0]])
    for shift in (
        0.0,
        1000.0,
        -1000.0,
    ):  # exp overflows, or is 0
        np.testing.assert_allclose(softmax(x + shift), np.exp(x) / np.exp(x).sum())
    assert decode_bytes(100.0, 3.0, 2, 4, 8) == 100 + 2 * 5 * 3 * 8
    assert decode_bytes(100.0, 3.0, 2, 4) == 100 + 2 * 5 * 3
    predictor = Predictor()
    said = [predictor.guess(0, taken) for taken in (1, 1, 0, 1, 0, 0, 0, 1, 1, 1)]
    # two bits: not taken at first; then it takes two surprises to change its mind
    assert said == [0, 1, 0, 1, 0, 0, 1, 0, 0, 1] and predictor.misses == 6
    cache = Cache(2)
    hits = [cache.hit(("a", i)) for i in (0, 7, 8, 0, 16, 8, 0)]
    assert hits == [0, 1, 0, 1, 0, 0, 0] and (cache.hits, cache.misses) == (2, 5)
    assert not cache.hit(("b", 0))
    times = iter([10.0, 12.5, 20.0, 24.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    with ThreadDevice() as device:
        assert device._thread.daemon
        assert device.elapsed(device.record(), device.record()) == 2.5
    with ThreadPoolExecutor(1) as pool:
        assert _timed(pool, [[1], [1]]) == 4
