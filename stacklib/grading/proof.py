"""Prove that the exercises do what they promise, in one warmed process.

As shipped each fails with a request to write something; its solution passes, and so do
the right answers of another kind; every mistake that a test states, and every stored
wrong answer, fails with its own diagnosis and no other's. The process imports what the
exercises import once and forks for each case.
"""

from __future__ import annotations

import ast
import gc
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from stacklib.grading import expect, machine, sandbox, shelf
from stacklib.grading.expect import Named
from stacklib.grading.format import FormatError, Other, Text, parse
from stacklib.grading.launch import PACKAGE, Limits, fork
from stacklib.grading.report import TODO, Result
from stacklib.grading.runner import grade_source, request_of
from stacklib.grading.shelf import FEWEST
from stacklib.grading.view import copy_of

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from stacklib.grading.proof import main; main(*sys.argv[2:])"
)
SIMULATES = re.compile(r"^from stacklib(\.| import .*)\b(gpu|kernels|memory)\b", re.M)


@dataclass(frozen=True)
class Case:
    """One text that was run. ``kind``: shipped, solution, right or wrong, with the
    other answer's ``name``, or a mistake that a test states, with its sentence;
    ``fault`` is empty where it did what it must.
    """

    id: str
    kind: str
    name: str
    seconds: float
    fault: str = ""


@dataclass(frozen=True)
class Proof:
    """All cases, and the faults of files that need no run (``shelf.faults``)."""

    cases: tuple[Case, ...]
    file_faults: tuple[str, ...]
    seconds: float

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault, one sentence each; empty when all is proven."""
        ran = tuple(f"{c.id}: {c.name}: {c.fault}" for c in self.cases if c.fault)
        return self.file_faults + ran


def prove(
    root: Path | str, *, timeout: float = 10.0, ids: Collection[str] = ()
) -> Proof:
    """Prove every exercise: ships failing, solution passes, mistakes are named.

    Runs in a process of its own, so that threads and imports of the caller do not
    reach the exercises.

    Parameters
    ----------
    timeout : float
        Seconds for one case.
    ids : collection of str
        The exercises alone; by default all of the checkout.

    Raises
    ------
    RuntimeError
        When the proving process itself fails.
    """
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT]
    arguments = [str(PACKAGE), str(Path(root).resolve()), str(timeout), *ids]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, env=env, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the proving process failed:\n{done.stderr}")
    found = json.loads(done.stdout)
    cases = tuple(Case(**c) for c in found["cases"])
    return Proof(cases, tuple(found["file_faults"]), found["seconds"])


def main(root: str, timeout: str, *ids: str) -> None:
    """Prove in this process and print the proof as JSON."""
    began = time.monotonic()
    limits = Limits(float(timeout))
    cases: list[Case] = []
    # A fork copies the tables of all memory: what is large is imported for the last.
    found = [e for e in shelf.discover(root) if not ids or e.id in ids]
    for e in sorted(found, key=weight):
        if weight(e):
            machine.warm()
        warm(e)
        gc.freeze()
        cases += prove_one(e, limits)
    proof = Proof(tuple(cases), tuple(shelf.faults(root)), time.monotonic() - began)
    print(json.dumps(asdict(proof)))


def weight(exercise: shelf.Exercise) -> int:
    """2 where an exercise imports torch, 1 where it simulates, which numba compiles."""
    text = exercise.file.read_text("utf-8")
    if "torch" in text or "triton" in text:
        return 2
    return int(SIMULATES.search(text) is not None)


def warm(exercise: shelf.Exercise) -> None:
    """Import what an exercise imports, once for all forks."""
    try:
        tree = ast.parse(exercise.text().head)
    except FormatError:
        return  # shelf.faults tells
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        elif isinstance(node, ast.Import):
            modules = [a.name for a in node.names]
        else:
            continue
        for module in modules:
            try:
                importlib.import_module(module)
            except ImportError:  # a name that is no module; the fork tells of others
                pass


def prove_one(exercise: shelf.Exercise, limits: Limits) -> Iterator[Case]:
    """The cases of one exercise."""
    try:
        text, stub = exercise.text(), exercise.stub()
        wrong, right = exercise.wrong_answers(), exercise.right_answers()
    except FormatError:
        return  # shelf.faults tells

    def case(kind: str, name: str, source: str, fault: Callable[[Result], str]) -> Case:
        result = grade_source(exercise, source, limits, fork)
        return Case(exercise.id, kind, name, result.seconds, fault(result))

    solved = case("solution", exercise.file.name, copy_of(text), solution_fault)
    named = Named() if solved.fault else rehearse(exercise, text)
    yield case("shipped", exercise.file.name, stub, shipped_fault)
    yield solved
    for one in right:
        yield case("right", one.name, copy_of(text, one.code), right_fault)
    for one in wrong:
        fault = partial(wrong_fault, one, wrong)
        yield case("wrong", one.name, copy_of(text, one.code), fault)
    for sentence in sorted(named.sentences):
        yield Case(exercise.id, "mistake", sentence, 0.0)
    for words in [*named.faults, *mistake_faults(exercise, wrong, named)]:
        yield Case(exercise.id, "mistake", exercise.file.name, 0.0, words)


def rehearse(exercise: shelf.Exercise, text: Text) -> Named:
    """Run the book's own answer here, too, once it has passed in a fork: what its tests
    load, compile and expect, the next forks find. The mistakes that they state are
    asked for their sentences.
    """
    request = request_of(exercise, parse(copy_of(text)), text)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        with redirect_stdout(io.StringIO()), expect.proving() as named:
            sandbox.run_tests(request, lambda **record: None)
    gc.freeze()  # or each fork would copy what its collector looks at
    return named


def mistake_faults(
    exercise: shelf.Exercise, wrong: tuple[Other, ...], named: Named
) -> Iterator[str]:
    """Mistakes that are stored although a test states them, and too few of both."""
    for one in wrong:
        if any(one.words in sentence for sentence in named.sentences):
            where = exercise.wrong.name
            yield f"the mistake {one.words!r} is stated by a test: drop it in {where}"
    if len(wrong) + len(named.sentences) < FEWEST:
        yield f"names {len(wrong) + len(named.sentences)} mistakes; {FEWEST} are wanted"


def shipped_fault(result: Result) -> str:
    """A shipped exercise asks to be written, in every test that does not pass."""
    if result.passed:
        return "ships passing: its tests ask for nothing"
    if result.state != TODO:
        return f"ships with another message than 'write ...': {told(result)}"
    return ""


def solution_fault(result: Result) -> str:
    """The book's own answer passes."""
    return "" if result.passed else f"its answer does not pass: {told(result)}"


def right_fault(result: Result) -> str:
    """A right answer of another kind passes."""
    return "" if result.passed else f"a right answer does not pass: {told(result)}"


def wrong_fault(wrong: Other, every: tuple[Other, ...], result: Result) -> str:
    """A wrong answer fails with its own diagnosis and with no other's."""
    if result.passed:
        return "" if not_run(result) else "a wrong answer that passes"
    said = told(result)
    if wrong.words not in said:
        return f"the diagnosis {wrong.words!r} is not in: {said}"
    for other in every:
        if other != wrong and other.words in said:
            return f"gets the diagnosis of {other.name} too: {other.words!r}"
    return ""


def not_run(result: Result) -> bool:
    """Whether a test lacked a tool here, such as a compiler, and said so."""
    return any(r.startswith("not run: ") for t in result.tests for r in t.readings)


def told(result: Result) -> str:
    """All that a reader would be told."""
    return " / ".join(result.messages)
