"""What ``stacklib new number`` adds to a page: a cell that says one more number."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stacklib.quantity import chosen, say

from .sections import said_cell

CELL = """\
from stacklib.quantity import chosen, say

say("{topic}", {name}=chosen(1, label={sentence}))"""
TOPIC = re.compile(r'\bsay\(\s*"(\w+)"')


def with_number(text: str, stem: str, name: str, sentence: str) -> tuple[str, str]:
    """A notebook with the number as its last cell, executed, and the number's link.

    Raises ValueError where a cell of the page says a number of this name.
    """
    whole = json.loads(text)
    codes = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in codes]
    topics = [found[1] for found in map(TOPIC.search, sources) if found]
    topic = topics[0] if topics else stem.replace("-", "_")
    if f'"{topic}.{name}":' in text:
        raise ValueError(
            f"{topic}.{name} is said already; give the number another name"
        )
    said = say(topic, **{name: chosen(1, label=sentence)})
    source = CELL.format(
        topic=topic, name=name, sentence=json.dumps(sentence, ensure_ascii=False)
    )
    counts = [cell["execution_count"] or 0 for cell in codes]
    cell = said_cell(source, said, f"{topic[:40]}-{name[:20]}", max([0, *counts]) + 1)
    whole["cells"].append(cell | {"metadata": {"tags": ["hide-cell"]}})
    written = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    number = said.numbers[f"{topic}.{name}"]
    return written, f"[{number.text}](#q:{topic}.{name})"


def notebook_of(folder: Path, name: str) -> Path:
    """The notebook of that file name; ValueError where the section is not there."""
    if not name:
        raise ValueError(f"{folder} has no such section; see its notebooks")
    return folder / name
