"""``stacklib new KIND``: write a device, part, claim, section, number or exercise.

The tree stays green: what is written loads, runs and is listed where it must be, a
device of which nothing is known, a claim that is open, a section with one number, an
exercise that proves. It is then filled in. All is written or nothing, and nothing is
written over.
"""

from __future__ import annotations

import argparse
import keyword
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacklib import grading
from stacklib.evidence import kinds as claim_kinds
from stacklib.evidence import ledger, pins
from stacklib.hardware.load import KINDS, words
from stacklib.pages.chapters import CHAPTERS

from .arguments import add_json, emit, whole
from .drafts import numbers, parts, sections, stubs

KEY = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PAGE = re.compile(r"[a-z]+/[a-z0-9]+(_[a-z0-9]+)*")
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
OR = ", "
NUMBER = re.compile(r"([1-9]|10)\.([1-9]\d?)")


class Taken(ValueError):
    """What would be written is there already."""


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "new",
        description="Writes files that the tests accept as they are; then fill them.",
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    device = kinds.add_parser("device", help="a spec file of a device")
    device.add_argument("key", help="its key, such as mi300x")
    device.add_argument("--name", help="as its maker prints it (the key)")
    device.add_argument("--vendor", required=True, help="its maker")
    device.add_argument("--year", type=whole, required=True, help="year of release")
    device.add_argument("--kind", dest="of", choices=KINDS, default="gpu", help="(gpu)")
    part = kinds.add_parser("part", help="a row of the catalogue of parts")
    part.add_argument(
        "sort", choices=parts.KINDS, metavar="SORT", help=OR.join(parts.KINDS)
    )
    part.add_argument("key", help="its key, such as trx50_aero_d")
    part.add_argument("--name", default="", help="as its maker prints it (the key)")
    part.add_argument("--device", default="", help="of a card: its device (the key)")
    part.add_argument("--opendb", default="", metavar="FILE", help="a record of OpenDB")
    claim = kinds.add_parser("claim", help="a ledger row and the check of a claim")
    claim.add_argument("id", help="its id, such as decode-wait-share")
    claim.add_argument("--chapter", type=whole, required=True, help="1 to 10")
    claim.add_argument("--page", required=True, help="its page, such as memory/caches")
    new = "; a new claim needs it"
    claim.add_argument("--document", help=f"{', '.join(ledger.DOCUMENTS)}{new}")
    claim.add_argument("--text", help=f"what the document says{new}")
    claim.add_argument("--value", help=f"the number it says{new}")
    claim.add_argument("--unit", help=f"the number's unit, or ratio{new}")
    claim.add_argument("--rule", help=f"{', '.join(claim_kinds.KINDS)}{new}")
    section = kinds.add_parser("section", help="notebook, page module, test, lists")
    section.add_argument("number", help="chapter and number, such as 7.3")
    section.add_argument("title", help="its title; the file is named after it")
    section.add_argument(
        "--covers",
        nargs="+",
        default=[],
        metavar="ID",
        help="ids of book/systems.toml that it shows (the chapter's first one left)",
    )
    number = kinds.add_parser("number", help="a number that a page says")
    number.add_argument("number", help="its section, such as 3.4")
    number.add_argument("name", help="its name, such as lines_held")
    number.add_argument("sentence", help="what it is, in one sentence")
    exercise = kinds.add_parser("exercise", help="an exercise and answers to it")
    exercise.add_argument("number", help="chapter and number, such as 1.4")
    exercise.add_argument("slug", help="its name, such as two_chips")
    exercise.add_argument(
        "--level", choices=grading.LEVELS, default="derive", help="(derive)"
    )
    for kind in (device, part, claim, section, number, exercise):
        kind.add_argument("--root", type=Path, help="the checkout (found from here)")
        add_json(kind)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Write the files and say which. Raises ValueError for bad input."""
    root = (args.root or grading.find_root()).absolute()
    files = MAKERS[args.kind](root, args)
    if args.json:
        emit({"kind": args.kind, "wrote": [str(path) for path in files]})
        return 0
    for path in files:
        print(f"wrote {path}")
    print("The tests accept it as it is; book/how-to-add.md says what to fill in.")
    return 0


def new_device(root: Path, args: argparse.Namespace) -> list[Path]:
    """The spec file of a device."""
    key, name = args.key, args.name or args.key
    well_formed(key, KEY, "key", "mi300x or rtx_4090")
    if not words(name) or not args.vendor.strip():
        raise ValueError(f"name {name!r}, vendor {args.vendor!r}: write a word")
    if not 1970 <= args.year <= 2100:
        raise ValueError(f"year {args.year}: write the year of release, such as 2025")
    key = key.replace("-", "_")
    folder = existing(root / "stacklib" / "hardware" / "data" / "accelerators")
    text = stubs.device(key, name, args.vendor, args.year, args.of)
    return write_all({folder / f"{key}.toml": text.encode()})


def new_part(root: Path, args: argparse.Namespace) -> list[Path]:
    """A row of the catalogue: what a record tells, and the rest unknown."""
    well_formed(args.key, KEY, "key", "trx50_aero_d")
    key = args.key.replace("-", "_")
    folder = existing(root / "stacklib" / "cost" / "data" / "parts")
    path = folder / f"{args.sort}.toml"
    text = path.read_text("utf-8")
    text = parts.part(text, args.sort, key, args.name, args.device, args.opendb)
    return write_all({}, {path: text.encode()})


def new_claim(root: Path, args: argparse.Namespace) -> list[Path]:
    """A row of the ledger, where the id is new, a check, and the judgement: open."""
    id, page = args.id, args.page
    well_formed(id, ID, "id", "decode-wait-share")
    well_formed(page, PAGE, "page", "memory/caches")
    path = existing(root / "stacklib" / "evidence") / "data" / "claims.csv"
    states = path.with_name(pins.PINNED.name)
    record = existing(root / "tests" / "pages") / "judged.csv"
    checks = stubs.module_of(existing(root / "stacklib" / "pages"), id, page)
    rows, judged = path.read_bytes(), record.read_bytes()
    source = checks.read_bytes().decode() if checks.exists() else ""
    text = stubs.with_check(source, checks.name, id, page).encode()
    known = {claim.id: claim for claim in ledger.read(path)}
    changed = {}
    if id not in known:
        changed[path] = row_added(rows, args)
        told = f"{id} was added, of document {args.document}."
        changed[states] = pinned(states.read_text("utf-8"), changed[path], told)
    claim = known[id] if id in known else loaded(changed[path], id)
    if claim.chapter != args.chapter:
        raise ValueError(f"claim {id!r} is of chapter {claim.chapter}: --chapter")
    changed[record] = stubs.record_with(judged, claim)
    if source:
        return write_all({}, {checks: text, **changed})
    return write_all({**room_of(checks.parent, page), checks: text}, changed)


def pinned(before: str, rows: bytes, reason: str) -> bytes:
    """The pins of the ledger with one more, for a row that was added."""
    return pins.with_pin(before, rows.decode(), reason).encode()


def row_added(rows: bytes, args: argparse.Namespace) -> bytes:
    """The ledger with the row of a new claim; ValueError for what it lacks."""
    needed = ("document", "text", "value", "unit", "rule")
    if missing := [f"--{n}" for n in needed if not (getattr(args, n) or "").strip()]:
        raise ValueError(f"claim {args.id!r} is new: it needs {', '.join(missing)}")
    cells = {
        "id": args.id,
        "seed": args.document,
        "chapter": str(args.chapter),
        "claim": args.text,
        "value": args.value,
        "unit": args.unit,
        "kind": args.rule,
        "how_to_check": f"by stacklib, on the page {args.page}",
        "computed": "",
        "verdict": "unverifiable",
        "why": "Nobody has computed it yet.",
    }
    return stubs.ledger_with(rows, cells)


def loaded(rows: bytes, id: str) -> ledger.Claim:
    """The claim of a ledger not yet written; LedgerError or UnitError for its row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.csv"
        path.write_bytes(rows)
        claim = next(claim for claim in ledger.read(path) if claim.id == id)
    if claim.is_number:
        claim.quantity()
    return claim


