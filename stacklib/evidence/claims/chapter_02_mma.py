"""Chapter 2: tensor cores, their instructions, and what a printed peak means."""

from __future__ import annotations

from stacklib import gpu, hardware, models
from stacklib.gpu.tensor.peaks import per_mac
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

from .judge import Finding, check

H100, H200, B200, B300 = "h100_sxm", "h200_sxm", "b200_sxm", "b300_sxm"
V100, A100, L40S, RUBIN = "v100_sxm2_16gb", "a100_sxm_80gb", "l40s", "rubin"
RTX4090, RTX5090, GB200 = "rtx_4090", "rtx_5090", "gb200"


def per_unit(device: Accelerator, dtype: str, clock: str = "clock") -> Quantity:
    """Multiply-adds of one compute unit in a cycle, from the printed peak.

    Parameters
    ----------
    device : Accelerator
        The device.
    dtype : str
        A number format.
    clock : str
        The field whose clock belongs to the peak.
    """
    rate = device.peak(dtype).to("MAC/s")
    cycles = (device.compute_units * getattr(device, clock)).named("unit cycles")
    return (rate / cycles).named(f"{device.short} {dtype} multiply-adds a unit")


def _lanes(key: str, dtype: str) -> Quantity:
    """Units that do one multiply-add a cycle each, behind a printed peak."""
    each = Quantity(1, "MAC/cycle", label="one FMA a cycle", kind="constant")
    return (per_unit(hardware.get(key), dtype) / each).named(f"{dtype} units")


def _built(key: str, dtype: str, sums: str | None = None) -> Quantity:
    return gpu.peak_of(key, dtype, sums).built


def _sparse(key: str, dtype: str, sums: str | None = None) -> Quantity:
    row = gpu.peak_of(key, dtype, sums)
    return row.built.retag("sparse", row.device.peaks[row.name].sparse_factor)


# -- counts ---------------------------------------------------------------------


@check("b200-tensor-cores")
def b200_tensor_cores() -> Finding:
    """Compute units times the cores in one."""
    chip = hardware.get(B200)
    cores = chip.compute_units * gpu.part_count(B200, "tensor_cores")
    return Finding(
        cores.named("B200 tensor cores"),
        why=f"A B200 has {chip.compute_units.si:.0f} units of four. The claimed number "
        "belongs to a chip with four fewer, which is not sold.",
    )


@check("b200-sm-count")
def b200_units() -> Finding:
    """FP32 peak over what one unit does at the printed clock."""
    chip = hardware.get(B200)
    lanes = gpu.part_count(B200, "fp32_lanes")
    each = Quantity(1, "MAC/cycle", label="one FMA a cycle", kind="constant")
    units = chip.peak("fp32").to("MAC/s") / (lanes * each * chip.clock)
    return Finding(
        units.named("B200 compute units"),
        why="Counted from the FP32 peak; a device query agrees. The claim gives to "
        "units what another figure of the same text gives to tensor cores.",
    )


@check("h100-tensor-cores")
def h100_tensor_cores() -> Quantity:
    """Compute units times the cores in one."""
    cores = hardware.get(H100).compute_units * gpu.part_count(H100, "tensor_cores")
    return cores.named("H100 tensor cores")


@check("volta-8-tc")
def volta_cores() -> Finding:
    """What a Volta unit does in a cycle, over what one of its cores does."""
    each = Quantity(64, "MAC/cycle", label="4 x 4 x 4 product, a Volta core's cycle",
                    kind="assumption")  # fmt: skip
    volta = per_unit(hardware.get(V100), "fp16")
    return Finding(
        (volta / each).named("tensor cores of a Volta unit"),
        why=f"Fewer cores, each wider: a Hopper unit has "
        f"{gpu.part_count(H100, 'tensor_cores').si:.0f} and does "
        f"{gpu.peak_of(H100, 'fp16').macs.si / volta.si:.3g} times the multiply-adds.",
    )


@check("hopper-128-64")
def hopper_lanes() -> Finding:
    """FP32 peak over units and clock."""
    return Finding(
        _lanes(H100, "fp32"),
        why="Held to the FP32 half of the claim, which the peak decides. That there "
        "are half as many for INT32 is in NVIDIA's white paper; no peak shows it.",
    )


