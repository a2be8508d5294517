"""Claims on FlashMLA and on the cache of attention with a latent."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.kernels.attention import mla
from stacklib.quantity import Quantity

from ...figures_of import measured

H800, MEMORY_BOUND = "h800_sxm", "B-0356"
MODEL = "deepseek-v2"
BESIDE_67B = "the other cache is DeepSeek-67B's, and its own has 6 bits a number"


def original() -> Quantity:
    """Numbers a token and layer of all heads' keys and values."""
    sizes = mla.Latent.of(MODEL)
    return (2 * sizes.heads * sizes.head).named("keys and values of all heads")


@claim("flashmla-kv-ratio", right_if=BESIDE_67B)
def ratio() -> Finding:
    """The latent cache over that of the same heads."""
    return Finding(
        mla.share_of_own(MODEL),
        why="Over the model's own heads, in one format. The claimed number is the "
        "abstract's of DeepSeek-V2: fewer layers, another model with fewer heads of "
        "keys and values, and fewer bits.",
        then=mla.share_of_67b(),
    )


@claim("flashmla-15x", right_if=BESIDE_67B)
def shrinks() -> Finding:
    """The same, the other way round."""
    kinds, sizes = mla.bytes_by_kind(MODEL), mla.Latent.of(MODEL)
    old = 2 * mla.OLD_LAYERS * mla.OLD_HEADS * mla.OLD_HEAD * mla.OLD_BITS
    new = sizes.layers * sizes.columns * mla.V2_BITS
    return Finding(
        (kinds["MHA"] / kinds["MLA"]).named("MHA's cache over MLA's"),
        why="The same figure as 6.7 %, with the same other model.",
        then=(old / new).named("67B's cache over V2's"),
    )


@claim("flashmla-latent-dim")
def numbers() -> Finding:
    """Keys and values of all heads."""
    sizes = mla.Latent.of(MODEL)
    backed = sizes.latent.si / 0.067
    return Finding(
        original(),
        why=f"{sizes.heads.si:.0f} heads of {sizes.head.si:.0f}, twice. The latent has "
        f"{sizes.latent.si:.0f}, and {sizes.columns.si:.0f} columns are kept. No size "
        f"of the model is 7,680: {sizes.latent.si:.0f} over 6.7 % is {backed:,.0f}.",
    )


@claim("flashmla-bandwidth")
def bandwidth() -> Finding:
    """The row of the repository."""
    return Finding(
        measured(MEMORY_BOUND),
        why="Up to, memory-bound decoding; the repository gives no shapes.",
    )


@claim("flashmla-bw-fraction")
def share() -> Finding:
    """The memory of an H800."""
    chip = hardware.get(H800)
    speed = measured(MEMORY_BOUND).retag("per_chip")
    return Finding(
        chip.memory_bandwidth,
        why=f"The kernel reaches "
        f"{speed / chip.memory_bandwidth:.3 %} of it. What was cut for export are the "
        "links, not the memory.",
    )
