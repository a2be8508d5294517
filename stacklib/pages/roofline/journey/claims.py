"""Claims of document 000 on one token's way down the stack.

The claims belong to later chapters, which compute them in more detail.
"""

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen, counted, quoted

LEADING_BACK = ("o", "down")  # attention out of its heads, and the MLP out of its width
MODEL, HOPPER, BLACKWELL, CHIPS = "llama-3-70b", "h100_sxm", "b200_sxm", 8


def _model() -> LanguageModel:
    return models.get(MODEL)


@claim("embedding-dim-8192")
def embedding() -> Quantity:
    """Query heads times their size, which is the vector between the layers."""
    model = _model()
    return model.size("heads", "query heads") * model.size("head_dim", "head size")


@claim("mem-hbm-latency-cycles")
def memory_latency() -> Finding:
    """What microbenchmarks measured on H100."""
    hopper = hardware.level(HOPPER, "dram").known("cycles")
    blackwell = hardware.level(BLACKWELL, "dram").known("cycles")
    return Finding(
        hopper,
        why=f"A chain of dependent loads took {hopper.text()} on an H100 and "
        f"{blackwell.text()} on a B200, the chip the text speaks of.",
    )


@claim("wgmma-threads")
def warp_group() -> Quantity:
    """Four warps of the threads a warp has on H100."""
    device = hardware.get(HOPPER)
    return (
        quoted("ptx.warpgroup")
        * device.max_threads_per_unit
        / device.max_warps_per_unit
    )


@claim("tp-allreduce-per-layer")
def exchanges_a_layer() -> Finding:
    """Both halves of a layer end with a matrix that is cut across the chips."""
    return Finding(
        counted(
            cut_inside, MODEL, label="matrices cut along their inner side, a layer"
        ),
        why="A matrix cut along its inner side leaves every chip with a part of each "
        "sum, and a layer has such a matrix in attention and one in its MLP.",
    )


def cut_inside(name: str) -> int:
    """Matrices of the first layer that lead back to the vector between the layers."""
    work = models.operations(models.get(name), "decode", context=1)
    return sum(op.layer == 0 and op.name in LEADING_BACK for op in work)


@claim("tp-allreduce-100-plus")
def exchanges_a_token() -> Finding:
    """Two for each layer of the model."""
    layers = _model().size("layers", "layers")
    return Finding.true(
        computed=counted(cut_inside, MODEL, label="exchanges a layer") * layers,
        why="Right as a lower bound, and not by its own rule of one a layer, which "
        f"would give {_model().layers}.",
    )


@claim("tp-allreduce-rate")
def exchange_rate() -> Finding:
    """What one B200 sends in one direction, which is what an exchange waits for."""
    link = hardware.get(BLACKWELL).link
    rate = Quantity(
        link.si, "B/s", label=link.label, source=link.source, kind="spec", key=link.key
    )
    return Finding(
        rate,
        convention="both directions",
        stated="NVIDIA's NVLink page, with 1,800 GB/s a GPU,",
        why="The figure adds both directions. A chip sends and receives at once, and "
        "what it must send goes out in one.",
    )


@claim("kv-bytes-per-layer", right_if=f"what one of {CHIPS} chips keeps is meant")
def kv_a_layer() -> Finding:
    """Keys and values of one layer, all of its heads."""
    model = _model()
    layer = model.kv_bytes_per_token("bf16") / model.size("layers", "layers")
    chips = chosen(CHIPS, label="chips that share the heads")
    return Finding(
        layer,
        then=layer / chips,
        why="A layer keeps a key and a value for each of its eight KV heads.",
    )
