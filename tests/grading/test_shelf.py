"""Which exercises there are, and planted faults in their files."""

import shutil

import pytest

from stacklib import grading
from stacklib.grading import UnknownExercise

from ..shipped import as_shipped, git

AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@example.org"]


def test_the_books_exercises_are_in_order(book):
    assert grading.faults(book) == []
    assert len(grading.discover(book)) >= 3


def test_a_readers_answer_does_not_count_against_the_book(book, tmp_path):
    root, copy = tmp_path / "root", tmp_path / "copy"
    shutil.copytree(book / "exercises", root / "exercises")
    for words in (["init", "-q"], ["add", "-A"], [*AUTHOR, "commit", "-qm", "shipped"]):
        assert git(root, *words) is not None
    assert as_shipped(root, copy) == root
    question = root / "exercises" / "01-roofline" / "01_one_word.py"
    question.write_text(question.read_text().replace("raise NotImpl", "return NotImpl"))
    assert grading.faults(root)
    assert as_shipped(root, copy) == copy and grading.faults(copy) == []
    assert "return NotImpl" in question.read_text()
    solution = question.parent / "solutions" / question.name
    solution.write_text(solution.read_text() + "\n# the author changed both\n")
    assert as_shipped(root, tmp_path / "other") == root


def test_the_first_chapter_has_all_levels(book):
    first = [e for e in grading.discover(book) if e.chapter == 1]
    assert {e.text().level for e in first} == set(grading.LEVELS)


def test_a_sound_checkout_has_no_faults(checkout):
    assert grading.faults(checkout.root) == []


def test_ids_come_from_folder_and_file(checkout):
    (e,) = grading.discover(checkout.root)
    assert (e.id, e.chapter, e.number, e.slug) == ("1.1", 1, 1, "read_time")
    assert [p.name for p in e.wrong] == [
        "01_read_time__bits.py",
        "01_read_time__product.py",
    ]


def fault_of(checkout) -> str:
    found = grading.faults(checkout.root)
    assert len(found) == 1, found
    return found[0]


def test_a_drifted_stub_is_a_fault(checkout):
    checkout.path.write_text(checkout.path.read_text().replace("Suppose 10", "Say 11"))
    assert "1.1: 01_read_time.py is not what its solution gives" in fault_of(checkout)


def test_a_missing_stub_is_a_fault(checkout):
    checkout.path.unlink()
    assert "01_read_time.py is missing" in fault_of(checkout)


@pytest.mark.parametrize(
    "name",
    ["02_alone.py", "wrong/02_alone__x.py", "solutions/notes.txt", "wrong/01_other.py"],
)
def test_an_unlisted_file_is_a_fault(checkout, name):
    (checkout.chapter / name).write_text("")
    assert f"{name}: belongs to no exercise" in fault_of(checkout)


def test_a_fresh_copy_of_the_readers_is_no_fault(checkout):
    (checkout.chapter / "01_read_time.fresh.py").write_text("")
    (checkout.chapter / "01_read_time.fresh2.py").write_text("")
    assert grading.faults(checkout.root) == []


def test_one_wrong_answer_is_too_few(checkout):
    (checkout.chapter / "wrong" / "01_read_time__bits.py").unlink()
    assert "1 wrong answers stored; at least 2" in fault_of(checkout)


def test_a_wrong_answer_states_its_diagnosis(checkout):
    checkout.write_wrong("bits", "def read_time():\n    return 40.0\n")
    assert "first line is not '# diagnosis: ...'" in fault_of(checkout)


def test_two_wrong_answers_may_not_share_a_diagnosis(checkout):
    checkout.write_wrong("bits", "# diagnosis: You multi\nread_time = None\n")
    found = grading.faults(checkout.root)
    assert found == [
        "1.1: 01_read_time__bits.py: another wrong answer has its diagnosis"
    ]


def test_two_exercises_may_not_share_a_number(checkout):
    twin = checkout.chapter / "solutions" / "01_twin.py"
    twin.write_text(checkout.solution.read_text())
    assert any("have the same number" in f for f in grading.faults(checkout.root))


def test_a_todo_left_is_a_fault(checkout):
    text = checkout.solution.read_text()
    checkout.write_solution(text.replace("How long?", "TODO: ask"))
    assert "01_read_time.py:8: TODO left: TODO: ask" in fault_of(checkout)


@pytest.mark.parametrize(
    ("target", "nearest"),
    [("1.2", "1.1"), ("2", "1.1"), ("read-tim", "1.1"), ("", "1.1"), ("x", "1.1")],
)
def test_an_unknown_target_names_the_nearest(checkout, target, nearest):
    exercises = grading.discover(checkout.root)
    with pytest.raises(UnknownExercise, match=f"{target!r} .* nearest is {nearest}"):
        grading.select(exercises, target)


def test_the_checkout_is_found_from_below(checkout):
    assert grading.find_root(checkout.chapter) == checkout.root