@check("hopper-4-fp64")
def hopper_double() -> Finding:
    """FP64 peak over units and clock."""
    return Finding(
        _lanes(H100, "fp64"),
        why=f"The {hardware.get(H100).peak('fp64')} that NVIDIA prints need that many. "
        "A unit has four tensor cores; the claim may have meant those.",
    )


@check("blackwell-2-fp64")
def blackwell_double() -> Finding:
    """FP64 peak over units and clock, of both chips the text names."""
    return Finding(
        _lanes(B200, "fp64"),
        why="The text speaks of Blackwell as a whole. B200 keeps the FP64 units of "
        "Hopper; B300 gave them up for FP4.",
        condition="the chip is a B300",
        then=_lanes(B300, "fp64"),
    )


@check("tmem-256kb")
def tensor_memory() -> Quantity:
    """Lanes times columns times four bytes, as the vendor documents them."""
    lanes, columns, word = (
        Quantity(n, unit, label=label, kind="assumption")
        for n, unit, label in (
            (128, "1", "lanes of tensor memory"), (512, "1", "columns"),
            (4, "B", "bytes of a word"))
    )  # fmt: skip
    return (lanes * columns * word).named("tensor memory of a unit")


# -- one core, one cycle ---------------------------------------------------------


@check("cuda-core-fma")
def lane_rate() -> Quantity:
    """FP32 peak over units, lanes and clock."""
    lanes = gpu.part_count(H100, "fp32_lanes")
    return (per_unit(hardware.get(H100), "fp32") / lanes).named("FMA a lane and cycle")


@check("tensor-core-8192")
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


@check("tensor-core-tile-16")
def tile_work() -> Finding:
    """Multiply-adds of a cube of sixteen, as FLOP."""
    side = Quantity(16, label="side of the tile", kind="assumption")
    mac = Quantity(1, "MAC", label="multiply-add", kind="constant")
    work = (side * side * side * mac).to("FLOP")
    return Finding(
        work.named("operations of the tile"),
        why="Right as FLOP. The text calls them multiply-adds, of which there are half "
        "as many, and a core takes several cycles for them.",
    )


@check("tensorcore-4-8-16")
def instruction_rows() -> Finding:
    """Rows of the largest instruction, by the instruction table."""

    def rows(key: str) -> Quantity:
        found = gpu.instruction(key)
        return Quantity(found.rows[-1], label=f"rows of {found.name}",
                        source=found.source, kind="spec")  # fmt: skip

    hopper = gpu.instruction(H100).shape("fp16")
    return Finding(
        rows(H100),
        why=f"From Volta to Ada an instruction has at most sixteen rows. Hopper's is "
        f"{hopper}, Blackwell's {gpu.instruction(B200).shape('fp16')}, on two units "
        "at once.",
        condition="the chip is an Ampere, Ada or consumer Blackwell",
        then=rows(A100),
    )


@check("wgmma-on-blackwell")
def wgmma() -> Finding:
    """The instruction table, by compute capability, and NVIDIA's assembler."""
    hopper, blackwell = gpu.instruction(H100), gpu.instruction(B200)
    said = gpu.accepted(hopper.name, "sm_100a")
    return Finding(
        None,
        why=f"Source: {hopper.source.title}. {hopper.name} exists on compute capa"
        f"bility {hopper.targets[0]} and nowhere else. A B200 takes "
        f"{blackwell.name}, which one thread issues and whose sums "
        "stay in tensor memory. The assembler, on a kernel with it for a B200: "
        f"{said.text}.",
        verdict="cited",
    )


# -- printed peaks ---------------------------------------------------------------


@check("h100-fp32-peak")
def h100_single() -> Quantity:
    """Units, lanes, two, clock."""
    return _built(H100, "fp32")


@check("h100-67-fp32")
def h100_single_again() -> Quantity:
    """Units, lanes, two, clock."""
    return _built(H100, "fp32")


@check("h100-1pflop-fp8")
def h100_eight_bits() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(
        _built(H100, "fp8"),
        why=f"The claimed number is the 16-bit rate, {_built(H100, 'bf16')}.",
    )


@check("rtx4090-330-sparse")
def rtx_4090() -> Finding:
    """The sparse FP16 rate with FP32 sums."""
    return Finding(
        _sparse(RTX4090, "fp16"),
        why="Sparse with FP32 sums, as labelled; dense with FP16 sums the card happens "
        f"to reach the same. Dense with FP32 sums: {_built(RTX4090, 'fp16')}.",
    )


