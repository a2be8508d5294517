"""A reader's copies: written once, brought up to date, never lost."""

from datetime import date

import pytest

from stacklib import grading
from stacklib.grading import Limits, copies


@pytest.fixture
def mine(checkout):
    """The exercise, with a reader's answer in its copy."""
    checkout.path.write_text(checkout.answered("return BYTES / 2  # mine"))
    return checkout.exercise


def test_a_copy_is_the_stub_and_is_written_once(checkout):
    e = checkout.exercise
    assert e.path.read_text() == e.stub()
    e.path.write_text("my own words")
    assert not copies.fill(e) and copies.renew(e) == "kept"
    assert e.path.read_text() == "my own words"
    e.path.unlink()
    assert copies.renew(e) == "new" and e.path.read_text() == e.stub()


def test_an_update_of_the_book_reaches_a_copy_and_leaves_its_answer(checkout, mine):
    assert copies.renew(mine) == "kept"
    checkout.change("Suppose 10 GB", "Suppose ten GB")
    checkout.change("import expect", "import expect, native")
    checkout.change('unit="s"', 'unit="ms"')
    assert copies.renew(mine) == "renewed"
    text = checkout.path.read_text()
    assert text == checkout.answered("return BYTES / 2  # mine")
    assert "ten GB" in text and "mine" in text and 'unit="ms"' in text
    assert copies.renew(mine) == "kept"
    assert grading.grade(mine, Limits()).passed


def test_a_copy_nobody_wrote_in_becomes_the_new_stub(checkout):
    checkout.change("Seconds to read them.", "Seconds it takes.")
    assert copies.renew(checkout.exercise) == "renewed"
    assert checkout.path.read_text() == checkout.exercise.stub()


def test_a_question_the_reader_wrote_in_is_left_as_it_is(checkout, mine):
    noted = mine.path.read_text().replace("How long?", "How long? 5 s, I think.")
    for text in (noted, "no form at all", noted.replace("# ----", "")):
        mine.path.write_text(text)
        checkout.change("Suppose 10 GB", "Suppose 10 GB ")
        assert copies.renew(mine) == copies.renew(mine) == "both"
        assert mine.path.read_text() == text
    mine.path.write_bytes(b"\xff\xfe")
    assert copies.renew(mine) == "both" and mine.path.read_bytes() == b"\xff\xfe"


def test_a_note_in_the_question_stays_when_only_the_tests_are_new(checkout, mine):
    mine.path.write_text(mine.path.read_text().replace("How long?", "How long? 5 s."))
    checkout.change('unit="s"', 'unit="ms"')
    assert copies.renew(mine) == "renewed"
    text = mine.path.read_text()
    assert "5 s." in text and "# mine" in text and 'unit="ms"' in text


def test_an_answer_stays_when_what_was_asked_is_new(checkout, mine):
    checkout.change("Seconds to read them.", "Seconds it takes.")
    assert copies.renew(mine) == "renewed"
    assert "# mine" in mine.path.read_text()


def test_a_copy_without_its_record_is_left_as_it_is(checkout, mine):
    copies.as_shipped(mine).unlink()
    checkout.change("Suppose 10 GB", "Suppose ten GB")
    before = mine.path.read_text()
    assert copies.renew(mine) == "kept" and mine.path.read_text() == before


def test_reset_keeps_every_version(checkout, mine):
    day = date.today().isoformat()
    for number, name in enumerate((day, f"{day}.2", f"{day}.3")):
        words = f"version {number}, \xff\n".encode("latin-1")
        mine.path.write_bytes(words)
        backup = copies.reset(mine)
        assert backup == mine.path.with_name(f"01_read_time.{name}.py")
        assert backup.read_bytes() == words
        assert mine.path.read_text() == mine.stub()
    assert copies.reset(mine) is None  # nothing was written in it
    mine.path.unlink()
    assert copies.reset(mine) is None and mine.path.read_text() == mine.stub()
    assert len(list(mine.path.parent.iterdir())) == 4


def test_the_mode_of_a_file_stays(checkout, mine):
    mine.path.chmod(0o640)
    copies.reset(mine)
    assert mine.path.stat().st_mode & 0o777 == 0o640


def test_a_place_that_is_no_folder_is_named(checkout):
    checkout.path.unlink()
    checkout.path.parent.rmdir()
    checkout.path.parent.write_text("")
    with pytest.raises(ValueError, match=r"01_read_time\.py: .*--root"):
        copies.fill(checkout.exercise)
