"""What a row says, read by hand: sizes, levels, layouts, batches, models."""

import pytest

from stacklib import hardware
from stacklib.evidence.measurements import Measurement, Refusal
from stacklib.evidence.predict import PREDICTORS, memory, training_layouts
from stacklib.evidence.predict import training_models as named
from stacklib.evidence.validate import limits
from stacklib.evidence.validate.score import key_of, message_bytes
from stacklib.interconnect.parallelism.rates import device_of
from stacklib.interconnect.parallelism.shape import shape_of
from stacklib.roofline.bound import hierarchy


def row(family="F", config="", **changes) -> Measurement:
    texts = dict.fromkeys(
        ("software", "source", "date", "confidence", "notes", "fault"), ""
    )
    texts |= {"id": "x", "system": "A100 80", "subject": "GPT", "settings": config}
    texts |= {"metric": "latency", "unit": "ms"}
    return Measurement(**{"family": family, "value": 1.0} | texts | changes)


SIZES = {  # bytes of a message, and the key that a row of D is scored under
    "msg_bytes=1000000": (1e6, "D_large"),
    "msg_bytes=999999": (999999, "D_small"),
    "tokens=3;topk=5;hidden=7": (105, "D_small"),
    "tokens=3;hidden=7": (21, "D_small"),
    "batch=3;seq=5;d_model=7": (210, "D_small"),
    "batch=3;d_model=7": (42, "D_small"),
    "": (None, "D_small"),
    "tokens=3": (None, "D_small"),
}


def test_sizes_and_keys_of_rows():
    for config, (size, key) in SIZES.items():
        assert (message_bytes(row("D", config)), key_of(row("D", config))) == (
            size,
            key,
        )
    assert key_of(row("D", metric="busbw")) == "D_large"
    for metric, key in {
        "ttft": "prefill",
        "prefill_time": "prefill",
        "tpot": "decode",
    }.items():
        assert key_of(row("E", metric=metric)) == f"E_{key}"
    assert (key_of(row("A")), key_of(row("Z"))) == ("A", None)


