"""Claims of document 000 on one token's way down the stack.

The claims belong to later chapters, which will compute them in more detail.
"""

from __future__ import annotations

from stacklib import hardware, models
from stacklib.evidence import Finding, claim, given
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity

MODEL, HOPPER, BLACKWELL, CHIPS = "llama-3-70b", "h100_sxm", "b200_sxm", 8


def _model() -> LanguageModel:
    return models.get(MODEL)


def _size(value: int, label: str) -> Quantity:
    return Quantity(value, label=label, kind="config", source=_model().source)


@claim("embedding-dim-8192")
def embedding() -> Quantity:
    """Query heads times their size, which is the vector between the layers."""
    model = _model()
    heads = _size(model.heads, "query heads")
    return heads * _size(model.head_dim, "head size")


@claim("mem-hbm-latency-cycles")
def memory_latency() -> Finding:
    """What microbenchmarks measured on H100."""
    hopper = hardware.microarchitecture(hardware.get(HOPPER)).latency("dram")
    blackwell = hardware.microarchitecture(hardware.get(BLACKWELL)).latency("dram")
    return Finding(
        hopper * given(1, "1", "loads"),
        why=f"A chain of dependent loads took {hopper.text()} on an H100 and "
        f"{blackwell.text()} on a B200, the chip the text speaks of.",
    )


@claim("wgmma-threads")
def warp_group() -> Quantity:
    """Four warps of the threads a warp has on H100."""
    device = hardware.get(HOPPER)
    warps = given(4, "1", "warps in a group")
    return warps * device.max_threads_per_unit / device.max_warps_per_unit


def _exchanges_a_layer() -> Quantity:
    """Matrices of a layer whose inner side is cut: out of attention, out of the MLP."""
    return _size(2, "matrices cut along their inner side, a layer")


@claim("tp-allreduce-per-layer")
def exchanges_a_layer() -> Finding:
    """Both halves of a layer end with a matrix that is cut across the chips."""
    return Finding(
        _exchanges_a_layer(),
        why="A matrix cut along its inner side leaves every chip with a part of each "
        "sum, and a layer has such a matrix in attention and one in its MLP.",
    )


@claim("tp-allreduce-100-plus")
def exchanges_a_token() -> Finding:
    """Two for each layer of the model."""
    layers = _size(_model().layers, "layers")
    return Finding(
        _exchanges_a_layer() * layers,
        why="Right as a lower bound, and not by its own rule of one a layer, which "
        f"would give {_model().layers}.",
    )


@claim("tp-allreduce-rate")
def exchange_rate() -> Finding:
    """What one B200 sends in one direction, which is what an exchange waits for."""
    link = hardware.get(BLACKWELL).link
    rate = Quantity(link.si, "B/s", label=link.label, source=link.source, kind="spec")
    return Finding(
        rate * given(1, "1", "directions"),
        why="The figure adds both directions. A chip sends and receives at once, and "
        "what it must send goes out in one.",
    )


@claim("kv-bytes-per-layer")
def kv_a_layer() -> Finding:
    """Keys and values of one layer, all of its heads."""
    model = _model()
    layer = model.kv_bytes_per_token("bf16") / _size(model.layers, "layers")
    chips = given(CHIPS, "1", "chips that share the heads")
    return Finding(
        layer,
        condition=f"what one of {CHIPS} chips keeps is meant",
        then=layer / chips,
        why="A layer keeps a key and a value for each of its eight KV heads.",
    )
