"""The committed models: counted three ways, loaded fast, equal to their oracles."""

import dataclasses
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stacklib import models, tinylm
from stacklib.quantity.names import UnknownName
from stacklib.tinylm import KVCache, generate, load
from stacklib.tinylm.config import DATA, NAMES, read_config, shapes
from stacklib.tinylm.model import next_ids
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.sampling import GREEDY
from stacklib.tinylm.weights import CorruptWeights, read_weights

from ..rows import refusals

PARAMETERS = {"tiny": 2_361_600, "draft": 229_696, "draft_plain": 229_696}


@pytest.mark.rows("name", NAMES)
def test_parameters_are_the_same_counted_three_ways(name):
    counted = models.from_hf_config(DATA / name / "config.json").parameters.si
    model = load(name)
    held = sum(p.numel() for p in Decoder(model.config).parameters())
    assert counted == model.parameters == held == PARAMETERS[name]


def test_the_sizes_are_those_promised():
    assert 2_000_000 <= PARAMETERS["tiny"] <= 2_400_000
    assert 0.08 < PARAMETERS["draft"] / PARAMETERS["tiny"] < 0.12
    assert load().config.max_position_embeddings >= 512
    sizes = [p.stat().st_size for p in DATA.rglob("*.safetensors")]
    assert sum(sizes) < 8_000_000 and max(sizes) < 5_000_000


@pytest.mark.rows("name", NAMES)
def test_the_record_of_a_run_belongs_to_its_weights(name):
    run = json.loads((DATA / name / "training.json").read_text())
    assert run["parameters"] == PARAMETERS[name]
    assert run["curve"][-1]["step"] == run["recipe"]["steps"]
    assert run["curve"][-1]["held_out"] < run["curve"][0]["held_out"]


