"""Claims on bank conflicts: how often a warp's request is repeated."""

from stacklib.evidence import Finding, claim
from stacklib.hardware.warp_rules import rule
from stacklib.memory import Swizzle, Tile
from stacklib.memory.warp.swizzle import MODES, matching_swizzle, padded
from stacklib.quantity import bytes_per_element, chosen, counted

from . import column, ways

HALVES, SQUARE = Tile(32, 64, 2), Tile(32, 32, 4)
FP32 = bytes_per_element("fp32")


@claim("smem-banks-32")
def bytes_a_cycle() -> Finding:
    """As the vendor documents it."""
    each = rule("banks") * rule("word")
    return Finding(
        rule("banks"),
        why=f"Each gives one word a cycle, if nobody conflicts: {each.text()} in all.",
    )


@claim("fp16-tile-32way")
def fp16_column() -> Finding:
    """Every row starts in the same bank."""
    return Finding(
        column(HALVES),
        why="Rows of 64 fp16 numbers are as long as all banks, so every row starts in "
        f"the same one. A read by ldmatrix takes eight rows at a time and waits "
        f"{matrix_ways(Swizzle(0, 4, 3)):.0f} passes.",
    )


def matrix_ways(swizzle: Swizzle) -> float:
    """Ways of eight rows of 16 bytes, 128 bytes apart."""
    return 8 / len({swizzle(128 * row) // 16 % 8 for row in range(8)})


@claim("worst-case-bank-32x")
def worst_case() -> Finding:
    """Every lane another word of one bank."""
    far = [128 * lane for lane in range(32)]
    return Finding(
        ways(far, 4, "the worst request"),
        why="One bank, another word for every lane. Lanes that want the same word "
        "share it.",
    )


@claim("bank-conflict-same-bank")
def same_bank() -> Finding:
    """Two lanes, two words, one bank."""
    met = chosen(1, label="banks met")
    same, other = (
        chosen(wanted, "B", "distinct bytes wanted of the bank") / rule("word") / met
        for wanted in (4, 8)
    )
    return Finding.depends(
        "the two want different words",
        computed=same.named("passes"),
        why="Two lanes that want the same word of a bank are served together; two "
        f"words take {other.text()} passes.",
    )


@claim("padding-fixes-33")
def padding_fixes() -> Finding:
    """A column of fp32 with one more number a row."""
    fp16 = column(HALVES, place=padded(HALVES.pitch, HALVES.width))
    return Finding.true(
        computed=column(SQUARE, place=padded(SQUARE.pitch, SQUARE.width)),
        why=f"For fp32. A row of fp16 that is one number longer leaves {fp16} "
        "passes: it moves on by half a word. One word more frees it too.",
    )


@claim("padding-waste-25")
def padding_waste() -> Finding:
    """Sixteen bytes, so that rows stay aligned, on rows of sixty-four."""
    words = chosen(4, label="words of an aligned access")
    row = rule("lanes") * bytes_per_element("fp16")
    narrow = words * rule("word") / row.named("bytes of a row, an fp16 a lane")
    one_number = FP32 / chosen(SQUARE.pitch, "B", "bytes of a row of 32 fp32 numbers")
    return Finding(
        narrow,
        why="For rows of 64 bytes that must stay aligned to 16. The tile that the "
        f"document shows beside it wastes {one_number:.2 %}.",
    )


def agreeing(swizzle: Swizzle) -> int:
    """Columns of two rows of eight that stand where the document has them."""
    swapped = {1: [1, 0, 3, 2, 5, 4, 7, 6], 2: [2, 3, 0, 1, 6, 7, 4, 5]}
    return sum(
        swizzle(8 * row + column) - 8 * row == place
        for row, places in swapped.items()
        for column, place in enumerate(places)
    )


@claim("xor-row-pattern")
def row_pattern() -> Finding:
    """Row 1 swaps neighbours, row 2 swaps pairs."""
    compared = chosen(16, label="columns compared")
    right = counted(agreeing, Swizzle(3, 0, 3), label="columns that agree")
    return Finding.true(
        computed=(compared - right).named("differences"), why="Both rows agree."
    )


def returning(swizzle: Swizzle, offsets: int) -> int:
    """Offsets that are themselves again when they are swizzled twice."""
    return sum(swizzle(swizzle(byte)) == byte for byte in range(offsets))


@claim("xor-self-inverse")
def self_inverse() -> Finding:
    """Every offset of the fp32 tile, swizzled and swizzled again."""
    swizzle = matching_swizzle(SQUARE.pitch, SQUARE.width)
    tried = chosen(SQUARE.bytes, label="offsets tried")
    back = counted(returning, swizzle, tried, label="offsets that came back")
    return Finding.true(
        computed=(tried - back).named("differences"),
        why="The bits that are mixed in are not among those that change.",
    )


@claim("xor-zero-conflict")
def xor_free() -> Finding:
    """A column of the document's own tile, fp16, single numbers swizzled."""
    return Finding.depends(
        "what is swizzled are words of four bytes",
        computed=column(HALVES, place=Swizzle(5, 0, 6).on_bytes(HALVES.width)),
        why="Two fp16 numbers share a word, and a XOR of single columns separates "
        "them: two rows meet in every bank. Swizzled as words, in "
        f"{column(HALVES, place=matching_swizzle(HALVES.pitch, 4))}.",
    )


@claim("tcgen05-needs-swizzle")
def tcgen05_modes() -> Finding:
    """Modes of the descriptor that leave every byte where it is."""
    plain = [mode for mode in MODES if mode.swizzle.bits == 0]
    label = "modes of the descriptor (PTX ISA, bits 61 to 63)"
    every = counted(len, MODES, label=label)
    mixed = every - counted(len, plain, label="modes that permute nothing")
    return Finding.false(
        computed=(every - mixed).named("modes without a swizzle"),
        why="The descriptor of shared memory has a mode without a swizzle, code "
        f"{plain[0].code}. The instruction runs; conflicts may slow what feeds it.",
    )


@claim("trn-no-bank-conflicts")
def trainium() -> Finding:
    """Not a number that our counters could give."""
    return Finding.cited(
        "Source: AWS Neuron, Trainium architecture guide "
        "(nki/about/trainium_inferentia2_arch.rst at db1586c): an engine reads one "
        "element of each of 128 partitions a cycle, at the same offset in all, so no "
        "lanes compete for a bank; nor are there resident threads to trade for "
        "registers. It names other costs: a stride above 16 bytes within a partition "
        "halves the rate, and two of the engines cannot read SBUF at once."
    )
