"""Claims on Qualcomm's Hexagon: its packets, its units, its memories."""

from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import packets as page
from stacklib.quantity import chosen, quoted


@claim("hexagon-packet-bits")
def packet() -> Finding:
    """Bits of a packet over those of an instruction."""
    bits = chosen(128, "bit", label="bits of a packet")
    return Finding(
        (bits / quoted("hexagon.instruction")).named("instructions of a packet"),
        why="As many as there are slots. A packet may be shorter: its words say where "
        "it ends.",
    )


@claim("hexagon-three-isas")
def sets() -> Finding:
    """As its maker counts them."""
    return Finding(
        quoted("hexagon.sets"),
        why="Vector and matrix instructions stand in the slots of the scalar core's "
        "packets. x86 with AVX and AMX, or Arm with SVE and SME, are as many by this "
        "count.",
    )


@claim("hexagon-isa-counts")
def instructions() -> Finding:
    """What the compiler's tables list; the tensor unit is in none."""
    scalar, vector = (quoted(f"hexagon.{unit}") for unit in ("scalar", "vector"))
    return Finding.depends(
        "aliases are counted, and the tensor unit has so many",
        f"The tables that Qualcomm gives LLVM have {scalar.text()} scalar instructions "
        f"and {vector.text()} vector ones without aliases; none lists the tensor "
        "unit's. Source: LLVM 22, HexagonDepInstrInfo.td.",
    )


@claim("hexagon-365x", right_if="one of its threads is the vector unit")
def gap() -> Finding:
    """The matrix unit over all vector threads, and over one, as it was measured."""
    one = quoted("hexagon.hmx") / quoted("hexagon.hvx")
    few, many = (quoted(f"hexagon.vectors_{end}") for end in ("low", "high"))
    return Finding(
        (one / many).named("matrix unit over all vector threads, most"),
        to=(one / few).named("matrix unit over all vector threads, fewest"),
        then=one.named("matrix unit over one vector thread"),
        why="The paper measures one thread, of four to six that a chip has, and calls "
        "it over 300 times.",
    )


@claim("hexagon-45tops-5w")
def efficiency() -> Finding:
    """No document has both at once."""
    return Finding.open(
        f"The peak is {page.peak().text()}; no watts "
        "are published for the unit alone. To settle it: power of the rail of the NPU "
        "while it runs at its peak."
    )


@claim("hexagon-fp16-vs-int8")
def formats() -> Finding:
    """The INT8 peak of one chip over the FP16 rate measured on another."""
    return Finding(
        page.narrow(),
        verdict="open",
        why="One array of bytes gives two to four, but these are two chips: a laptop's "
        "data sheet, and a phone's measurement. To settle it: both rates of one chip.",
    )


@claim("hexagon-handoff")
def handoff() -> Finding:
    """A vendor's slide."""
    return Finding.open(
        "The milliseconds are a driver's, which hands tensors from one unit to another "
        "through DRAM; the nanoseconds are an access to a shared memory. To settle it: "
        "a chain of two layers timed on both generations."
    )