def test_a_bare_numpy_process_loads_it_within_a_cpu_second():
    code = (
        "import time; import numpy; t = time.process_time();"
        "from stacklib import tinylm; m = tinylm.load(); s = time.process_time() - t;"
        "import sys; assert 'torch' not in sys.modules and 'numba' not in sys.modules;"
        "print(s)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert float(told.stdout) < 1


@pytest.mark.rows("name", NAMES)
def test_cached_and_uncached_decoding_give_the_same_tokens(name):
    model = load(name)
    for prompt in ("Return a list of", "class Reader", "The roofline", "# "):
        ids = [model.tokenizer.end, *model.tokenizer.encode(prompt)]
        stream = next_ids(model, list(ids), GREEDY, np.random.default_rng(0))
        cached = [next(stream) for _ in range(40)]
        for token in cached:
            assert int(model.logits(ids)[-1].argmax()) == token
            ids.append(token)


def test_torch_runs_the_same_model(name="tiny"):
    import torch

    model = load(name)
    ids = model.tokenizer.encode("def open(self, name, mode):\n" * 30)[:512]
    decoder = Decoder(model.config)
    decoder.assign(model.weights)
    with torch.no_grad():
        theirs = decoder(torch.tensor([ids]))[0].numpy()
    assert np.abs(model.logits(ids) - theirs).max() < 1e-4 * np.abs(theirs).max()


def test_text_goes_on_past_the_context_and_stops_at_the_end():
    model = load("draft")
    end = model.tokenizer.end
    stream = next_ids(model, [end], tinylm.Sampling(), np.random.default_rng(1))
    made = [next(stream) for _ in range(1200)]
    assert len(Counter(made)) > 100

    def never(*_args, **_more):
        logits = np.zeros((1, model.config.vocab_size), np.float32)
        logits[0, end] = 99
        return logits

    class Ended(tinylm.TinyLM):
        logits = never

    fields = {f.name: getattr(model, f.name) for f in dataclasses.fields(model)}
    assert "".join(generate("x", model=Ended(**fields))) == ""


def test_the_same_seed_gives_the_same_text():
    one = "".join(generate("Return", tokens=20, seed=3))
    assert one == "".join(generate("Return", tokens=20, seed=3))
    assert one != "".join(generate("Return", tokens=20, seed=4))
    assert "".join(generate("", tokens=5))


def test_the_text_reads_like_the_text_it_read():
    # Most words the model makes are words of Python's reference or of this book.
    import re

    from stacklib.tinylm import corpus

    known = {w for d in corpus.own_prose() for w in re.findall("[a-z]+", d.text)}
    known |= {w for d in corpus.topics() for w in re.findall("[a-z]+", d.text)}
    made = re.findall("[a-z]{3,}", "".join(generate("The ", tokens=400)))
    share = sum(word in known for word in made) / len(made)
    assert len(made) > 100 and share > 0.8


test_bad_requests_are_refused_before_anything_is_made = refusals(
    ({"tokens": 0}, "tokens = 0"),
    ({"tokens": True}, "tokens = True"),
    ({"temperature": -1}, "temperature = -1"),
    ({"top_p": 2}, "top_p = 2"),
    by=lambda asked: generate("x", **asked),
)


def test_an_unknown_model_is_told_the_nearest():
    with pytest.raises(UnknownName, match="did you mean: draft"):
        load("drft")
    assert load("TINY") is load("tiny")


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_in_any_tensor_names_it(name, tmp_path):
    """Through every tensor of every model, one bit each."""
    config = read_config(DATA / name / "config.json")
    raw = (DATA / name / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    (tmp_path / "weights.json").write_bytes((DATA / name / "weights.json").read_bytes())
    for tensor in shapes(config):
        first, last = header[tensor]["data_offsets"]
        broken = bytearray(raw)
        broken[start + (first + last) // 2] ^= 1
        (tmp_path / "model.safetensors").write_bytes(broken)
        with pytest.raises(CorruptWeights, match=tensor.replace(".", r"\.")):
            read_weights(tmp_path, shapes(config))


def test_a_truncated_file_names_the_first_tensor_it_misses(tmp_path):
    config = read_config(DATA / "draft" / "config.json")
    for file in ("model.safetensors", "weights.json"):
        raw = (DATA / "draft" / file).read_bytes()
        cut = raw[: len(raw) // 2] if file == "model.safetensors" else raw
        (tmp_path / file).write_bytes(cut)
    with pytest.raises(CorruptWeights, match=r"model\.embed_tokens\.weight|layers"):
        read_weights(tmp_path, shapes(config))


def test_the_safetensors_library_reads_the_same(name="draft"):
    safetensors = pytest.importorskip("safetensors.torch")
    theirs = safetensors.load_file(DATA / name / "model.safetensors")
    ours = load(name).weights
    assert set(theirs) == set(ours)
    for tensor, values in ours.items():
        assert np.array_equal(theirs[tensor].float().numpy(), values)


def test_a_cache_is_as_large_as_the_model_room_says():
    model = load()
    cache = KVCache(model.config)
    per_token = (cache.keys.nbytes + cache.values.nbytes) / cache.keys.shape[2]
    assert per_token == model.architecture.kv_bytes_per_token("fp32").si


@pytest.fixture(scope="module")
def oracle() -> dict:
    """Recorded once: transformers' LlamaForCausalLM and tokenizers on our files."""
    path = Path(__file__).with_name("transformers.json")
    known: dict = json.loads(path.read_text())
    weights = (DATA / "tiny" / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == known["weights_sha256"], (
        "recorded for other weights: record the vectors again"
    )
    return known


def test_logits_are_those_of_transformers(oracle):
    model = load()
    for case in oracle["cases"]:
        logits = model.logits(case["ids"])[-1]
        top = np.argsort(-logits)[:5].tolist()
        assert top == case["top"]
        assert logits[top] == pytest.approx(case["logits"], rel=1e-4)


def test_greedy_text_is_that_of_transformers(oracle):
    ids = oracle["greedy"]["prompt"]
    stream = next_ids(load(), list(ids), GREEDY, np.random.default_rng(0))
    assert [next(stream) for _ in oracle["greedy"]["made"]] == oracle["greedy"]["made"]


def test_ids_are_those_of_the_tokenizers_library(oracle):
    tokenizer = load().tokenizer
    for case in oracle["cases"]:
        assert tokenizer.encode(case["text"]) == case["encoded"]
    ids = tokenizer.encode((DATA / "own_prose.txt").read_text(encoding="utf-8"))
    assert len(ids) == oracle["own_prose"]["tokens"]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()
    assert digest == oracle["own_prose"]["ids_sha256"]