def new_section(root: Path, args: argparse.Namespace) -> list[Path]:
    """Notebook, page module, test, and the section's place in the lists."""
    if not (found := NUMBER.fullmatch(args.number)):
        raise ValueError(f"{args.number!r}: chapter and number, such as 7.3")
    chapter, name = int(found[1]), module_name(args.title)
    folder = existing(root / "chapters") / sections_folder(root, chapter)
    refuse_taken(root, folder, args.number, name)
    given = sections.words_of(args.number, args.title, name)
    slug, room = name.replace("_", "-"), given["room"]
    pages = existing(root / "stacklib" / "pages") / room
    if (pages / name).exists():
        raise Taken(f"{pages / name} is there; give the section another title")
    files = {
        folder / f"{slug}.ipynb": sections.notebook(given),
        pages / f"{name}.py": sections.PAGE.format(**given),
        root / "tests" / "pages" / room / f"test_{name}.py": (
            sections.TEST.format(**given)
        ),
    }
    new = {path: text.encode() for path, text in files.items()}
    lists = listed(root, chapter, folder.name, slug, name, args.covers)
    return write_all({**room_of(pages, f"chapter {chapter}"), **new}, lists)


def new_number(root: Path, args: argparse.Namespace) -> list[Path]:
    """One more cell of a page, which says a number to be filled in."""
    if not (found := NUMBER.fullmatch(args.number)):
        raise ValueError(f"{args.number!r}: the section's number, such as 3.4")
    well_formed(args.name, NAME, "name", "lines_held")
    if not args.sentence.strip():
        raise ValueError(f"{args.sentence!r}: say in a sentence what the number is")
    folder = existing(root / "chapters") / sections_folder(root, int(found[1]))
    path = numbers.notebook_of(folder, sections.numbered(folder, args.number))
    old = path.read_text("utf-8")
    text, link = numbers.with_number(old, path.stem, args.name, args.sentence)
    if not args.json:
        print(f"any page links it as {link}")
    return write_all({}, {path: text.encode()})


