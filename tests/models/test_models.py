"""The database: counted against published, and what a shape leaves in the cache."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stacklib import models
from stacklib.models import ConfigError, from_hf_config
from stacklib.models.formulas import Sizes, block_parameters
from stacklib.models.parts import Skipped
from stacklib.models.rows import config_of

HERE = Path(__file__).parent
RELEASES = json.loads((HERE / "releases.json").read_text())
LIBRARY = json.loads((HERE / "transformers_counts.json").read_text())


def test_every_counted_parameter_is_in_the_published_count():
    rows = {row.key: row for row in models.audit()}
    assert set(rows) == set(models.names()) and len(rows) > 70
    assert [key for key, row in rows.items() if not row.holds] == []
    assert [key for key, row in rows.items() if row.rounded_to] == ["gpt3-175b"]


def test_an_audit_row_that_is_one_parameter_off_does_not_hold():
    row = next(r for r in models.audit() if r.key == "llama-3-70b")
    assert row.holds and not replace(row, difference=1).holds


# counted once more by hand from the shapes, embeddings included
ACTIVE = {
    "mixtral-8x7b-v0.1": 12879925248,
    "qwen3-30b-a3b": 3353032704,
    "qwen3-235b-a22b": 22190763520,
    "deepseek-v2": 21375800320,
    "deepseek-v3": 37552297472,
    "kimi-k2": 32861500928,
    "gpt-oss-20b": 4187440704,
    "gpt-oss-120b": 5711982912,
    "gemma-3-4b": 3880263168,  # text only
    "gemma-3-27b": 27009346304,
}


@pytest.mark.rows("key", models.names())
def test_active_parameters_leave_out_what_text_passes_by(key):
    model = models.get(key)
    expected = ACTIVE.get(key)
    if expected is None and model.experts is None and not model.vision:
        expected = model.parameters.si
    if expected is not None:
        assert model.active_parameters.si == expected
    inside = model.active_parameters.si - model.streamed_parameters.si
    table = 0 if model.tied else model.embedding_parameters.si
    assert inside == table + model.positions * model.hidden + model.tables


def prediction(model):
    """A layer that predicts one more token: that of the end, with an indexer of its own
    where the type has one, two norms, a matrix that joins two states, a last norm."""
    sizes, hidden = Sizes(model), model.hidden
    last, joined = model.kinds[model.pattern[-1]], 2 * hidden**2 + 3 * hidden
    parts = [last]
    if getattr(last.attention, "selected", 0):
        parts = [replace(last, attention=model.attention)]
    if isinstance(last.attention, Skipped):  # Nemotron's has an attention besides
        parts.append(next(b for b in model.kinds if b.attention == model.attention))
    experts = [
        sizes(b.mlp.experts, "experts") if isinstance(b.mlp, models.Experts) else None
        for b in parts
    ]
    layers = sum(
        block_parameters(sizes, block, n).si
        for block, n in zip(parts, experts, strict=True)
    )
    return layers + joined, layers + joined + 2 * model.vocab * hidden


def test_what_totals_count_besides_is_one_more_layer():
    """Some releases keep copies of embedding and output with that layer."""
    found = [key for key in models.names() if models.published(key).besides]
    found = [key for key in found if "deepseek-v4" not in key]
    assert len(found) >= 12
    for key in found:
        [(words, count)] = models.published(key).besides
        assert words == "multi-token-prediction layer"
        assert count in prediction(models.get(key)), key


# the prediction layer and the lookup tables that the release's header counts too
@pytest.mark.parametrize("key", ["deepseek-v4-flash", "deepseek-v4-pro"])
def test_what_the_header_of_v4_counts_besides_follows_from_its_shape(key):
    model, said = models.get(key), models.published(key)
    last = model.kinds[-1]
    plain = replace(last, attention=replace(last.attention, rate=0, indexer=None))
    sizes, hidden = Sizes(model), model.hidden
    layer = block_parameters(sizes, plain, sizes(last.mlp.experts, "experts")).si
    # joins two hidden states by matrices, has three norms and a stream collapse
    layer += 2 * hidden**2 + 3 * hidden + 4 * 4 * hidden + 4 + 1
    tables = 3 * model.vocab * last.mlp.top_k
    assert [count for _, count in said.besides] == [layer, tables]


def test_active_parameters_are_those_of_the_model_cards():
    checked = 0
    for row in models.audit():
        if row.active_published is None:
            continue
        digit = models.published(row.key).active_rounded_to
        # cards round, one (Qwen3 30B-A3B: 3.3B of 3.353) cuts
        assert abs(row.active - row.active_published) < digit, row.key
        checked += 1
    assert checked > 25


@pytest.mark.rows("name", RELEASES)
def test_public_configs_count_to_the_published_total(name, tmp_path):
    entry = RELEASES[name]
    model = from_hf_config(entry["config"])
    more = [0]
    if "multi-token-prediction layers" in model.left_out:
        more += prediction(model)
    off = min(abs(model.parameters.si + n - entry["published"]) for n in more)
    assert off <= entry.get("off", 0)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(entry["config"]), encoding="utf-8-sig")
    for told in (path, tmp_path):  # a file with a byte-order mark, or its folder
        assert from_hf_config(told).kinds == model.kinds


@pytest.mark.rows("case", LIBRARY["parameters"])
def test_counts_are_those_of_the_reference_implementation(case):
    assert from_hf_config(case["config"]).parameters.si == case["count"]


@pytest.mark.rows("case", LIBRARY["windows"])
def test_windows_are_those_of_the_reference_implementation(case):
    blocks = from_hf_config(case["config"]).blocks
    assert [block.attention.window for block in blocks] == case["windows"]


def test_every_supported_type_is_held_to_the_reference_or_to_a_release():
    configs = [c["config"] for c in LIBRARY["parameters"]]
    configs += [entry["config"] for entry in RELEASES.values()]
    configs += map(config_of, models.names())
    configs += [c["text_config"] for c in configs if "text_config" in c]
    left = set(models.SUPPORTED) - {c.get("model_type") for c in configs}
    # other names of types that are held, and text parts that name no type
    renamed = "RefinedWeb RefinedWebModel minimax_text_01 minimax_m1 deepseek_ref"
    assert left == {*renamed.split(), "llava", "minimax_m3", "minimax_m3_vl_text"}


AROUND = {"llama4": "llama4_text", "llava": "llama", "mistral3": "mistral"}


@pytest.mark.rows("whole", AROUND)
def test_the_text_part_of_a_multimodal_release_counts_as_it_does_alone(whole):
    text = next(
        c["config"]
        for c in LIBRARY["parameters"]
        if c["config"]["model_type"] == AROUND[whole]
    )
    outer = {"model_type": whole, "text_config": text, "vision_config": {"depth": 2}}
    model = from_hf_config(outer)
    assert model.parameters.si == from_hf_config(text).parameters.si
    assert model.left_out == ("vision tower and projector",)
    tied = from_hf_config({**outer, "tie_word_embeddings": True})
    assert model.parameters.si - tied.parameters.si == model.embedding_parameters.si
    with pytest.raises(ConfigError, match=r"text_config\.model_type = 'gpt2'"):
        from_hf_config({**outer, "text_config": {**text, "model_type": "gpt2"}})


def test_falcon_is_tied_and_says_what_its_files_hold_besides():
    """Falcon-180B's card counts the output matrix, which is the embedding, twice."""
    shape = {
        "model_type": "falcon",
        "vocab_size": 65024,
        "hidden_size": 14848,
        "num_hidden_layers": 80,
        "num_attention_heads": 232,
        "num_kv_heads": 8,
        "new_decoder_architecture": True,
        "bias": False,
        "alibi": False,
    }
    model = from_hf_config(shape)
    assert model.tied and "second copy" in model.left_out[0]
    stored = model.parameters + model.embedding_parameters
    assert stored.si == pytest.approx(179.52e9, rel=1e-4)


