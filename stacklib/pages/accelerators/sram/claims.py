"""Claims on memory that is on the chip, and on what is served out of it."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import sram as page
from stacklib.quantity import Quantity, quoted

RACK, OTHER = "groq3_lp30", page.GPU


@claim("wse3-sram")
def wafer_memory() -> Finding:
    """Cores times the memory of each."""
    device = hardware.get(page.WAFER)
    found = device.compute_units * device.shared_per_unit
    return Finding(found.named("memory of all cores"), why="48 KiB in each core.")


@claim("wse3-bandwidth")
def wafer_rate() -> Finding:
    """As it is published."""
    return Finding(
        hardware.get(page.WAFER).memory_bandwidth,
        why="Its maker prints 21. The figure of 56 agrees with the 7,000 printed "
        "beside it only where the rate of a B200 stands below it.",
    )


@claim("wse3-vs-h100")
def wafer_over() -> Finding:
    """One bandwidth over the other."""
    return Finding(
        page.over_h100(page.WAFER),
        why="With 21 PB/s; its maker rounds the H100 down. Beside 56 PB/s it is "
        "a ratio to a B200, whatever its heading says.",
    )


@claim("groq1-sram")
def chip_memory() -> Quantity:
    """Of the first generation."""
    return hardware.get(page.FIRST).memory_capacity


@claim("groq-chips-for-70b")
def chips_of_a_model() -> Finding:
    """Memory of a chip of the first generation, and how many hold the model."""
    return Finding.true(
        f"Llama-3-70B takes {page.plan().chips} of them in INT8. The third generation "
        f"has 500 MB and takes {page.plan(page.NEW).chips} in FP8.",
        computed=hardware.get(page.FIRST).memory_capacity,
    )


@claim("groq-bandwidth")
def rack() -> Finding:
    """A chip, which the claim names, and a rack of them."""
    return Finding(
        hardware.get(RACK).memory_bandwidth,
        why=f"500 MB are one chip's, as the row says, and 256 of them have "
        f"{page.racks().text('PB/s')}: its rate is a rack's.",
    )


@claim("groq-vs-h100")
def rack_over() -> Finding:
    """A chip over an H100, as the heading has it."""
    base = hardware.get(OTHER).memory_bandwidth.across(1)
    return Finding(
        page.over_h100(page.NEW),
        why=f"Neither end of the ratio is what the heading says: "
        f"{(page.racks() / base).text()} is a rack over a B200.",
    )


@claim("groq-decode-rate")
def third() -> Finding:
    """The document's own division; nobody has published a run of the third."""
    return Finding(
        quoted("groq3.tokens") / quoted("groq3.seconds"),
        why=f"{page.published(page.FIRST).text()} are the first generation's, of Llama "
        f"2 70B ({page.document(page.FIRST)}). The roof of the third for one reader of "
        f"such a model is {page.rate(page.NEW).text()}.",
    )


@claim("groq-ttft")
def served() -> Finding:
    """A published run of the first generation."""
    return Finding.cited(
        f"Source: {page.document(page.FIRST)}: 300 tokens a second of "
        "Llama 2 70B, on the first generation. The roof of the third is "
        f"{page.rate(page.NEW).text()} for one reader."
    )


@claim("cerebras-decode-rate")
def wafers_served() -> Finding:
    """Published runs, and the roof of four wafers."""
    return Finding.cited(
        "Source: aitechsuite.com, 30 May 2025, on Artificial Analysis's measurement of "
        "Llama 4 Maverick (read 2026-11-29, secondary): over 2,500 tokens a second. A "
        f"dense 70B model ran at 2,100 on four wafers ({page.document(page.WAFER)}), "
        f"whose roof is {page.rate(page.WAFER).text()} for one reader."
    )


@claim("b200-decode-rate")
def one_b200() -> Finding:
    """Bandwidth over the weights."""
    return Finding(
        page.one_gpu(), why="The roof of one reader in FP8, so 100 is close to it."
    )


@claim("cerebras-daily-saving")
def waited() -> Finding:
    """Tokens of a day over the rate of a B200."""
    found = page.a_day(page.one_gpu())
    return Finding(found, why="At the roof of a B200; at 100 tokens a second 16.7.")


@claim("groq-attention-hw")
def attention() -> Finding:
    """The functional units, as the maker lists them."""
    return Finding.false(
        "Its units multiply matrices, compute on vectors, exchange and store; "
        "attention is compiled onto them. Source: Groq, The virtuous cycles of "
        "determinism, keynote of FPGA 2022, which lists MXM, VXM, SXM and MEM."
    )
