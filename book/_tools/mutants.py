"""Random mutants of the rooms: are they killed by the tests of their room?

A mutant is one operator, comparison or constant of one function, changed. Of mutmut and
cosmic-ray neither fits: one runs a whole package in a layout of its own, the other
rewrites the checkout and counts wall time, and neither draws a sample, starts from a
warmed process or keeps apart what numba compiled.

All is done in a copied tree. Each test file of a room runs once as it is, which shows
what functions it calls; a mutant runs those files only, the nearest and cheapest first,
until a test fails.
"""

import argparse
import ast
import contextlib
import copy
import importlib
import itertools
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _tools import durations, layers, tree

EQUIVALENT = "tests/equivalent.toml"  # what changes nothing, each with its reason
ROOMS = sorted(set().union(*layers.FLOORS) - {"plots", "pages", "cli"})
LEFT = (*tree.SKIP, ".git", ".venv", ".hypothesis", "dist", "my", "runs")
# A comparison's boundary, and the comparison turned round; other operators.
OTHERS = dict(
    row.split(": ")
    for row in (
        "Lt: LtE Gt; LtE: Lt GtE; Gt: GtE Lt; GtE: Gt LtE; Eq: NotEq; NotEq: Eq; "
        "In: NotIn; NotIn: In; Is: IsNot; IsNot: Is; And: Or; Or: And; Add: Sub; "
        "Sub: Add; Mult: Div; Div: Mult; FloorDiv: Mult; Mod: FloorDiv; Pow: Mult; "
        "LShift: RShift; RShift: LShift; BitAnd: BitOr; BitOr: BitAnd; BitXor: "
        "BitAnd"
    ).split("; ")
)
UNSEEN = {"strict", "stacklevel"}  # arguments that guard what holds anyway
COMPILED = re.compile(r"\bnumba\b|\b_fast\b|\b_apart\b|_kernel\b")
COMPILING = 240  # CPU seconds that numba may take on top


@dataclass(frozen=True)
class Mutant:
    """A function of a file, and one node of it changed."""

    file: str
    function: str
    body: range
    old: Any
    new: Any

    @property
    def room(self) -> str:
        """Whose tests are to kill it."""
        return layers.room_of(Path(self.file))

    @property
    def change(self) -> str:
        """What was, and what is."""
        return f"{ast.unparse(self.old)} -> {ast.unparse(self.new)}"

    def __str__(self) -> str:
        return f"{self.file}:{self.old.lineno} {self.function}: {self.change}"

    def source(self, source: bytes) -> bytes:
        """Its file with the change."""
        ends = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
        first = ends[self.old.lineno - 1] + self.old.col_offset
        last = ends[self.old.end_lineno - 1] + self.old.end_col_offset
        text = ast.unparse(self.new)
        text = text if isinstance(self.new, ast.stmt) else f"({text})"
        return source[:first] + text.encode() + source[last:]


def changes(node: Any) -> Iterator[Any]:
    """The node with one thing changed, in every way."""

    def changed(**fields: Any) -> Any:
        made = copy.copy(node)
        vars(made).update(fields)
        return made

    def others(operator: Any) -> Iterator[Any]:
        names = OTHERS.get(type(operator).__name__, "")
        return (getattr(ast, name)() for name in names.split())

    match node:
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            yield from (changed(op=other) for other in others(node.op))
        case ast.Compare(ops=[*ops]):
            for i, operator in enumerate(ops):
                for other in others(operator):
                    yield changed(ops=[*ops[:i], other, *ops[i + 1 :]])
        case ast.Constant(value=bool() as value):
            yield changed(value=not value)
        case ast.Constant(value=int() as value):
            yield from (changed(value=value + step) for step in (1, -1))
        case ast.Constant(value=float() as value):
            news = {value * 2: None, value + 1: None}
            yield from (changed(value=new) for new in news if new != value)


def functions(body: list[ast.stmt], outer: str = "") -> Iterator[tuple[str, Any]]:
    """Functions and methods, inner ones as part of theirs."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield outer + node.name, node


def runs(node: ast.AST) -> Iterator[ast.AST]:
    """What runs of a function: no types, no decorators, no text that it prints."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if (
                isinstance(child, ast.AST)
                and not isinstance(child, ast.JoinedStr)
                and not (isinstance(child, ast.keyword) and child.arg in UNSEEN)
                and field not in ("annotation", "returns", "decorator_list")
            ):
                yield from (child, *runs(child))


