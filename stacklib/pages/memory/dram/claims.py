"""Claims on what DRAM delivers, how often it is refreshed, what share to expect."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.memory import dram_part
from stacklib.quantity import Quantity, chosen, quoted

from .published import achieved

PAIR = quoted("ddr5.subchannels")
DIMMS = chosen(2, label="DIMMs of a desktop")


def _window(name: str) -> Quantity:
    part = dram_part(name)
    return (part.refi * part.refreshes).named(f"{part.short} time to refresh all rows")


def _dimm() -> Quantity:
    return (PAIR * dram_part("ddr5-6400").bandwidth).named("DIMM of DDR5-6400")


@claim(
    "dram-refresh-64ms", right_if="the memory is DDR4 or older and no hotter than 85 °C"
)
def refresh_window() -> Finding:
    """Refresh interval times the commands that reach every row, in DDR5."""
    return Finding(
        _window("ddr5-6400"),
        why=f"DDR4 and older reach every row once in {_window('ddr4-3200'):.2 ms} "
        f"while they are no hotter than 85 °C. DDR5, LPDDR5, GDDR6 and HBM take "
        f"{_window('hbm3'):.2 ms}, as DDR4 does above that.",
        then=_window("ddr4-3200"),
    )


@claim("ddr5-channel-50")
def ddr5_channel() -> Finding:
    """Pins times rate, both sub-channels."""
    return Finding(
        _dimm(),
        why="At 6,400 MT/s, both 32-bit sub-channels together. At the 4,800 MT/s that "
        f"DDR5 began with it is {(PAIR * dram_part('ddr5-4800').bandwidth):GB/s}.",
    )


@claim("bw-70-80-excellent")
def bandwidth_share() -> Finding:
    """What a plain copy was measured to reach on an H100."""
    copied = achieved("C-0033", "h100-pcie").named("share of a copy on an H100 PCIe")
    return Finding(
        achieved("C-0024", "a100-sxm-40gb").named("share of a copy on an A100"),
        to=copied,
        why="A kernel that reads one array and "
        f"writes another got {copied:.2 %} on an H100 PCIe and "
        f"{achieved('C-0024', 'a100-sxm-40gb'):.2 %} on an A100; one that only "
        f"reads {achieved('C-0032', 'h100-pcie'):.2 %} and "
        f"{achieved('C-0023', 'a100-sxm-40gb'):.2 %}. So it is low for a copy, "
        "and good for a kernel that also computes or jumps.",
    )


@claim(
    "h200-vs-ddr5", right_if="the chip is an H100 and the DDR5 a desktop's two DIMMs"
)
def h200_over_ddr5() -> Finding:
    """The H200's bandwidth over two DIMMs of DDR5-6400."""
    desktop = (DIMMS * _dimm()).named("two DIMMs of DDR5-6400")
    h200 = hardware.get("h200-sxm").memory_bandwidth
    h100 = hardware.get("h100-sxm").memory_bandwidth
    server = hardware.get("epyc-9755").memory_bandwidth
    return Finding(
        h200 / desktop,
        why=f"The document gives the H200 the {h100:.3 TB/s} of an H100 and divides by "
        f"a desktop's {desktop:.4 GB/s}; an H200 has {h200:.2 TB/s}. Against a "
        f"server's {server:.3 GB/s} it is {h200 / server:.2}.",
        then=h100 / desktop,
    )