def test_minimax_under_its_first_names_lists_its_layers_by_number():
    case = next(
        c for c in LIBRARY["parameters"] if c["config"]["model_type"] == "minimax"
    )
    old = case["config"] | {"model_type": "minimax_text_01"}
    model = from_hf_config({**old, "attn_type_list": [1, 0] * 3})
    assert model.parameters.si == case["count"]
    with pytest.raises(ConfigError, match="attn_type_list has 3 entries for 6"):
        from_hf_config({**old, "attn_type_list": [1, 0, 2]})


@pytest.mark.rows("kind", ["qwen3_next", "minimax", "mamba2"])
def test_a_recurrent_state_does_not_grow(kind):
    case = next(c for c in LIBRARY["parameters"] if c["config"]["model_type"] == kind)
    model = from_hf_config(case["config"])
    state = model.state_bytes("bf16").si
    assert state > 0 and model.kv_bytes(0, "bf16").si == state
    grown = model.kv_bytes(1000, "bf16").si - state
    assert grown == 1000 * model.kv_bytes_per_token("bf16").si
    assert (grown == 0) is (kind == "mamba2")
    plain = from_hf_config(LIBRARY["parameters"][0]["config"])
    assert plain.state_bytes("bf16").si == 0


def test_a_step_of_mamba2_adds_to_a_state_and_reads_it():
    """Dao and Gu 2024: h = a h + x B, y = h C, in 12 heads of 32 by 16."""
    cases = [c["config"] for c in LIBRARY["parameters"]]
    case = next(c for c in cases if c["model_type"] == "mamba2")
    model = from_hf_config(case)
    assert (model.attention.key_dim, model.attention.value_dim) == (32, 16)
    assert model.attention_flops(9).si == 5 * 2 * (2 * 12 * 32 * 16)
    short = {k: v for k, v in case.items() if k != "conv_kernel"}  # the class has 4
    assert from_hf_config(short).parameters.si == model.parameters.si


