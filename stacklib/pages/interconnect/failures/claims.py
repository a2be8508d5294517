"""Claims on checkpoints and on how long a cluster runs undisturbed."""

from stacklib import models
from stacklib.evidence import Finding, claim
from stacklib.memory.tiers.parts import drive
from stacklib.pages.interconnect import failures as page
from stacklib.quantity import chosen


@claim("checkpoint-405b", right_if="everything is kept in bf16, with no copy in fp32")
def checkpoint() -> Finding:
    """Weights, their copy in fp32 and Adam's moments, and all of them in bf16."""
    whole = page.size()
    weights = models.get(page.MODEL).parameters
    bare = 3 * weights * chosen(2, "B", label="bytes of bf16")
    return Finding(
        whole,
        why=f"In mixed precision a checkpoint is {whole:TB}. Weights and both moments "
        f"in bf16 are {bare:TB}; nobody trains from that.",
        then=bare.named("weights and moments in bf16"),
    )


@claim("mtbf-100k")
def hours() -> Finding:
    """What was counted on the cluster of Llama 3, for as many GPUs as claimed."""
    here = page.between()
    fewer = page.gpus() / page.gpus(page.LARGE)
    there = (here * fewer).named("time between failures, as many GPUs as claimed")
    return Finding.false(
        f"{here:h} between interruptions on {page.gpus()} GPUs are {there:min} on "
        f"{page.gpus(page.LARGE)}, at the same rate for each. Hours is what the "
        "smaller cluster had.",
        computed=there,
    )


@claim("checkpoint-write-time")
def nvme() -> Finding:
    """What a fast drive writes, as sold."""
    low, high = drive("micron_7600"), drive("micron_9550")
    return Finding(
        low.write,
        to=high.write,
        why=f"Reading is as claimed ({high.read}), writing is not: {low.write} to "
        f"{high.write}. One drive would need {page.drives():min}; {page.storage()} of "
        f"shared storage need {page.cost():s}. The mechanism is sound, the rate is "
        "that of the other direction.",
    )
