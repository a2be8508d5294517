"""Claims on tensor parallelism: how often it adds up, how much, and how fast."""

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.interconnect.sharding.parts import BY_INPUT
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted
from stacklib.roofline.work.moving import moving_time

from ..links.claims import one_way

LARGE, SMALL, OTHER = "llama-3.1-405b", "llama-3-70b", "b200_sxm"
BATCH, PROMPT, WAYS = 128, 2048, 2  # tokens, tokens, chips


def sums_of_a_layer() -> Quantity:
    """All-reduces of a layer, forward: matrices that leave partial sums."""
    return counted(len, BY_INPUT, label="matrices of a layer split by their inputs")


def _size(model: str, field: str) -> Quantity:
    found = models.get(model)
    label = f"{field} of {found.key}"
    value = getattr(found, field)
    key = f"{found.key}.{field}"
    return Quantity(value, label=label, kind="config", source=found.source, key=key)


def sums_of_a_token(model: str = SMALL) -> Quantity:
    """All-reduces of a token."""
    return (sums_of_a_layer() * _size(model, "layers")).named("all-reduces of a token")


def synchronised(tokens: int) -> Quantity:
    """Bytes that all-reduces of a step add up, of one chip, for so many tokens."""
    vector = _size(LARGE, "hidden") * bytes_per_element("bf16")
    count = chosen(tokens, label="tokens of a step")
    told = sums_of_a_token(LARGE) * vector * count
    return told.named(f"activations added up, {tokens} tokens").to("GB")


def share_of_compute(device: str = OTHER) -> Quantity:
    """Time on PCIe over time of arithmetic at its peak, a prompt on two chips.

    Of two chips in a ring each sends as many bytes as are added up.
    """
    twice = chosen(2, "FLOP", label="operations of a parameter and token")
    tokens = chosen(PROMPT, label="tokens of a prompt")
    work = models.get(LARGE).parameters * twice * tokens / chosen(WAYS, label="chips")
    talk = moving_time(synchronised(PROMPT), one_way("pcie5_x16"))
    told = talk / (work / hardware.get(device).peak("bf16"))
    return told.named("PCIe over arithmetic").to("1")


@claim("tp-405b-gigabytes")
def gigabytes() -> Finding:
    """Of one token, and of a batch."""
    return Finding.depends(
        "a step has a batch of a hundred tokens or more",
        computed=synchronised(BATCH),
        why=f"A step of one token adds up {synchronised(1).text()}; the activations of "
        f"a batch of {BATCH} tokens are a gigabyte.",
    )


@claim("tp-pcie-bound")
def pcie() -> Finding:
    """A prompt on two B200, arithmetic at its peak."""
    return Finding.false(
        computed=share_of_compute(),
        why=f"A prompt of {PROMPT:,} tokens on two chips: the link takes less time "
        "than arithmetic at its peak, heavy where nothing overlaps and not the limit. "
        "The figure of PCIe counts both directions.",
    )
