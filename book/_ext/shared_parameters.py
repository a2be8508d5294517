"""Parameters that many functions share, explained once, in `book/api/parameters.md`.

An API page shows the words of that page, as a link to it, for every parameter that a
docstring leaves out; what comes back is told by its annotation where no section does.
"""

import inspect
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PAGE = Path(__file__).parents[1] / "api" / "parameters.md"
ROW = re.compile(r"^\| \[(\w+)\]\{#[\w-]+\} \| (.+?) \| (.+?) \|$", re.M)
RULE = re.compile(r"^-{3,}$")
# Annotations that say nothing of what comes back.
UNTOLD = (None, "None", Any, "Any", inspect.Signature.empty)
ORDER = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


@cache
def glossary(page: Path = PAGE) -> Mapping[str, tuple[str, str]]:
    """Unit or type of each shared parameter, and what it is: a row of the page each."""
    rows = ROW.findall(page.read_text("utf-8").replace("``", "").replace("`", ""))
    return {name: (unit, words) for name, unit, words in rows}


def explain(app: Sphinx, kind: str, name: str, thing: Any, _: Any, doc: list) -> None:
    """Complete a docstring, in place, before napoleon reads its sections."""
    if kind not in ("class", "function", "method"):
        return
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return
    names = [*signature.parameters]
    silent = [p for p in names if p in glossary() and not told(p, doc)]
    if silent:
        insert(doc, "Parameters", [line for p in silent for line in entry(p)])
        arrange(doc, names)
    back = signature.return_annotation
    if kind != "class" and back not in UNTOLD:
        if not {"Returns", "Yields"} & set(sections(doc)):
            text = back if isinstance(back, str) else inspect.formatannotation(back)
            insert(doc, "Returns", [text])


def told(name: str, doc: list[str]) -> bool:
    """Whether a docstring has an entry of that name, or speaks of it in backticks."""
    head = re.compile(rf"\*{{0,2}}(\w+, )*{name}(, \*{{0,2}}\w+)*( :.*)?$")
    return any(head.match(line) or f"`{name}`" in line for line in doc)


def entry(name: str) -> tuple[str, str]:
    """The words as a link to their row; API pages and the glossary share a folder."""
    unit, words = glossary()[name]
    place = f"parameters.html#{name.replace('_', '-')}"
    return f"{name} : {unit}", f"    `{words} <{place}>`__"


def sections(doc: list[str]) -> dict[str, int]:
    """Line of each NumPy section's title, in order."""
    pairs = enumerate(pairwise(doc))
    return {title: n for n, (title, rule) in pairs if RULE.match(rule)}


def insert(doc: list[str], title: str, entries: list[str]) -> None:
    """Add entries at the end of a section, or a section where its place is."""
    found = sections(doc)
    new = entries if title in found else [title, "-" * len(title), *entries, ""]
    after = [n for other, n in found.items() if rank(other) > rank(title)]
    end = min(after, default=len(doc))
    if title in found:
        while not doc[end - 1].strip():
            end -= 1
    elif not after:
        new = ["", *new]
    doc[end:end] = new


def arrange(doc: list[str], names: list[str]) -> None:
    """Put the entries of the section Parameters in the order of the signature."""
    found = sections(doc)
    start = found["Parameters"] + 2
    end = min((n for n in found.values() if n > start), default=len(doc))
    blocks: list[list[str]] = []
    for line in doc[start:end]:
        if line.strip() and line[0] != " ":
            blocks.append([])
        blocks[-1].append(line)
    blocks.sort(key=lambda block: place(block[0], names))
    doc[start:end] = [*(x for block in blocks for x in block if x.strip()), ""]


def place(head: str, names: list[str]) -> int:
    """Where the first name of an entry stands in the signature."""
    name = re.split(r"[ ,]", head.lstrip("*"))[0]
    return names.index(name) if name in names else len(names)


def rank(title: str) -> int:
    """Place of a section; one that is not listed comes last."""
    return ORDER.index(title) if title in ORDER else len(ORDER)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hook, before napoleon's."""
    app.connect("autodoc-process-docstring", explain, priority=400)
    return {"parallel_read_safe": True}
