"""Setup of the page on the book's own model."""

from __future__ import annotations

from functools import cache

from stacklib.pages.roofline.roofline.five_operations import ceilings
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.tinylm import decode_step, plan
from stacklib.tinylm.config import DATA, Config, architecture, read_config
from stacklib.tinylm.recipes import RECIPES
from stacklib.tinylm.record import TAILS

from .measured import measured_quality, of_quality

STEP = "decode-tiny-128"


@cache
def config(name: str = "tiny") -> Config:
    return read_config(DATA / name / "config.json")


def parameters(name: str) -> Quantity:
    """Parameters of one of the book's models, counted from its config."""
    return architecture(name).parameters.named(f"parameters of {name}")


def file_bytes() -> Quantity:
    """Bytes of the tiny model's weight file, in bf16."""
    file = (DATA / "tiny" / "model.safetensors").read_bytes()
    return counted(len, file, unit="B", label="size of the file")


def held_documents() -> Quantity:
    """Documents that no training read."""
    return of_quality("held_out", "documents", "1", "held-out documents")


def gap_end(which: int) -> Quantity:
    """One end of the interval of the 5-gram's distance, its sign turned."""
    return -1 * measured_quality("less_than", "kneser_ney", which)


def confidence() -> Quantity:
    """Share of resampled sets of documents inside the interval."""
    low, high = TAILS
    return chosen((high - low) / 100, label="share inside")


@cache
def step() -> decode_step.DecodeTime:
    """The predicted decode step, taken apart."""
    return decode_step.decode_time(config(), 128, ceilings())


def calls(name: str) -> Quantity:
    """NumPy calls of one decode step."""
    words = f"NumPy calls of {name}"
    return counted(decode_step.calls_of_step, config(name), label=words)


@counting("blocks run again", unit="FLOP")
def again_flops() -> float:
    """Operations of running every block of a training step a second time."""
    recipe = RECIPES["tiny"]
    steps = plan.step_operations(config(), recipe.batch, recipe.tokens)
    again = plan.forward_flops(config(), recipe.batch, recipe.tokens)
    return again - sum(s.flops / 3 for s in steps if s.name == "head")


@counting("a step", unit="FLOP")
def step_flops() -> float:
    """Operations of a training step."""
    recipe = RECIPES["tiny"]
    steps = plan.step_operations(config(), recipe.batch, recipe.tokens)
    return sum(s.flops * s.count for s in steps)


def recompute_flop() -> Quantity:
    """Arithmetic that running every block a second time adds to a step."""
    return again_flops() / step_flops()
