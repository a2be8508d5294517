"""``stacklib check --watch``: grade on each save; at a terminal, a course by keys."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stacklib.grading import Exercise, FormatError, Limits, copies, parse
from stacklib.grading.report import PASS
from stacklib.grading.runner import changed_tests

from .results import grade, known_progress, painted, show, tell_reset

try:
    import termios
    import tty
except ImportError:  # such a system has no single keys; files are watched all the same
    KEYED = False
else:
    KEYED = True

POLL = 0.2  # seconds between two looks at the files watched
PATIENCE = 2.0  # seconds that a file may stay half written
CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # the screen, what scrolled off it, to the top
WIDTH = 40  # characters of the progress bar
KEYS = "n next  h hint  l list  r reset  a {} after a pass  q quit"
NEW = "new"  # the state of an exercise that was never graded


def watch(exercises: list[Exercise], limits: Limits) -> int:
    """Grade on each save, by keys where stdin is a terminal; 0 on q or Ctrl-C."""
    try:
        if KEYED and sys.stdin.isatty():
            with single_keys(sys.stdin.fileno()):
                follow_keys(begin(exercises, limits))
        else:
            follow_saves(exercises, limits)
    except KeyboardInterrupt:
        print()
    print("stopped")
    return 0


def follow_saves(exercises: list[Exercise], limits: Limits) -> None:
    """Grade all, then each file again when it is saved."""
    target = exercises[0].id if len(exercises) == 1 else None
    saves = Saves(exercises)
    while True:
        if changed := saves.since():
            if len(changed) == 1:
                target = changed[0].id
            grade(changed, limits, show(target))
            print(f"watching {len(exercises)} exercises; Ctrl-C stops", flush=True)
        time.sleep(POLL)


class Saves:
    """Which of the readers' files were saved since one last asked; at first, all."""

    def __init__(self, exercises: list[Exercise]) -> None:
        self.exercises = exercises
        self.seen: dict[str, object] = {}
        self.fresh: dict[str, tuple[object, float]] = {}

    def since(self) -> list[Exercise]:
        """Those that differ and are whole. One that is gone, or still grows, is being
        saved: later.
        """
        changed = []
        for e in self.exercises:
            now = stamp(e.path)
            if now in (None, self.seen.get(e.id)):
                continue
            if e.id not in self.seen or self.settled(e, now):
                self.seen[e.id] = now
                changed.append(e)
        return changed

    def take(self, e: Exercise) -> None:
        """Count a file as it is now as seen."""
        self.seen[e.id] = stamp(e.path)

    def settled(self, e: Exercise, now: object) -> bool:
        """Whether a file stays as it is and holds its tests, or will not for long."""
        was, began = self.fresh.get(e.id, (None, 0.0))
        if was != now:
            self.fresh[e.id] = now, time.monotonic()
            return False
        return is_whole(e) or time.monotonic() - began > PATIENCE


def is_whole(exercise: Exercise) -> bool:
    """Whether a reader's file can be taken apart and ends with the book's tests."""
    try:
        text = parse(exercise.path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, FormatError):
        return False
    return changed_tests(text, exercise.text()) is None


def stamp(path: Path) -> object:
    """What changes when a file is saved: time, size and inode."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def begin(exercises: list[Exercise], limits: Limits) -> Course:
    """A course at the first exercise that is not solved, by what is known of them."""
    known = known_progress(exercises)
    states = {e.id: known.get(e.id, {}).get("state", NEW) for e in exercises}
    for e in exercises:
        # One begun anew is not solved, whatever was known of it.
        if states[e.id] == PASS and e.path.read_bytes() == e.stub().encode():
            states[e.id] = NEW
    todo = (e for e in exercises if states[e.id] != PASS)
    return Course(exercises, limits, states, next(todo, exercises[0]), Saves(exercises))


def follow_keys(course: Course) -> None:
    """Grade where the reader is, then do what keys say and grade what is saved."""
    saves = course.saves
    saves.since()
    course.grade([course.current])
    course.prompt()
    while "q" not in (keys := typed(sys.stdin.fileno())):
        for key in keys:
            course.press(key)
        saved = saves.since()
        course.grade(saved)
        if keys or saved:
            course.prompt()


@contextmanager
def single_keys(fd: int) -> Iterator[None]:
    """The terminal hands over each key as it is typed; as it was, afterwards."""
    was = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, was)


def typed(fd: int) -> str:
    """The keys typed within ``POLL``; q where the terminal is gone."""
    if not select.select([fd], [], [], POLL)[0]:
        return ""
    keys = os.read(fd, 64).decode("utf-8", "replace").lower() or "q"
    # An arrow or Home is an escape and letters that nobody typed.
    return "" if keys.startswith("\x1b") else keys


def clear() -> None:
    """Empty the screen, where there is one."""
    if sys.stdout.isatty():
        print(CLEAR, end="")


@dataclass
class Course:
    """The exercises, their ``states`` by id, the one that the reader is at."""

    exercises: list[Exercise]
    limits: Limits
    states: dict[str, str]
    current: Exercise
    saves: Saves
    goes_on: bool = True

    def grade(self, exercises: list[Exercise]) -> None:
        """Grade and tell; a single one is where the reader is now, and where it passes
        for the first time the reader goes on to the next.
        """
        if exercises:
            clear()
        while exercises:
            if len(exercises) == 1:
                self.current = exercises[0]
            before = self.states[self.current.id]
            for result in grade(exercises, self.limits, show(self.current.id)):
                self.states[result.id] = result.state
            passed = before != PASS == self.states[self.current.id]
            alone = len(exercises) == 1
            exercises = self.todo()[:1] if alone and passed and self.goes_on else []

    def prompt(self) -> None:
        """The progress bar and the keys."""
        passed, number = list(self.states.values()).count(PASS), len(self.exercises)
        bar = "#" * (WIDTH * passed // number)
        bar = painted(f"[{bar:.<{WIDTH}}]", PASS)
        print(f"\n{bar} {passed} of {number} pass", flush=True)
        print(KEYS.format("stay" if self.goes_on else "go on"), flush=True)

    def press(self, key: str) -> None:
        """Do what a key says; one that says nothing does nothing."""
        actions = {"n": self.go_on, "h": self.hint, "l": self.overview, "r": self.reset}
        if key == "a":
            self.goes_on = not self.goes_on
        elif key in actions:
            actions[key]()

    def todo(self) -> list[Exercise]:
        """Those that do not pass, from here on, the last followed by the first."""
        place = self.exercises.index(self.current)
        others = self.exercises[place + 1 :] + self.exercises[:place]
        return [e for e in others if self.states[e.id] != PASS]

    def go_on(self) -> None:
        """Go to the next that does not pass."""
        if todo := self.todo():
            self.grade(todo[:1])
        else:
            print("no other is left to solve")

    def hint(self) -> None:
        """Print the hint."""
        print(self.current.text().hint)

    def overview(self) -> None:
        """Print all with their states, an arrow at the one the reader is at."""
        clear()
        for e in self.exercises:
            arrow = ">" if e == self.current else ""
            state = painted(f"{self.states[e.id]:<5}")
            print(f"{arrow:<2}{e.id:<5} {state} {e.text().title}")

    def reset(self) -> None:
        """Begin anew, and grade what there is then."""
        kept = copies.reset(self.current)
        self.saves.take(self.current)
        self.grade([self.current])
        tell_reset(self.current, kept)
