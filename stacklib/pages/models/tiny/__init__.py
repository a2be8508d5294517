"""Setup of the page on the book's own model."""

from __future__ import annotations

from functools import cache

from stacklib.quantity import Quantity, Source, chosen, counted
from stacklib.tinylm import decode_step, plan
from stacklib.tinylm.config import DATA, Config, read_config
from stacklib.tinylm.recipes import RECIPES
from stacklib.tinylm.record import TAILS, quality

STEP = "decode-tiny-128"


@cache
def config(name: str = "tiny") -> Config:
    return read_config(DATA / name / "config.json")


def parameters(name: str) -> Quantity:
    """Parameters of one of the book's models, counted from its config."""
    return counted(in_config, name, label=f"parameters of {name}")


def in_config(name: str) -> float:
    from stacklib.evidence import tiny_model

    return tiny_model.parameters(name).si


def file_bytes() -> Quantity:
    """Bytes of the tiny model's weight file, in bf16."""
    path = DATA / "tiny" / "model.safetensors"
    title = "stacklib/tinylm/data/tiny/model.safetensors"
    source = Source(title, "size of the file", "2026-11-21", "measured")
    return Quantity(path.stat().st_size, "B", label="size of the file",
                    source=source, kind="measured")  # fmt: skip


def held_documents() -> Quantity:
    """Documents that no training read."""
    held = quality()["held_out"]
    source = Source(
        "stacklib/tinylm/data/quality.json", "documents", held["date"], "measured"
    )
    return Quantity(held["documents"], label="held-out documents",
                    source=source, kind="measured")  # fmt: skip


def gap_end(which: int) -> Quantity:
    """One end of the interval of the 5-gram's distance, its sign turned."""
    from stacklib.evidence import tiny_model

    return -1 * tiny_model.measured_quality("less_than", "kneser_ney", which)


def confidence() -> Quantity:
    """Share of resampled sets of documents inside the interval."""
    low, high = TAILS
    return chosen((high - low) / 100, label="share inside")


@cache
def step() -> decode_step.DecodeTime:
    """The predicted decode step, taken apart."""
    from stacklib.evidence import results
    from stacklib.roofline import HostRoofline

    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    return decode_step.decode_time(config(), 128, HostRoofline.load(path))


def calls(name: str) -> Quantity:
    """NumPy calls of one decode step."""
    return counted(decode_step.calls_of_step, config(name),
                   label=f"NumPy calls of {name}")  # fmt: skip


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
