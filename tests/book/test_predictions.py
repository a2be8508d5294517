"""What is asked is not told before: answers of prediction boxes and the ways in."""

import re

from _tools import tree

ANSWER = re.compile(r"^:answer: (\S+)$", re.M)
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


def told(text, number):
    """Whether a page shows a number: by its name, or by its text with a unit."""
    name, shown = number.name, number.text
    written = re.escape(shown) if " " in shown else r"(?!)"
    return bool(
        re.search(rf"(#q:|share: ){re.escape(name)}\b|(?<![\d.,]){written}", text)
    )


def test_a_way_in_tells_no_answer_that_another_page_asks(numbers):
    names = {name for path in tree.notebooks() for name in asked(path)}
    for path in WAYS_IN:
        text = prose(path)
        found = [name for name in names - asked(path) if told(text, numbers[name])]
        assert not found, f"{path.parent.name} tells {found}"


def test_a_planted_answer_is_seen_by_name_and_by_text(numbers):
    number = numbers[name := "decode.t_mem"]
    assert told(f"[x](#q:{name})", number) and told(f":share: {name}", number)
    assert told(f"They take {number.text}.", number)
    assert not told(f"[x](#q:{name}_more) and 120.9 ms", number)
    assert not told(f"At batch one it is 0.{number.text}.", number)
