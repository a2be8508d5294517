"""What is asked is not told before: answers of prediction boxes and the ways in."""

import re

from _tools import tree

ANSWER = re.compile(r'^(?:\s*")?:answer: ([\w.]+)', re.M)  # of a notebook's text, too
NAMED = re.compile(r"^:answer: (\S+)\n:also: (.+)$", re.M)
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
    return set(ANSWER.findall(path.read_text("utf-8")))


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


def test_what_a_box_names_beside_its_answer_stands_on_its_page(numbers):
    """Other numbers, words with the answer in them, charts and tables."""
    boxes = 0
    for path in tree.notebooks():
        if ":also:" not in path.read_text("utf-8"):
            continue
        for answer, also in NAMED.findall(text := prose(path)):
            boxes += 1
            shown = text + "".join(
                "".join(o.get("data", {}).get("text/html", ""))
                for cell in tree.read_notebook(path).cells
                for o in cell.get("outputs", ())
            )
            for one in also.split("; "):
                if re.match("(fig|live|tab)-", one):
                    assert f'id="{one}"' in shown, f"{path.stem}: no {one}"
                elif one not in numbers:
                    words = one.replace("~", numbers[answer].text)
                    assert words in shown, f"{path.stem}: nothing says {words!r}"
    assert boxes


def test_a_planted_answer_is_seen_by_name_and_by_text(numbers):
    number = numbers[name := "decode.t_mem"]
    assert told(f"[x](#q:{name})", number) and told(f":share: {name}", number)
    assert told(f"They take {number.text}.", number)
    assert not told(f"[x](#q:{name}_more) and 120.9 ms", number)
    assert not told(f"At batch one it is 0.{number.text}.", number)