@pytest.mark.rows(
    "config, field",
    [
        ({"model_type": "step3p7"}, "model_type = 'step3p7' is not supported"),
        ({"model_type": "mamba2", "expand": 3}, "num_heads x head_dim = 192"),
        ({"model_type": "qwen3_next", "linear_num_value_heads": 5}, "no multiple"),
        ({"model_type": "qwen3_next", "linear_new_field": 3}, "linear_new_field = 3"),
        ({"model_type": "llama4_text", "moe_layers": [9]}, "not one of 6 layers"),
        ({"model_type": "minimax", "shared_intermediate_size": 8}, "not supported"),
    ],
)
def test_what_stays_refused_names_its_field(config, field):
    base = next(
        (
            c["config"]
            for c in LIBRARY["parameters"]
            if c["config"]["model_type"] == config["model_type"]
        ),
        {},
    )
    with pytest.raises(ConfigError, match=field):
        from_hf_config(base | config)


def test_falcon_under_its_first_names_is_the_same_model():
    old = {
        "model_type": "RefinedWeb",
        "vocab_size": 65024,
        "hidden_size": 8192,
        "n_layer": 60,
        "n_head": 128,
        "n_head_kv": 8,
        "bias": False,
        "alibi": False,
        "parallel_attn": True,
    }
    new = {**old, "model_type": "falcon", "new_decoder_architecture": True}
    counted = from_hf_config(old).parameters.si
    assert counted == from_hf_config(new).parameters.si == 41303293952
    one = {**old, "model_type": "RefinedWebModel", "multi_query": True}
    del one["n_head_kv"]
    assert from_hf_config(one).kv_heads == 1


def test_kv_per_token_is_two_by_layers_by_kv_heads_by_head_dim():
    model = models.get("llama-3-70b")
    assert model.kv_bytes_per_token("bf16").si == 2 * 80 * 8 * 128 * 2
    assert model.kv_bytes_per_token("fp8").si == 2 * 80 * 8 * 128
    assert models.get("llama-3-8b").kv_bytes_per_token("bf16").si == 128 * 1024


@pytest.mark.rows(
    "key, per_token, growth",
    [  # bytes in bf16, as the notes of the evidence have them
        ("mistral-7b-v0.1", 131072, 0),
        ("gemma-2-2b", 106496, 53248),
        ("gemma-3-27b", 507904, 81920),
        ("gpt-oss-120b", 73728, 36864),
        ("deepseek-v3", 70272, 70272),
        ("deepseek-v2", 69120, 69120),
        # counted by hand: 61 latents with an index key; 50 windows and 10 full layers
        # of 4 wider heads; 12 and 3 of the 15 that lend; 6 layers with attention
        ("deepseek-v3.2", 2 * 61 * (576 + 128), 2 * 61 * (576 + 128)),
        ("gemma-4-31b", 2 * (50 * 8192 + 10 * 4096), 2 * 10 * 4096),
        ("gemma-4-e2b", 2 * (12 * 512 + 3 * 1024), 2 * 3 * 1024),
        ("nemotron-3-nano-30b-a3b", 2 * 6 * 512, 2 * 6 * 512),
    ],
)
def test_windows_and_latents_shrink_the_cache(key, per_token, growth):
    model = models.get(key)
    assert model.kv_bytes_per_token("bf16").si == per_token
    assert model.kv_growth_per_token("bf16").si == growth
    far = 100_000
    step = model.kv_bytes(far + 1, "bf16").si - model.kv_bytes(far, "bf16").si
    assert step == growth


