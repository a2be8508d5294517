"""What differs between two built books: `python -m _tools.compare OLD NEW`.

Prints every difference on a line, then their counts. A number that moved is told
apart from a sentence that changed: texts are compared with their digits masked, and
where those agree, as they stand. Pages of the API are compared by presence alone.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from _tools import built
from _tools.built import Page

DIGITS = re.compile(r"[-−+]?\d[\d.,]*")
API = "book/api/"
# What a number says of itself, besides its leaves.
SAID = ("what", "text", "unit", "evidence", "error_bar", "formula")
WIDTH = 160


class Difference(NamedTuple):
    """One thing that is not the same in both books."""

    kind: str
    where: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {cut(self)}"


def cut(found: Difference) -> str:
    """Old and new from just before where they part, so that a line stays readable."""
    pairs = zip(found.old, found.new, strict=False)
    parted = [i for i, (a, b) in enumerate(pairs) if a != b]
    start = max(0, min([*parted, len(found.old), len(found.new)]) - 40)
    dots = "…" if start else ""
    old, new = (dots + text[start : start + WIDTH] for text in (found.old, found.new))
    return f"{old if found.old else '(none)'} → {new if found.new else '(none)'}"


def differences(old: Mapping[str, Page], new: Mapping[str, Page]) -> list[Difference]:
    """Every difference, page after page."""
    found = []
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            found.append(Difference("page", name, *there(name in old, name in new)))
        elif not name.startswith(API):
            found += dict.fromkeys(of_page(name, old[name], new[name]))
    return found


def there(*held: bool) -> list[str]:
    return ["there" if one else "" for one in held]


def of_page(page: str, old: Page, new: Page) -> Iterator[Difference]:
    """The differences of one page."""
    for kind in sorted(old.named.keys() | new.named.keys()):
        a, b = old.named.get(kind, {}), new.named.get(kind, {})
        for name in sorted(a.keys() | b.keys()):
            if a.get(name) != b.get(name):
                where = f"{page}#{name}"
                yield Difference(kind, where, a.get(name, ""), b.get(name, ""))
    for kind in sorted(old.listed.keys() | new.listed.keys()):
        yield from in_order(
            kind, page, old.listed.get(kind, []), new.listed.get(kind, [])
        )
    for name in sorted(old.named.get("number", {}).keys() & new.trees.keys()):
        if name in old.trees:
            yield from derivations(f"{page}#{name}", name, old.trees, new.trees)


def in_order(kind: str, page: str, old: list[str], new: list[str]) -> Iterator:
    """Texts that came, went or changed; then those in which only digits differ."""
    a, b = ([DIGITS.sub("#", text) for text in texts] for texts in (old, new))
    for what, i, k, m, n in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        pairs = list(zip(old[i:k], new[m:n], strict=False))
        for one, other in pairs:
            if one != other:
                said = f"digits of {kind}" if what == "equal" else kind
                yield Difference(said, page, one, other)
        for one in old[i + len(pairs) : k]:
            yield Difference(kind, page, one, "")
        for other in new[m + len(pairs) : n]:
            yield Difference(kind, page, "", other)


def derivations(where: str, name: str, old: Mapping, new: Mapping) -> Iterator:
    """What one number says of itself, its value and its leaves, in two books."""
    for key in SAID:
        a, b = (str(trees[name].get(key, "")) for trees in (old, new))
        if a != b:
            yield Difference(key, where, a, b)
    if (a := value(old[name])) != (b := value(new[name])):
        yield Difference("value", where, a, b)
    mine, theirs = leaves(name, old), leaves(name, new)
    for leaf in sorted(mine.keys() & theirs.keys()):
        if mine[leaf] != theirs[leaf]:
            # Once a page: a leaf stands under many of its numbers.
            page = where.partition("#")[0]
            yield Difference(f"kind of {leaf}", page, mine[leaf], theirs[leaf])
    gone, come = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
    if gone or come:
        old_said, new_said = ("; ".join(sorted(x)) for x in (gone, come))
        yield Difference("leaves", where, old_said, new_said)


def value(tree: Mapping[str, Any]) -> str:
    """Twelve digits of a value, with its unit."""
    number = tree.get("value")
    shown = f"{number:.12g}" if isinstance(number, float | int) else str(number)
    return f"{shown} {tree.get('unit', '')}".strip()


def leaves(name: str, trees: Mapping[str, Mapping]) -> dict[str, str]:
    """The kind of every leaf by label and value; what a run counted is a leaf too."""
    found: dict[str, str] = {}
    seen: set[str] = set()

    def walk(tree: Mapping | str) -> None:
        if isinstance(tree, str):
            if tree not in seen:
                seen.add(tree)
                walk(trees[tree])
            return
        inputs = tree.get("inputs") or ()
        if not inputs or tree.get("kind") == "counted":
            found[f"{tree.get('label', '')} = {value(tree)}"] = tree.get("kind", "")
        else:
            for part in inputs:
                walk(part)

    walk(name)
    return found


def counted(books: Mapping[str, Page]) -> str:
    """How much was read: `259 pages, 1,241 number, 271 figure`."""
    held = Counter({"pages": len(books)})
    for page in books.values():
        held.update({kind: len(names) for kind, names in page.named.items()})
        held.update({kind: len(texts) for kind, texts in page.listed.items()})
    return ", ".join(f"{n:,} {kind}" for kind, n in held.items())


def summary(found: list[Difference]) -> str:
    """Counts by kind; a leaf's change of kind is counted by what it was and is."""
    kinds = Counter(
        f"{one.old} → {one.new}" if one.kind.startswith("kind of ") else one.kind
        for one in found
    )
    said = ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
    return f"{len(found):,} differences: {said}" if found else "no difference"


def main(argv: list[str] | None = None) -> int:
    """Compare two built books; 1 where they differ."""
    given = sys.argv[1:] if argv is None else argv
    if len(given) != 2 or not all(Path(name).is_dir() for name in given):
        sys.exit("python -m _tools.compare OLD NEW: two folders of built pages")
    old, new = (built.pages(Path(name)) for name in given)
    found = differences(old, new)
    print("\n".join(map(str, found)))
    print(f"old: {counted(old)}\nnew: {counted(new)}\n{summary(found)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
