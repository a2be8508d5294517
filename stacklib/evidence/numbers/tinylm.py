"""Numbers of the book's own model: size, training, quality, speed."""

from __future__ import annotations

from functools import cache

from stacklib import models, roofline
from stacklib.quantity import Quantity, Source
from stacklib.tinylm import decode_step, plan
from stacklib.tinylm.config import DATA, Config, read_config
from stacklib.tinylm.recipes import RECIPES
from stacklib.tinylm.record import TAILS, quality

from .. import results, tiny_model
from .registry import number

TRAINING = "stacklib/tinylm/data/tiny/training.json"
STEP = "decode-tiny-128"


def _config() -> Config:
    return read_config(DATA / "tiny" / "config.json")


@number("tiny.parameters", evidence="spec")
def parameters() -> Quantity:
    """Parameters of the tiny model, counted from its config."""
    return tiny_model.parameters("tiny")


@number("tiny.draft_parameters", evidence="spec")
def draft_parameters() -> Quantity:
    """Parameters of the draft model, counted from its config."""
    return tiny_model.parameters("draft")


@number("tiny.draft_share", unit="%", digits=2, evidence="spec")
def draft_share() -> Quantity:
    """Parameters of the draft over those of the tiny model."""
    return draft_parameters() / parameters()


@number("tiny.kv_per_token", evidence="spec")
def kv_per_token() -> Quantity:
    """Keys and values that one token of the tiny model leaves in the cache, in fp32."""
    model = models.from_hf_config(DATA / "tiny" / "config.json")
    return model.kv_bytes_per_token("fp32")


@number("tiny.file", evidence="spec")
def file_bytes() -> Quantity:
    """Bytes of the tiny model's weight file, in bf16."""
    path = DATA / "tiny" / "model.safetensors"
    title = "stacklib/tinylm/data/tiny/model.safetensors"
    source = Source(title, "size of the file", "2026-11-21", "measured")
    return Quantity(path.stat().st_size, "B", label="size of the file", source=source)


def _held(key: str, unit: str, label: str) -> Quantity:
    date = quality()["held_out"]["date"]
    source = Source("stacklib/tinylm/data/quality.json", key, date, "measured")
    return Quantity(quality()["held_out"][key], unit, label=label, source=source)


@number("tiny.held_documents", evidence="measured")
def held_documents() -> Quantity:
    """Documents that no training read."""
    return _held("documents", "1", "held-out documents")


@number("tiny.held_bytes", evidence="measured")
def held_bytes() -> Quantity:
    """Bytes of those documents."""
    return _held("bytes", "B", "held-out bytes")


@number("tiny.train_tokens", evidence="measured")
def train_tokens() -> Quantity:
    """Tokens that the tiny model's training read, repeats counted."""
    run = tiny_model.training()
    source = Source(TRAINING, "curve", run["date"], "measured")
    return Quantity(run["curve"][-1]["tokens"], "token", label="tokens", source=source)


@number("tiny.text_tokens", evidence="measured")
def text_tokens() -> Quantity:
    """Tokens of the training text."""
    run = tiny_model.training()
    source = Source(TRAINING, "training_tokens", run["date"], "measured")
    return Quantity(run["training_tokens"], "token", label="tokens", source=source)


@number("tiny.epochs", digits=2, evidence="measured")
def epochs() -> Quantity:
    """Times that training read its text."""
    return train_tokens() / text_tokens()


@number("tiny.train_flop", evidence="predicted")
def train_flop() -> Quantity:
    """Operations of the tiny model's training, counted before it ran."""
    return tiny_model.run("train-tiny").operations


@number("tiny.train_predicted", unit="min", evidence="predicted")
def train_predicted() -> Quantity:
    """Time of the tiny model's training, predicted from this machine's roofline."""
    return tiny_model.run("train-tiny").predicted


@number("tiny.train_measured", unit="min", evidence="measured")
def train_measured() -> Quantity:
    """Time of the tiny model's training as it ran."""
    return tiny_model.run("train-tiny").measured


@number("tiny.train_ratio", unit="%", digits=2, evidence="measured")
def train_ratio() -> Quantity:
    """Predicted over measured time of that training."""
    return train_predicted() / train_measured()


@number("tiny.train_rate", digits=2, evidence="measured")
def train_rate() -> Quantity:
    """Operations a second that the training reached."""
    return train_flop() / train_measured()


