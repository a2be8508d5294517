"""``stacklib new``: each stub is written, and each is refused until it is filled."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

from stacklib import grading, hardware
from stacklib.cli import main, stubs
from stacklib.evidence import ledger
from stacklib.hardware.accelerator import FIELDS
from stacklib.hardware.load import read
from stacklib.quantity import Quantity

BOOK = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path) -> Path:
    """A checkout with what the stubs are added to."""
    for folder in (
        "exercises/01-roofline",
        "stacklib/hardware/data/accelerators",
        "stacklib/evidence",
        "stacklib/pages",
    ):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(BOOK / folder, tmp_path / folder, ignore=ignore)
    return tmp_path


def new(root: Path, *argv: str) -> int:
    return main(["new", *argv, "--root", str(root)])


# -- device ------------------------------------------------------------------


def device_file(root: Path, key: str) -> Path:
    return root / "stacklib" / "hardware" / "data" / "accelerators" / f"{key}.toml"


def test_a_device_stub_is_refused_by_the_loader(root, capsys):
    assert new(root, "device", "gizmo_1") == 0
    path = device_file(root, "gizmo_1")
    assert f"wrote {path}" in capsys.readouterr().out
    with pytest.raises(hardware.SpecError, match=r"gizmo_1\.toml\.name is still TODO"):
        read(path)


def test_every_todo_of_a_device_is_demanded_and_then_it_loads(root):
    new(root, "device", "gizmo_1")
    path = device_file(root, "gizmo_1")
    filled = {"year": "2023", "kind": '"gpu"', "seen": '"2026-11-21"'}
    filled["confidence"] = '"vendor"'
    demands = 0
    while "TODO" in (text := path.read_text()):
        with pytest.raises(hardware.SpecError, match="is still TODO"):
            read(path)
        line = next(x for x in text.splitlines() if "TODO" in x)
        name = line.split(" = ")[0]
        value = filled.get(name, '"x"')
        if "{ value" in line:
            value = "1" if name == "bf16" else '"unknown"'
        new_line = f"{name} = {value}"
        if name == "bf16":
            new_line = 'bf16 = { value = 1, unit = "TFLOP/s dense" }'
        path.write_text(text.replace(line, new_line))
        demands += 1
    assert read(path).key == "gizmo_1"
    assert demands > len(FIELDS)


def test_the_stub_asks_in_the_units_that_data_sheets_print():
    for name, unit in stubs.PRINTED.items():
        Quantity(1, unit).to(FIELDS[name][0])
    assert 'memory_bandwidth = { value = "TODO", unit = "TB/s" }' in stubs.device("x")


def test_a_device_is_never_written_over(root, capsys):
    path = device_file(root, "h100_sxm")
    before = path.read_text()
    assert new(root, "device", "h100_sxm") == 2
    assert f"{path} is there; nothing was written" in capsys.readouterr().err
    assert path.read_text() == before


# -- claim -------------------------------------------------------------------


def claim_files(root: Path) -> tuple[Path, Path]:
    package = root / "stacklib"
    rows = package / "evidence" / "data" / "claims.csv"
    return rows, package / "pages" / "roofline" / "decode" / "claims.py"


def new_claim(root: Path, id: str, chapter: int, *more: str) -> int:
    page = "roofline/decode" if chapter < 9 else "diy/power"
    return new(root, "claim", id, "--chapter", str(chapter), "--page", page, *more)


def test_a_new_claims_row_is_refused_by_the_ledger(root, capsys):
    rows, checks = claim_files(root)
    before = rows.read_text()
    assert new_claim(root, "a-new-claim", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["wrote"] == [str(checks), str(rows)]
    assert rows.read_text().startswith(before)
    with pytest.raises(ledger.LedgerError, match=r"'a-new-claim': .*'TODO'"):
        ledger.read(rows)
    filled = rows.read_text().replace("a-new-claim,TODO", "a-new-claim,000")
    filled = re.sub(r"(a-new-claim,000,1,)TODO,TODO", r"\g<1>Text,3", filled)
    with pytest.raises(ledger.LedgerError, match="'a-new-claim'"):
        rows.write_text(filled)
        ledger.read(rows)


def stub_function(path: Path, name: str) -> ast.FunctionDef:
    tree = ast.parse(path.read_text())
    return next(n for n in tree.body if getattr(n, "name", "") == name)


def test_the_check_of_a_known_claim_asks_to_be_computed(root, capsys):
    rows, checks = claim_files(root)
    before, source = rows.read_text(), checks.read_text()
    claim = next(c for c in ledger.read(rows) if c.chapter == 8)
    assert new_claim(root, claim.id, 8) == 0
    assert rows.read_text() == before
    assert checks.read_text().startswith(source)
    function = stub_function(checks, claim.id.replace("-", "_"))
    assert ast.unparse(function.decorator_list[0]) == f"claim('{claim.id}')"
    function.decorator_list.clear()
    names: dict = {"Finding": object}
    exec(compile(ast.Module([function], []), "stub", "exec"), names)
    with pytest.raises(NotImplementedError, match=f"{claim.id}: TODO: compute"):
        names[function.name]()


def test_the_first_claim_of_a_page_starts_its_file(root):
    rows, checks = claim_files(root)
    claim = next(c for c in ledger.read(rows) if c.chapter == 9)
    assert new_claim(root, claim.id, 9) == 0
    path = checks.parents[2] / "diy" / "power.py"
    compile(path.read_text(), str(path), "exec")
    assert stub_function(path, claim.id.replace("-", "_"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["Not_An_Id", "1", "a/b"], "id 'Not_An_Id': lower case"),
        (["a-claim", "11", "a/b"], "chapter 11: the book has chapters 1 to 10"),
        (["a-claim", "x", "a/b"], "'x': a whole number is needed"),
        (
            ["a-claim", "1", "caches"],
            "page 'caches': lower case, such as",
        ),
    ],
)
def test_a_bad_claim_changes_nothing(root, capsys, argv, message):
    before = [p.read_text() for p in claim_files(root)]
    id, chapter, page = argv
    assert new(root, "claim", id, "--chapter", chapter, "--page", page) == 2
    assert message in capsys.readouterr().err
    assert [p.read_text() for p in claim_files(root)] == before


def test_a_claim_has_one_check_and_one_chapter(root, capsys):
    rows, _ = claim_files(root)
    claim = next(c for c in ledger.read(rows) if c.chapter == 9)
    assert new_claim(root, claim.id, 8) == 2
    assert "is of chapter 9" in capsys.readouterr().err
    assert new_claim(root, claim.id, 9) == 0
    assert new_claim(root, claim.id, 9) == 2
    said = capsys.readouterr().err
    assert "has its check in" in said and "pages/diy/power.py" in said


def test_a_broken_module_of_checks_is_left_as_it_is(root, capsys):
    rows, checks = claim_files(root)
    before = rows.read_text()
    for text, message in [
        ("def broken(:\n", "mend it first"),
        ("x = 1\n", "does not import Finding and claim"),
    ]:
        checks.write_text(text)
        assert new_claim(root, "a-new-claim", 1) == 2
        assert message in capsys.readouterr().err
        assert checks.read_text() == text
        assert rows.read_text() == before


# -- exercise ----------------------------------------------------------------


def test_an_exercise_stub_is_refused_by_the_proof(root, capsys):
    for e in grading.discover(root)[1:]:  # one is enough beside the new one
        e.file.unlink()
        e.wrong.unlink()
    assert new(root, "exercise", "1.4", "two_chips", "--level", "build") == 0
    assert capsys.readouterr().out.count("wrote ") == 2
    e = grading.discover(root)[-1]
    assert (e.id, e.slug, len(e.wrong_answers())) == ("1.4", "two_chips", 2)
    assert e.text().level == "build"
    faults = "\n".join(grading.prove(root).faults)
    assert "1.4: 04_two_chips.py:1: TODO left" in faults
    assert "wrong/04_two_chips.py:6: TODO left" in faults
    assert "1.4: 04_two_chips.py: its answer does not pass" in faults
    assert "1.4: mistake_1: the diagnosis 'TODO" in faults
    assert "ships" not in faults


def test_a_new_exercise_can_be_begun(root, capsys):
    assert new(root, "exercise", "1.40", "two_chips") == 0
    assert main(["check", "1.40", "--root", str(root)]) == 1
    assert "write answer" in capsys.readouterr().out


def test_an_exercise_of_a_new_chapter_takes_the_chapters_name(root, capsys):
    assert new(root, "exercise", "2.1", "warps") == 2
    assert "no folder chapters/02-... yet" in capsys.readouterr().err
    (root / "chapters" / "02-gpu").mkdir(parents=True)
    assert new(root, "exercise", "2.1", "warps") == 0
    assert (root / "exercises" / "02-gpu" / "01_warps.py").exists()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["1.1", "other_name"], "exercise 1.1 is there"),
        (["1", "name"], "chapter and number are needed"),
        (["1.0", "name"], "chapter and number are needed"),
        (["1.4", "Two-Chips"], "slug 'Two-Chips': lower case"),
        (["1.4", "x", "--level", "hard"], "invalid choice: 'hard'"),
    ],
)
def test_a_bad_exercise_writes_nothing(root, capsys, argv, message):
    before = sorted(root.rglob("*"))
    assert new(root, "exercise", *argv) == 2
    assert message in capsys.readouterr().err
    assert sorted(root.rglob("*")) == before


def test_a_folder_that_is_no_checkout_is_named(tmp_path, capsys):
    assert new(tmp_path, "device", "gizmo_1") == 2
    assert "name the checkout with --root" in capsys.readouterr().err