def test_rows_of_a_layer_have_their_elements():
    for subject, config, elements in [
        ("softmax", "m=3;n=5", 15),
        ("layernorm prefill", "batch=3;seq=5;d_model=8", 3 * 5 * 8),
        ("layernorm decode", "batch=3;seq=5;d_model=8", 3 * 8),
        ("gelu decode", "batch=3;d_model=8", 3 * 4 * 8),
        ("gelu prefill", "batch=3;seq=5;d_model=8;tp=2", 3 * 5 * 4 * 8 // 2),
    ]:
        one = row("C", f"{config};dtype=fp16", subject=subject)
        assert memory.row_elements(one) == elements
        assert memory.row_bytes(one) == 2 * elements
        kind = subject.split()[0]
        got = hierarchy.row_operation_rate("a100", 2.0 * elements, kind)
        found = PREDICTORS["C"](one)()
        assert (found.value, found.unit) == (4 * elements / got.rate, "s")
        each = PREDICTORS["C"](row("C", one.settings, subject=subject, metric="rate"))()
        assert (each.value, each.unit) == (got.rate / 4, "1/s")
    with pytest.raises(Refusal, match="family B"):
        memory.row_elements(row("C", "batch=3;d_model=8", subject="softmax"))


def test_streams_of_one_element_a_thread_have_so_much_in_flight():
    kept = {"metric": "bandwidth", "unit": "GB/s", "software": "gpu-stream"}
    for subject, config, flight in [
        ("STREAM read", "", 8), ("STREAM triad", "", 8 * 2 * 2),
        ("STREAM scale", "", 8 * 2), ("STREAM add", "fp32", 4 * 2 * 2),
    ]:  # fmt: skip
        found = PREDICTORS["C"](row("C", config, subject=subject, **kept))()
        kind = "read" if "read" in subject else "mixed"
        assert found.value == hierarchy.stream_rate("a100", kind, flight).rate
    for subject, level in {"L1 bandwidth": "l1", "L2 bandwidth": "l2"}.items():
        found = PREDICTORS["C"](row("C", subject=subject, **kept))()
        assert found.value == hierarchy.cache_rate("a100", level).rate
    levels = {"smem": "shared", "L2 far": "l2_far", "L0": "l1", "global": "dram"}
    for word, level in levels.items():
        assert memory.level_of(row("C", subject=f"latency {word}")) == level


def test_a_cache_between_two_memories_by_its_shares():
    device = hardware.get("a100")
    for size in (1e6, 6e7, 1e9):
        hits = hierarchy.hit_share(
            size, device.l2_capacity.si, hierarchy.kept_share(device)
        )
        near = hierarchy.cache_rate(device, "l2").rate
        far = hierarchy.stream_rate(device, "read").rate
        found = hierarchy.read_rate(device, size)
        assert found.rate == pytest.approx(1 / (hits / near + (1 - hits) / far))
        assert found.bound == ("l2" if hits / near > (1 - hits) / far else "dram")


def test_chips_lengths_batches_and_ways_of_a_training_row():
    for config, chips in {
        "ngpus=48": 48,
        "nodes=3": 24,
        "x": 7,
        "96 x H100": 96,
    }.items():
        assert training_layouts.chips_of(row("F", config), 7) == chips
    for config, length in {"seq=512": 512, "seq_len 1024": 1024, "": 2048}.items():
        assert training_layouts.length_of(row("F", config), "gpt") == length
    for name, length in {
        "llama-3-8b": 8192,
        "deepseek-v3": 4096,
        "llama-2-7b": 4096,
    }.items():
        assert training_layouts.length_of(row(), name) == length
    for config, batches in {
        "gbs=96": [96],
        "local_batch=3": [24],
        "batch 40": [40],
        "4m tokens/step": [1952],  # 4e6 / 2048 a step, by eights
        "512k tokens/step": [248],
        "tokens/batch=1m": [488],
        "": [2048],  # four Mi tokens
    }.items():
        assert training_layouts._batches(row("F", config), 8, 64, 2048) == batches, (
            config
        )
    many = training_layouts._batches(row(), 8, 4096, 2048)
    assert many == [4096, 16384]  # of 2,048 and 8,192 tokens a chip
    ways = training_layouts.ways_of(
        row("F", "TP=4;pipeline_parallel=2", notes="dp 8, ep16")
    )
    assert ways == {"tp": 4, "pp": 2, "dp": 8, "ep": 16}
    for text, again in {
        "full recompute": "full", "selective recompute": "selective",
        "selective ac": 0.5, "no recompute": "none", "": None,
    }.items():  # fmt: skip
        assert training_layouts._recompute(row(notes=text)) == again


def test_layouts_that_a_row_may_mean():
    shape, device = shape_of("llama-3-8b", 4096), device_of("h100-sxm")
    told = row("F", "tp=2;pp=4;gbs=64;mbs=2;interleave=2", notes="full recompute")
    ((layout, batch),) = training_layouts.layouts_of(told, shape, device, 64, 4096)
    assert (layout.dp, layout.tp, layout.pp, layout.zero, batch) == (8, 2, 4, 1, 64)
    assert (layout.micro, layout.interleave, layout.again) == (2, 2, 1)
    assert layout.sequence and not layout.overlap
    old = row("F", "tp=2;pp=1;gbs=64;mbs=2", software="DeepSpeed async", notes="no ac")
    ((layout, _),) = training_layouts.layouts_of(old, shape, device, 64, 4096)
    assert (layout.sequence, layout.overlap, layout.interleave) == (False, True, 1)
    sharded = row("F", "gbs=128;mbs=2", software="torchtitan FSDP")
    ((layout, _),) = training_layouts.layouts_of(sharded, shape, device, 64, 4096)
    assert (layout.dp, layout.zero, layout.again, layout.pp) == (64, 3, 0.5, 1)
    free = training_layouts.layouts_of(row("F", "gbs=64"), shape, device, 64, 4096)
    for layout, batch in free:
        assert layout.chips == 64 and layout.tp <= 8 and batch % layout.dp == 0
        assert 32 % layout.tp == 0 and batch // layout.dp % layout.micro == 0
    assert {x.pp for x, _ in free} == {1, 2, 4, 8, 16, 32}
    assert {x.zero for x, _ in free} == {1, 3} and {x.ep for x, _ in free} == {1}


def test_models_of_a_training_row():
    for subject, layers, hidden, billions in [
        ("GPT-3 175B", 96, 12288, 175), ("Megatron 22B", 48, 6144, 22),
        ("LLaMA 13B", 40, 5120, 13), ("PaLM 540B", 118, 18432, 540),
        ("Llama-3.1-8B", 32, 4096, 8), ("GPT 20B", 47, 5888, 20),
    ]:  # fmt: skip
        found = named.model_of(row(subject=subject))
        assert (found.layers, found.hidden) == (layers, hidden), subject
        assert found.parameters.si == pytest.approx(billions * 1e9, rel=0.08)
    shaped = named.model_of(row("F", "layers=3;hidden=256;heads=2;vocab=1000"))
    assert (shaped.layers, shaped.hidden, shaped.heads, shaped.vocab) == (
        3,
        256,
        2,
        1000,
    )
    assert named.model_of(row("F", "7b")).parameters.si == pytest.approx(7e9, rel=0.08)
    with pytest.raises(Refusal, match="no model size"):
        named.model_of(row("F", "x"))
    with pytest.raises(Refusal, match="no shape of model"):
        named.model_of(row(subject="Foo 30B A3B"))


def test_a_latency_in_nanoseconds_is_held_to_the_nearest_cache():
    card = hardware.get("h100_sxm")
    near = hardware.level(card, "l1").known("latency").si
    told = row("C", metric="latency", unit="ns", subject="l2", value=4e9 * near)
    assert limits._latency(told, card) == pytest.approx(0.25)
