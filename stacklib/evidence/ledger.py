"""Claims as the documents make them: ``data/claims.csv``, read strictly."""

from __future__ import annotations

import csv
import difflib
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from stacklib.quantity import Quantity, Source
from stacklib.quantity.units import format_number, typeset

from . import ranges
from .kinds import KINDS, Number

Row = TypeVar("Row")
DATA = Path(__file__).parent / "data"
DOCUMENTS = {
    "000": "The Complete AI Hardware Stack, Layer by Layer",
    "001": "The Whole Stack: Everything Between a Transistor and a Token",
    "002": "Posts on chips and kernels, E. Andere",
    "003": "AI Hardware: From Beginner to Advanced",
    "004": "Where the 100x Comes From",
}
CSV_VERDICTS = (
    "reproduced",
    "close",
    "wrong",
    "conflict",
    "external",
    "unverifiable",
)
COLUMNS = (
    "id",
    "seed",
    "chapter",
    "claim",
    "value",
    "unit",
    "kind",
    "how_to_check",
    "computed",
    "verdict",
    "why",
)
CHAPTERS = range(1, 11)

# The ledger's words for units that Quantity spells otherwise. A unit that is
# missing here and unknown to Quantity raises when its claim is first checked.
_UNITS = {
    "percent": "%", "ratio": "", "ratio per 2 years": "", "speedup": "",
    "warps": "", "schedulers": "", "ops": "",
    "fraction": "", "exponent": "", "years": "year", "elements": "", "threads": "",
    "cycles": "cycle", "all-reduces/layer": "", "all-reduces/token": "",
    "days": "day", "tok/s": "token/s", "tokens": "token", "bits": "bit",
    "way": "", "error": "", "sectors": "", "requests": "", "passes": "",
    "conflicts": "", "unswizzled modes": "", "B/clk": "B/cycle",
    "ratio per tier": "", "ratio/yr": "",
    "KB": "kB", "Tb/s": "Tbit/s", "Gb/s": "Gbit/s",
    "stacks": "", "dies": "", "TSVs": "", "um": "µm",
    "tensor cores": "", "SMs": "", "FMA/cycle": "MAC/cycle", "dim": "", "cores": "",
    "MAC/clk/SM": "MAC/cycle", "ratio per SM": "", "units": "",
    "comm/compute time ratio": "",
    "ratio per node": "", "reticle": "", "reticles": "", "chips": "",
    "abs error": "", "decades": "", "digits": "", "lanes": "", "levels": "",
    "MACs per side": "", "channels": "",
    "max": "", "relative error": "", "values": "", "variants": "",
    "exponent of d": "", "exponent of N": "", "lines": "", "versions": "", "tiles": "",
    "launches": "", "chi2/dof": "", "people": "", "reads": "", "generations": "",
    "GPU generations": "", "points": "", "passes over N^2": "", "remainder": "",
    "passes of 600 KB": "",
    "GPUs": "", "GPUs per CPU": "", "ports": "", "ways": "",
    "connected components": "", "hops": "", "x (N-1) steps": "",
    "x data size": "", "fields": "",
    "MB/chip": "MB", "min/day": "min",
    "FLOP/param/token": "FLOP/token", "FLOP/B per token": "FLOP/B/token",
    "USD/1M tokens": "USD/Mtoken",
    "failures/day": "", "magnitude": "", "switches": "", "GPUs per rack": "",
    "instructions": "", "ISAs": "", "products": "", "layers": "", "months": "",
    "foundries": "", "kUSD/yr": "kUSD/year",
}  # fmt: skip
# Units that count in millions or billions: what one of them is.
_SCALED = {
    "1e9 USD": (1e9, "USD"),
    "1e9 transistors": (1e9, "1"),
    "1e12 transistors": (1e12, "1"),
    "1e3 cores": (1e3, "1"),
    "1e3 GPUs": (1e3, "1"),
    "G transistors": (1e9, "1"),
    "MTr/mm2": (1e6, "1/mm2"),
    "B params": (1e9, "1"),
    "M params": (1e6, "1"),
    "1e9 params equivalent": (1e9, "1"),
    "1e6 ops/s": (1e6, "1/s"),
    "1e3 wafers/month": (1e3, "1"),
    "1e3 tokens": (1e3, "1"),
    "B active": (1e9, "1"),
}
# How a unit of the ledger is shown, where not as it is written.
_WORDS = (
    (r"^percent$", "%"),
    (r"^speedup$", "gain"),
    (r"^ratio/yr$", "× a year"),
    (r"^ratio\b", "×"),
    (r"^x ", "× "),
    (r"^1e3 ", "thousand "),
    (r"^1e6 ", "million "),
    (r"^1e9 ", "billion "),
    (r"^1e12 ", "trillion "),
    (r"^GUSD", "billion USD"),
    (r"^MUSD", "million USD"),
    (r"^kUSD", "thousand USD"),
    (r"^B (active|params)", r"billion \1"),
    (r"^[BG] (params|transistors)", r"billion \1"),
    (r"^M ", "million "),
    (r"params$", "parameters"),
    (r" \((name|fits)\)$", ""),
    (r"/yr$", " a year"),
)