@check("rtx5090-838-sparse")
def rtx_5090() -> Finding:
    """The sparse FP16 rate with FP32 sums, the basis of the row above it."""
    return Finding(
        _sparse(RTX5090, "fp16"),
        why="The row of the RTX 4090 counts FP32 sums, this one FP16 sums, which are "
        f"twice as fast on GeForce. Dense with FP32 sums: {_built(RTX5090, 'fp16')}.",
        condition="sums are kept in FP16",
        then=_sparse(RTX5090, "fp16", "fp16"),
    )


@check("l40s-362-sparse")
def l40s() -> Finding:
    """The sparse FP16 rate."""
    return Finding(
        _sparse(L40S, "fp16"),
        why=f"The claimed rate is the dense one: built, {_built(L40S, 'fp16')}.",
    )


@check("a100-624")
def a100() -> Finding:
    """The dense FP16 rate, for an entry without label."""
    return Finding(
        _built(A100, "fp16"),
        why="The table marks other entries as sparse and this one not, so it reads as "
        "dense.",
        condition="2:4 sparsity is meant",
        then=_sparse(A100, "fp16"),
    )


@check("h100-990")
def h100_sixteen_bits() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(_built(H100, "bf16"), why="Dense.")


@check("h200-990")
def h200_sixteen_bits() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(_built(H200, "bf16"), why="Dense; the die of the H100.")


@check("b200-2250")
def b200_sixteen_bits() -> Finding:
    """Units and multiply-adds at the clock of the FP32 peak."""
    chip = hardware.get(B200)
    built = gpu.peak_by_hand(chip.compute_units, gpu.peak_of(B200, "bf16").macs,
                             chip.clock, each=per_mac("bf16"))  # fmt: skip
    return Finding(
        built.named("B200 bf16 at its highest clock"),
        why=f"Dense. At the highest clock it would be a little more; the printed "
        f"{chip.peak('bf16'):.4} belong to {gpu.peak_of(B200, 'bf16').clock}.",
    )


@check("mi300x-1300")
def mi300x() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(_built("mi300x", "bf16"), why="Dense.")


@check("mi325x-1300")
def mi325x() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(
        _built("mi325x", "bf16"),
        why="Dense, and the silicon of the MI300X. Held to the rate; memory and power "
        "are as AMD prints them.",
    )


@check("gb200-1000w")
def gb200_power() -> Finding:
    """Design power of the GPU on the superchip."""
    chip = hardware.get(GB200)
    return Finding(
        chip.tdp,
        why=f"It also does more: {chip.peak('bf16'):.4} against "
        f"{hardware.get(B200).peak('bf16'):.4} of a B200 by itself.",
    )


TABLE = {RTX4090: 330, RTX5090: 838, L40S: 362, A100: 624, H100: 990, B200: 2250}


@check("table-mixed-sparsity")
def mixed_table() -> Finding:
    """What each entry of the column can have meant."""
    found = []
    for key, printed in TABLE.items():
        bases = gpu.matching_bases(key, printed * 1e12, ("fp16",))
        words = " or ".join(b.text.removeprefix("fp16, ") for b in bases)
        found.append(f"{hardware.get(key).short} {words}")
    return Finding(
        None,
        why="Source: the vendors' data sheets, entry by entry: "
        f"{'; '.join(found)}. Its rows cannot be compared as printed.",
        verdict="cited",
    )


def _same_basis(key: str) -> Quantity:
    ratio = hardware.get(key).peak("bf16") / hardware.get(H100).peak("bf16")
    return ratio.named(f"dense bf16, {hardware.get(key).short} over H100")


@check("table-5090-vs-h100")
def compared_5090() -> Finding:
    """Dense BF16 with FP32 sums on both sides."""
    return Finding(
        _same_basis(RTX5090),
        why="The document does not say this: it follows from two entries on different "
        "bases, of which it labels one. Only its author could say how it was meant.",
        verdict="open",
    )


@check("table-a100-vs-h100")
def compared_a100() -> Finding:
    """Dense BF16 on both sides."""
    return Finding(
        _same_basis(A100),
        why="The document does not say this: it follows from two entries without "
        "label, one sparse. Only its author could say how it was meant.",
        verdict="open",
    )


# -- generations -----------------------------------------------------------------


