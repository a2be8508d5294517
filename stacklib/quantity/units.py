"""Units: what a number counts, in which direction, of which kind.

A unit is a product of base dimensions, a factor to SI, and *tags*: words that
separate numbers which have the same dimension and yet must not be added, such
as ``per_direction`` and ``bidirectional``. Bytes and bits are different
dimensions here, and so are FLOP and MAC: the factor between them is known, but
it is applied only on request (``Quantity.to``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache


class UnitError(ValueError):
    """Two quantities that cannot be combined, or a unit that cannot be read."""


DECIMAL = {"": 1.0, "f": 1e-15, "p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3,
           "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
           "Z": 1e21}  # fmt: skip
BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

# symbol -> (dimensions, factor to SI, may it carry a prefix?)
SYMBOLS: dict[str, tuple[dict[str, int], float, bool]] = {
    "1": ({}, 1.0, False),
    "%": ({}, 0.01, False),
    "s": ({"s": 1}, 1.0, True),
    "min": ({"s": 1}, 60.0, False),
    "h": ({"s": 1}, 3600.0, False),
    "day": ({"s": 1}, 86400.0, False),
    "year": ({"s": 1}, 365.25 * 86400.0, False),
    "B": ({"B": 1}, 1.0, True),
    "bit": ({"bit": 1}, 1.0, True),
    "FLOP": ({"FLOP": 1}, 1.0, True),
    "MAC": ({"MAC": 1}, 1.0, True),
    "OP": ({"OP": 1}, 1.0, True),
    "J": ({"J": 1}, 1.0, True),
    "W": ({"J": 1, "s": -1}, 1.0, True),
    "Wh": ({"J": 1}, 3600.0, True),
    "A": ({"A": 1}, 1.0, True),
    "V": ({"J": 1, "s": -1, "A": -1}, 1.0, True),
    "USD": ({"USD": 1}, 1.0, True),
    "m": ({"m": 1}, 1.0, True),
    "cm": ({"m": 1}, 0.01, False),  # defect densities are read per cm2
    "K": ({"K": 1}, 1.0, False),
    "token": ({"token": 1}, 1.0, True),
    "cycle": ({"cycle": 1}, 1.0, True),
    "Hz": ({"cycle": 1, "s": -1}, 1.0, True),
}

# What people write and what it could mean: never guessed, always asked back.
AMBIGUOUS = {
    "FLOPS": "FLOP for work, FLOP/s for a rate",
    "FLOPs": "FLOP for work, FLOP/s for a rate",
    "flops": "FLOP for work, FLOP/s for a rate",
    "OPS": "OP for work, OP/s for a rate",
    "b": "bit for bits, B for bytes",
    "bps": "bit/s for bits, B/s for bytes",
    "Bps": "B/s",
    "KB": "kB for 1000 bytes, KiB for 1024",
    "sec": "s",
    "bytes": "B",
    "Byte": "B",
}

TAGS = {
    "per_direction": "direction",
    "bidirectional": "direction",
    "dense": "sparsity",
    "sparse": "sparsity",
    "per_core": "scope",
    "per_chip": "scope",
    "per_node": "scope",
    "per_rack": "scope",
}

# A rate taken at a clock says so, "@1755MHz", and meets no rate of another clock.
_CLOCK = re.compile(r"@(\d+(?:\.\d+)?)MHz")


def axis_of(tag: str) -> str | None:
    """What a tag separates: direction, sparsity, scope, clock; None for no tag."""
    return "clock" if _CLOCK.fullmatch(tag) else TAGS.get(tag)


def clock_of(tags: frozenset[str]) -> float | None:
    """The clock in Hz among some tags."""
    found = next(filter(None, map(_CLOCK.fullmatch, tags)), None)
    return float(found[1]) * 1e6 if found else None


# Conversions between dimensions that are exact but must be asked for.
CROSS = {
    ("bit", "B"): 1 / 8,
    ("B", "bit"): 8.0,
    ("MAC", "FLOP"): 2.0,
    ("FLOP", "MAC"): 0.5,
}

Dims = tuple[tuple[str, int], ...]
# Units that are words: they take an s, "4 bits" and "30 tokens/s", but "8 Gbit/s".
_WORD = re.compile(r"^([kMGT]?(?:token|cycle)|bit|day|year)(?=/|$)")
_WORDS = re.compile(r"(?<![A-Za-z])([kMGT]?(?:token|cycle)|bit|day|year)s(?![A-Za-z])")
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_POWER = re.compile(r"(?<!\w)([A-Za-zµ]+)\^?(-?\d)(?!\w)")
_FACTOR = re.compile(r"^([A-Za-zµ%]+?|1)(?:\^?(-?\d+))?$")
_EXPRESSION = re.compile(r"[^*·/]+(?:[*·/][^*·/]+)*")


@dataclass(frozen=True, slots=True)
class Unit:
    """Dimensions, factor to SI, printed symbol, tags and prefix family."""

    dims: Dims
    factor: float
    symbol: str
    tags: frozenset[str] = frozenset()
    family: str = ""  # "decimal" or "binary" for prefixed bytes and bits

    @property
    def text(self) -> str:
        """The symbol with its tags, as it can be parsed again."""
        return " ".join([self.symbol or "1", *sorted(self.tags)])

    def behind(self, number: str) -> str:
        """A printed number and the unit, as both are said: ``1 bit``, ``4 bits``."""
        one = number.lstrip("-") == "1"
        symbol = self.symbol if one else plural(self.symbol)
        return f"{number} {typeset(symbol)}".rstrip()

    def dimension(self, name: str) -> int:
        """Exponent of one base dimension (0 when absent)."""
        return dict(self.dims).get(name, 0)

    def bare(self) -> Unit:
        """The same unit without tags."""
        return replace(self, tags=frozenset())


def typeset(symbol: str) -> str:
    """A unit with its powers raised: ``mm²`` for ``mm2``; `parse` reads both."""

    def raised(found: re.Match[str]) -> str:
        known = found[1] in _readable_symbols()  # "fp8" is no power of a unit
        return found[1] + found[2].translate(_RAISED) if known else found[0]

    return _POWER.sub(raised, symbol)


def plural(symbol: str) -> str:
    """A unit as it stands behind a number that is not one; `parse` reads both."""
    return _WORD.sub(r"\1s", symbol)


def axis_applies(axis: str, dims: Dims) -> bool:
    """Whether a tag of this axis means anything for these dimensions."""
    d = dict(dims)
    if axis == "clock":  # a time is a time, whatever clock it was counted in
        work = any(d.get(x) for x in ("B", "bit", "FLOP", "MAC", "OP"))
        return work if d.get("s") == -1 else bool(d.get("cycle"))
    if axis == "direction":
        return any(d.get(x) == 1 for x in ("B", "bit")) and d.get("s") == -1
    arithmetic = any(d.get(x) for x in ("FLOP", "MAC", "OP"))
    if axis == "sparsity":
        return bool(arithmetic)
    return bool(arithmetic or any(d.get(x) for x in ("B", "bit", "J", "USD")))


def keep_tags(tags: frozenset[str], dims: Dims) -> frozenset[str]:
    """The tags that still mean something for a result of these dimensions."""
    if not tags:
        return tags
    return frozenset(t for t in tags if axis_applies(axis_of(t) or "", dims))


def join_tags(
    a: frozenset[str], b: frozenset[str], describe: Callable[[], str]
) -> frozenset[str]:
    """Union of two tag sets; UnitError when both name the same axis differently.

    ``describe`` gives the words for the error; it is only called for one.
    """
    if not a or a == b:
        return b
    for x in a:
        for y in b:
            if x != y and axis_of(x) == axis_of(y):
                how = f"convert one first, for example .retag({x!r}, factor=...)"
                if axis_of(x) == "clock":
                    how = "two clocks never meet; take both .at_clock() of one"
                raise UnitError(f"{describe()}: one side is {x}, the other {y}; {how}")
    return a | b


def _unknown(symbol: str, text: str) -> UnitError:
    for suffix, advice in AMBIGUOUS.items():
        prefix = symbol[: len(symbol) - len(suffix)]
        if symbol.endswith(suffix) and prefix in {*DECIMAL, *BINARY, "K"}:
            return UnitError(f"unit {symbol!r} in {text!r} is ambiguous: use {advice}")
    near = ", ".join(_nearest(symbol, _readable_symbols()))
    return UnitError(f"unknown unit {symbol!r} in {text!r}; did you mean {near}?")


@lru_cache(maxsize=1)
def _readable_symbols() -> tuple[str, ...]:
    """Every symbol with every prefix it may carry."""
    found = list(SYMBOLS)
    for symbol, (_, _, prefixable) in SYMBOLS.items():
        binary = BINARY if symbol in ("B", "bit") else ()
        found += [p + symbol for p in (*DECIMAL, *binary) if p and prefixable]
    return tuple(found)


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    """The nearest three: the same but for case first, and some however far they are."""
    import difflib

    names = list(dict.fromkeys(known))
    same = [name for name in names if name.casefold() == word.casefold()]
    near = difflib.get_close_matches(word, names, 3, 0.5)
    return [*dict.fromkeys([*same, *near])][:3] or difflib.get_close_matches(
        word, names, 3, 0.0
    )


def _symbol(symbol: str, text: str) -> tuple[dict[str, int], float, str]:
    """Dimensions, factor and prefix family of one prefixed symbol."""
    if symbol in SYMBOLS:
        dims, factor, _ = SYMBOLS[symbol]
        return dims, factor, ""
    for table, family in ((BINARY, "binary"), (DECIMAL, "decimal")):
        for prefix, scale in table.items():
            base = symbol[len(prefix) :]
            if not prefix or not symbol.startswith(prefix) or base not in SYMBOLS:
                continue
            dims, factor, prefixable = SYMBOLS[base]
            counts_data = base in ("B", "bit")
            if prefixable and (counts_data or family == "decimal"):
                return dims, factor * scale, family if counts_data else ""
    raise _unknown(symbol, text)


@lru_cache(maxsize=4096)
def parse(text: str) -> Unit:
    """Read a unit such as ``"TB/s per_direction"``, ``"pJ/bit"`` or ``"mm2"``."""
    if not isinstance(text, str):
        raise UnitError(f"a unit is a string, not {text!r}")
    expression, *tags = text.translate(_POWERS).replace("us", "µs").split() or ["1"]
    expression = _WORDS.sub(r"\1", expression)
    if not _EXPRESSION.fullmatch(expression):
        raise UnitError(f"cannot read the unit {text!r}: write it as 'GB/s'")
    dims: dict[str, int] = {}
    factor, families = 1.0, set()
    for sign, part in re.findall(r"(^|[*·/])([^*·/]+)", expression):
        match = _FACTOR.match(part)
        if not match:
            raise _unknown(part, text)
        exponent = int(match[2] or 1) * (-1 if sign == "/" else 1)
        base, scale, family = _symbol(match[1], text)
        families.add(family)
        factor *= scale**exponent
        for name, power in base.items():
            dims[name] = dims.get(name, 0) + power * exponent
    clean = tuple(sorted((k, v) for k, v in dims.items() if v))
    symbol = "" if expression == "1" else expression
    family = (families - {""}).pop() if len(families - {""}) == 1 else ""
    return Unit(clean, factor, symbol, _read_tags(tags, clean, text), family)


def _read_tags(tags: list[str], dims: Dims, text: str) -> frozenset[str]:
    seen: dict[str, str] = {}
    for tag in tags:
        axis = axis_of(tag)
        if axis is None:
            near = _nearest(tag, TAGS)[0]
            raise UnitError(f"unknown tag {tag!r} in {text!r}; did you mean {near}?")
        if axis in seen:
            raise UnitError(f"{text!r} is both {seen[axis]} and {tag}")
        if not axis_applies(axis, dims):
            raise UnitError(f"{tag!r} says nothing about {text.split()[0]!r}")
        seen[axis] = tag
    return frozenset(tags)


HERTZ: Dims = (("cycle", 1), ("s", -1))
_NAMED = {(("J", 1), ("s", -1)): "W", (("cycle", 1), ("s", -1)): "Hz"}
_ORDER = "FLOP MAC OP J USD B bit token cycle m K s A".split()


@lru_cache(maxsize=4096)
def canonical(dims: Dims, tags: frozenset[str] = frozenset()) -> Unit:
    """The SI unit of these dimensions, with a readable symbol."""
    if dims in _NAMED:
        return Unit(dims, 1.0, _NAMED[dims], keep_tags(tags, dims))
    powers = sorted(dims, key=lambda d: _ORDER.index(d[0]))
    up = [n + (str(p) if p > 1 else "") for n, p in powers if p > 0]
    down = [n + (str(-p) if p < -1 else "") for n, p in powers if p < 0]
    symbol = "*".join(up) or ("1" if down else "")
    return Unit(dims, 1.0, "/".join([symbol, *down]), keep_tags(tags, dims))


_STEPS = [("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6),
          ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9),
          ("p", 1e-12), ("f", 1e-15)]  # fmt: skip
_SCALABLE = {"B", "bit", "FLOP", "MAC", "OP", "J", "W", "s", "Hz", "token"}


_COUNTS = [("trillion", 1e12), ("billion", 1e9), ("million", 1e6)]


def readable(si: float, unit: Unit, exact: bool = False) -> Unit:
    """A prefixed version of an SI unit that prints between 1 and 1000.

    Large plain numbers become millions, billions or trillions unless ``exact``.
    """
    if not unit.dims and not unit.symbol and not exact:
        for word, scale in _COUNTS:
            if abs(si) >= scale:
                return replace(unit, factor=scale, symbol=word)
    head = re.split(r"[*/]", unit.symbol)[0]
    whole_ratio = head in {"FLOP", "OP", "MAC"} and unit.dimension("B")
    if head not in _SCALABLE or not si or whole_ratio:
        return unit
    for prefix, scale in _STEPS:
        if scale > 1 and head in {"s", "token"}:
            continue
        if scale < 1 and head in {"B", "bit", "FLOP", "MAC", "OP", "token"}:
            continue
        if abs(si) >= scale * 0.9995:
            return replace(unit, factor=scale, symbol=prefix + unit.symbol)
    return unit


def format_number(value: float, digits: int = 3) -> str:
    """A finite number for a reader: thousands separated, no trailing zeros."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    if not 1e-4 <= abs(rounded) < 1e15:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power)}"
    text = f"{rounded:,.{max(0, digits - 1 - exponent)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