# "(value = low end)": which of the claim's numbers its value is.
_MEANT = re.compile(r"\s*\(value (?:1 )?= ([^)]*)\)")
ABOUT = re.compile(r"\b(about|some|roughly|nearly|around)\b", re.IGNORECASE)
_SAME = re.compile(r"\bdup-of:([a-z0-9-]+)")
CLAIMS = "claims/"  # how the key of a claimed value begins
READ = "2026-11-21"  # when the documents were read


class LedgerError(ValueError):
    """A row of the ledger that cannot be read; names file, line and id."""


class UnknownClaim(LookupError):
    """No claim of this id."""


@dataclass(frozen=True)
class Claim:
    """One row: what a document says, and the first review of it."""

    id: str
    source: str
    chapter: int
    text: str
    value: float
    unit: str
    kind: str
    how: str
    first_computed: float | None
    first_verdict: str
    first_why: str
    same_as: str = ""  # id of the claim this one repeats
    meant: str = ""  # which of several numbers the value is: "low end"

    @property
    def document(self) -> str:
        """Title of the source document."""
        return DOCUMENTS[self.source]

    @property
    def is_number(self) -> bool:
        """False for a proposition, whatever number stands in it."""
        return self.kind != "proposition"

    @property
    def claimed(self) -> str:
        """Value and unit as printed in the *claimed* column."""
        if self.unit.startswith("bool"):
            return "yes" if self.value else "no"
        if self.unit == "year":  # a date, not a duration
            return " to ".join(f"{end:g}" for end in self.ends or [self.value])
        if self.ends:
            low, high = (format_number(end, 6) for end in self.ends)
            return f"{low} to {high} {self.unit_words}"
        meant = f" ({self.meant})" if self.meant not in ("", self.unit_words) else ""
        return f"{format_number(self.value, 6)} {self.unit_words}{meant}"

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of a claim that is a range, in its unit; None for one number."""
        return ranges.stated(self.text, self.value)

    @property
    def unit_words(self) -> str:
        """The unit as a reader sees it."""
        text = self.unit
        for form, words in _WORDS:
            text = re.sub(form, words, text)
        return typeset(text)

    def quantity(self, value: float | None = None) -> Quantity:
        """The claimed value, or an end of it, of kind ``claimed``.

        Raises UnitError for an unknown unit.
        """
        scale, unit = _SCALED.get(self.unit, (1, _UNITS.get(self.unit, self.unit)))
        source = Source(self.document, f"claim {self.id}", READ, "secondary")
        value = (self.value if value is None else value) * scale
        made = {"label": self.id, "source": source, "key": f"{CLAIMS}{self.id}"}
        return Quantity(value, unit, kind="claimed", **made)  # type: ignore[arg-type]

    def number(self, end: float) -> Number:
        """A claimed end with the digits it is printed to: the zeros of 300 are none.

        Parameters
        ----------
        end : float
            The value, or an end of the range.
        """
        digits = f"{end:.12g}".replace(".", "").lstrip("-0")
        exact = self.kind == "count" and not ABOUT.search(self.text)
        return Number(end, 15 if exact else max(1, len(digits.rstrip("0"))))

    def in_unit(self, ours: Quantity) -> float:
        """A value of ours as a plain number in the claim's unit.

        Parameters
        ----------
        ours : Quantity
            What was computed; UnitError where it is of another dimension.
        """
        one = self.quantity(1)
        return ours.to(one.unit or "1").si / one.si

    def in_words(self, computed: Quantity) -> str:
        """A ``computed`` value of ours in the claim's unit, to four digits."""
        scale, unit = _SCALED.get(self.unit, (1, self.quantity().unit))
        if self.unit == "year":  # a date, as in `claimed`
            return f"{computed.to(unit).value:g}"
        if scale != 1:
            return (
                f"{format_number(computed.to(unit).value / scale, 4)} {self.unit_words}"
            )
        text = computed.text(unit, 4)
        return f"{text} {self.unit_words}".rstrip() if unit == "" else text


