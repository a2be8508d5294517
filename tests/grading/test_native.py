"""C in exercises: run apart, told as mistakes, and nothing else is let out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stacklib.grading import guards, native, proof, shelf
from stacklib.grading.expect import Mistake
from stacklib.grading.launch import Limits, observe, spawn
from stacklib.roofline.host import native as host

needs_c = pytest.mark.skipif(
    bool(native.missing()), reason=f"C in exercises: not run ({native.missing()})"
)
C = "#include <stdio.h>\nint main(void) { %s return 0; }\n"


@needs_c
def test_a_program_runs_and_its_words_come_back():
    assert native.run_c(C % 'puts("hello");') == "hello\n"


@needs_c
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return x;", "refused: .*x"),
        ("*(volatile int *)0 = 1;", "crashed \\(SIGSEGV\\)"),
        ("for (;;) ;", "still runs after"),
        ("return 3;", "ended with status 3"),
    ],
)
def test_a_program_that_fails_is_a_mistake_in_words(code, message, monkeypatch):
    monkeypatch.setattr(native, "RUN_S", 1)
    with pytest.raises(Mistake, match=message):
        native.run_c(C % code)


def test_the_system_itself_ends_what_the_signal_does_not(monkeypatch):
    asked = []
    monkeypatch.setattr(guards, "lower", lambda *limits: asked.append(limits))
    native.limited()
    ((_, soft, hard),) = asked
    assert soft == native.RUN_S < hard


@needs_c
def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(native.tempfile, "tempdir", str(tmp_path))
    native.run_c(C % "")
    with pytest.raises(Mistake):
        native.run_c(C % "no")
    assert list(tmp_path.iterdir()) == []


def test_the_widest_set_is_one_it_has_flags_for(monkeypatch):
    for flags, isa in [
        ((), "plain"),
        (("sse2",), "plain"),
        (("sse2", "avx2"), "avx2"),
        (("asimd",), "neon"),
    ]:
        machine = type("M", (), {"simd": flags})
        monkeypatch.setattr(native, "read_machine", lambda m=machine: m)
        assert native.widest() == isa


def test_without_a_compiler_it_says_so(monkeypatch):
    monkeypatch.setattr(host, "compiler", lambda: None)
    assert "set CC" in native.missing()


def ran(body: str, tmp_path: Path) -> list[dict]:
    """The results of one test in the sandbox, as a reader's file would have them."""
    source = f"from stacklib.grading import native, sandbox\ndef test_it():\n{body}"
    request = {
        "source": source,
        "answer": "",
        "book": source,
        "filename": str(tmp_path / "x.py"),
        "book_name": str(tmp_path / "book.py"),
        "tests": {"test_it": 1},
    }
    seen = observe(spawn, request, Limits(20.0))
    return [r for r in seen.records if r["event"] == "result"]


OTHER = f"""
    import subprocess
    subprocess.run([{sys.executable!r}, "-c", "pass"])
"""


def test_a_process_of_the_readers_own_is_still_refused(tmp_path):
    (found,) = ran(OTHER, tmp_path)
    assert found["state"] == "error" and "start or stop no other" in found["message"]


@needs_c
def test_the_door_closes_behind_the_compiler(tmp_path):
    ran_well = f"    assert native.run_c({C % ''!r}) == ''"
    (found,) = ran(ran_well + OTHER, tmp_path)
    assert found["state"] == "error" and "start or stop no other" in found["message"]
    refused = (
        f"    try:\n        native.run_c({C % 'no'!r})\n    except AssertionError:\n"
    )
    (found,) = ran(refused + "        pass" + OTHER, tmp_path)
    assert "start or stop no other" in found["message"]


def test_the_door_is_shut_by_itself():
    with pytest.raises(KeyError), guards.tool():
        assert guards._tool_at_work
        raise KeyError
    assert not guards._tool_at_work


def test_without_a_compiler_the_c_exercise_says_so_and_grades_the_rest(monkeypatch):
    root = Path(__file__).resolve().parents[2]
    (exercise,) = shelf.select(shelf.discover(root), "1.9")
    monkeypatch.setattr(host, "compiler", lambda: None)
    proof.warm(exercise)  # forks keep what is patched here
    cases = list(proof.prove_one(exercise, Limits(20.0)))
    assert len(cases) > 5 and [c.fault for c in cases if c.fault] == []
    passed = proof.grade_source(
        exercise, exercise.text().source, Limits(20.0), proof.fork
    )
    assert passed.passed and proof.not_run(passed)
