"""Claims on tiers of memory and the joules of moving a bit between them."""

from stacklib import hardware, memory
from stacklib.evidence import Finding, claim
from stacklib.memory.ladder import energy
from stacklib.memory.tiers import seen as tiers_seen
from stacklib.memory.tiers.parts import constant, drive
from stacklib.memory.tiers.seen import tiers_from
from stacklib.memory.tiers.tier import geometric_step, steps
from stacklib.quantity import Quantity, chosen, maximum, minimum, quoted

MODEL, CHIP, CHIPS = "llama-3-70b", "h100_sxm", 2
GEN4, GEN5 = "nvme_gen4_x4", "nvme_gen5_x4"
FAST, SLOW = "micron_9550", "micron_9200"  # drives whose sheets state a read


# -- flash ---------------------------------------------------------------------


def typical_read() -> Quantity:
    """A random read: the geometric middle of what two data sheets state."""
    product = drive(FAST).latency * drive(SLOW).latency
    return (product**0.5).named("a drive's read, typical")


@claim("mem-nvme-bandwidth")
def nvme_high() -> Finding:
    """A PCIe 5.0 drive as sold, and what its four lanes carry."""
    fast = drive("micron_9550")
    lanes = hardware.link(GEN5).per_direction
    old = hardware.link(GEN4).achieved
    return Finding(
        old.named("read rate of a PCIe 4.0 drive"),
        to=minimum(fast.read, lanes).named("read rate of a PCIe 5.0 drive"),
        why=f"A drive on PCIe 4.0 reads "
        f"{old}, one on PCIe 5.0 {fast.read}, of {lanes} "
        "that four lanes carry.",
    )


@claim("mem-nvme-hbm-ratio")
def nvme_against_hbm() -> Finding:
    """Memory bandwidth of the GPU beside it, over the rates of both drives."""
    hbm = hardware.get("gb200").memory_bandwidth.across(1)
    old, new = hardware.link(GEN4).achieved, drive("micron_9550").read
    return Finding(
        (hbm / new).named("HBM over NVMe, PCIe 5.0"),
        to=(hbm / old).named("HBM over NVMe, PCIe 4.0"),
        why=f"A B200's {hbm:TB/s} over the {new} and the {old} that the document gives "
        "a drive: more than a thousand with the slow one, half of it with the fast. "
        "Latency has another ratio: see the table of tiers.",
    )


@claim("tier-nvme-bandwidth")
def nvme_low() -> Finding:
    """A mainstream drive on PCIe 5.0, and the fastest of the database."""
    low, high = drive("micron_7600"), drive("micron_9650")
    return Finding(
        low.read,
        to=high.read,
        why=f"From the slower of the two drives on PCIe 5.0 that we list, {low.name}, "
        f"to {high.name} on PCIe 6.0.",
    )


@claim("tier-nvme-latency")
def nvme_latency() -> Finding:
    """Between what two data sheets state as typical of a random read."""
    new, old = drive(FAST), drive(SLOW)
    return Finding(
        typical_read(),
        why=f"The middle of two sheets: {new.name} states {new.latency}, the "
        f"{old.name} of 2018 {old.latency} at best. So the figure is that of older "
        "flash, or of a queue.",
    )


# -- DRAM ----------------------------------------------------------------------


def _tier(viewpoint: str, name: str) -> memory.Tier:
    return next(t for t in tiers_from(viewpoint) if t.name == name)


@claim("tier-ddr-bandwidth")
def ddr_bandwidth() -> Finding:
    """What reaches a GPU from memory behind a network card of 400 Gbit/s."""
    port = hardware.link("ib_ndr").per_direction
    local = _tier("sm", "DDR5 of the host").bandwidth
    return Finding(
        port,
        why="The claim is of DDR5 on a DPU, reached peer to peer: its 400 Gbit/s port "
        f"is the limit, not the DRAM. From its own host a GPU draws {local:GB/s} "
        f"over PCIe 5.0; the host's cores draw {_tier('core', 'DDR5').bandwidth}.",
    )


@claim("tier-ddr-latency")
def ddr_latency() -> Finding:
    """What somebody read on a desktop's processor."""
    far = _tier("sm", "DDR5 of the host").latency
    return Finding(
        quoted("ddr5_latency.desktop"),
        why="A core's own DRAM, on a desktop in 2021. Servers with twelve DIMMs are "
        f"told at up to {_tier('core', 'DDR5').latency}. The bandwidth in the same "
        f"row is peer to peer, and on that path a load of the GPU takes {far:ns}.",
    )


