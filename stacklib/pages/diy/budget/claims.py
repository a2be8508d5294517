"""Claims on what two cards hold, and on what a gigabyte of memory costs."""

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.pages.diy import budget as page
from stacklib.quantity import chosen
from stacklib.tinylm.low_precision.runs import qlora_memory

ADAM = chosen(16, "B", label="weight, gradient, master copy and two moments")


@claim("build-vram-64")
def two_memories() -> Finding:
    """Of two cards."""
    found = hardware.get(page.PAIR).memory_capacity.across(2)
    return Finding(found.named("memory of both"), why="Each sees its own half of it.")


@claim("build-70b-inference")
def runs_seventy() -> Finding:
    """A model of that size in four bits, card by card."""
    return Finding.depends(
        "its weights are kept in about four bits",
        f"There a card holds {page.need().text('GB')} of Llama-3-70B, and both "
        f"write {page.rate().text()}; in eight bits it does not fit.",
        computed=page.need(),
    )


@claim("build-finetune-7-13b", right_if="adapters are trained on weights in four bits")
def fine_tunes() -> Finding:
    """Parameters that full training with Adam holds, and models with adapters."""
    both = hardware.get(page.PAIR).memory_capacity.across(2)
    small, large = (models.get(name) for name in ("llama-2-7b", "llama-2-13b"))
    need = qlora_memory(large, rank=16, batch=1, context=4096).total
    full = small.parameters * ADAM
    return Finding(
        (both / ADAM).named("parameters that full training holds"),
        then=small.parameters,
        why=f"Full training of {small.name} takes {full.text('GB')}, both cards hold "
        f"{both.text('GB')}. With adapters {large.name} takes {need.text('GB')}.",
    )


@claim("h100-cheaper-per-gb")
def cheaper() -> Finding:
    """The lowest quote of one beside the highest of the other, bought and rented."""

    new, old = "h100_sxm", "a100_sxm_80gb"
    least, most = page.a_gigabyte(new, "used").low, page.a_gigabyte(old, "used").high
    rent, dearest = page.price(new, "cloud").low, page.price(old, "cloud").high
    return Finding.depends(
        "they are rented, and not from the same house",
        f"Both hold as much. An H100 is let for {rent:.3 USD/h} at the least and an "
        f"A100 for {dearest:.3 USD/h} at the most, by the prices of 2025 and 2026. "
        f"Used, an H100 costs {least.text()} at the least and an A100 {most.text()} at "
        "the most.",
        computed=(rent / dearest).named("a GB of H100 over A100, rented"),
    )