@number("tiny.kept_predicted", digits=3, evidence="predicted")
def kept_predicted() -> Quantity:
    """Bytes a training step keeps for its backward pass, predicted."""
    return tiny_model.kept_bytes("tiny", "activations")[0]


@number("tiny.kept", digits=3, evidence="measured")
def kept() -> Quantity:
    """Bytes a training step keeps for its backward pass, counted by torch."""
    return tiny_model.kept_bytes("tiny", "activations")[1]


@number("tiny.recomputed_predicted", digits=3, evidence="predicted")
def recomputed_predicted() -> Quantity:
    """Bytes kept when each block is run again in the backward pass, predicted."""
    return tiny_model.kept_bytes("tiny", "recomputed")[0]


@number("tiny.recomputed", digits=3, evidence="measured")
def recomputed() -> Quantity:
    """Bytes kept when each block is run again in the backward pass, counted."""
    return tiny_model.kept_bytes("tiny", "recomputed")[1]


@number("tiny.bits", digits=3, evidence="measured")
def bits() -> Quantity:
    """Bits a byte of the tiny model on held-out text."""
    return tiny_model.measured_quality("bits_per_byte", "tiny")


@number("tiny.ngram_bits", digits=3, evidence="measured")
def ngram_bits() -> Quantity:
    """Bits a byte of a tuned Kneser-Ney 5-gram of the same tokens."""
    return tiny_model.measured_quality("bits_per_byte", "kneser_ney")


@number("tiny.gap", digits=2, evidence="measured")
def gap() -> Quantity:
    """Bits a byte by which the tiny model is below the 5-gram."""
    return ngram_bits() - bits()


def _end(which: int) -> Quantity:
    """One end of the interval of that difference, its sign turned."""
    return -1 * tiny_model.measured_quality("less_than", "kneser_ney", which)


@number("tiny.gap_low", digits=2, evidence="measured")
def gap_low() -> Quantity:
    """Low end of the 95 % interval of that difference, over documents."""
    return _end(2)


@number("tiny.gap_high", digits=2, evidence="measured")
def gap_high() -> Quantity:
    """High end of the 95 % interval of that difference, over documents."""
    return _end(1)


@number("tiny.confidence", unit="%", digits=2, evidence="spec")
def confidence() -> Quantity:
    """Share of resampled sets of documents inside the interval."""
    low, high = TAILS
    source = Source("stacklib.tinylm.record", "percentiles", "2026-11-21", "measured")
    inside = (high - low) / 100
    return Quantity(inside, "1", label="share inside", source=source)


@number("tiny.perplexity", digits=2, evidence="measured")
def perplexity() -> Quantity:
    """Perplexity a token of the tiny model on held-out text."""
    return tiny_model.measured_quality("perplexity", "tiny")


@number("tiny.ngram_perplexity", digits=2, evidence="measured")
def ngram_perplexity() -> Quantity:
    """Perplexity a token of the 5-gram on held-out text."""
    return tiny_model.measured_quality("perplexity", "kneser_ney")


@number("tiny.accepted", unit="%", digits=2, evidence="measured")
def accepted() -> Quantity:
    """Drafted tokens that the tiny model accepts, draft distilled from it."""
    return tiny_model.measured_quality("acceptance", "draft", "rate")


@number("tiny.accepted_plain", unit="%", digits=2, evidence="measured")
def accepted_plain() -> Quantity:
    """Drafted tokens that the tiny model accepts, draft trained on the text alone."""
    return tiny_model.measured_quality("acceptance", "draft_plain", "rate")


@number("tiny.greedy", unit="%", digits=2, evidence="measured")
def greedy() -> Quantity:
    """Positions where the distilled draft's likeliest token is the tiny model's."""
    return tiny_model.measured_quality("acceptance", "draft", "greedy")


@cache
def _step() -> decode_step.DecodeTime:
    """The predicted decode step, taken apart."""
    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    host = roofline.HostRoofline.load(path)
    return decode_step.decode_time(_config(), 128, host)


@number("tiny.step_bytes", digits=3, evidence="predicted")
def step_bytes() -> Quantity:
    """Bytes that the products of one decode step read, 128 tokens cached."""
    return tiny_model.run(STEP).bytes