def test_a_rolling_cache_stops_at_its_window():
    model = models.get("mistral-7b-v0.1")
    assert model.kv_bytes(0, "bf16").si == 0
    assert model.kv_bytes(4096, "bf16").si == 512 * 2**20
    assert model.kv_bytes(10**6, "bf16").si == 512 * 2**20
    with pytest.raises(ValueError, match="context = -1"):
        model.kv_bytes(-1, "bf16")


def test_compressed_attention_keeps_entries_and_a_window():
    model = models.get("deepseek-v4-flash")
    far = [
        model.kv_bytes(tokens, "bf16").si for tokens in (10**5 * 128, 10**5 * 128 + 128)
    ]
    assert model.kv_growth_per_token("bf16").si == (far[1] - far[0]) / 128
    # 43 windows of 128; 21 layers with an entry of 512 and a key of 128 for every 4
    # tokens, 20 with an entry for every 128
    tokens = 128 * 100
    numbers = 43 * 128 * 512 + 21 * tokens // 4 * 640 + 20 * tokens // 128 * 512
    assert model.kv_bytes(tokens, "fp8").si == numbers


def test_what_narrows_attention_is_read_from_released_configs():
    sparse = from_hf_config(RELEASES["MiniMax-M3"]["config"])
    assert [k.attention.kind for k in sparse.kinds] == ["GQA", "GQA, best 2048"]
    shared = from_hf_config(RELEASES["GLM-5.2"]["config"])
    assert {k.attention.kind for k in shared.kinds} == {
        "MLA, best 2048",
        "MLA, same 2048",
    }
    gemma = config_of("gemma-4-31b")
    text = gemma["text_config"] | {"layer_types": ["sliding_attention"] * 60}
    windows = [
        b.attention.window for b in from_hf_config(gemma | {"text_config": text}).blocks
    ]
    assert windows == [1024] * 59 + [0]  # the class makes the last one full


def test_tied_output_is_read_but_counted_once():
    model = models.get("qwen3-0.6b")
    assert model.streamed_parameters.si == model.parameters.si


def test_even_routing_touches_the_experts_it_should():
    model = models.get("mixtral-8x7b-v0.1")
    assert model.read_parameters(1).si == model.streamed_parameters.si
    expert = 3 * 4096 * 14336
    two = model.read_parameters(2).si - model.streamed_parameters.si
    # the second token's two experts are each new with probability 6/8
    assert two == pytest.approx(32 * expert * 2 * 6 / 8, rel=1e-12)
    everything = model.parameters.si - model.embedding_parameters.si
    assert model.read_parameters(10**4).si == pytest.approx(everything)
    with pytest.raises(ValueError, match="batch = 0"):
        model.read_parameters(0)


def test_what_a_release_holds_besides_is_said():
    model = models.get("deepseek-v3")
    assert model.left_out == ("multi-token-prediction layers",)
    config = {**RELEASES["TinyLlama-1.1B"]["config"]}
    quantized = {**config, "quantization_config": {"quant_method": "gptq", "bits": 4}}
    assert models.get("qwen3.5-27b").left_out == ("multi-token-prediction layers",)
    found = from_hf_config(quantized)
    assert found.parameters.si == from_hf_config(config).parameters.si
    assert found.left_out == () and found.weight_bytes() < model.weight_bytes("int8")


def test_a_layer_is_the_first_unless_told():
    model = models.get("deepseek-v2")  # whose first layer alone is dense
    first, second = (model.layer_parameters(layer).si for layer in (0, 1))
    assert model.layer_parameters().si == first < second


@pytest.mark.rows(
    "name", ["mistral-nemo-12b", "mistral-small-3-24b", "mistral-small-3.2-24b"]
)
def test_a_field_that_a_release_says_to_be_null_is_not_the_class_s(name):
    """Later Mistrals have no window; their class's value is that of the first."""
    model = models.get(name)
    assert {a.attention.window for a in model.kinds} == {0}
    assert model.kv_bytes(30_000, "bf16").si == 30_000 * 2 * 2 * 40 * 8 * 128