def _plain(text: str) -> str:
    """A row's words without shorthand: ``seed 001``, ``dup-of:ID``, ``mm2``."""
    text = re.sub(r"\b([cmuµn]?m)2\b", r"\1²", text)
    text = re.sub(r"\b[Ss]eed (\d{3})\b", lambda found: titled(found[1]), text)
    return re.sub(r"\s*\bdup-of:[a-z0-9-]+", "", text)


def titled(document: str) -> str:
    """A document as a sentence names it: its title, in quotes."""
    return f"“{DOCUMENTS[document]}”"


def _number(text: str, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LedgerError(f"{column} {text!r} is not a number")
    return value


def _one_of(text: str, allowed: Any, column: str) -> str:
    if text not in allowed:
        raise LedgerError(f"{column} {text!r} is not one of {', '.join(allowed)}")
    return text


def _claim(row: dict[str, str]) -> Claim:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row["id"]):
        raise LedgerError(f"id {row['id']!r}: lower case words joined by '-'")
    for column in ("claim", "unit", "how_to_check", "why"):
        if not row[column].strip():
            raise LedgerError(f"{column} is empty")
    first = row["computed"]
    return Claim(
        id=row["id"],
        source=_one_of(row["seed"], DOCUMENTS, "seed"),
        chapter=int(_one_of(row["chapter"], [str(n) for n in CHAPTERS], "chapter")),
        text=_MEANT.sub("", _plain(row["claim"])),
        meant=meant[1] if (meant := _MEANT.search(row["claim"])) else "",
        value=_number(row["value"], "value"),
        unit=row["unit"],
        kind=_one_of(row["kind"], KINDS, "kind"),
        how=_plain(row["how_to_check"]),
        first_computed=_number(first, "computed") if first else None,
        first_verdict=_one_of(row["verdict"], CSV_VERDICTS, "verdict"),
        first_why=_plain(row["why"]),
        same_as=same[1] if (same := _SAME.search(row["why"])) else "",
    )


def read_rows(
    path: Path,
    columns: tuple[str, ...],
    made: Callable[[dict[str, str]], Row],
    fault: type[Exception],  # what `made` raises, and what is raised here
) -> dict[str, Row]:
    """Rows of a CSV by their ``id``; a fault names the file, the line and the id."""
    rows: dict[str, Row] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != columns:
            raise fault(f"{path.name}: columns must be {', '.join(columns)}")
        for row in reader:
            where = f"{path.name} line {reader.line_num}, {row['id']!r}"
            if None in row or None in row.values():
                raise fault(f"{where}: needs {len(columns)} cells")
            if row["id"] in rows:
                raise fault(f"{where}: id appears twice")
            try:
                rows[row["id"]] = made(row)
            except fault as error:
                raise fault(f"{where}: {error}") from None
    return rows


def read(path: Path) -> list[Claim]:
    """Read a ledger file.

    Raises LedgerError for a missing column, an unknown verdict, document or chapter, a
    value that is not a number, an empty text, a repeated id, or a row that repeats a
    claim there is not; says which row.
    """
    claims = read_rows(path, COLUMNS, _claim, LedgerError)
    for claim in claims.values():
        if claim.same_as and claim.same_as not in claims:
            raise LedgerError(
                f"{path.name}, {claim.id!r}: repeats {claim.same_as!r}, which is no id"
            )
    return list(claims.values())


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """By id, the document that a claim no model can settle rests on."""
    text = (DATA / "cited.toml").read_text("utf-8")
    return checked_sources(tomllib.loads(text))


def checked_sources(raw: dict[str, Any]) -> dict[str, str]:
    """The sources, each of a claim the first review leaves to a document.

    Raises LedgerError for an id that is not in the ledger or that the first review
    does not call ``external``, and for a source that is not a text or is our memory.
    """
    external = {c.id for c in load() if c.first_verdict == "external"}
    for id, source in raw.items():
        if id not in external:
            raise LedgerError(f"cited.toml: {id!r} is no claim of verdict 'external'")
        if not isinstance(source, str) or not source.strip():
            raise LedgerError(f"cited.toml: {id!r} names no source: {source!r}")
        if "recalled" in source:
            raise LedgerError(f"cited.toml: {id!r} rests on memory, not on a document")
    return raw


@lru_cache(maxsize=1)
def load() -> list[Claim]:
    """Every claim of the book's ledger, in file order."""
    return read(DATA / "claims.csv")


def get(id: str) -> Claim:
    """The claim of this id, or UnknownClaim with the nearest ids."""
    for claim in load():
        if claim.id == id:
            return claim
    near = difflib.get_close_matches(id, [c.id for c in load()], 3)
    hint = "; stacklib claims --search WORD lists those that hold a word"
    hint = f"; nearest: {', '.join(near)}" if near else hint
    raise UnknownClaim(f"no claim {id!r}{hint}")
