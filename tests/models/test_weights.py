"""Weights by tensor: the tensors are the model, and the mixtures are released files."""

import csv
from pathlib import Path

import pytest

from stacklib import models
from stacklib.models.weights.ggml_files import FILES, more_bits, types
from stacklib.models.weights.kept import bytes_beside, kept, numbers_in
from stacklib.models.weights.mixtures import NAMES, way
from stacklib.models.weights.tensors import tensors
from stacklib.quantity import UnknownName, explain
from stacklib.roofline import decode_step

RELEASED = [*csv.DictReader(Path(__file__).with_name("file_sizes.csv").open())]


@pytest.mark.rows("name", models.names())
def test_the_tensors_of_a_model_add_up_to_it(name):
    model = models.get(name)
    found = tensors(model)
    assert sum(t.numbers for t in found) == model.parameters.si
    shared, experts = model.read_by_experts()
    assert sum(t.numbers for t in found if t.read and not t.experts) == shared
    routed = sum(t.numbers for t in found if t.experts)
    assert routed == sum(each * e.experts for each, e in experts)
    # a plain format by tensor is the closed formula
    assert kept(model, "bf16").nbytes == model.weight_bytes("bf16").si


@pytest.mark.rows("row", RELEASED)
def test_a_name_has_the_size_of_the_released_file(row):
    found = models.get(row["model"]).weight_bytes(row["dtype"] or None).si
    assert found == pytest.approx(int(row["bytes"]), rel=5e-3), row["file"]
    assert row["source"]


def test_the_sizes_are_those_of_many_kinds_of_file():
    assert len(RELEASED) >= 20
    kinds = {row["dtype"] for row in RELEASED}
    assert {"awq", "fp8_channel", "mxfp4", "nvfp4", "gptq", "q4_k_m"} <= kinds


@pytest.mark.rows(
    "name, dtype",
    [
        *(("gpt-oss-20b", "mxfp4"), ("minimax-m2.5", "fp8_128x128")),
        *(("deepseek-r1", "fp8_128x128"), ("llama-3-8b", "bf16")),
    ],
)
def test_without_a_name_the_format_is_that_of_the_release(name, dtype):
    model = models.get(name)
    assert model.weight_bytes().si == pytest.approx(model.weight_bytes(dtype).si)
    assert decode_step(model, on="b200", tp=8).fit.cache == "bf16"


# llama-quantize prints the type of each tensor; of Llama 3.1 8B in Q4_K_M
def test_more_bits_go_where_llama_cpp_gives_them():
    wide = [i for i in range(32) if more_bits(i, 32)]
    assert wide == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]
    found = {}
    for t, row in types(models.get("llama-3-8b"), "q4_k_m"):
        found.setdefault((t.name, row.name), []).append(t.layer)
    assert found["v", "q6_k"] == found["down", "q6_k"] == wide
    assert found["output", "q6_k"] == [-1] and found["embedding", "q4_k"] == [-1]
    assert ("norms", "fp32") in found and ("q", "q6_k") not in found


@pytest.mark.rows(
    "name, file, tensor, row",
    [
        ("llama-3-70b", "q4_k_m", "v", "q5_k"),  # where values are not in q6_k
        ("mixtral-8x7b-v0.1", "q4_k_m", "v", "q8_0"),
        ("mixtral-8x7b-v0.1", "q4_k_m", "o", "q5_k"),
        ("gemma-3-1b", "q4_k_m", "embedding", "q8_0"),  # tied, and 1152 is no 256s
        ("gemma-3-1b", "q4_k_m", "q", "q5_0"),
        ("deepseek-v3", "q4_k_m", "kv up", "q5_0"),  # rows of 128
        ("gpt-oss-20b", "mxfp4_moe", "q", "q8_0"),
        ("gpt-oss-20b", "mxfp4_moe", "router", "fp32"),
        ("llama-3-8b", "iq2_xxs", "output", "q5_k"),
        ("llama-3-8b", "iq2_xxs", "v", "q4_k"),  # four heads share them
        ("llama-2-7b", "iq2_xxs", "v", "q2_k"),
        ("llama-3-8b", "iq3_xs", "gate", "iq3_xxs"),
    ],
)
def test_a_tensor_takes_the_type_of_the_rule(name, file, tensor, row):
    assert (tensor, row) in {(t.name, r.name) for t, r in types(models.get(name), file)}


@pytest.mark.rows("file", FILES)
def test_every_file_leaves_rows_whole(file):
    for name in ("gemma-3-1b", "gpt-oss-20b", "deepseek-v2", "qwen2.5-7b", "gpt2-124m"):
        for tensor, row in types(models.get(name), file):
            assert tensor.part == "vectors" or tensor.inputs % row.row == 0


def test_the_sum_is_told_by_format():
    told = explain(models.get("llama-3-8b").weight_bytes("q4_k_m"))
    assert told.count("\n") < 15 and "bytes per q6_k number" in told
    assert "numbers_in(models.get('llama-3-8b'), 'q4_k_m', 'q6_k', 0)" in told


@pytest.mark.rows("name", NAMES)
def test_a_name_says_what_it_keeps_where(name):
    told = way(name)
    assert told.words and told.cache in ("bf16", told.name)
    assert way(name.upper().replace("_", "-")) == told


def test_a_mixture_is_no_format_of_a_number():
    model = models.get("llama-3-8b")
    with pytest.raises(UnknownName, match="did you mean: q4_k"):
        models.operations(model, "decode", context=9, kv_dtype="q4_k_q")
    with pytest.raises(UnknownName):
        kept(model, "q4")
    for of in (numbers_in, bytes_beside):
        with pytest.raises(UnknownName, match="did you mean: q6_k"):
            of(model, "q4_k_m", "q6")
    # beside a mixture the cache is in 16 bits
    assert model.kv_bytes_per_token("q4_k_m").si == model.kv_bytes_per_token("bf16").si
