"""No typed numbers: the linter sees quantities and only quantities."""

from _tools import lint, quantities, tree
from _tools.prose import Block
from hypothesis import example, given
from hypothesis import strategies as st

QUANTITIES = """
It takes 21.5 ms. | 99 % | idle for 99.4% of it | 3x faster | 3 x faster | ×3
three times as long | half as long | twice the bytes | one part in three hundred
a hundred milliseconds | two-thirds of it | two thirds of the bytes | 3.35 TB/s
989 TFLOP/s | 80 GB | 141 GFLOP of work | one in ten | nine out of ten | ten percent
40 per cent | a factor of two | ten-fold | tenfold | two orders of magnitude
70 billion numbers | 4,096 tokens | 1.8 V | 700 W | it costs 2 USD | $5 a day | €3
256 KiB | two bytes each | 295 FLOP per byte | at 8 bits | 3:1 | 1/300 of it
a quarter of the time | one third of it | 2-3 ms | 10 to 20 ms | 3–5x | half a second
it doubles the time | the bytes are halved | ten to one | 128k of context
hundreds of gigabytes | 5 minutes | 70B parameters | a million dollars
one hundred and twenty nanoseconds | 3 pJ/bit | 814 mm2 | two seconds | 4 cycles
64-byte lines | seven-eighths | 1e12 FLOP/s | 16 GT/s | 400 Gb/s | ~5 ms | 30 us
a thousand tokens | a 4096-token context | under a millisecond | ½ of it | 10¹² FLOP
H100 gives 80 GB | a third of the time | a tenth as much | **3** ms
37 warps | sixty-four resident warps | 0.87 of the peak | 30,870 requests
thirteen banks | 3,200 MT/s | 1,234 tok/s | 85 K | 10^12 of them | $10^{12}$ | 108 SMs
eighty GPUs | 10⁹ in all | Nine tenths of the bytes | Twice the bandwidth buys nothing.
A third of the time is lost. | Sixteen warps wait. | it is a third faster
it is a third longer | a fifth shorter in all | a quarter higher | a tenth better
within a tenth below it | a fifth too fast | a third apart
it grew by a third when asked
three dozen of them | Six score warps wait. | two gross | three hundred warps
XVI warps | it is faster by XIV times | MMXXVI of them
a third its size | an eighth off the price
$9\\,\\mathrm{TB/s}$ | $t = 3$ ms
<b>43</b> ms | 4&#51; ms | <span title="4.1 TB/s">rate</span> | [it](x.md "4.1 TB/s")
:alt: It reads 4.1 TB/s | <img alt='3 ms' src='x.svg'>
"""
PLAIN = """
Two H100s hold Llama-3-70B in bf16. | ten chapters | chapter 3 | section 2.1
Python 3.11 | in 2026 | the 2010s | id 1.03 | version 1.2.3 | a second prompt
a second word to work on | the first half of the book | One token takes one read.
seven layers | six devices | a bit of patience | 128x128 tiles | a 4096 x 4096 matrix
2 x parameters / chips | 8-bit weights | bf16 and fp8 | B200 and RTX 4090
NVIDIA H100 SXM5 80GB | TPU v5p | half-precision | at batch one | batch 64 | K1 and A2
CC BY 4.0 | chapters 4, 6 and 8 | 2:4 sparse | on 2026-11-21 | every second
per second | two chips, one answer | a 70B model | Figure 4. | at a time | level 2
two or more wrong answers | one at a time | many times | double it and see
Press the down arrow once. | the x axis | O(S*D) | one by one | twelve exercises
Exercise 1.2 asks | PCIe 5 and HBM3e | the NVL72 | 5 to 7 things | chapters 7 to 9
it is one of ten | `3 ms` | [3 ms](#q:a.b) | {cite}`a-3ms` | <!-- 3 ms --> | $n = 3$
[the page](#a-3-ms) | <https://a.org/3ms> | ![](3ms.svg) | the halves of a page
the batch at which its two times are equal
a dozen rows | a score of zero | MX formats | CXL memory | a DIMM | V and X | CC and ML
"""


