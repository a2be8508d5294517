"""Claims on training in eight bits, and on fine-tuning over four."""

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.models.formulas import Sizes
from stacklib.models.parts import Experts
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted
from stacklib.quantizers import SCHEMES
from stacklib.roofline.work.moving import memory_time
from stacklib.tinylm.low_precision.runs import qlora_memory

H100, B200, MODEL = "h100_sxm", "b200_sxm", "deepseek-v3"
TILE = chosen(128, label="side of a tile")
PAIR = chosen(2, "FLOP", label="multiply and add")
TUNED, CARD = "llama-2-7b", "rtx_4090"
RANK, BATCH, CONTEXT = 64, 4, 2048  # QLoRA's rank; a batch that trains


def scale_bytes() -> float:
    row = SCHEMES["mxfp8_e4m3"]
    return row.scale_bits / row.block / 8


def expert_width() -> Quantity:
    """Columns of one expert's product."""
    model = models.get(MODEL)
    mlp = next(b.mlp for b in model.kinds if isinstance(b.mlp, Experts))
    return Sizes(model)(mlp.intermediate, "expert size")


def moved(reads: int, writes: int) -> Quantity:
    """Bytes of an input's element: read in BF16, written in MXFP8 with its scale."""
    scales = counted(scale_bytes, unit="B", label="bytes of scale an element")
    coded = bytes_per_element("fp8") + scales
    return (reads * bytes_per_element("bf16") + writes * coded).named("bytes moved")


def overhead(bytes_moved: Quantity, columns: Quantity) -> Quantity:
    """Time to quantize an input over the time of its product in FP8, on a B200."""
    chip = hardware.get(B200)
    quantizing = memory_time(bytes_moved, chip).named("quantizing an element")
    product = (PAIR * columns / chip.peak("fp8")).named("products of an element")
    return (quantizing / product).named("quantizing over the product")


@claim("naive-fp8-quant-40")
def one_pass() -> Finding:
    """One pass over the input, beside the last and the first product of an expert."""
    wide = models.get(MODEL).size("hidden", "hidden size")
    first = overhead(moved(1, 1), expert_width())
    return Finding.cited(
        "Source: Cursor, 1.5x Faster MoE Training on Blackwell with MXFP8 Kernels, "
        "August 2025, of one product's two times. At full bandwidth and full peak of a "
        f"B200 it is {overhead(moved(1, 1), wide):.3 %} to {first:.3 %}: only the "
        "columns of the product matter, and the share is inverse to them: "
        f"{expert_width().si:,.0f} in the first products of an expert of "
        f"{models.get(MODEL).name}, {wide.si:,.0f} in the last."
    )


@claim("naive-fp8-quant-76")
def two_passes() -> Finding:
    """Two passes over the input; or one that writes both copies."""
    twice, shared = (overhead(moved(n, 2), expert_width()) for n in (2, 1))
    return Finding.cited(
        "Source: Cursor's post, as for the row before, of the same product. The "
        "transposed copy has scales along the other side. At full bandwidth and full "
        f"peak, two passes cost {twice:.3 %}, one that reads once and writes both "
        f"copies {shared:.3 %}, for a product of {expert_width().si:,.0f} columns."
    )


def promotion(device: str) -> Quantity:
    """FP32 arithmetic of scaling a tile's sums, over the tile's product in FP8."""
    chip = hardware.get(device)
    tile = TILE * TILE
    scaling = (PAIR * tile / chip.peak("fp32")).named("scale and add on CUDA cores")
    product = (PAIR * tile * TILE / chip.peak("fp8")).named("product in FP8")
    return (scaling / product).named(f"scaling over product, {chip.short}")


@claim(
    "dequant-blackwell-1p76", B200, "Its sums lie in tensor memory and cross it twice."
)
@claim("dequant-hopper-1p03", H100, "Its sums lie in registers already.")
def scaling_time(device: str, why: str) -> Finding:
    """A measurement; from the peaks follows only what the arithmetic would take."""
    rise = promotion(B200) / promotion(H100)
    return Finding.cited(
        "Source: Cursor's post of August 2025 on its MXFP8 kernels, as Synced's "
        "summary of 22 August quotes it. By the peaks alone, scaling tiles of "
        f"{TILE.si:.0f} in FP32 takes {promotion(device):.2} of the product's time "
        f"({hardware.get(device).short}); from Hopper to Blackwell that grows "
        f"{rise:.2} times, because FP8 peaks grew faster than FP32's. The rest is "
        f"moving the sums. {why}"
    )


@claim("qlora-7b-24gb")
def fits() -> Finding:
    """Memory of one step, part by part, beside a card of 24 GB."""
    sheet = qlora_memory(TUNED, rank=RANK, batch=BATCH, context=CONTEXT)
    one = qlora_memory(TUNED, rank=RANK, batch=1, context=CONTEXT)
    card = hardware.get(CARD)
    return Finding.true(
        "Source: Dettmers et al., QLoRA, arXiv 2305.14314, abstract: 65 billion "
        "parameters on one GPU of 48 GB. Counted part by part with adapters of rank "
        f"{RANK}, {models.get(TUNED).name} takes {one.total:.3 GB} with one sequence "
        f"of {CONTEXT:,} tokens and {sheet.total:.3 GB} with {BATCH}; "
        f"{one.held:.3 GB} of it stay whatever the batch. An {card.short} has "
        f"{card.memory_capacity:.3 GB}. It fits."
    )


@claim("fp4-software-first")
def order_of_dates() -> Finding:
    """When FP4 was announced in hardware, and when V3's training in FP8."""
    chip = hardware.get(B200)
    scheme = SCHEMES["fp8_1x128"]
    return Finding.false(
        f"Source: {scheme.source}, of December 2024: it trains in FP8 "
        f"with scales for {scheme.block} numbers, and says itself that Blackwell's "
        "tensor cores have been announced with finer ones. NVIDIA had shown Blackwell "
        f"with FP4 in March {chip.year}. Four bits had been tried in software before "
        "(QLoRA, May 2023), but not by the example given."
    )
