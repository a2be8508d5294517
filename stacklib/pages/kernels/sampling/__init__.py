"""Section 4.10: Does the token need its logits in memory?"""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models
from stacklib.evidence import runs
from stacklib.kernels.rows import sampling_time as timed
from stacklib.pages.figures_of import claimed as claimed
from stacklib.quantity import Quantity, bytes_per_element, counted, counting, recorded

MODEL, TP = "llama-3-70b", 8
DEVICE, OTHER = "h100_sxm", "b200_sxm"
BATCH = 16  # rows of the published runs that are shown


# -- the token's own draw --------------------------------------------------------------


def vocab() -> Quantity:
    """Tokens of the vocabulary."""
    return models.get(MODEL).size("vocab", "vocabulary")


def logits() -> Quantity:
    """Bytes of the logits of a row in FP32."""
    return (vocab() * bytes_per_element("fp32")).named("logits")


def head() -> Quantity:
    """Bytes of the LM head in bf16."""
    return (vocab() * width() * bytes_per_element("bf16")).named("LM head")


def width() -> Quantity:
    """Numbers of a hidden state."""
    return models.get(MODEL).size("hidden", "hidden size").named("width")


def _sizes(device: str, batch: int, ranks: int) -> dict[str, Any]:
    from stacklib.pages.kernels.sampling import claims

    chip, model = hardware.get(device), models.get(MODEL)
    link = hardware.link(chip.link_key).per_direction
    return {
        "batch": batch,
        "hidden": model.hidden,
        "vocab": model.vocab,
        "bandwidth": chip.memory_bandwidth.si,
        "launch_s": claims.LAUNCH.si,
        "ranks": ranks,
        "link": link.si,
        "latency_s": claims.WAIT.si,
    }


def drawn(
    fused: bool, *, device: str = DEVICE, batch: int = 1, ranks: int = TP
) -> timed.SampleTime:
    """Seconds of a draw by part, from hidden state to token."""
    sizes = _sizes(device, batch, ranks)
    return timed.flash_time(**sizes) if fused else timed.plain_time(**sizes)


def took(
    part: str = "total",
    *,
    fused: bool,
    device: str = DEVICE,
    batch: int = 1,
    ranks: int = TP,
) -> Quantity:
    """A part of it with its derivation."""
    way = "one" if fused else "three"
    label = f"{part}, {way}, {hardware.get(device).short}, {batch} rows, {ranks} ranks"
    sizes: dict[str, Any] = {"device": device, "batch": batch, "ranks": ranks}
    found = counted(drawn, fused, **sizes, take=part, unit="s", label=label)
    return found.to("us")


# -- published -------------------------------------------------------------------------


def published(way: str, ranks: int, batch: int = BATCH) -> Quantity:
    """A published time on B200: of torch, of FlashInfer, or fused."""
    label = f"{way}, {batch} rows, {ranks} ranks"
    row = f"{batch} x {ranks}"
    return recorded(timed.TABLE, row, way, unit="us", label=label)


def gain(ranks: int, way: str = "multinomial", batch: int = BATCH) -> Quantity:
    """A library's time over the fused one."""
    ratio = published(way, ranks, batch) / published("fused", ranks, batch)
    return ratio.named(f"gain over {way}, {ranks} ranks, {batch} rows")


def rank_rows() -> list[dict[str, Any]]:
    """A row a number of GPUs: published times, the gain, and what bytes foretell."""
    return [
        {
            "GPUs": ranks,
            "multinomial": published("multinomial", ranks),
            "FlashInfer": published("flashinfer", ranks),
            "fused": published("fused", ranks),
            "predicted": took(fused=True, device=OTHER, batch=BATCH, ranks=ranks),
            "gain": gain(ranks),
        }
        for ranks in (1, 2, 4, 8)
    ]


def saved(part: str) -> Quantity:
    """What fusing saves of a part on eight B200, by the model."""
    apart, one = (
        took(part, fused=fused, device=OTHER, batch=BATCH) for fused in (False, True)
    )
    return (apart - one).named(f"{part} saved")


def saved_in_all() -> Quantity:
    """What it saves there as published."""
    apart, one = (published(way, TP) for way in ("multinomial", "fused"))
    return (apart - one).named("saved, published")


def rest() -> Quantity:
    """What of that neither bytes nor launches explain: the sampler's own chain."""
    known = saved("passes") + saved("launches") + saved("gather")
    return (saved_in_all() - known).named("the sampler's chain")


@counting("chain for 1.84", unit="s", shown="us")
def document_chain() -> float:
    """The chain that a gain of 1.84 takes in the document's own example."""
    from stacklib.pages.kernels.sampling import claims

    sizes = {"batch": 1, "hidden": claims.HIDDEN, "vocab": claims.VOCAB}
    rate = {"bandwidth": 8e12, "launch_s": claims.LAUNCH.si}
    plain, fused = timed.plain_time(**sizes, **rate), timed.flash_time(**sizes, **rate)
    return float(timed.gain_chain(1.84, plain, fused))


def share(name: str, ranks: int) -> Quantity:
    """Share of a decode step that is sampling, on B200s, by bytes and launches."""
    from stacklib.pages.kernels.sampling import claims

    label = f"share, {name}, {ranks} GPUs"
    return counted(claims.share_of_step, name, ranks, label=label)


def measured_here() -> str:
    """What `make gpu` has to say of it."""
    found = runs.gpu_results()
    return "\n".join(found) or "Sampling in tiles on a GPU: not measured yet."
