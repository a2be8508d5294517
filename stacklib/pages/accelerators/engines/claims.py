"""Claims on Trainium's cores, their store, and on sparse weights."""

from __future__ import annotations

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, bytes_per_element, counting, quoted

from . import case, sparse, stored

H100, B200 = "h100_sxm", "b200_sxm"


@claim("structured-sparsity-gap")
def gap() -> Finding:
    """Twice the products; less of everything else."""
    return Finding(
        sparse(1.0),
        why=f"Of the peak. A 16-bit weight still takes {stored(16):.0f} with its "
        f"place, so a step that reads weights gains {sparse(1.0, 'memory'):.3}; where "
        f"products are half of a step, twice the peak is worth {sparse(0.5):.3}.",
    )


@claim("trn-neuroncore-generation")
def generation() -> Finding:
    """Two generations in one sentence."""
    chip = hardware.get("trainium2")
    cores = chip.compute_units
    return Finding(
        (chip.l2_capacity / cores).named("SBUF of a core").to("MiB"),
        why="Trainium 2 has cores of the third generation. "
        f"{quoted('neuron.v4_sbuf')} is the fourth, of Trainium 3; the "
        f"{chip.memory_bandwidth} are Trainium 2's.",
    )


@claim("trn-weight-128mib")
def weight() -> Quantity:
    """What the section's product streams past its activations."""
    return streamed().to("MiB")


@counting("bytes of the weights, 8,192 by 8,192", unit="B")
def streamed() -> int:
    """Bytes of all panels of the weights."""
    sizes = case().program(0.5).sizes
    return sum(size for name, size in sizes.items() if name.startswith("w"))


@claim("sbuf-vs-smem")
def beside() -> Finding:
    """A core's store over an SM's."""
    chip, other = hardware.get("trainium2"), hardware.get(B200)
    shared = hardware.get(H100).shared_per_unit.across(1)
    cores, sms = chip.compute_units, other.compute_units
    on_chip = other.l2_capacity + sms * (
        other.shared_per_unit.across(1) + other.registers_per_unit.across(1)
    )
    whole = (cores * case().sbuf).named("SBUF of a chip")
    return Finding(
        (quoted("neuron.v4_sbuf") / shared).named("SBUF over shared memory").to(""),
        why="Per core over per SM. A chip has "
        f"{cores.si:.0f} such cores and {sms.si:.0f} such SMs: "
        f"{whole.to('MiB'):.3} beside {on_chip.to('MiB'):.3} of L2, shared memory and "
        "registers.",
    )


@claim("psum-512")
def psum() -> Finding:
    """A bank of one partition, in fp32 sums."""
    core = hardware.microarchitecture(hardware.get("trainium2"))
    bank, sum_ = core.size("psum_bank"), bytes_per_element("fp32")
    return Finding(
        (bank / sum_).named("fp32 sums of a bank").to(""),
        why=f"{case().psum} over {core.count('partitions').si:.0f} partitions and "
        f"{core.count('psum_banks').si:.0f} banks.",
    )