@check("blackwell-2x-hopper")
def blackwell_gain() -> Finding:
    """Dense BF16 of B200 over H100."""
    ratio = hardware.get(B200).peak("bf16") / hardware.get(H100).peak("bf16")
    return Finding(
        ratio.named("B200 over H100"),
        why="A B200 is two dies, but that is not where it comes from: one unit does "
        "twice the multiply-adds of a Hopper unit, and there are only a few "
        "more of them.",
    )


@check("h200-vs-h100-same-compute")
def h200_gain() -> Finding:
    """Dense BF16 of H200 over H100."""
    ratio = hardware.get(H200).peak("bf16") / hardware.get(H100).peak("bf16")
    return Finding(ratio.named("H200 over H100"), why="Only the memory differs.")


@check("hopper-tens-x-volta")
def volta_gain() -> Finding:
    """FP8 of Hopper over FP16 of Volta, both dense."""
    volta = hardware.get(V100).peak("fp16")
    ratio = hardware.get(H100).peak("fp8") / volta
    like = hardware.get(H100).peak("fp16") / volta
    return Finding(
        ratio.named("Hopper FP8 over Volta FP16"),
        why=f"Held to ten, the least that is tens. In the same format it is {like}.",
    )


@check("rubin-16384-32768")
def rubin_width() -> Finding:
    """Rubin's dense FP4 peak over its units and clock."""
    return Finding(
        per_unit(hardware.get(RUBIN), "fp4"),
        why=f"From announced figures. A unit of a B200 does "
        f"{gpu.peak_of(B200, 'fp4').macs.si:,.0f}. The document leaves out that "
        "it counts a unit.",
    )


@check("rubin-50pf-from-macs")
def rubin_four_bits() -> Finding:
    """Units times the doubled width times two times the clock."""
    chip = hardware.get(RUBIN)
    width = gpu.peak_of(B200, "fp4").macs * Quantity(2, label="doubled width",
                                                     kind="assumption")  # fmt: skip
    built = gpu.peak_by_hand(chip.compute_units, width, chip.clock,
                             each=per_mac("fp4"))  # fmt: skip
    return Finding(
        built.named("Rubin FP4 from its multiply-adds"),
        why=f"Dense, NVIDIA announces {chip.peak('fp4'):.3 PFLOP/s}. The claimed rate "
        "counts products that a new sparsity mode leaves out.",
    )


@check("rubin-5x-blackwell")
def rubin_gain() -> Finding:
    """Dense FP4 of Rubin over that of a GB200's GPU."""
    ratio = hardware.get(RUBIN).peak("fp4") / hardware.get(GB200).peak("fp4")
    return Finding(
        ratio.named("Rubin FP4 over Blackwell FP4"),
        why="Dense over dense. The claim sets an effective rate, with sparsity, "
        "against a dense one.",
    )


@check("rubin-bf16-flat")
def rubin_sixteen_bits() -> Finding:
    """BF16 multiply-adds of a unit and cycle, Rubin over B200."""
    ratio = per_unit(hardware.get(RUBIN), "bf16") / gpu.peak_of(B200, "bf16").macs
    return Finding(
        ratio.named("BF16 width of a unit, Rubin over B200"),
        why="The chip still gains, from more units and a higher clock.",
    )


@check("bf16-marginal-rubin")
def rubin_ratio() -> Finding:
    """FP4 over BF16 of the announced peaks."""
    chip = hardware.get(RUBIN)
    return Finding(
        (chip.peak("fp4") / chip.peak("bf16")).named("Rubin FP4 over BF16"),
        why="From the announced peaks, which are rounded.",
    )


MODEL, PROMPT = "llama-3-70b", 4096


@check("tensor-95-percent")
def matrix_share() -> Finding:
    """Operations of products among all, a prompt through a large model."""
    work = models.work.operations(models.get(MODEL), "prefill", context=PROMPT)
    products = sum(op.flops for op in work if op.part != "norms")
    rest = sum(op.flops for op in work if op.part == "norms")
    # a softmax: exponent, sum, quotient, and the maximum before them
    chip = models.get(MODEL)
    softmax = 4 * chip.layers * chip.heads * PROMPT * PROMPT
    values = [
        Quantity(count, "FLOP", label=label, source=chip.source, kind="config")
        for count, label in ((products, "operations of products"),
                             (rest + softmax, "of norms and softmax"))
    ]  # fmt: skip
    share = values[0] / (values[0] + values[1])
    return Finding(
        share.named("share of products"),
        why=f"By operations, {PROMPT} tokens through {chip.name}. By time the share is "
        "smaller: what is not a product runs far below the peak.",
    )
