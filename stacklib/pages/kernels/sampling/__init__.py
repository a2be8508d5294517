"""Section 4.10: Does the token need its logits in memory?"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from stacklib import hardware, models
from stacklib.evidence import ledger, runs
from stacklib.kernels.rows.flash_sampling import draw_in_tiles
from stacklib.kernels.rows.noise import gumbel
from stacklib.kernels.rows.sampling import Sampled, sample_fused, sample_in_passes
from stacklib.kernels.rows.sampling_time import (
    FP32,
    PLAIN_LAUNCHES,
    PLAIN_PASSES,
    PUBLISHED,
    SampleTime,
    flash_time,
    gain_chain,
    plain_time,
)
from stacklib.pages.kernels.sampling import claims
from stacklib.quantity import Quantity, Source, chosen, counted
from stacklib.tinylm.sampling import Sampling

MODEL, TP = "llama-3-70b", 8
DEVICE, OTHER = "h100_sxm", "b200_sxm"
WAYS = ("multinomial", "flashinfer", "fused")  # columns of the published table
BATCH = 16  # rows of the published runs that are shown
ALL_CUTS = Sampling(temperature=0.7, top_k=50, top_p=0.9, min_p=0.05)
SEEDS, DRAWS, CLASSES = 20, 2500, 40
PROMPT, MODEL_DRAWS = "The capital of", 1000


# -- the token's own draw --------------------------------------------------------------


def vocab() -> Quantity:
    """Tokens of the vocabulary."""
    return chosen(models.get(MODEL).vocab, label="vocabulary")


def logits() -> Quantity:
    """Bytes of the logits of a row in FP32."""
    return (vocab() * chosen(FP32, "B", label="a logit")).named("logits")


def head() -> Quantity:
    """Bytes of the LM head in bf16."""
    width = chosen(models.get(MODEL).hidden, label="width")
    return (vocab() * width * chosen(2, "B", label="a weight")).named("LM head")


def _sizes(device: str, batch: int, ranks: int) -> dict[str, Any]:
    chip, model = hardware.get(device), models.get(MODEL)
    link = hardware.link(chip.link_key).fields["per_direction"]
    assert link is not None
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
) -> SampleTime:
    """Seconds of a draw by part, from hidden state to token."""
    sizes = _sizes(device, batch, ranks)
    return flash_time(**sizes) if fused else plain_time(**sizes)


def _part(part: str, fused: bool, device: str, batch: int, ranks: int) -> float:
    found = drawn(fused, device=device, batch=batch, ranks=ranks)
    return float(getattr(found, part))


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
    found = counted(_part, part, fused, device, batch, ranks, unit="s", label=label)
    return found.to("us")


# -- published -------------------------------------------------------------------------


def published(way: str, ranks: int, batch: int = BATCH) -> Quantity:
    """A published time on B200: of torch, of FlashInfer, or fused."""
    value = PUBLISHED[batch, ranks][WAYS.index(way)]
    label = f"{way}, {batch} rows, {ranks} ranks"
    source = Source(claims.BENCHMARK, label, "2026-11-25", "secondary")
    return Quantity(value, "us", label=label, source=source, kind="measured")


def gain(ranks: int, way: str = "multinomial", batch: int = BATCH) -> Quantity:
    """A library's time over the fused one."""
    ratio = published(way, ranks, batch) / published("fused", ranks, batch)
    return ratio.named(f"gain over {way}, {ranks} ranks, {batch} rows")


def claimed(name: str) -> Quantity:
    """A figure of the document."""
    return ledger.get(name).quantity()


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


def document_chain() -> Quantity:
    """The chain that a gain of 1.84 takes in the document's own example."""
    return counted(_document_chain, unit="s", label="chain for 1.84").to("us")


def _document_chain() -> float:
    sizes = {"batch": 1, "hidden": claims.HIDDEN, "vocab": claims.VOCAB}
    rate = {"bandwidth": 8e12, "launch_s": claims.LAUNCH.si}
    plain, fused = plain_time(**sizes, **rate), flash_time(**sizes, **rate)
    return float(gain_chain(1.84, plain, fused))


def share(name: str, ranks: int) -> Quantity:
    """Share of a decode step that is sampling, on B200s, by bytes and launches."""
    label = f"share, {name}, {ranks} GPUs"
    return counted(claims.share_of_step, name, ranks, label=label)


# -- draws against the softmax ---------------------------------------------------------


