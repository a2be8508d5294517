"""What a reader's code may do to the grader: nothing. Each planted, each named."""

import faulthandler
import os
import signal

import pytest

from stacklib import grading
from stacklib.cli import main
from stacklib.grading import Limits, guards, launch, runner

BODIES = {
    "exception": ("return 1 / 0", 21, "ZeroDivisionError: division by zero  [return"),
    "import": ("import no_such_module", 21, "No module named 'no_such_module'"),
    "sys.exit": ("import sys; sys.exit(0)", 21, "sys.exit ends Python"),
    "os._exit": ("import os; os._exit(0)", 21, "os._exit ends Python"),
    "fork": ("import os; os.fork()", 21, "os.fork: an exercise is one process"),
    "subprocess": ("import os; os.system('true')", 21, "os.system: an exercise is one"),
    "kill": ("import os; os.kill(os.getppid(), 9)", 21, "os.kill: an exercise is one"),
    "input": ("return input()", 21, "input() has nobody to ask"),
    "recursion": ("return read_time()", 21, "RecursionError"),
    "assert": ("assert BYTES == 3", 21, "the assertion does not hold"),
    "crash": ("import ctypes; ctypes.string_at(0)", 21, "crashed (SIGSEGV)"),
    "real exit": (
        "import posix; posix._exit(0)",
        None,
        "ended with status 0 before the tests had run",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_broken_answer_is_named_with_its_line(checkout, name):
    body, line, message = BODIES[name]
    graded = checkout.grade(body)
    (test,) = graded.tests
    assert test.state == "error"
    assert message in test.message
    assert test.line == line
    place = f"01_read_time.py:{line}" if line else "01_read_time.py"
    assert graded.messages[0].startswith(f"{place}: test_read_time: ")


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
    assert result.tests[0].line in (21, 22)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(result.messages[0])


@pytest.mark.parametrize(
    "body", ["while True: pass", "return 10 ** 10 ** 10", "while True: print('y' * 99)"]
)
def test_an_endless_answer_is_stopped_and_its_line_named(checkout, body):
    (test,) = checkout.grade(body, timeout=0.2).tests
    assert test.line == 21
    assert "stopped after" in test.message and "does every loop end" in test.message


def test_an_answer_that_waits_for_ever_is_stopped_by_the_clock(checkout):
    (test,) = checkout.grade("import time; time.sleep(1e6)", timeout=0.2).tests
    assert test.line == 21 and "stopped after 2 s on the clock" in test.message


def test_waiting_for_a_busy_machine_stops_nobody(checkout):
    body = "import time; time.sleep(0.7); return BYTES / 2"
    assert checkout.grade(body, timeout=0.5).passed


def test_an_answer_that_swallows_everything_is_stopped_too(checkout):
    body = "while True:\n        try: input()\n        except BaseException: pass"
    (test,) = checkout.grade(body, timeout=0.2).tests
    assert "stopped after 0.2 s" in test.message


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
    assert test.line in (21, 22)


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


def test_nothing_outside_its_folder_is_changed(checkout, tmp_path):
    before, victim = checkout.path.read_text(), tmp_path / "victim"
    victim.write_text("mine")
    for body in (
        "open(__file__, 'w')",
        "import os; os.remove(__file__)",
        f"open({str(checkout.file)!r}, 'a')",
        f"import os; os.remove({str(victim)!r})",
        f"import os; os.rename({str(victim)!r}, 'here')",
        f"import os; os.open({str(victim)!r}, os.O_WRONLY)",
        f"import pathlib; pathlib.Path({str(tmp_path)!r}, 'new').mkdir()",
        f"import shutil; shutil.rmtree({str(tmp_path)!r})",
        f"import sqlite3; sqlite3.connect({str(tmp_path / 'db')!r})",
        f"import os; os.remove('victim', dir_fd=os.open({str(tmp_path)!r}, 0))",
        "open('../new', 'w')",
        f"import os; os.chdir({str(tmp_path)!r}); open('new', 'w')",
    ):
        (test,) = checkout.grade(body).tests
        assert "an exercise writes only in the empty folder" in test.message, body
    assert checkout.path.read_text() == before and victim.read_text() == "mine"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "body",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.socket().bind(('127.0.0.1', 0))",
        "import urllib.request as r; r.urlopen('http://127.0.0.1:9')",
    ],
)
def test_no_network_is_reached(checkout, body):
    (test,) = checkout.grade(body).tests
    assert "an exercise reaches no network" in test.message and test.line == 21


def test_an_answer_runs_in_an_empty_folder_of_its_own(checkout):
    body = (
        "import os\n    open('note', 'w').write('x')\n    return 5 * len(os.listdir())"
    )
    assert checkout.grade(body).passed
    assert not (checkout.root / "note").exists()


