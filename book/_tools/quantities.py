"""What counts as a quantity in prose, in digits and in words.

A quantity is a number with a unit, a percentage, a ratio or a multiple, and a count of
more than a dozen things. Names that hold digits (H100, bf16, Llama-3-70B), years,
versions, section numbers, shapes (128x128) and counts up to a dozen (two chips, ten
chapters) are not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

NOTHING = "\0"  # stands where a mark was that a reader does not see
GAP = r"\0*\s?\0*"
PLAIN = r"[-+−]?\d+(?:[,\u202f']\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*"
# Digits glued to a letter are part of a name: H100, Llama-3.
DIGITS = rf"(?<![\w.])(?<!\w-)~?{PLAIN}"
SMALL = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty"
    "|seventy|eighty|ninety"
)
LARGE = "dozen|hundred|thousand|million|billion|trillion"
WORDS = (
    rf"\b(?:(?:{SMALL}|an?(?=[ -](?:{LARGE})\b)|{LARGE})"
    rf"(?:[ -](?:and[ -])?(?:{SMALL}|{LARGE}))*|(?:ten|{LARGE})s of)"
)
PREFIX = "[kKMGTPEmuµμnp]?"
BINARY = "(?:[KMGTP]i)?"
SYMBOL = (
    rf"(?:{PREFIX}(?:B|b|bps|J|W|Wh|Hz|V|eV|m|s)|{BINARY}(?:B|bit|b)"
    rf"|{PREFIX}(?:FLOPs?|FLOPS|MACs?|OPS?|OPs)|dB|°C|min|h|mm2|mm²|USD|EUR|GT"
    r"|MT(?=/s)|toks?(?=/s))"
)
BIG = "kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi"
LITTLE = "milli|micro|nano|pico|femto"
NAMED = (
    rf"(?:(?:{BIG})?(?:bytes?|bits?|flops?|watts?|hertz|joules?)"
    rf"|(?:{LITTLE})?(?:seconds?|joules?|watts?|metres?|meters?|volts?)"
    r"|(?:centi|kilo)(?:metres?|meters?)|minutes?|hours?|days?|weeks?|months?|years?"
    r"|dollars?|cents?|euros?|percent|per cent|degrees|cycles?|operations?|FLOPs?"
    r"|multiply-adds?|MACs?|clocks?)"
)
UNIT = rf"(?:{SYMBOL}|{NAMED}|tokens?)"
RANGE = r"(?:\s?(?:-|–|—|to|or|and|±)\s?{0})?"
THAN = "(?=faster|slower|more|less|fewer|higher|lower|larger|smaller|bigger|better"
THAN += "|worse|longer|shorter|cheaper|wider|as\\b|the\\b|that\\b|its\\b|of\\b)"
COMPARED = "of|as|less|more|fewer|faster|slower|larger|smaller|cheaper|dearer|longer"
COMPARED += "|shorter|higher|lower|better|worse|bigger|wider|narrower|deeper|quicker"
COMPARED += "|heavier|lighter|denser|stronger|weaker|hotter|colder|above|below|apart"
COMPARED += "|off|too|each|its"
PARTS = "halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?"
PARTS += "|tenths?|twelfths?|hundredths?|thousandths?|millionths?|billionths?"
# A number in words at the head of a sentence; a heading is a name.
CAPITAL = re.compile(
    rf"(?m)(?:^#.*$)|\b(?i:{SMALL}|half|halves|twice|thrice)\b|\bAn?(?= (?:{PARTS})\b)"
)
NUMBER = rf"(?:{DIGITS}|{WORDS})"

PATTERNS = {
    "number with a unit": [
        rf"{DIGITS}{RANGE.format(PLAIN)}{GAP}-?(?:{SYMBOL}|{NAMED})(?:\s?/\s?\w+)?(?!\w)",
        rf"{DIGITS}{RANGE.format(PLAIN)}[\s-](?:[\w-]+\s)?tokens?\b",
        rf"\b(?:{LARGE})s?(?: of)? tokens\b",
        rf"\ban? (?:{BIG}|{LITTLE})(?:byte|bit|flop|watt|joule|second|metre|hertz)s?\b",
        rf"{WORDS}{RANGE.format(WORDS)}[ -](?:{NAMED}|{SYMBOL})(?!\w)",
        rf"{NUMBER}\s(?:thousand|million|billion|trillion)s?\b",
        rf"{DIGITS}[kKM](?![\w])|{DIGITS}{RANGE.format(PLAIN)} K(?!\w)",
        rf"{DIGITS}B(?= (?:parameters|weights|tokens|transistors))",
        r"(?<!\w)\\?[$€£]\s?\d[\d,.]*",
        rf"\b(?:USD|EUR)\s?{DIGITS}",
    ],
    "percentage": [rf"{DIGITS}{RANGE.format(PLAIN)}{GAP}\\?%"],
    "ratio": [
        r"(?<![\w.:])\d+(?:\.\d+)?\s?:\s?\d+(?:\.\d+)?(?![\w:])",
        r"(?<![\w./])\d+/\d+(?![\w/.])",
        rf"{NUMBER}\s(?:in|out of)\s(?:every\s)?{NUMBER}(?! (?:chapter|section))",
        rf"{NUMBER}\sto\s(?:one|1)\b",
        rf"{NUMBER}\sparts?\s(?:in|per)\s(?:an?\s)?{NUMBER}",
        rf"\b(?:factors?|ratio|multiple)\sof\s(?:about\s|roughly\s|nearly\s)?{NUMBER}",
        rf"\b(?:{SMALL}|an?|\d+)[ -](?:{PARTS})\b"
        rf"(?=\s(?:{COMPARED}|the|to|idles?|waits?|misses)\b|[.,;])",
        rf"\b(?:{SMALL.replace('one|', '', 1)})[ -](?:{PARTS})\b",
        rf"\bby an? (?:{PARTS})\b",
        rf"\bone[ -](?:{PARTS})\b(?! (?:chapter|section|way|idea))",
        r"\b(?:half|twice|thrice)\b|[½⅓⅔¼¾⅛]",
        r"(?<!two )(?<!both )(?<!the )\bhalves\b|\bhalved\b",
        r"\b(?:doubles|doubled|triples|tripled|quadruples|quadrupled)\b",
        r"\borders? of magnitude\b",
    ],
    "multiple": [
        rf"{DIGITS}{RANGE.format(PLAIN)}[x×](?![\w\d]| ?\d)",
        rf"{DIGITS}{RANGE.format(PLAIN)} [x×](?= {THAN}|[.,;:)]|$)",
        r"(?<!\w)(?<!\d )[x×]\s?\d+(?:\.\d+)?(?!\w)",
        rf"{NUMBER}{RANGE.format(NUMBER)}[ -](?:times|fold)\b(?! are\b)",
        rf"\b(?:{SMALL}|{LARGE})fold\b|{DIGITS}-?fold\b",
    ],
}
# Up to a dozen is language: two chips, ten chapters. More is a count of somebody's.
MANY = r"(?<![\w.,:/-])(?:1[3-9]|[2-9]\d|[1-9]\d\d|[1-9]\d{0,2}(?:,\d{3})+)"
TEENS = SMALL.split("|twelve|")[1]
TENS = "|".join(TEENS.split("|")[7:])
UNITS = SMALL.split("|ten|")[0]
VERBS = "is|was|has|its|this|as|times|us|does|fits|meets"
THINGS = rf"\s(?:[a-z][a-z-]+\s)?(?!(?:{VERBS})\b)(?:[a-z-]+|[A-Z]{{2,}})s\b"
# Numerals of two letters and more, none of which is a name: MX formats, CXL, CC BY.
ROMAN = r"(?!(?:CC|CD|CXL|DC|MC|MD|ML|MX)\b)(?=[MDCLXVI]{2})M{0,3}(?:C[MD]|D?C{0,3})"
ROMAN += r"(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})"
PATTERNS["count"] = [
    rf"{MANY}{THINGS}",
    rf"\b(?:(?:{TENS})(?:-(?:{UNITS}))?|{TEENS}){THINGS}",
    rf"(?:\d|\b(?:{SMALL}))[ -](?:dozen|gross|hundred|(?<!one )score)\b",
    rf"(?<![\w./-]){ROMAN}(?![\w/-])",
]
PATTERNS["power of ten"] = [rf"(?<![\w.])10(?:\^{NOTHING}*-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)"]
PATTERNS["bare ratio"] = [r"(?<![\w./-])0\.\d+(?![\w.]*\d)(?!\w)"]
COMPILED = [(k, re.compile(p)) for k, group in PATTERNS.items() for p in group]

# Read as names or idioms although they hold what looks like a quantity.
NAMES = [
    # years, decades, dates; 1900 ms is none
    rf"\b(?:19|20)\d\d(?:s\b|-\d\d(?:-\d\d)?\b|(?!\d)(?!{GAP}-?(?:%|{UNIT})(?!\w)))",
    rf"\b(?:\d{{1,2}}|{SMALL})-bit\b(?! (?:in|of)\b)",  # a format, as bf16 is
    r"\b2:4\b",  # the sparsity pattern
    r"\b[A-Z]+\d+\w*(?: (?:SXM\d?|PCIe|NVL))?(?: \d+GB\b)?(?=[^/\w]|$)",
    r"\b\d+B(?= models?\b)",  # a 70B model
    r"\bhalf[- ](?:precision|duplex|open)\b|\b(?:first|second|other) half\b",
    r"\bone day\b|\bday one\b|\bone[- ]bit at a time\b|\b[Oo]ne operation\b",
    r"\b[Vv]ersion \d[\d.]*|\b[Pp]ython \d[\d.]*|\bCC BY \d[\d.]*",
    r"\b(?:chapters?|sections?|figures?|tables?|equations?|steps?|levels?|exercises?"
    r"|pages?|phases?|points?|items?|layers?|lines?|cells?) \d[\d.]*"
    r"(?:(?:, | and | to |-|–)\d[\d.]*)*",
]
NAME = re.compile("|".join(NAMES))


@dataclass(frozen=True)
class Found:
    """A quantity in a text: what kind, what it says, where."""

    kind: str
    text: str
    start: int
    end: int


def find(text: str) -> list[Found]:
    """The quantities of plain text, left to right, overlapping ones merged.

    Code, links and citations must already be blanked.
    """
    quiet = NAME.sub(lambda m: re.sub(r"[^\n]", "\1", m[0]), text)
    quiet = CAPITAL.sub(lambda m: m[0].lower() if m[0][0] != "#" else m[0], quiet)
    hits = sorted(matches(quiet), key=lambda f: (f.start, -f.end))
    kept: list[Found] = []
    for hit in hits:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
    return [
        Found(f.kind, f.text.replace(NOTHING, "").strip(), f.start, f.end) for f in kept
    ]


def matches(text: str) -> Iterator[Found]:
    """Every match of every pattern."""
    for kind, pattern in COMPILED:
        for m in pattern.finditer(text):
            yield Found(kind, m[0], m.start(), m.end())