@number("tiny.step_products", digits=2, evidence="predicted")
def step_products() -> Quantity:
    """Predicted time of the products of that step."""
    return _step().products


@number("tiny.step_calls", digits=2, evidence="predicted")
def step_calls() -> Quantity:
    """Predicted time of calling NumPy in that step."""
    return _step().calls


@number("tiny.calls", digits=3, evidence="predicted")
def calls() -> Quantity:
    """NumPy calls of one decode step."""
    config = _config()
    text = "benchmarks/predictions/tiny_model.json"
    source = Source(text, "NumPy calls of tinylm.forward", "2026-11-21", "measured")
    count = decode_step.calls_of_step(config)
    return Quantity(count, "1", label="NumPy calls", source=source)


@number("tiny.draft_calls", unit="%", digits=2, evidence="predicted")
def draft_calls() -> Quantity:
    """NumPy calls of the draft's decode step over those of the tiny model's."""
    draft = read_config(DATA / "draft" / "config.json")
    source = Source("stacklib.tinylm.forward", "its calls", "2026-11-21", "measured")
    few = decode_step.calls_of_step(draft)
    return Quantity(few, "1", label="calls of the draft", source=source) / calls()


@number("tiny.step_predicted", digits=3, evidence="predicted")
def step_predicted() -> Quantity:
    """Predicted time of one decode step, committed before it ran."""
    return tiny_model.run(STEP).predicted


@number("tiny.step_measured", digits=3, evidence="measured")
def step_measured() -> Quantity:
    """Measured median time of one decode step, 128 tokens cached."""
    return tiny_model.run(STEP).measured


@number("tiny.step_ratio", unit="%", digits=2, evidence="measured")
def step_ratio() -> Quantity:
    """Predicted over measured time of that step."""
    return step_predicted() / step_measured()


@number("tiny.per_call", digits=2, evidence="measured")
def per_call() -> Quantity:
    """What a call of that step costs if the products take what was predicted."""
    return (step_measured() - step_products()) / calls()


@number("tiny.bound", digits=2, evidence="predicted")
def bound() -> Quantity:
    """Least time of that step if only bytes counted."""
    return _step().products


@number("tiny.prefill_ratio", unit="%", digits=2, evidence="measured")
def prefill_ratio() -> Quantity:
    """Predicted over measured time of a prompt that fills the context."""
    prefill = tiny_model.run("prefill-tiny-512")
    return prefill.predicted / prefill.measured


@number("tiny.prefill_growth", digits=2, evidence="predicted")
def prefill_growth() -> Quantity:
    """Operations of that prompt over those of a decode step."""
    return (
        tiny_model.run("prefill-tiny-512").operations / tiny_model.run(STEP).operations
    )


@number("tiny.kept_share", unit="%", digits=2, evidence="measured")
def kept_share() -> Quantity:
    """Bytes kept with recomputation over those kept without."""
    return recomputed() / kept()


@number("tiny.recompute_flop", unit="%", digits=2, evidence="predicted")
def recompute_flop() -> Quantity:
    """Arithmetic that running every block a second time adds to a step."""
    config = _config()
    recipe = RECIPES["tiny"]
    steps = plan.step_operations(config, recipe.batch, recipe.tokens)
    again = plan.forward_flops(config, recipe.batch, recipe.tokens)
    again -= sum(s.flops / 3 for s in steps if s.name == "head")
    whole = sum(s.flops * s.count for s in steps)
    source = Source("stacklib.tinylm.plan", "counted", "2026-11-21", "measured")
    once_more = Quantity(again, "FLOP", label="blocks run again", source=source)
    return once_more / Quantity(whole, "FLOP", label="a step", source=source)


@number("tiny.learned_time", unit="min", digits=2, evidence="measured")
def learned_time() -> Quantity:
    """Training time beyond what its arithmetic was predicted to take."""
    return train_measured() - train_predicted()


@number("tiny.draft_step", digits=2, evidence="measured")
def draft_step() -> Quantity:
    """Measured median time of the draft's decode step, 128 tokens cached."""
    return tiny_model.run("decode-draft-128").measured


@number("tiny.draft_step_share", unit="%", digits=2, evidence="measured")
def draft_step_share() -> Quantity:
    """Time of the draft's step over that of the tiny model."""
    return draft_step() / step_measured()
