"""The list of ids is complete, and the map to sections holds."""

import re
from pathlib import Path

import pytest
from _tools import coverage_map

SYSTEMS_A_CHAPTER = [1, 16, 28, 20, 25, 21, 23, 14, 30, 9, 16]  # chapter 0 is 0.01
PROJECTS_A_PHASE = [5, 5, 5, 7, 5, 5, 6, 6, 7]
OTHERS = {"K": 11, "A": 10, "F": 15, "Q": 13, "X": 15}
THREE_WAYS = (
    "1.09 1.14 2.01 2.18 3.09 3.10 3.15 3.16 3.18 4.01 4.03 4.06 4.11 4.15 4.17 5.08 "
    "5.13 5.14 5.16 6.03 6.10 6.15 6.18 6.19 7.09 8.01 8.04 8.06 8.07 8.11 8.20 8.23"
).split()
KNOWN = {"1.02": {"title": "ridge", "chapter": 1}}


def every_id() -> list[str]:
    """The ids as the grammar and the counts make them."""
    ids = [
        f"{chapter}.{n:02}"
        for chapter, count in enumerate(SYSTEMS_A_CHAPTER)
        for n in range(1, count + 1)
    ]
    for phase, count in enumerate(PROJECTS_A_PHASE, 1):
        ids += [f"P{phase}.{n}" for n in range(1, count + 1)]
    ids.append("10")  # phase 10 prints no project: follow one thread
    for letter, count in OTHERS.items():
        ids += [f"{letter}{n}" for n in range(1, count + 1)]
    return ids


def test_every_id_is_listed_once_and_no_other():
    assert sorted(coverage_map.systems()) == sorted(every_id())


def test_every_id_has_a_title_and_one_chapter():
    for id, row in coverage_map.systems().items():
        assert 3 <= len(row["title"]) <= 70, id
        assert row["chapter"] in range(1, 11), id
        number = re.match(r"P?(\d+)\.", id)
        if number:
            assert row["chapter"] == max(1, int(number[1])), id


def test_three_ways_are_asked_of_the_promised_ids():
    rows = coverage_map.systems().items()
    assert [id for id, row in rows if row.get("three_ways")] == THREE_WAYS


def test_the_map_holds():
    faults = coverage_map.faults()
    assert faults == [], "\n".join(faults)


@pytest.fixture
def section(tmp_path: Path) -> Path:
    """A checkout whose one page calls ridge through two imported modules."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nfrom stacklib import hardware, roofline as r\n"
        'r.ridge(hardware.get("h100"), "bf16")\n```\n'
    )
    return tmp_path


def test_a_call_by_attribute_on_an_imported_module_counts(section: Path):
    entry = {
        "section": "page.md",
        "callables": ["stacklib.roofline.ridge", "stacklib.hardware.get"],
    }
    assert list(coverage_map.entry_faults("1.02", entry, KNOWN, section)) == []


PLANTED = [
    ("9.99", {}, "no such id in book/systems.toml"),
    ("1.02", {"section": "nowhere.ipynb"}, "section 'nowhere.ipynb' does not exist"),
    ("1.02", {"callables": []}, "names no callables"),
    (
        "1.02",
        {"callables": ["stacklib.roofline.rigde"]},
        "callable stacklib.roofline.rigde does not import",
    ),
    (
        "1.02",
        {"callables": ["stacklib.roofline.decode_step"]},
        "stacklib.roofline.decode_step is not called in page.md",
    ),
    ("1.02", {"ways": {"guessed": "stacklib.roofline.ridge"}}, "way 'guessed' is not"),
    ("1.02", {"ways": {"closed": "stacklib.roofline.no"}}, "way closed: stacklib"),
    ("1.02", {"note": "x"}, "unknown keys ['note']"),
]


@pytest.mark.rows(("id", "change", "message"), PLANTED)
def test_a_planted_fault_is_named(section: Path, id: str, change: dict, message: str):
    entry = {"section": "page.md", "callables": ["stacklib.roofline.ridge"], **change}
    found = list(coverage_map.entry_faults(id, entry, KNOWN, section))
    assert any(message in fault for fault in found), found