def listed(
    root: Path, chapter: int, folder: str, slug: str, name: str, ids: list[str]
) -> dict[Path, bytes]:
    """Table of contents and coverage map, with the section in them."""
    book = existing(root / "book")
    toc, covered = book / "_toc.yml", book / "coverage.toml"
    coverage = covered.read_text("utf-8")
    systems = (book / "systems.toml").read_text("utf-8")
    ids = sections.to_cover(systems, coverage, chapter, ids)
    call = f"stacklib.pages.{CHAPTERS[chapter].room}.{name}.example"
    section = f"chapters/{folder}/{slug}.ipynb"
    contents = sections.contents_with(toc.read_text("utf-8"), folder, slug)
    rows = sections.coverage_with(coverage, ids, section, call)
    return {toc: contents.encode(), covered: rows.encode()}


def refuse_taken(root: Path, folder: Path, number: str, name: str) -> None:
    """Raise Taken for a number or a name that another section has."""
    if there := sections.numbered(folder, number):
        raise Taken(f"section {number} is there: {folder / there}")
    if there := sections.said_in(root, name):
        raise Taken(f"{there} says numbers of {name!r}; give another title")


def module_name(title: str) -> str:
    """A title as the name of a module: ``Who waits?`` is ``who_waits``."""
    name = "_".join(words(title))
    if not name.isidentifier() or keyword.iskeyword(name) or len(title) > 70:
        raise ValueError(f"title {title!r}: words, the first a letter, at most 70")
    if set(title) & set('"\\\n'):
        raise ValueError(f"title {title!r}: without quotes, backslashes and breaks")
    return name


def sections_folder(root: Path, chapter: int) -> str:
    """``07-quantizers``: the folder of a chapter."""
    named = sorted((root / "chapters").glob(f"{chapter:02}-*"))
    return named[0].name if named else CHAPTERS[chapter].folder


def room_of(folder: Path, what: str) -> dict[Path, bytes]:
    """The first file of a folder of pages, where it has none."""
    first = folder / "__init__.py"
    return {} if first.exists() else {first: f'"""Pages of {what}."""\n'.encode()}


def new_exercise(root: Path, args: argparse.Namespace) -> list[Path]:
    """The file of an exercise, and those of its other right and its wrong answers."""
    number, slug = args.number, args.slug
    if not (found := NUMBER.fullmatch(number)):
        raise ValueError(f"{number!r}: chapter and number are needed, such as 1.4")
    well_formed(slug, KEY, "slug", "two_chips")
    existing(root / "exercises")
    for e in grading.discover(root):
        if e.id == number:
            raise Taken(f"exercise {number} is there: {e.file}")
    folder = root / "exercises" / sections_folder(root, int(found[1]))
    name = f"{int(found[2]):02}_{slug.replace('-', '_')}.py"
    return write_all(
        {
            folder / name: stubs.exercise(args.level).encode(),
            folder / "right" / name: stubs.RIGHT.encode(),
            folder / "wrong" / f"{name[:-3]}.diff": stubs.WRONG.encode(),
        }
    )


MAKERS = {
    "device": new_device,
    "part": new_part,
    "claim": new_claim,
    "section": new_section,
    "number": new_number,
    "exercise": new_exercise,
}


def well_formed(text: str, pattern: re.Pattern[str], what: str, such_as: str) -> None:
    """Raise ValueError for a name that the book could not use."""
    if not pattern.fullmatch(text):
        raise ValueError(f"{what} {text!r}: lower case, such as {such_as}")


def existing(folder: Path) -> Path:
    """The folder, or ValueError where it is not one of a checkout."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not there; name the checkout with --root")
    return folder


def write_all(
    new: Mapping[Path, bytes], changed: Mapping[Path, bytes] | None = None
) -> list[Path]:
    """Write files that must all be new, and those that change: all, or none."""
    for path in new:
        if path.exists():
            raise Taken(f"{path} is there; nothing was written")
    before = {path: path.read_bytes() for path in changed or {}}
    files = {**new, **(changed or {})}
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        for path in new:
            path.unlink(missing_ok=True)
        for path, data in before.items():
            if path.read_bytes() != data:
                path.write_bytes(data)
        raise ValueError(f"{error.filename}: {error.strerror}; nothing kept") from None
    return list(files)
