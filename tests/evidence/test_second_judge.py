"""Our verdicts beside a second judge's, who uses nothing of ours."""

import ast
import sys
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from stacklib import pages
from stacklib.evidence import ledger
from stacklib.evidence.judge import Judgement

from . import second_judge as second

RECORDS = second.read()
SEEDS = RECORDS["seeds"]
NUMBERS, NONE = RECORDS["number"], RECORDS["none"]
PROPOSITIONS = RECORDS["proposition"]
ALL = NUMBERS | NONE | PROPOSITIONS
LOOKED_UP = "agrees with its source"


def is_proposition(id: str) -> bool:
    """Whether only the word of it is compared."""
    return NUMBERS[id]["judged"]["kind"] == "proposition"


@cache
def ours(id: str) -> Judgement:
    return pages.judge(id)


def numbers(judgement: Any) -> list[float]:
    """Our value, or both ends, in the claim's unit."""
    one = judgement.claim.quantity(1).si
    return sorted(end.si / one for end in judgement.ends)


def told(record: dict) -> str:
    return record["judged"]["word"] if "judged" in record else record["word"]


def other_word(record: dict, judgement: Any) -> str:
    """Both words where they differ; a citation is a look-up without a record."""
    their, our = told(record), judgement.verdict
    if our == "cited" and their == LOOKED_UP and not judgement.ends:
        our = LOOKED_UP
    return "" if our == their else f"ours is {our}, the second judge's {their}"


def other_value(record: dict, judgement: Any) -> str:
    """Both values where they differ by more than the kind of claim allows."""
    said, our = record["judged"], numbers(judgement)
    found = sorted(second.listed(said["found"]))
    if len(found) == len(our):
        ends = list(zip(found, our, strict=True))
        same = agree(said, ends)
    else:  # some of what the record found: the end that is claimed, one reading
        same = all(any(agree(said, [(a, b)]) for a in found) for b in our)
    return "" if same else f"ours is {our}, the second judge's {found}"


def agree(said: dict, ends: list[tuple]) -> bool:
    """Ours is what the record found: as near as would be judged the same."""
    if said["kind"] == "count":
        return all(a == round(b) for a, b in ends)
    if said["kind"] == "law":
        return all(second.word("law", *end) == "reproduced" for end in ends)
    right = said["word"] in ("reproduced", LOOKED_UP)
    return second.near(ends, second.REPRODUCED if right else second.CLOSE)


# -- the records by themselves ------------------------------------------------


def imported(source: str) -> set[str]:
    """Packages that a source imports, also from inside a function."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or "").partition(".")[0])
    return found


def test_it_imports_only_python():
    source = second.Path(second.__file__).read_text(encoding="utf-8")
    assert imported(source) <= sys.stdlib_module_names - {"importlib", "runpy"}
    planted = "def f():\n    from stacklib.hardware import get\nfrom . import made_row"
    assert imported(planted) == {"stacklib", "."}
    assert "__import__" not in source
    assert second.CALLS["__builtins__"] == {}


def test_the_seed_chose_the_claims():
    order = second.drawn(SEEDS["numbers"], numbers=True)
    assert set(order[: len(NUMBERS | NONE)]) == set(NUMBERS | NONE)
    assert order[len(NUMBERS | NONE) - 1] in NUMBERS  # the fortieth ends the draw
    assert len(NUMBERS) == second.NUMBERS
    order = second.drawn(SEEDS["propositions"], numbers=False)
    assert set(order[: second.PROPOSITIONS]) == set(PROPOSITIONS)


@pytest.mark.rows("id", ALL)
def test_the_sentence_is_the_ledgers(id):
    texts = {row["id"]: row["claim"] for row in second.claims()}
    assert ALL[id]["says"] == texts[id]
    assert ALL[id].get("source") or ALL[id]["why"]


@pytest.mark.rows("id", NUMBERS)
def test_each_gives_what_it_says(id):
    record = NUMBERS[id]
    assert second.holds(record), (second.worked(record), record["judged"])
    used = {n.id for n in ast.walk(ast.parse(record["sum"])) if type(n) is ast.Name}
    assert set(record["facts"]) <= used
    if record["judged"]["kind"] != "source":  # its own number would judge nothing
        assert record["judged"]["claimed"] not in record["facts"].values()


def test_run_alone_it_prints_them_all(capsys):
    assert second.main() == 0
    printed = capsys.readouterr().out
    assert all(f"{id}: {record['says']}" in printed for id, record in ALL.items())


# -- beside ours --------------------------------------------------------------


@pytest.mark.rows("id", [id for id in NUMBERS if not is_proposition(id)])
def test_our_value_is_the_second_judges(id):
    other = other_value(NUMBERS[id], ours(id))
    assert bool(other) == ("apart" in NUMBERS[id]), other


@pytest.mark.rows("id", NUMBERS | PROPOSITIONS)
def test_our_word_is_the_second_judges(id):
    assert not other_word(ALL[id], ours(id)), id


def planted(id: str, factor: float = 1.0, **change: str) -> SimpleNamespace:
    """Our judgement as the second judge's record has it, but for one thing."""
    said, claim = NUMBERS[id]["judged"], ledger.get(id)
    ends = [claim.quantity(x * factor) for x in second.listed(said["found"])]
    return SimpleNamespace(
        **{"verdict": said["word"], **change}, ends=ends, claim=claim
    )


@pytest.mark.rows(
    ("id", "factor"),
    [
        ("decode-util-0p34", 1.12),
        ("tier-hbm-latency", 0.6),
        ("hopper-4-fp64", 1.01),
        ("flashattention-hbm-reads", 1.06),
        ("pcie-gen4-32", 2),
        ("memwall-bandwidth-growth", 1.52),
    ],
)
def test_a_planted_value_is_named(id, factor):
    assert not other_value(NUMBERS[id], planted(id))
    assert "the second judge's" in other_value(NUMBERS[id], planted(id, factor))


@pytest.mark.rows(
    ("id", "word"),
    [
        ("tier-hbm-latency", "conflict"),
        ("decode-util-0p34", "close"),
        ("blackwell-30x-v100", "right if"),
        ("rubin-336b", "reproduced"),
        ("rubin-336b", "cited"),  # ours has a value
    ],
)
def test_a_planted_word_is_named(id, word):
    assert not other_word(NUMBERS[id], planted(id))
    said = other_word(NUMBERS[id], planted(id, verdict=word))
    assert said == f"ours is {word}, the second judge's {told(NUMBERS[id])}"


@pytest.mark.rows(
    ("kind", "claimed", "found", "word"),
    [
        ("quantity", 100, 110, "reproduced"),
        ("quantity", 100, 89.9, "close"),
        ("quantity", 600, 900, "close"),
        ("quantity", 100, 151, "wrong"),
        ("count", 3, 4, "wrong"),
        ("law", 1, 1.1, "reproduced"),
        ("law", 1, 1.11, "wrong"),
        ("law", 1, 0.89, "wrong"),
        ("range", [300, 850], [310, 596], "close"),
        ("range", [300, 500], [206, 295], "wrong"),
        ("share", 97, 99.64, "wrong"),
        ("share", 3, 2.8, "reproduced"),
        ("proposition", "> 95", 96.8, "true"),
        ("proposition", "== 1", [1, 2], "depends"),
        ("source", 3.5, 3.47, LOOKED_UP),
        ("source", 15, 10, "wrong"),
    ],
)
def test_the_rules(kind, claimed, found, word):
    assert second.word(kind, claimed, found) == word
