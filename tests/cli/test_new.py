"""``stacklib new``: bad input names the value and the fix, and nothing is written.

That what it writes is sound is told by ``tests/book/test_how_to_add.py``.
"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from stacklib import grading, hardware
from stacklib.cli import main, new
from stacklib.cli.drafts import stubs
from stacklib.cost.catalogue import read_parts
from stacklib.evidence import ledger, pins
from stacklib.hardware.accelerator import FIELDS
from stacklib.hardware.load import read
from stacklib.quantity import Quantity

BOOK = Path(__file__).parents[2]
HELD = (
    "stacklib/cost/data/parts/psu.toml",
    "exercises/01-roofline/04_count_a_block.py",
    "stacklib/hardware/data/accelerators/h100_sxm.toml",
    "stacklib/evidence/data/claims.csv",
    "stacklib/evidence/data/claims_pinned.toml",
    "stacklib/pages/roofline/decode/claims.py",
    "stacklib/pages/roofline/__init__.py",
    "tests/pages/judged.csv",
    "chapters/03-memory/caches.ipynb",
    "chapters/03-memory/index.ipynb",
    "book/_toc.yml",
    "book/coverage.toml",
    "book/systems.toml",
)
DEVICE = ("--vendor", "Acme", "--year", "2025")
CLAIM = (
    "--chapter",
    "1",
    "--page",
    "roofline/decode",
    "--document",
    "001",
    "--text",
    'Two, or "more"',
    "--value",
    "2",
    "--unit",
    "ratio",
    "--rule",
    "quantity",
)


@pytest.fixture
def root(tmp_path) -> Path:
    """A checkout with what the commands add to."""
    for name in HELD:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BOOK / name, tmp_path / name)
    return tmp_path


def run(root: Path, *argv: str) -> int:
    return main(["new", *argv, "--root", str(root)])


def held(root: Path) -> dict[Path, bytes]:
    """Every file of a checkout."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def without(given: tuple[str, ...], option: str) -> list[str]:
    """Arguments with one option left out."""
    place = given.index(option)
    return [*given[:place], *given[place + 2 :]]


def but(given: tuple[str, ...], option: str, value: str) -> list[str]:
    """Arguments with another value of one option."""
    return [*without(given, option), option, value]


REFUSED = [
    (["device", "Gizmo!", *DEVICE], "key 'Gizmo!': lower case, such as mi300x"),
    (["device", "gizmo", *but(DEVICE, "--year", "25")], "year 25: write the year"),
    (["device", "gizmo", *without(DEVICE, "--vendor")], "required: --vendor"),
    (["device", "gizmo", *DEVICE, "--name", "!"], "name '!', vendor 'Acme': write a"),
    (["device", "h100-sxm", *DEVICE], "h100_sxm.toml is there; nothing was written"),
    (["claim", "Not_An_Id", *CLAIM], "id 'Not_An_Id': lower case"),
    (["claim", "a-b", *but(CLAIM, "--chapter", "11")], "chapter '11' is not one of"),
    (["claim", "a-b", *but(CLAIM, "--page", "caches")], "page 'caches': lower case"),
    (["claim", "a-b", *without(CLAIM, "--text")], "'a-b' is new: it needs --text"),
    (["claim", "a-b", *but(CLAIM, "--value", "two")], "value 'two' is not a number"),
    (["claim", "a-b", *but(CLAIM, "--document", "9")], "seed '9' is not one of 000"),
    (["claim", "a-b", *but(CLAIM, "--unit", "smoots")], "smoots"),
    (["claim", "h200-ridge", *but(CLAIM, "--chapter", "2")], "is of chapter 1: "),
    (["section", "11.1", "Who"], "'11.1': chapter and number, such as 7.3"),
    (["section", "7.3", "7 of 9"], "title '7 of 9': words, the first a letter"),
    (["section", "7.3", 'A "b"'], "without quotes"),
    (["section", "3.4", "Who waits?"], "section 3.4 is there"),
    (["section", "3.99", "Caches"], "caches.ipynb says numbers of 'caches'"),
    (["section", "7.3", "Who", "--covers", "7.99"], "id '7.99' is not in book/systems"),
    (["section", "7.3", "Who", "--covers", "1.01"], "'1.01' is shown in chapters/01"),
    (["exercise", "1.4", "other_name"], "exercise 1.4 is there"),
    (["exercise", "1", "name"], "chapter and number are needed"),
    (["exercise", "1.0", "name"], "chapter and number are needed"),
    (["exercise", "1.99", "Two-Chips"], "slug 'Two-Chips': lower case"),
    (["exercise", "1.99", "x", "--level", "hard"], "invalid choice: 'hard'"),
]


