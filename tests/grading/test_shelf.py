"""Which exercises there are, and planted faults in their files."""

from pathlib import Path

import pytest

from stacklib import grading
from stacklib.grading import UnknownExercise

BOOK = Path(__file__).parents[2]


def test_the_books_exercises_are_in_order():
    assert grading.faults(BOOK) == []
    assert len(grading.discover(BOOK)) >= 3


def test_a_readers_answer_does_not_count_against_the_book(checkout):
    checkout.path.write_text("anything")
    checkout.path.with_name("02_alone.py").write_text("TODO")
    assert grading.faults(checkout.root) == []
    assert grading.prove(checkout.root).faults == ()


def test_the_first_chapter_has_all_levels():
    first = [e for e in grading.discover(BOOK) if e.chapter == 1]
    assert {e.text().level for e in first} == set(grading.LEVELS)


def test_a_sound_checkout_has_no_faults(checkout):
    assert grading.faults(checkout.root) == []


def test_ids_come_from_folder_and_file(checkout):
    (e,) = grading.discover(checkout.root)
    assert (e.id, e.chapter, e.number, e.slug) == ("1.1", 1, 1, "read_time")
    assert [w.name for w in e.wrong_answers()] == ["added", "bits"]
    assert e.path == checkout.root / "my" / "01-roofline" / "01_read_time.py"


def fault_of(checkout) -> str:
    found = grading.faults(checkout.root)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "name",
    [
        "alone.py",
        "wrong/02_alone.diff",
        "notes.txt",
        "wrong/notes.txt",
        "01_x.2026.py",
    ],
)
def test_an_unlisted_file_is_a_fault(checkout, name):
    (checkout.chapter / name).write_text("")
    assert f"{name}: belongs to no exercise" in fault_of(checkout)


def test_an_exercise_without_form_is_a_fault(checkout):
    (checkout.chapter / "02_alone.py").write_text("")
    assert "1.2: 02_alone.py: the line '# ---- your answer" in fault_of(checkout)


def test_the_readme_of_the_exercises_is_no_fault(checkout):
    (checkout.root / "exercises" / "README.md").write_text("How to begin.")
    assert grading.faults(checkout.root) == []


def test_no_other_right_answer_is_too_few(checkout):
    checkout.right.unlink()
    assert "0 other right answers" in fault_of(checkout)


def test_a_wrong_answer_states_its_diagnosis(checkout):
    text = checkout.wrong.read_text()
    checkout.wrong.write_text(text.replace("bits: a factor of about 8", "bits"))
    assert "1.1: wrong/01_read_time.diff: '# ---- bits' is not" in fault_of(checkout)


def test_two_wrong_answers_may_not_share_a_diagnosis(checkout):
    checkout.write_wrong(bits=("about 2.4", "read_time = None\n"))
    found = grading.faults(checkout.root)
    assert found == ["1.1: bits: another wrong answer has its diagnosis"]


def test_two_exercises_may_not_share_a_number(checkout):
    twin = checkout.chapter / "01_twin.py"
    twin.write_text(checkout.file.read_text())
    assert any("have the same number" in f for f in grading.faults(checkout.root))


def test_a_todo_left_is_a_fault(checkout):
    checkout.change("How long?", "TODO: ask")
    assert "01_read_time.py:8: TODO left: TODO: ask" in fault_of(checkout)


def test_a_todo_left_in_a_wrong_answer_is_a_fault(checkout):
    checkout.write_wrong(added=("8 times", "def read_time():\n    TODO\n"))
    assert "wrong/01_read_time.diff:3: TODO left: TODO" in fault_of(checkout)


@pytest.mark.parametrize(
    ("target", "there"),
    [
        ("1.2", "there is chapter 1 (1.1 to 1.1)"),
        ("9", "there is chapter 1 (1.1 to 1.1)"),
        ("", "there is chapter 1 (1.1 to 1.1)"),
        ("read-tim", "read_time is 1.1"),
        ("01_read_times.py", "01_read_time is 1.1"),
    ],
)
def test_an_unknown_target_names_what_there_is(checkout, target, there):
    exercises = grading.discover(checkout.root)
    with pytest.raises(UnknownExercise) as caught:
        grading.select(exercises, target)
    assert str(caught.value).endswith(there) and target in str(caught.value)


@pytest.mark.parametrize("name", ["01_read_time.py", "mine.py", "my file/of time.py"])
def test_a_readers_own_file_is_known_by_name_or_title(checkout, tmp_path, name):
    path = tmp_path / "elsewhere" / name
    path.parent.mkdir(parents=True)
    path.write_text(checkout.answered("return 5.0"))
    (e,) = grading.select(grading.discover(checkout.root), str(path))
    assert (e.id, e.path, e.file) == ("1.1", path, checkout.file)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gone.py", None, "no file .*gone.py; there is chapter 1"),
        ("mine.py", '"""Other.', "outside the answer region|stands 0 times"),
        ("exercises/01-roofline/01_read_time.py", None, "holds the book's answer"),
    ],
)
def test_a_file_that_answers_no_exercise_is_named(checkout, name, text, message):
    if text:
        (checkout.root / name).write_text(text)
    with pytest.raises((UnknownExercise, grading.FormatError), match=message):
        grading.select(grading.discover(checkout.root), str(checkout.root / name))


def test_a_file_with_anothers_title_is_named(checkout):
    path = checkout.root / "mine.py"
    path.write_text(checkout.answered("return 5.0").replace("The time of", "A"))
    with pytest.raises(UnknownExercise, match="no exercise has its name or its title"):
        grading.select(grading.discover(checkout.root), str(path))


def test_the_checkout_is_found_from_below(checkout):
    assert grading.find_root(checkout.chapter) == checkout.root
    assert grading.find_root(checkout.path.parent) == checkout.root
