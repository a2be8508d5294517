"""The proof of all exercises, and each way in which one could break its promise."""

import random
from pathlib import Path

import pytest

from stacklib import grading

from ..rows import sources

BOOK = Path(__file__).parents[2]


def test_the_books_exercises_are_proven(pytestconfig):
    """A fifth of them, drawn by a hash of the package; all where slow tests run."""
    every = [e.id for e in grading.discover(BOOK)]
    if pytestconfig.option.markexpr == "not slow":
        every = random.Random(sources()).sample(every, len(every) // 5)
    proof = grading.prove(BOOK, ids=every)
    assert proof.faults == ()
    assert {case.id for case in proof.cases} == set(every)
    kinds = [case.kind for case in proof.cases]
    exercises = len(every)
    assert kinds.count("shipped") == kinds.count("solution") == exercises
    assert kinds.count("wrong") + kinds.count("mistake") >= 6 * exercises
    assert kinds.count("right") >= 2 * exercises


def test_a_sound_checkout_is_proven(checkout):
    proof = grading.prove(checkout.root)
    assert proof.faults == ()
    kinds = ["shipped", "solution", "right", "right", "wrong", "wrong", "mistake"]
    assert [c.kind for c in proof.cases] == kinds


def fault_of(checkout) -> str:
    faults = grading.prove(checkout.root).faults
    assert len(faults) == 1, faults
    return faults[0]


def test_a_solution_that_does_not_pass(checkout):
    checkout.change("return BYTES / 2", "return BYTES / 3")
    assert "01_read_time.py: its answer does not pass" in fault_of(checkout)


def test_a_right_answer_that_does_not_pass(checkout):
    text = checkout.right.read_text()
    checkout.right.write_text(text.replace("1000 * BYTES", "100 * BYTES"))
    assert "1.1: quantity: a right answer does not pass" in fault_of(checkout)


def test_an_exercise_that_ships_passing(checkout):
    checkout.change("read_time(),", "5.0,")
    faults = grading.prove(checkout.root).faults
    assert any("01_read_time.py: ships passing" in f for f in faults)


def test_an_exercise_that_ships_broken(checkout):
    checkout.change("BYTES = 10", "BYTES = TEN")
    faults = grading.prove(checkout.root).faults
    assert any("ships with another message than 'write ...'" in f for f in faults)


def test_a_wrong_answer_that_passes(checkout):
    checkout.write_wrong(bits=("x", "def read_time():\n    return 5.0\n"))
    assert "1.1: bits: a wrong answer that passes" in fault_of(checkout)


def test_a_wrong_answer_with_anothers_diagnosis(checkout):
    checkout.write_wrong(bits=("8 times", "def read_time():\n    return 20.0\n"))
    assert "the diagnosis '8 times' is not in: " in fault_of(checkout)
    assert "You multiplied" in fault_of(checkout)


def test_a_wrong_answer_that_gets_two_diagnoses(checkout):
    checkout.write_wrong(bits=("12 s:", "def read_time():\n    return 12.0\n"))
    added, bits = grading.prove(checkout.root).faults
    assert "bits: gets the diagnosis of added too" in bits
    assert "added: gets the diagnosis of bits too" in added


MATCHES = """def reads(f):
    return lambda size: f() * size


def test_read_time():
    right = reads(lambda: 5.0)
    cases = [{"size": 1.0}, {"size": 3.0}]
    slips = {"Too large": lambda size: 9 * size, "MISTAKE": ANSWER}
    held = {"unit": "s", "mistakes": slips}
    expect.function_matches(reads(read_time), right, cases, **held)
"""


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("lambda size: 7 * size", ""),
        ("lambda size: 5 * size", "'MISTAKE' is right wherever it is asked"),
        ("lambda size: 9 * size", "'MISTAKE' is told as: <lambda>(size=1.0) gives 9 s"),
        ("lambda size: None", "'MISTAKE' is told as: <lambda>(size=1.0): nothing"),
    ],
)
def test_a_mistake_that_a_test_states_brings_its_sentence(checkout, answer, fault):
    above = checkout.file.read_text().split("def test_read_time")[0]
    checkout.file.write_text(above + MATCHES.replace("ANSWER", answer))
    faults = [f for f in grading.prove(checkout.root).faults if "MISTAKE" in f]
    assert [fault in found for found in faults] == [True] * bool(fault), faults


def test_a_mistake_is_stated_once_and_two_are_named(checkout):
    checkout.write_wrong(bits=("You multi", "def read_time():\n    return 20.0\n"))
    assert "'You multi' is stated by a test: drop it in 01_read_t" in fault_of(checkout)
    checkout.wrong.unlink()
    assert "names 1 mistakes; 2 are wanted" in fault_of(checkout)


def test_unlisted_files_are_part_of_the_proof(checkout):
    (checkout.chapter / "alone.py").write_text("")
    assert "alone.py: belongs to no exercise" in fault_of(checkout)


def test_files_without_form_are_faults_and_not_errors(checkout):
    checkout.file.write_text("x = 1\n")
    assert any("stands 0 times" in f for f in grading.prove(checkout.root).faults)
