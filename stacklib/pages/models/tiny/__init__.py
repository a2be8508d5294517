"""Setup of the page on the book's own model."""

from __future__ import annotations

from functools import cache

from stacklib.pages.roofline.roofline.five_operations import ceilings
from stacklib.quantity import Quantity, Source, chosen, counted
from stacklib.tinylm import decode_step, plan
from stacklib.tinylm.config import DATA, Config, architecture, read_config
from stacklib.tinylm.recipes import RECIPES
from stacklib.tinylm.record import TAILS, quality

from .measured import measured_quality, of_quality

STEP = "decode-tiny-128"


@cache
def config(name: str = "tiny") -> Config:
    return read_config(DATA / name / "config.json")


def parameters(name: str) -> Quantity:
    """Parameters of one of the book's models, counted from its config."""
    return counted(in_config, name, label=f"parameters of {name}")


def in_config(name: str) -> float:
    return architecture(name).parameters.si


def file_bytes() -> Quantity:
    """Bytes of the tiny model's weight file, in bf16."""
    path = DATA / "tiny" / "model.safetensors"
    title = "stacklib/tinylm/data/tiny/model.safetensors"
    source = Source(title, "size of the file", "2026-11-21", "measured")
    return Quantity(
        path.stat().st_size,
        "B",
        label="size of the file",
        source=source,
        kind="measured",
    )


def held_documents() -> Quantity:
    """Documents that no training read."""
    count = quality()["held_out"]["documents"]
    return of_quality(count, "1", "held-out documents", "documents")


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
    return counted(
        decode_step.calls_of_step, config(name), label=f"NumPy calls of {name}"
    )


def again_flops() -> float:
    """Operations of running every block of a training step a second time."""
    recipe = RECIPES["tiny"]
    steps = plan.step_operations(config(), recipe.batch, recipe.tokens)
    again = plan.forward_flops(config(), recipe.batch, recipe.tokens)
    return again - sum(s.flops / 3 for s in steps if s.name == "head")


def step_flops() -> float:
    """Operations of a training step."""
    recipe = RECIPES["tiny"]
    steps = plan.step_operations(config(), recipe.batch, recipe.tokens)
    return sum(s.flops * s.count for s in steps)


def recompute_flop() -> Quantity:
    """Arithmetic that running every block a second time adds to a step."""
    again = counted(again_flops, unit="FLOP", label="blocks run again")
    return again / counted(step_flops, unit="FLOP", label="a step")
