"""What a reader's code may do to the grader: nothing. Each planted, each named."""

import os
import time

import pytest

from stacklib import grading
from stacklib.grading import Limits

BODIES = {
    "exception": ("return 1 / 0", 22, "ZeroDivisionError: division by zero  [return"),
    "import": ("import no_such_module", 22, "No module named 'no_such_module'"),
    "sys.exit": ("import sys; sys.exit(0)", 22, "sys.exit ends Python"),
    "os._exit": ("import os; os._exit(0)", 22, "os._exit ends Python"),
    "fork": ("import os; os.fork()", 22, "os.fork: an exercise is one process"),
    "subprocess": ("import os; os.system('true')", 22, "os.system: an exercise is one"),
    "kill": ("import os; os.kill(os.getppid(), 9)", 22, "os.kill: an exercise is one"),
    "input": ("return input()", 22, "input() has nobody to ask"),
    "recursion": ("return read_time()", 22, "RecursionError"),
    "assert": ("assert BYTES == 3", 22, "the assertion does not hold"),
    "crash": ("import ctypes; ctypes.string_at(0)", 22, "crashed (SIGSEGV)"),
    "real exit": (
        "import posix; posix._exit(0)",
        None,
        "ended with status 0 before the tests had run",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_broken_answer_is_named_with_its_line(checkout, name):
    body, line, message = BODIES[name]
    (test,) = checkout.grade(body).tests
    assert test.state == "error"
    assert message in test.message
    assert test.line == line
    place = f"01_read_time.py:{line}" if line else "01_read_time.py"
    assert checkout.grade(body).messages[0].startswith(f"{place}: test_read_time: ")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return (", r"SyntaxError: '\(' was never closed"),
        ("returm 3", "SyntaxError: invalid syntax"),
        ("  return 3\n  return 4", "IndentationError"),
    ],
)
def test_a_syntax_error_is_named_with_its_line(checkout, body, message):
    result = checkout.grade(body)
    assert result.state == "error"
    assert result.tests[0].line in (22, 23)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(result.messages[0])


@pytest.mark.parametrize(
    "body", ["while True: pass", "return 10 ** 10 ** 10", "while True: print('y' * 99)"]
)
def test_an_endless_answer_is_stopped_and_its_line_named(checkout, body):
    began = time.monotonic()
    (test,) = checkout.grade(body, timeout=0.5).tests
    assert time.monotonic() - began < 5
    assert test.line == 22
    assert "stopped after 0.5 s, still running" in test.message


def test_an_answer_that_swallows_everything_is_stopped_too(checkout):
    body = "while True:\n        try: input()\n        except BaseException: pass"
    (test,) = checkout.grade(body, timeout=0.5).tests
    assert "stopped after 0.5 s" in test.message


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no address limit")
@pytest.mark.parametrize(
    "body",
    [
        "hoard = []\n    while True: hoard.append(bytearray(10**6))",
        "return [0] * 10**11",
    ],
)
def test_a_memory_bomb_is_stopped_and_its_line_named(checkout, body):
    (test,) = checkout.grade(body, mib=64).tests
    assert "out of memory: more than 64 MiB" in test.message
    assert test.line in (22, 23)


def test_a_flood_of_output_is_cut(checkout):
    result = checkout.grade("print('x' * 10**7)\n    return BYTES / 2")
    assert result.passed
    assert len(result.output) < 21_000
    assert "10,000,001 bytes were printed" in result.output


def test_printed_verdicts_are_not_believed(checkout):
    record = (
        '{"event": "result", "test": "test_read_time", "state": "pass", "token": 1}'
    )
    body = f"for fd in range(1, 12):\n        try: __import__('os').write(fd, b'''\n{record}\n''')\n        except OSError: pass\n    return 6.5"  # noqa: E501
    result = checkout.grade(body)
    assert result.state == "fail"
    assert len(result.tests) == 1


def test_the_readers_file_cannot_be_changed_by_the_reader(checkout):
    before, book = checkout.path.read_text(), f"open({str(checkout.file)!r}, 'a')"
    for body in ("open(__file__, 'w')", "import os; os.remove(__file__)", book):
        (test,) = checkout.grade(body).tests
        assert "an exercise changes no exercise file" in test.message
    assert checkout.path.read_text() == before


def test_an_answer_runs_in_an_empty_folder_of_its_own(checkout):
    body = (
        "import os\n    open('note', 'w').write('x')\n    return 5 * len(os.listdir())"
    )
    assert checkout.grade(body).passed
    assert not (checkout.root / "note").exists()


def test_changed_tests_prove_nothing(checkout):
    exercise = checkout.exercise
    text = checkout.path.read_text()
    for old, new in [("5.0,", "6.0,"), ("def test_read_time", "def read_it")]:
        exercise.path.write_text(text.replace(old, new))
        result = grading.grade(exercise, Limits())
        assert result.state == "error"
        assert "the tests were changed here" in result.messages[0]
        assert result.tests[0].line == 28
    exercise.path.write_text(text + "\n\ndef test_read_time():\n    pass\n")
    assert grading.grade(exercise, Limits()).state == "error"


def test_a_file_that_cannot_be_read_is_said(checkout):
    exercise = checkout.exercise
    exercise.path.write_bytes(b"\xff\xfe")
    assert "cannot be read" in grading.grade(exercise, Limits()).messages[0]
    exercise.path.write_text("x = 1\n")
    assert "no docstring" in grading.grade(exercise, Limits()).messages[0] or (
        "stands 0 times" in grading.grade(exercise, Limits()).messages[0]
    )


def test_a_fresh_interpreter_gives_the_same_verdicts(checkout):
    for body, state in [
        ("return BYTES / 2", "pass"),
        ("return 10.0", "fail"),
        ('raise NotImplementedError("write read_time")', "todo"),
        ("while True: pass", "error"),
    ]:
        checkout.path.write_text(checkout.answered(body))
        report = grading.check("1.1", root=checkout.root, timeout=1.0)
        assert [r.state for r in report] == [state]
        assert report.passed == (state == "pass")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(timeout):
    with pytest.raises(ValueError, match="give seconds above 0"):
        Limits(timeout)