def mutants(file: str, root: Path) -> Iterator[Mutant]:
    """Every mutant of a module's functions."""
    for name, function in functions(ast.parse((root / file).read_bytes()).body):
        body = range(function.body[0].lineno, function.end_lineno + 1)
        for node in runs(function):
            yield from (Mutant(file, name, body, node, new) for new in changes(node))


def draw(root: Path, seed: int, count: int, rooms: list[str]) -> list[Mutant]:
    """A mutant of each of `count` functions; no change that is known as equivalent."""
    known, found = tree.read_toml(root / EQUIVALENT), defaultdict(list)
    for path in tree.find(root, "stacklib", "*.py"):
        if layers.room_of(path.relative_to(root)) in rooms:
            for mutant in mutants(tree.name(path, root), root):
                place = f"{mutant.file}:{mutant.function}"
                if place not in known or mutant.change not in known[place]:
                    found[place].append(mutant)
    chance = random.Random(seed)
    chosen = chance.sample(sorted(found), min(count, len(found)))
    return [chance.choice(found[place]) for place in sorted(chosen)]


@contextlib.contextmanager
def copied(root: Path) -> Iterator[None]:
    """A copy of a tree, to stand in; it computes with itself."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            root, folder, ignore=shutil.ignore_patterns(*LEFT), dirs_exist_ok=True
        )
        ours = [folder, f"{folder}/book"]
        # CI: hypothesis tries the same each time; no plugin is used, and some are slow.
        os.environ |= {"CI": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        os.environ["PYTHONPATH"] = os.pathsep.join(ours)
        theirs = {"", str(root), str(root / "book")}
        sys.path[:] = [*ours, *(path for path in sys.path if path not in theirs)]
        for name in ("coverage", "hypothesis", "numba", "pandas", "pytest"):
            importlib.import_module(name)  # that every fork would load anew
        for name in [n for n in sys.modules if n.split(".")[0] == "_tools"]:
            del sys.modules[name]  # which know of the tree that was copied
        with contextlib.chdir(folder):
            yield


def forked(work: Callable[[], Any], limit: float) -> tuple[Any, float]:
    """What `work` returns, silently, in a process of its own, and its CPU seconds.

    None past the limit; what it started ends with it.
    """
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        with contextlib.suppress(BaseException):
            os.write(writing, json.dumps(work()).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        # A process that waits for ever spends nothing.
        said = pipe.read() if select.select([pipe], [], [], 20 * limit)[0] else ""
    os.killpg(child, signal.SIGKILL)  # it is not yet waited for
    used = os.wait4(child, 0)[2]
    return json.loads(said) if said else None, used.ru_utime + used.ru_stime


def failures(file: str, *options: str) -> list[str]:
    """Ids of the tests of a file, or of the examples in it, that fail."""
    import pytest

    found: list[str] = []

    class Plugin:
        def pytest_runtest_logreport(self, report: Any) -> None:
            found.extend([report.nodeid] * report.failed)

        pytest_collectreport = pytest_runtest_logreport

    chosen = ["-m", "not slow", "-p", "no:cacheprovider", "--doctest-modules", *options]
    code = pytest.main([*chosen, file], [Plugin()])
    return found or [file] * (code not in (0, 5))


class Room:
    """The test files of a room: what each, as it is, runs, costs and fails."""

    def __init__(self, here: list[Mutant]) -> None:
        self.files = sorted({mutant.file for mutant in here})
        found = tree.find(Path(), f"tests/{here[0].room}", "test_*.py")
        self.tests = [path.as_posix() for path in found]
        self.known: dict[str, dict[str, list[int]]] = {}
        self.cost = dict.fromkeys(self.files, 0.0)
        self.failed: list[str] = []

    def lines(self, test: str, file: str) -> set[int]:
        """The lines of a file that a test file runs."""

        def traced() -> tuple[list[str], dict[str, list[int]]]:
            trace = sys.modules["coverage"].Coverage(None, include=self.files)
            with trace.collect():
                failed = failures(test)
            data = trace.get_data()
            return failed, {f: data.lines(os.path.abspath(f)) or [] for f in self.files}

        if test not in self.known:
            (failed, self.known[test]), self.cost[test] = forked(traced, 3600)
            self.failed += failed
            for name in failed:
                print(f"left out, as it fails without a mutant: {name}", flush=True)
        return set(self.known[test][file])

    def tests_of(self, mutant: Mutant) -> Iterator[str]:
        """Its module's examples, and test files that can see it, the nearest first.

        Those that run a line of its function; in code that numba compiles, or where
        none does so in this process, those that import its module; all of its folder.
        """
        path, body = Path(mutant.file), set(mutant.body)
        folder = path.parent.as_posix().replace("stacklib", "tests", 1)
        named, last = f"{folder}/test_{path.stem}.py", durations.last_run()

        def far(test: str) -> tuple[bool, bool, float]:
            return test != named, os.path.dirname(test) != folder, last.get(test, 0)

        ordered, seen = sorted(self.tests, key=far), []
        yield mutant.file
        for test in ordered:
            lines = self.lines(test, mutant.file)
            if lines and (lines & body or is_compiled(mutant.file)):
                seen.append(test)
                yield test
        # A process that a test starts runs what no line of this one shows.
        for test in (t for t in ordered if t not in seen):
            if not (far(test)[1] and (seen or not self.lines(test, mutant.file))):
                yield test

    def fails(self, test: str, mutant: Mutant, kept: str) -> str:
        """The first test of a file that fails on a mutant, if one does.

        ``kept``: a folder for what numba compiles of this mutant.
        """
        compiled, path = is_compiled(mutant.file), Path(mutant.file)
        source, times = path.read_bytes(), path.stat()

        def work() -> list[str]:
            # Neither bytecode nor what numba compiles may outlive the mutant.
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            sys.dont_write_bytecode = True
            if compiled:
                os.environ["NUMBA_CACHE_DIR"] = kept
                sys.modules["numba"].config.CACHE_DIR = kept
            return failures(test, "-x", *(f"--deselect={t}" for t in self.failed))

        path.write_bytes(mutant.source(source))
        os.utime(path, (times.st_atime, times.st_mtime + 1))  # one stamp a mutant
        found, _ = forked(work, 20 + 3 * self.cost[test] + COMPILING * compiled)
        path.write_bytes(source)
        os.utime(path, (times.st_atime, times.st_mtime))
        return f"{test}: limit" if found is None else next(iter(found), "")


def is_compiled(file: str) -> bool:
    """Whether numba may compile what stands in a module."""
    return bool(COMPILED.search(Path(file).read_text("utf-8") + file))


def judge(here: list[Mutant]) -> Counter[str]:
    """Kill the mutants of a room, and say which survive."""
    room, dead = Room(here), Counter[str]()
    for mutant in here:
        with tempfile.TemporaryDirectory() as kept:
            for place, test in enumerate(room.tests_of(mutant)):
                if killer := room.fails(test, mutant, kept):
                    # By the examples of its module, or the nearest file that sees it.
                    dead += Counter(all=1, near=place < 2)
                    break
            else:
                killer = "SURVIVED"
        print(f"{killer}  {mutant}", flush=True)
    return dead


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Draw, judge in a copied tree, and print who survived."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--room", nargs="*", choices=ROOMS, help="all, unless named")
    options = parser.parse_args(argv)
    root = root.resolve()
    drawn = draw(root, options.seed, options.count, options.room or ROOMS)
    print(f"{len(drawn)} mutants, seed {options.seed}", flush=True)
    lines, total = [], Counter[str]()
    with copied(root):
        for name, group in itertools.groupby(drawn, lambda mutant: mutant.room):
            here = list(group)
            dead = judge(here)
            total += dead
            lines.append(f"{name:14}{dead['all']:4} of {len(here)}")
    print(*lines, sep="\n")
    near = f"{total['near']} by the nearest tests"
    print(f"killed {total['all']} of {len(drawn)}, {near}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
