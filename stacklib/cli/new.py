"""``stacklib new device|claim|exercise``: write a stub that the checkers refuse.

A stub is valid in form and says TODO where a fact, a computation or a sentence is
missing. The loader, the ledger or the proof of exercises names each TODO left.
Nothing is ever written over.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacklib import grading

from . import stubs
from .arguments import add_json, emit, whole

KEY = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PAGE = re.compile(r"[a-z]+/[a-z0-9]+(_[a-z0-9]+)*")
NUMBER = re.compile(r"([1-9]\d?)\.([1-9]\d?)")


class Taken(ValueError):
    """What would be written is there already."""


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "new",
        help="write the stub of a device, claim or exercise",
        description="Writes a stub with TODO in it; the tests fail until it is filled.",
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    device = kinds.add_parser("device", help="a spec file of a device")
    device.add_argument("key", help="its key, such as mi300x")
    claim = kinds.add_parser("claim", help="a ledger row and the check of a claim")
    claim.add_argument("id", help="its id, such as decode-wait-share")
    claim.add_argument("--chapter", type=whole, required=True, help="1 to 10")
    claim.add_argument("--page", required=True, help="its page, such as memory/caches")
    exercise = kinds.add_parser("exercise", help="an exercise, two wrong answers")
    exercise.add_argument("number", help="chapter and number, such as 1.4")
    exercise.add_argument("slug", help="its name, such as two_chips")
    exercise.add_argument(
        "--level", choices=grading.LEVELS, default="derive", help="(derive)"
    )
    for kind in (device, claim, exercise):
        kind.add_argument("--root", type=Path, help="the checkout (found from here)")
        add_json(kind)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Write the stub and say what it asks for. Raises ValueError for bad input."""
    root = args.root or grading.find_root()
    if args.kind == "device":
        files = new_device(root, args.key)
    elif args.kind == "claim":
        files = new_claim(root, args.id, args.chapter, args.page)
    else:
        files = new_exercise(root, args.number, args.slug, args.level)
    if args.json:
        emit({"kind": args.kind, "wrote": [str(path) for path in files]})
        return 0
    for path in files:
        print(f"wrote {path}")
    print("Fill in every TODO; `make test` fails until you have.")
    return 0


def new_device(root: Path, key: str) -> list[Path]:
    """The spec file of a device."""
    well_formed(key, KEY, "key", "mi300x or rtx_4090")
    key = key.replace("-", "_")
    folder = existing(root / "stacklib" / "hardware" / "data" / "accelerators")
    return write_all({folder / f"{key}.toml": stubs.device(key)})


def new_claim(root: Path, id: str, chapter: int, page: str) -> list[Path]:
    """A row of the ledger, where the id is new, and a check in its page's module."""
    well_formed(id, ID, "id", "decode-wait-share")
    well_formed(page, PAGE, "page", "memory/caches")
    if not 1 <= chapter <= 10:
        raise ValueError(f"chapter {chapter}: the book has chapters 1 to 10")
    ledger = existing(root / "stacklib" / "evidence") / "data" / "claims.csv"
    checks = stubs.module_of(existing(root / "stacklib" / "pages"), id, page)
    rows = ledger.read_text("utf-8")
    source = checks.read_text("utf-8") if checks.exists() else ""
    row = stubs.ledger_row(rows, id, chapter)
    source = stubs.with_check(source, checks.name, id, page)
    checks.parent.mkdir(parents=True, exist_ok=True)
    checks.write_text(source, "utf-8")
    if not row:
        return [checks]
    ledger.write_text(rows + "\n" * (not rows.endswith("\n")) + row, "utf-8")
    return [checks, ledger]


def new_exercise(root: Path, number: str, slug: str, level: str) -> list[Path]:
    """The file of an exercise, and that of its wrong answers."""
    if not (found := NUMBER.fullmatch(number)):
        raise ValueError(f"{number!r}: chapter and number are needed, such as 1.4")
    well_formed(slug, KEY, "slug", "two_chips")
    slug = slug.replace("-", "_")
    for e in grading.discover(root):
        if e.id == number:
            raise Taken(f"exercise {number} is there: {e.file}")
    folder = chapter_folder(root, int(found[1]))
    name = f"{int(found[2]):02}_{slug}.py"
    return write_all(
        {folder / name: stubs.exercise(level), folder / "wrong" / name: stubs.WRONG}
    )


def chapter_folder(root: Path, chapter: int) -> Path:
    """``exercises/NN-topic``, named as the chapter is."""
    for place in ("exercises", "chapters"):
        if named := sorted((root / place).glob(f"{chapter:02}-*")):
            return root / "exercises" / named[0].name
    raise ValueError(f"chapter {chapter}: no folder chapters/{chapter:02}-... yet")


def well_formed(text: str, pattern: re.Pattern[str], what: str, such_as: str) -> None:
    """Raise ValueError for a name that the book could not use."""
    if not pattern.fullmatch(text):
        raise ValueError(f"{what} {text!r}: lower case, such as {such_as}")


def existing(folder: Path) -> Path:
    """The folder, or ValueError where it is not one of a checkout."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not there; name the checkout with --root")
    return folder


def write_all(files: Mapping[Path, str]) -> list[Path]:
    """Write files that must all be new; none is written where one is taken."""
    for path in files:
        if path.exists():
            raise Taken(f"{path} is there; nothing was written")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(files)
