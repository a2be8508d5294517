"""What ``stacklib new section`` writes, and the lists that it adds a section to."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from stacklib.pages.chapters import CHAPTERS
from stacklib.quantity import chosen, say
from stacklib.quantity.say import Saying

PAGE = '''\
"""Section {number}: {title}"""

from __future__ import annotations

from stacklib.quantity import Quantity, chosen


def example() -> Quantity:
    """A given of the page, in the place of what it will compute."""
    return chosen(64, label="{label}")
'''

TEST = '''\
"""Section {number}: {title}"""

from stacklib.pages.{room} import {name}


def test_the_example_is_what_the_page_takes():
    assert {name}.example().si == 64
'''

CELL = """\
from stacklib.pages.{room} import {name}
from stacklib.quantity import say

say("{name}", example={name}.example())"""

LABEL = "What this page takes"
ENTRY = re.compile(r"^ *- file: chapters/(\d\d)-", re.MULTILINE)
PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11",
    },
}


def words_of(number: str, title: str, name: str) -> dict[str, str]:
    """What the texts of a section are filled with."""
    room = CHAPTERS[int(number.split(".")[0])].room
    return {
        "number": number,
        "title": title,
        "name": name,
        "room": room,
        "label": LABEL,
    }


def notebook(words: dict[str, str]) -> str:
    """An executed notebook: one cell that says a number, and prose that links it."""
    name = words["name"]
    said = say(name, example=chosen(64, label=LABEL))
    code = said_cell(CELL.format(**words), said, f"{name[:50]}-01", 1)
    linked = f"We take [{said.numbers[f'{name}.example'].text}](#q:{name}.example)."
    head = f"# {words['number']} {words['title']}\n\n{linked}"
    return stored([markdown(f"{name[:50]}-00", head), code])


def said_cell(source: str, said: Saying, id: str, count: int) -> dict[str, Any]:
    """A code cell that ends in ``say``, with what it shows."""
    shown = {
        "data": lined(said._repr_mimebundle_()),
        "execution_count": count,
        "metadata": {},
        "output_type": "execute_result",
    }
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": id,
        "metadata": {},
        "outputs": [shown],
        "source": source.splitlines(keepends=True),
    }


def lined(bundle: dict[str, Any]) -> dict[str, Any]:
    """Text as nbformat stores it, a list of lines."""
    return {
        key: value.splitlines(keepends=True) if isinstance(value, str) else value
        for key, value in bundle.items()
    }


def markdown(id: str, text: str) -> dict[str, Any]:
    """A cell of prose."""
    lines = text.splitlines(keepends=True)
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": lines}


def stored(cells: list[dict[str, Any]]) -> str:
    """A notebook as ``make execute`` stores one."""
    whole = {"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def contents_with(text: str, folder: str, slug: str) -> str:
    """The table of contents with a section at the end of its chapter."""
    chapter = int(folder[:2])
    known = [m for m in ENTRY.finditer(text) if int(m[1]) == chapter]
    if not known:
        raise ValueError(f"book/_toc.yml lists no chapter {chapter}; add it")
    new = f"          - file: chapters/{folder}/{slug}\n"
    end = text.find("\n", known[-1].end()) + 1 or len(text)
    return text[:end] + new + text[end:]


def to_cover(systems: str, coverage: str, chapter: int, asked: list[str]) -> list[str]:
    """The ids that a section shows: those asked for, or the chapter's first one left.

    Raises ValueError for an id that is none, or is shown elsewhere.
    """
    known, shown = tomllib.loads(systems), tomllib.loads(coverage)
    for id in asked:
        if id not in known:
            raise ValueError(f"id {id!r} is not in book/systems.toml; take one of it")
        if id in shown:
            raise ValueError(f"id {id!r} is shown in {shown[id]['section']} already")
    own = (i for i, row in known.items() if row["chapter"] == chapter)
    return list(dict.fromkeys(asked)) or [i for i in own if i not in shown][:1]


def coverage_with(text: str, ids: list[str], section: str, call: str) -> str:
    """The coverage map with rows for these ids."""
    row = f'\nsection = "{section}"\ncallables = ["{call}"]\n'
    return text.rstrip("\n") + "\n" + "".join(f'\n["{id}"]{row}' for id in ids)


def said_in(root: Path, name: str) -> str:
    """The notebook that says numbers of this name, or nothing."""
    for path in sorted((root / "chapters").glob("*/*.ipynb")):
        if f'say(\\"{name}\\"' in path.read_text("utf-8"):
            return path.name
    return ""


def numbered(folder: Path, number: str) -> str:
    """The notebook of a chapter that has this number, or nothing."""
    for path in sorted(folder.glob("*.ipynb")):
        if f'"# {number} ' in path.read_text("utf-8"):
            return path.name
    return ""
