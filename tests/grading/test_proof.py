"""The proof of all exercises, and each way in which one could break its promise."""

from stacklib import grading

SECONDS_A_CASE = 120 / (130 * 4)  # two minutes for the book's planned exercises


def test_the_books_exercises_are_proven_in_time(book):
    proof = grading.prove(book)
    assert proof.faults == ()
    kinds = [case.kind for case in proof.cases]
    exercises = len(grading.discover(book))
    assert kinds.count("shipped") == kinds.count("solution") == exercises
    assert kinds.count("wrong") >= 2 * exercises
    # Twice the time leaves room for a busy machine.
    assert proof.seconds < 2 * SECONDS_A_CASE * len(proof.cases)


def test_a_sound_checkout_is_proven(checkout):
    proof = grading.prove(checkout.root)
    assert proof.faults == ()
    assert [c.kind for c in proof.cases] == ["shipped", "solution", "wrong", "wrong"]


def fault_of(checkout) -> str:
    faults = grading.prove(checkout.root).faults
    assert len(faults) == 1, faults
    return faults[0]


def test_a_solution_that_does_not_pass(checkout):
    text = checkout.solution.read_text()
    checkout.write_solution(text.replace("return BYTES / 2", "return BYTES / 3"))
    assert "solutions/01_read_time.py: does not pass" in fault_of(checkout)


def test_an_exercise_that_ships_passing(checkout):
    text = checkout.solution.read_text()
    checkout.write_solution(text.replace("read_time(),", "5.0,"))
    faults = grading.prove(checkout.root).faults
    assert any("01_read_time.py: ships passing" in f for f in faults)


def test_an_exercise_that_ships_broken(checkout):
    text = checkout.solution.read_text().replace("BYTES = 10", "BYTES = TEN")
    checkout.write_solution(text)
    faults = grading.prove(checkout.root).faults
    assert any("ships with another message than 'write ...'" in f for f in faults)


def test_a_wrong_answer_that_passes(checkout):
    checkout.write_wrong("bits", "# diagnosis: x\ndef read_time():\n    return 5.0\n")
    assert "01_read_time__bits.py: a wrong answer that passes" in fault_of(checkout)


def test_a_wrong_answer_with_anothers_diagnosis(checkout):
    text = "# diagnosis: 8 times\ndef read_time():\n    return 20.0\n"
    checkout.write_wrong("bits", text)
    assert "the diagnosis '8 times' is not in: " in fault_of(checkout)
    assert "You multiplied" in fault_of(checkout)


def test_a_wrong_answer_that_gets_two_diagnoses(checkout):
    text = "# diagnosis: 20 s:\ndef read_time():\n    return 20.0\n"
    checkout.write_wrong("bits", text)
    bits, product = grading.prove(checkout.root).faults
    assert "bits.py: gets the diagnosis of 01_read_time__product.py too" in bits
    assert "product.py: gets the diagnosis of 01_read_time__bits.py too" in product


def test_stub_drift_and_unlisted_files_are_part_of_the_proof(checkout):
    checkout.path.write_text(checkout.path.read_text().replace("Suppose", "Say"))
    (checkout.chapter / "02_alone.py").write_text("")
    drift, unlisted = sorted(grading.prove(checkout.root).faults)
    assert "is not what its solution gives" in drift
    assert "02_alone.py: belongs to no exercise" in unlisted


def test_files_without_form_are_faults_and_not_errors(checkout):
    checkout.solution.write_text("x = 1\n")
    assert any("stands 0 times" in f for f in grading.prove(checkout.root).faults)
