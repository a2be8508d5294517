"""Claims on tensor cores: a core, a cycle, an instruction, a generation."""

from stacklib import gpu, hardware, models
from stacklib.evidence import Finding, claim
from stacklib.gpu.tensor.peaks import peak_by_hand, per_mac
from stacklib.pages.roofline.counting.claims import by_hand
from stacklib.quantity import Quantity, chosen, counted

from ..hierarchy.claims import per_unit

H100, H200, B200, GB200 = "h100_sxm", "h200_sxm", "b200_sxm", "gb200"
V100, A100, RUBIN = "v100_sxm2_16gb", "a100_sxm_80gb", "rubin"
MODEL, PROMPT = "llama-3-70b", 4096


def over(new: str, old: str, dtype: str = "bf16") -> Quantity:
    """A dense printed peak over another."""
    return hardware.get(new).peak(dtype) / hardware.get(old).peak(dtype)


# -- one core, one cycle ---------------------------------------------------------


@claim("tmem-256kb")
def tensor_memory() -> Quantity:
    """Of one unit of a B200, as the vendor documents it."""
    return hardware.microarchitecture(B200).size("tensor_memory")


@claim("cuda-core-fma")
def lane_rate() -> Quantity:
    """FP32 peak over units, lanes and clock."""
    lanes = gpu.part_count(H100, "fp32_lanes")
    return (per_unit(hardware.get(H100), "fp32") / lanes).named("FMA a lane and cycle")


@claim("tensor-core-8192")
def core_rate() -> Finding:
    """FP8 peak over cores and clock."""
    chip = hardware.get(H100)
    unit = per_unit(chip, "fp8", "tensor_clock")
    return Finding(
        (unit / gpu.part_count(H100, "tensor_cores")).named("a tensor core"),
        why=f"The claimed number is what all four cores of a unit do, in FLOP: "
        f"{unit.to('FLOP/cycle'):.4}. Four cores and two FLOP a multiply-add "
        "make the factor of eight.",
    )


@claim("tensor-core-tile-16")
def tile_work() -> Finding:
    """A product of two such tiles, worked by hand."""
    return Finding(
        counted(by_hand, 16, 16, 16, unit="FLOP", label="operations of the tile"),
        why="Right as FLOP, short of one addition an output that a core does too. The "
        "text calls them multiply-adds, of which there are half as many, and a core "
        "takes several cycles for them.",
    )


@claim("tensorcore-4-8-16", right_if="the chip is an Ampere, Ada or consumer Blackwell")
def instruction_rows() -> Finding:
    """Rows of the largest instruction, by the instruction table."""

    def rows(key: str) -> Quantity:
        found = gpu.instruction(key)
        return found.side("rows", "fp16", f"rows of {found.name}")

    hopper = gpu.instruction(H100).shape("fp16")
    return Finding(
        rows(H100),
        why=f"From Volta to Ada an instruction has at most sixteen rows. Hopper's is "
        f"{hopper}, Blackwell's {gpu.instruction(B200).shape('fp16')}, on two units "
        "at once.",
        then=rows(A100),
    )


# -- generations -----------------------------------------------------------------


@claim("blackwell-2x-hopper")
def blackwell_gain() -> Finding:
    """Dense BF16 of B200 over H100."""
    return Finding(
        over(B200, H100).named("B200 over H100"),
        why="A B200 is two dies, but that is not where it comes from: one unit does "
        "twice the multiply-adds of a Hopper unit, and there are only a few "
        "more of them.",
    )


@claim("h200-vs-h100-same-compute")
def h200_gain() -> Finding:
    """Dense BF16 of H200 over H100."""
    return Finding.true(
        computed=over(H200, H100).named("H200 over H100"),
        why="Only the memory differs.",
    )


@claim("hopper-tens-x-volta")
def volta_gain() -> Finding:
    """FP8 of Hopper over FP16 of Volta, both dense."""
    volta = hardware.get(V100).peak("fp16")
    ratio = hardware.get(H100).peak("fp8") / volta
    like = over(H100, V100, "fp16")
    return Finding.false(
        computed=ratio.named("Hopper FP8 over Volta FP16"),
        why=f"FP8 against FP16. In the same format it is {like}.",
    )


@claim("rubin-16384-32768")
def rubin_width() -> Finding:
    """Rubin's dense FP4 peak over its units and clock."""
    return Finding(
        per_unit(hardware.get(RUBIN), "fp4"),
        why=f"From announced figures. A unit of a B200 does "
        f"{gpu.peak_of(B200, 'fp4').macs.si:,.0f}. The document leaves out that "
        "it counts a unit.",
    )


@claim("rubin-50pf-from-macs")
def rubin_four_bits() -> Finding:
    """The rate without what depends on the data, as for the other claims of it."""
    chip = hardware.get(RUBIN)
    width = gpu.peak_of(B200, "fp4").macs * chosen(2, label="doubled width")
    each = per_mac("fp4")
    built = peak_by_hand(chip.compute_units, width, chip.clock, each=each)
    dense = chip.peak("fp4")
    assert dense is not None
    return Finding(
        dense,
        why=f"Dense, as announced; from the units and the clock that a device query "
        f"prints it is {built:.3 PFLOP/s}. NVIDIA's 50 for inference counts products "
        "that a new sparsity mode leaves out.",
    )


@claim("rubin-5x-blackwell")
def rubin_gain() -> Finding:
    """Dense FP4 of Rubin over that of a GB200's GPU."""
    return Finding(
        over(RUBIN, GB200, "fp4").named("Rubin FP4 over Blackwell FP4"),
        why="Dense over dense. The claim sets an effective rate, with sparsity, "
        "against a dense one.",
    )


@claim("rubin-bf16-flat")
def rubin_sixteen_bits() -> Finding:
    """BF16 multiply-adds of a unit and cycle, Rubin over B200."""
    ratio = per_unit(hardware.get(RUBIN), "bf16") / gpu.peak_of(B200, "bf16").macs
    return Finding(
        ratio.named("BF16 width of a unit, Rubin over B200"),
        why="The chip still gains, from more units and a higher clock.",
    )


@claim("bf16-marginal-rubin")
def rubin_ratio() -> Finding:
    """FP4 over BF16 of the announced peaks."""
    chip = hardware.get(RUBIN)
    return Finding(
        (chip.peak("fp4") / chip.peak("bf16")).named("Rubin FP4 over BF16"),
        why="From the announced peaks, which are rounded.",
    )


def operations(part: str, name: str, tokens: int) -> float:
    """Operations of a prompt's products, or of its norms and softmax."""
    model = models.get(name)
    work = models.operations(model, "prefill", context=tokens)
    if part == "products":
        return sum(op.flops for op in work if op.part != "norms")
    # a softmax: exponent, sum, quotient, and the maximum before them
    softmax = 4 * model.layers * model.heads * tokens * tokens
    return sum(op.flops for op in work if op.part == "norms") + softmax


@claim("tensor-95-percent")
def matrix_share() -> Finding:
    """Operations of products among all, a prompt through a large model."""
    products, rest = (
        counted(
            operations, part, MODEL, PROMPT, unit="FLOP", label=f"operations of {part}"
        )
        for part in ("products", "norms and softmax")
    )
    share = products / (products + rest)
    return Finding.true(
        computed=share.named("share of products"),
        why=f"By operations, {PROMPT} tokens through {models.get(MODEL).name}. By "
        "time the share is smaller: what is not a product runs far below the peak.",
    )