def page(text: str, kind: str = "page") -> Block:
    return Block("book/page.md", "", text, kind)


def cases(table: str) -> list[str]:
    return [
        case.strip()
        for line in table.splitlines()
        for case in line.split(" | ")
        if case.strip()
    ]


def test_no_page_types_a_quantity(blocks):
    faults = lint.faults(blocks, lint.allowed())
    assert faults == [], "\n".join(faults)


def test_a_quantity_is_seen():
    assert [text for text in cases(QUANTITIES) if not lint.typed(page(text))] == []


def test_what_is_no_quantity_is_left_alone():
    seen = {text: [*map(str, lint.typed(page(text)))] for text in cases(PLAIN)}
    assert {text: found for text, found in seen.items() if found} == {}


@given(
    st.floats(0.01, 1e6),
    st.sampled_from("ms GB/s TFLOP/s % W KiB seconds bytes".split()),
)
@example(1900.0, "ms")  # not a year
@example(2026.0, "%")
def test_any_number_with_a_unit_is_seen(value: float, unit: str):
    number = f"{value:.4g}"
    (found,) = quantities.find(f"It is {number} {unit} in all.")
    assert found.text == f"{number} {unit}"


def test_the_message_gives_place_sentence_and_remedy():
    (fault,) = lint.faults([page("One.\n\nIt takes\n21.5 ms. Two.")])
    assert fault == (
        'book/page.md, line 4: number with a unit "21.5 ms" is typed, not computed, in '
        '"It takes 21.5 ms."; write [21.5 ms](#q:name) or allow the phrase in '
        "book/allowlist.toml"
    )


def test_boxes_are_prose_and_blocks_of_code_are_not():
    box = "```{takeaway}\n:name: x3\nIt takes 3 ms.\n```\n"
    colons = ":::{predict} t\n:unit: ms\nIs it 4 ms?\n:::\n"
    code = "```python\nt = '5 ms'\n```\n\n:::{pyrun}\nt = '6 ms'\n:::\n"
    found = [t.found.text for t in lint.typed(page(box + colons + code))]
    assert found == ["3 ms", "4 ms"]


def test_only_the_claimed_column_may_hold_typed_numbers():
    table = "| who | Claimed | ours |\n| --- | --- | --- |\n| a | 3 TB/s | 8 TB/s |\n"
    assert [t.found.text for t in lint.typed(page(table))] == ["8 TB/s"]


def test_a_given_of_an_exercise_says_suppose_or_its_source():
    text = (
        "Suppose a chip moves 3 TB/s. The datasheet says 80 GB. How long do 2 GB take?"
    )
    assert [t.found.text for t in lint.typed(page(text, "exercise"))] == ["2 GB"]
    assert len(lint.typed(page(text))) == 3


ENTRY = {"text": "under 4 minutes", "file": "book/page.md", "why": "a promise"}


def test_an_allowed_phrase_is_allowed_in_its_file_only():
    block = page("It builds in under\n4 minutes.")
    assert lint.faults([block], [ENTRY]) == []
    other = Block("README.md", "", block.text, "page")
    assert len(lint.faults([other], [ENTRY])) == 2


def test_an_allow_list_that_rots_is_a_fault():
    blocks = [page("It builds in under 4 minutes.")]
    unused = {"text": "under 5 minutes", "file": "book/page.md", "why": "x"}
    assert lint.faults(blocks, [ENTRY, unused]) == [
        'book/allowlist.toml: "under 5 minutes" allows nothing in book/page.md; '
        "delete the entry"
    ]
    no_reason = {**ENTRY, "why": " "}
    assert "lacks why" in lint.faults(blocks, [no_reason])[0]
    too_many = [ENTRY] * 61
    assert lint.faults(blocks, too_many)[0].endswith("61 entries; at most 60")


def test_the_allow_list_is_within_its_limit():
    assert len(lint.allowed(tree.ROOT)) <= lint.ALLOWED_AT_MOST
