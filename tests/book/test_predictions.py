"""What is asked is not told before: answers of prediction boxes and the ways in."""

import re
from functools import cache

from _tools import said, tree

ANSWER = re.compile(r"^:answer: (\S+)$", re.M)
numbers = cache(said.numbers)
WAYS_IN = [*tree.ROOT.glob("chapters/*/index.ipynb"), tree.ROOT / "book" / "index.md"]


def prose(path):
    """Text of a page, and what its cells print."""
    if path.suffix == ".md":
        return path.read_text("utf-8")
    cells = tree.read_notebook(path).cells
    printed = [o.get("text", "") for c in cells for o in c.get("outputs", ())]
    return "\n".join([*(c.source for c in cells), *printed])


def asked(path):
    """Names of the numbers that a page asks for."""
    return set(ANSWER.findall(prose(path)))


def told(text, name):
    """Whether a page shows a number: by its name, or by its text with a unit."""
    shown = numbers(tree.ROOT)[name].text
    written = re.escape(shown) if " " in shown else r"(?!)"
    return bool(
        re.search(rf"(#q:|share: ){re.escape(name)}\b|(?<![\d.,]){written}", text)
    )


def test_a_way_in_tells_no_answer_that_another_page_asks():
    names = {name for path in tree.notebooks() for name in asked(path)}
    for path in WAYS_IN:
        text = prose(path)
        found = [name for name in names - asked(path) if told(text, name)]
        assert not found, f"{path.parent.name} tells {found}"


def test_a_planted_answer_is_seen_by_name_and_by_text():
    name = "decode.t_mem"
    assert told(f"[x](#q:{name})", name) and told(f":share: {name}", name)
    assert told(f"They take {numbers(tree.ROOT)[name].text}.", name)
    assert not told(f"[x](#q:{name}_more) and 120.9 ms", name)
    assert not told(f"At batch one it is 0.{numbers(tree.ROOT)[name].text}.", name)