@claim(
    "tier-cxl-bandwidth",
    right_if="the port is CXL 2.0 on PCIe 5.0, which is what is sold",
)
def cxl_bandwidth() -> Finding:
    """A CXL 3 port of sixteen lanes, one direction."""
    return Finding(
        hardware.link("cxl3_x16").per_direction,
        why="A port of sixteen lanes. CXL 3 runs on PCIe 6.0. One module delivers "
        f"{constant('cxl_module_bandwidth')} on eight lanes of PCIe 5.0.",
        then=hardware.link("cxl2_x16").per_direction,
    )


@claim("tier-cxl-latency")
def cxl_latency() -> Finding:
    """What a maker states of a box behind a switch."""
    found, device = _tier("core", "CXL").latency, _tier("sm", "CXL of the host")
    return Finding(
        constant("cxl_box_latency"),
        why=f"Samsung's, of a box behind a switch. For a card in the server we have "
        f"{found} from memory; a GPU on PCIe would see {device.latency}.",
    )


# -- rule of ten ---------------------------------------------------------------


def _listed(values: list[Quantity]) -> str:
    return ", ".join(f"{step.si:.2g}" for step in steps(values))


def _each(values: list[Quantity], why: str) -> Finding:
    """Least and largest step of a rule that is said of every one."""
    every = steps(values)
    low, high = minimum(*every).named("least step"), maximum(*every)
    return Finding(low, to=high.named("largest step"), why=why)


@claim("tier-step-latency-10x")
def step_latency() -> Finding:
    """Each step between five tiers as an SM sees them."""
    waits = [t.latency for t in tiers_from("sm")]
    return _each(
        waits,
        f"The claim says each, and it is {geometric_step(waits):.2} only on average. "
        f"From an SM of an H100 the steps are {_listed(waits)}: two far below ten, two "
        "above, none near it.",
    )


@claim("tier-step-energy-10x")
def step_energy() -> Finding:
    """Each step of the parts' energy a bit, links included."""
    per_bit = [t.energy for t in tiers_from("sm") if t.energy is not None]
    return _each(
        per_bit,
        f"On average it is {geometric_step(per_bit):.2}, and no step is near ten: "
        f"{_listed(per_bit)}. The largest is the first, off the chip; DDR5 and CXL "
        "cost nearly the same. The document itself gives one step, HBM to DDR5, far "
        "below ten.",
    )


# -- joules --------------------------------------------------------------------


@claim("hbm-energy")
def hbm_energy() -> Finding:
    """What the paper says of an access of HBM2, error correction included."""
    return Finding(
        tiers_seen.hbm2_energy(),
        why="Of the stack alone, and of HBM2. SK hynix gives "
        f"{constant('hbm2e_device')} for HBM2E, Micron "
        f"{hardware.memory('hbm2e').energy:pJ/bit}; nobody we found publishes "
        "HBM3. Getting the bit to a register costs more than that again.",
    )


@claim("ddr5-energy")
def ddr5_energy() -> Finding:
    """What its voltage makes of DDR4's; nobody prints DDR5's own."""
    survey = constant("dram_45nm") / chosen(32, "bit", "bits of the access")
    return Finding(
        tiers_seen.ddr5_energy(),
        verdict="open",
        why="DDR4's, scaled by the square of the voltage. A survey has "
        f"{survey:.3 pJ/bit} for the DRAM of 2014. To settle it: a measured system.",
    )


@claim("hbm-ddr-energy-ratio")
def energy_ratio() -> Finding:
    """By figures of others; its own two agree with themselves."""
    ratio = tiers_seen.ddr5_energy() / tiers_seen.hbm2_energy()
    return Finding(
        ratio.named("DDR5 over HBM"),
        verdict="open",
        why="From older generations: HBM2 as modelled, DDR5 from DDR4. To settle it: "
        "both measured.",
    )


@claim("data-movement-power-share")
def data_movement() -> Finding:
    """Shares of a step's joules that move or hold bits, by three accounts."""
    step = memory.decode_energy(MODEL, on=CHIP, tp=CHIPS)
    board = memory.decode_energy(MODEL, on=CHIP, tp=CHIPS, account="board")
    path = board.share(*energy.MOVES)
    wide = board.share(*energy.MOVES, "control")
    power = constant("h100_decode_batch_1")
    return Finding.open(
        f"{MODEL} on two H100s at batch 1: HBM, wires, SRAM and registers from "
        f"circuit papers are {step.share(*energy.MOVES):.2 %} of everything, at "
        f"{step.power} a chip ({power} was measured), arithmetic is "
        f"{step.share('arithmetic'):.2 %}. What an A100's board draws gives "
        f"{path:.2 %} for the data path and {wide:.2 %} with the control around it. "
        "The word 'movement' decides, and the document names neither its parts nor a "
        "case. To settle it: a measured split of one decode step, and what counts as "
        "movement."
    )