def test_names_of_the_tests_and_of_the_answer_are_apart(checkout):
    checkout.change("def test_read_time():", "TEN = 2\n\n\ndef test_read_time():")
    body = "return BYTES / half()\n\n\ndef half():\n    return TEN\n\n\nTEN = 2"
    assert checkout.grade(body).passed
    (test,) = checkout.grade("return BYTES / TEN").tests
    assert "TEN belongs to the tests, not to your answer" in test.message
    (test,) = checkout.grade("return expect").tests
    assert "expect belongs to the tests" in test.message


def test_a_test_that_breaks_on_an_answer_says_nothing_of_its_innards(checkout):
    checkout.change("    expect.number(", "    read_time() + 1\n    expect.number(")
    (test,) = checkout.grade("return 'five'").tests
    kind = "is of another kind than the docstring asks for"
    assert test.message == f"read_time: 'five' {kind}"
    assert (test.state, test.line) == ("fail", 27)


@pytest.mark.parametrize(
    "body",
    [
        "from stacklib import gpu; return gpu.occupancy()",
        "from stacklib.gpu import occupancy; return occupancy()",
        "import stacklib.gpu as g; return g.occupancy()",
        "import stacklib as s; return s.gpu.occupancy()",
        "import stacklib.gpu; return stacklib.gpu.occupancy()",
        "import importlib; return importlib.import_module('stacklib.gpu').occupancy()",
        "return __import__('stacklib.gpu').occupancy()",
    ],
)
def test_an_answer_may_not_call_what_it_is_asked_to_write(checkout, body):
    (test,) = checkout.grade(body).tests
    assert (test.state, test.line) == ("fail", 21)
    assert "is not for this answer: it asks you to write that yourself" in test.message


def test_an_answer_may_use_data_units_and_what_the_books_own_imports(checkout):
    for body in (
        "from stacklib.quantity import Quantity; return Quantity(BYTES / 2, 's')",
        "from stacklib import hardware, models; return BYTES / 2",
        "import stacklib.hardware as h; h.get('a100'); return BYTES / 2",
        "import math, statistics; return BYTES / 2",
    ):
        assert checkout.grade(body).passed, body


def test_without_numpy_it_says_how_to_install_it(checkout):
    body = "raise ModuleNotFoundError('no', name='numpy')"
    (test,) = checkout.grade(body).tests
    assert "pip install numpy" in test.message


def test_changed_tests_prove_nothing(checkout):
    exercise = checkout.exercise
    text = checkout.path.read_text()
    for old, new in [("...,", "6.0,"), ("def test_read_time", "def read_it")]:
        exercise.path.write_text(text.replace(old, new))
        result = grading.grade(exercise, Limits())
        assert result.state == "error"
        assert "the tests were changed here" in result.messages[0]
        assert result.tests[0].line == 27
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
        timeout = 0.2 if state == "error" else 10.0
        report = grading.check("1.1", root=checkout.root, timeout=timeout)
        assert [r.state for r in report] == [state]
        assert report.passed == (state == "pass")


# What Windows has not; the child's side goes before its imports.
LACKING = {
    os: ("fork", "setsid", "killpg", "posix_spawn", "sysconf"),
    signal: ("setitimer", "SIGPROF", "SIGXCPU"),
    faulthandler: ("register",),
}


def test_a_system_without_signals_groups_and_limits_grades_too(
    checkout, monkeypatch, capsys
):
    gone = ["import sys, os, signal, faulthandler; sys.modules['resource'] = None"]
    for module, names in LACKING.items():
        for name in names:
            gone.append(f"del {module.__name__}.{name}")
            monkeypatch.delattr(module, name)
    monkeypatch.setattr(launch, "BOOT", "; ".join([*gone, launch.BOOT]))
    monkeypatch.setattr(guards, "resource", None)
    asked = ["check", "1.1", "--root", str(checkout.root), "--timeout"]
    stopped = "01_read_time.py:21: test_read_time: stopped after 0.2"
    for body, timeout, status, says in (
        ("return BYTES / 2", "10", 0, "pass"),
        ("while True: pass", "0.2", 1, stopped),
    ):
        checkout.path.write_text(checkout.answered(body))
        assert main([*asked, timeout]) == status
        told = capsys.readouterr()
        assert says in told.out and "no memory; an exercise is stopped" in told.err


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(timeout):
    with pytest.raises(ValueError, match="give seconds above 0"):
        Limits(timeout)


def test_compiling_the_machine_is_not_an_answers_time(checkout, monkeypatch):
    checkout.change("import expect\n", "import expect  # and gpu\n")
    checkout.path.write_text(checkout.answered("while True: pass"))
    cold = [True]
    monkeypatch.setattr(runner.machine, "is_cold", lambda: cold[0])
    monkeypatch.setattr(runner.machine, "warm", lambda: cold.insert(0, False))
    for _ in range(2):  # the second time it is the answer that does not end
        assert runner.grade(checkout.exercise, Limits(0.1)).state == "error"
    assert cold == [False, True]