@pytest.mark.parametrize(("argv", "message"), REFUSED)
def test_bad_input_is_named_and_writes_nothing(root, capsys, argv, message):
    before = held(root)
    assert run(root, *argv) == 2
    assert message in capsys.readouterr().err
    assert held(root) == before


GOOD = [
    ["device", "gizmo-1", *DEVICE],
    ["claim", "a-new-claim", *CLAIM],
    ["section", "7.3", "Who waits?"],
    ["exercise", "1.99", "two_chips"],
]


@pytest.mark.parametrize("argv", GOOD)
def test_what_was_written_is_never_written_again(root, capsys, argv):
    assert run(root, *argv, "--json") == 0
    wrote = json.loads(capsys.readouterr().out)["wrote"]
    before = held(root)
    assert wrote and set(map(Path, wrote)) <= set(before)
    assert run(root, *argv) == 2
    assert held(root) == before


@pytest.mark.parametrize("argv", GOOD)
def test_a_disk_that_fails_at_the_last_file_leaves_nothing(root, monkeypatch, argv):
    before, write, count = held(root), Path.write_bytes, [0]
    files: list[Path] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            new, "write_all", lambda a, b=None: files.extend([*a, *(b or ())])
        )
        with pytest.raises(TypeError):
            run(root, *argv)

    def failing(path: Path, data: bytes) -> int:
        count[0] += path in files
        if count[0] == len(files):
            count[0] += 1
            raise OSError(28, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", failing)
    assert run(root, *argv) == 2
    assert held(root) == before


def test_a_folder_that_is_no_checkout_is_named(tmp_path, capsys):
    for argv in GOOD:
        assert run(tmp_path, *argv) == 2
        assert "name the checkout with --root" in capsys.readouterr().err


# -- device --------------------------------------------------------------------


def test_a_device_of_which_nothing_is_known_loads(root):
    assert run(root, "device", "gizmo-1", *DEVICE, "--name", 'The "G" 1') == 0
    device = read(root / "stacklib/hardware/data/accelerators/gizmo_1.toml")
    assert device.aliases == ("the g 1",) and device.year == 2025
    assert set(device.fields) == set(FIELDS) and not any(device.fields.values())


def test_the_file_names_the_units_that_data_sheets_print():
    for name, unit in stubs.PRINTED.items():
        Quantity(1, unit).to(FIELDS[name][0])
    text = stubs.device("x", "x", "Acme", 2025, "gpu")
    assert 'memory_bandwidth = "unknown"  # TB/s' in text


def test_a_todo_left_in_a_device_is_refused(root):
    run(root, "device", "gizmo_1", *DEVICE)
    path = root / "stacklib/hardware/data/accelerators/gizmo_1.toml"
    path.write_text(path.read_text().replace('process = "unknown"', 'process = "TODO"'))
    with pytest.raises(hardware.SpecError, match=r"gizmo_1\.toml\.process is still"):
        read(path)


# -- claim ---------------------------------------------------------------------


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_the_ledger_keeps_its_line_ending(root, ending):
    path = root / "stacklib/evidence/data/claims.csv"
    before = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", ending)
    path.write_bytes(before.removesuffix(ending))  # nor is a last line run on
    assert run(root, "claim", "a-new-claim", *CLAIM) == 0
    after = path.read_bytes()
    assert after.startswith(before) and after.endswith(ending)
    assert after.count(b"\n") == after.count(ending) == before.count(ending) + 1
    claim = ledger.read(path)[-1]
    assert (claim.id, claim.text, claim.value) == ("a-new-claim", 'Two, or "more"', 2)
    states = path.with_name("claims_pinned.toml").read_text("utf-8")
    assert "a-new-claim was added, of document 001." in states
    assert not pins.fault(path.read_text("utf-8"), states)


def test_a_known_claim_keeps_its_row_and_its_line_of_the_record(root):
    rows = root / "stacklib/evidence/data/claims.csv"
    record = root / "tests/pages/judged.csv"
    before, lines = rows.read_bytes(), record.read_text().splitlines()
    claim = next(c for c in ledger.read(rows) if c.chapter == 9)
    argv = [claim.id, "--chapter", "9", "--page", "diy/power"]
    assert run(root, "claim", *argv) == 0
    assert rows.read_bytes() == before
    now = record.read_text().splitlines()
    assert len(now) == len(lines)
    (changed,) = (n for n in now if n.startswith(f"{claim.id},"))
    assert changed.endswith(",,open")
    source = (root / "stacklib/pages/diy/power.py").read_text()
    assert f'@claim("{claim.id}")' in source
    assert (root / "stacklib/pages/diy/__init__.py").exists()


def test_a_broken_module_of_checks_is_left_as_it_is(root, capsys):
    checks = root / "stacklib/pages/roofline/decode/claims.py"
    for text, message in [
        ("def broken(:\n", "mend it first"),
        ("x = 1\n", "does not import Finding and claim; add: from stacklib.evidence"),
    ]:
        checks.write_text(text)
        before = held(root)
        assert run(root, "claim", "a-new-claim", *CLAIM) == 2
        assert message in capsys.readouterr().err
        assert held(root) == before


# -- section and exercise ------------------------------------------------------


def test_a_section_of_a_chapter_that_stands_ends_its_list(root):
    with (root / "book/systems.toml").open("a") as systems:
        for id in ("3.98", "3.99"):  # all others are shown
            systems.write(f'"{id}" = {{ title = "A system", chapter = 3 }}\n')
    assert run(root, "section", "3.99", "Who waits?", "--covers", "3.98", "3.99") == 0
    listed = (root / "book/_toc.yml").read_text().splitlines()
    place = listed.index("          - file: chapters/03-memory/who-waits")
    assert "chapters/03-memory/" in listed[place - 1]
    assert "chapters/03-memory/" not in listed[place + 1]
    coverage = (root / "book/coverage.toml").read_text()
    assert coverage.count("stacklib.pages.memory.who_waits.example") == 2


def test_a_new_exercise_can_be_begun(root, capsys):
    assert run(root, "exercise", "1.40", "two-chips", "--level", "build") == 0
    e = next(e for e in grading.discover(root) if e.id == "1.40")
    assert (e.slug, e.text().level) == ("two_chips", "build")
    assert main(["check", "1.40", "--root", str(root)]) == 1
    assert "write megabytes" in capsys.readouterr().out


def test_a_part_is_added_with_what_a_record_tells(root, tmp_path, run):
    path = root / "stacklib/cost/data/parts/psu.toml"
    before = read_parts(tomllib.loads(path.read_text("utf-8")), "psu")
    record = tmp_path / "record.json"
    told = {"metadata": {"name": "A supply"}, "wattage": 850, "connectors": {}}
    record.write_text(json.dumps(told))
    line = ("new", "part", "psu", "a-supply", "--root", str(root))
    assert run(*line, "--opendb", str(record))[0] == 0
    after = read_parts(tomllib.loads(path.read_text("utf-8")), "psu")
    assert {**before, "a_supply": 0}.keys() == after.keys()
    added = after["a_supply"]
    assert (added.name, added["watts"]) == ("A supply", 850)
    assert "plugs_8" in added.unknown
    status, _, err = run(*line)
    assert status == 2 and "a_supply is there" in err
    record.write_text("no json")
    other = ("new", "part", "psu", "b", "--root", str(root), "--opendb", str(record))
    assert run(*other)[0] == 2
    assert after.keys() == read_parts(tomllib.loads(path.read_text()), "psu").keys()