def p_value(counts: Any, p: Any) -> float:
    """That a chi-square as large comes by chance (Wilson and Hilferty, 1931).

    Tokens of which fewer than five are expected are one class.
    """
    expected = counts.sum() * p
    rare = expected < 5
    seen, told = counts[~rare], expected[~rare]
    if rare.any():
        seen = np.append(seen, counts[rare].sum())
        told = np.append(told, expected[rare].sum())
    chi, free = ((seen - told) ** 2 / told).sum(), len(told) - 1
    z = ((chi / free) ** (1 / 3) - 1 + 2 / (9 * free)) / math.sqrt(2 / (9 * free))
    return 0.5 * math.erfc(z / math.sqrt(2))


def softmax(scores: Any) -> Any:
    """Of a row."""
    p = np.exp(scores - scores.max())
    return p / p.sum()


@cache
def p_values() -> tuple[float, ...]:
    """Of draws in tiles by twenty seeds of the noise."""
    random = np.random.default_rng(7)
    weights, one = random.standard_normal((CLASSES, 8)), random.standard_normal(8)
    p, many = softmax(weights @ one / 0.8), np.repeat(one[None], DRAWS, 0)
    found = []
    for seed in range(SEEDS):
        tokens = draw_in_tiles(many, weights, 0.8, seed, tile=7).tokens
        found.append(p_value(np.bincount(tokens, minlength=CLASSES), p))
    return tuple(found)


def least_p() -> float:
    """The least of them."""
    return min(p_values())


@cache
def shared_noise_p(tile: int = 10) -> float:
    """The same with one noise for all tiles: a fault, planted."""
    scores = np.random.default_rng(7).standard_normal(CLASSES)
    local: Any = np.arange(CLASSES) % tile
    rows: Any = np.arange(DRAWS)[:, None]
    tokens = (scores + gumbel(0, local, rows)).argmax(-1)
    return p_value(np.bincount(tokens, minlength=CLASSES), softmax(scores))


@cache
def model_draws() -> tuple[Any, Any, Any]:
    """Draws of the book's own model after a prompt: counts, shares, the tokenizer."""
    from stacklib.tinylm import load

    model = load()
    ids = [model.tokenizer.end, *model.tokenizer.encode(PROMPT)]
    row = np.asarray(model.logits(ids, last_only=True)).reshape(-1).astype(float)
    # The logits as a head of width one: what the tiles see is the model's own row.
    rows = np.ones((MODEL_DRAWS, 1))
    tokens = draw_in_tiles(rows, row[:, None], 1.0, 11, tile=512).tokens
    return np.bincount(tokens, minlength=len(row)), softmax(row), model.tokenizer


def model_p() -> float:
    """That the model's draws are from its softmax."""
    counts, p, _ = model_draws()
    return p_value(counts, p)


def model_rows(first: int = 5) -> list[dict[str, Any]]:
    """A row a likely token: its share by softmax, and of the draws."""
    _, p, tokenizer = model_draws()
    return [
        {
            "token": tokenizer.decode([int(at)]).decode("utf-8", "replace").strip(),
            "softmax": counted(_of_model, 1, int(at), label=f"softmax of {at}"),
            "drawn": counted(_of_model, 0, int(at), label=f"drawn of {at}"),
        }
        for at in np.argsort(-p)[:first]
    ]


def _of_model(which: int, at: int) -> float:
    found = float(model_draws()[which][at])
    return found if which else found / MODEL_DRAWS


# -- cuts ------------------------------------------------------------------------------


@cache
def cut(fused: bool) -> Sampled:
    """A token with all four cuts, over a vocabulary as large as the model's."""
    row = np.random.default_rng(0).standard_normal(models.get(MODEL).vocab)
    if fused:
        return sample_fused(row, ALL_CUTS, 0.3, chip_bytes=8 * 227 * 1024)
    return sample_in_passes(row, ALL_CUTS, 0.3)


def _cut(what: str, fused: bool) -> float:
    found = cut(fused)
    if what == "crossings":
        return found.crossed.bytes / (FP32 * models.get(MODEL).vocab)
    return found.crossed.launches if what == "launches" else found.sweeps


def of_cut(what: str, *, fused: bool) -> Quantity:
    """Crossings of the row, launches, or sweeps of that draw."""
    way = "one kernel" if fused else "a chain"
    return counted(_cut, what, fused, label=f"{what} of {way}")


def same_token() -> bool:
    """Whether both draw one token."""
    return cut(True).token == cut(False).token


def launches() -> Quantity:
    """Kernels of the plain pipeline."""
    return chosen(PLAIN_LAUNCHES, label="kernels of the pipeline")


def crossings() -> Quantity:
    """Times that logits or probabilities cross in it."""
    return chosen(PLAIN_PASSES, label="crossings of the pipeline")


def measured_here() -> str:
    """What `make gpu` has to say of it."""
    found = runs.gpu_results()
    return "\n".join(found) or "Sampling in tiles on a GPU: not measured yet."
