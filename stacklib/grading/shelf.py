"""Which exercises there are, and whether every file of theirs is in its place.

    exercises/01-roofline/01_slug.py                    what the reader gets
    exercises/01-roofline/solutions/01_slug.py          what it is derived from
    exercises/01-roofline/wrong/01_slug__mistake.py     an answer that must fail

The folder is the list: an exercise is there when its solution is, its id is made
of the two leading numbers (1.1), and a file that belongs to none is a fault.
"""

from __future__ import annotations

import difflib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from stacklib.grading.format import FormatError, Text, parse, stub

CHAPTER = re.compile(r"^(\d\d)-[a-z0-9-]+$")
FILE = re.compile(r"^(\d\d)_([a-z0-9_]+?)(?:__([a-z0-9_]+))?\.py$")
FRESH = re.compile(r"^\d\d_[a-z0-9_]+\.fresh\d*\.py$")
DIAGNOSIS = re.compile(r"^# diagnosis:\s*(\S.*?)\s*$")
FEWEST_WRONG = 2


class UnknownExercise(LookupError):
    """A target that names no exercise; the message holds the nearest one."""


@dataclass(frozen=True)
class Exercise:
    """The files of one exercise. ``id`` is ``chapter.number``."""

    chapter: int
    number: int
    slug: str
    path: Path
    solution: Path
    wrong: tuple[Path, ...]

    @property
    def id(self) -> str:
        return f"{self.chapter}.{self.number}"

    def text(self) -> Text:
        """The solution, taken apart: question, hint and the tests that count."""
        return parse(self.solution.read_text("utf-8"), self.solution.name)


def find_root(start: Path | None = None) -> Path:
    """The checkout: the nearest folder from here up with ``exercises/01-...`` in it.

    Outside a checkout it is the one that this package stands in.

    Parameters
    ----------
    start : Path, optional
        Where to begin; default the current folder.

    Raises
    ------
    UnknownExercise
        Where there is none, as in a bare pip install.
    """
    here = (start or Path.cwd()).resolve()
    package = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, package):
        if (folder / "exercises").is_dir():
            return folder
    raise UnknownExercise(
        f"no folder exercises/ in {here} or above it; "
        "clone the book, or name the checkout with --root"
    )


def discover(root: Path | str) -> list[Exercise]:
    """All exercises of the checkout ``root``, in order of id."""
    found = []
    for chapter in chapters(Path(root)):
        for solution in sorted((chapter / "solutions").glob("*.py")):
            if (name := FILE.match(solution.name)) and not name[3]:
                found.append(exercise(chapter, solution, name))
    return sorted(found, key=lambda e: (e.chapter, e.number))


def chapters(root: Path) -> list[Path]:
    """The chapter folders of ``root/exercises``."""
    folders = sorted((root / "exercises").glob("*"))
    return [f for f in folders if f.is_dir() and CHAPTER.match(f.name)]


def exercise(chapter: Path, solution: Path, name: re.Match[str]) -> Exercise:
    """The exercise of one solution file."""
    wrong = sorted((chapter / "wrong").glob(f"{solution.stem}__*.py"))
    return Exercise(
        chapter=int(chapter.name[:2]),
        number=int(name[1]),
        slug=name[2],
        path=chapter / solution.name,
        solution=solution,
        wrong=tuple(wrong),
    )


def select(exercises: list[Exercise], target: str | None) -> list[Exercise]:
    """The exercises a target means: all (None), a chapter (``1``) or one (``1.2``).

    Raises UnknownExercise with the nearest target that exists.
    """
    if not exercises:
        raise UnknownExercise("no exercises in this checkout")
    if target is None:
        return exercises
    found = [e for e in exercises if target in (e.id, str(e.chapter))]
    if not found:
        raise UnknownExercise(
            f"{target!r} names no exercise; the nearest is {nearest(exercises, target)}"
        )
    return found


def nearest(exercises: list[Exercise], target: str) -> str:
    """The id that was probably meant, by slug or by distance of the two numbers."""
    slugs = {e.slug: e.id for e in exercises}
    word = target.lower().replace("-", "_")
    if close := difflib.get_close_matches(word, slugs, n=1, cutoff=0.4):
        return slugs[close[0]]
    numbers = [int(n) for n in re.findall(r"\d+", target)] + [0, 0]
    chapter, number = numbers[:2]
    best = min(
        exercises,
        key=lambda e: (abs(e.chapter - chapter), abs(e.number - number)),
    )
    return best.id


def diagnosis(wrong: Path) -> str:
    """What the grader must say about a stored wrong answer: its first line."""
    first = wrong.read_text("utf-8").partition("\n")[0]
    if not (found := DIAGNOSIS.match(first)):
        raise FormatError(f"{wrong.name}: the first line is not '# diagnosis: ...'")
    return found[1]


def faults(root: Path | str) -> list[str]:
    """What is wrong with the files, one sentence each; empty when all is in place.

    Looks for files that belong to no exercise, numbers used twice, stubs that
    differ from what their solution gives, fewer than two wrong answers, two wrong
    answers with one diagnosis, and text still to be filled in (``TODO``).

    Parameters
    ----------
    root : path
        The checkout.
    """
    root = Path(root)
    exercises = discover(root)
    found = unlisted(root, exercises) + doubled(exercises)
    for e in exercises:
        try:
            found += exercise_faults(e)
        except FormatError as error:
            found.append(f"{e.id}: {error}")
    return found


def unlisted(root: Path, exercises: list[Exercise]) -> list[str]:
    """Files in the chapters' folders that belong to no exercise."""
    known = {p for e in exercises for p in (e.path, e.solution, *e.wrong)}
    files = sorted(p for p in (root / "exercises").rglob("*") if p.is_file())
    return [
        f"{path.relative_to(root)}: belongs to no exercise; its solution is missing "
        "or its name is not NN_slug.py"
        for path in files
        if path not in known
        and "__pycache__" not in path.parts
        and not FRESH.match(path.name)
    ]


def doubled(exercises: list[Exercise]) -> list[str]:
    """Two exercises with one number."""
    return [
        f"{a.id}: {a.path.name} and {b.path.name} have the same number"
        for a, b in itertools.pairwise(exercises)
        if a.id == b.id
    ]


def exercise_faults(e: Exercise) -> list[str]:
    """What is wrong with the files of one exercise."""
    found = []
    derived = stub(e.solution.read_text("utf-8"), e.solution.name)
    if not e.path.exists():
        found.append(f"{e.id}: {e.path.name} is missing; its solution is there")
    elif e.path.read_text("utf-8") != derived:
        found.append(
            f"{e.id}: {e.path.name} is not what its solution gives; change the "
            "solution, then write the stub anew"
        )
    if not e.text().test_names:
        found.append(f"{e.id}: {e.solution.name} has no test function")
    found += wrong_faults(e)
    for path in (e.solution, *e.wrong):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if "TODO" in line:
                found.append(f"{e.id}: {path.name}:{number}: TODO left: {line.strip()}")
    return found


def wrong_faults(e: Exercise) -> list[str]:
    """Too few wrong answers, or two that would get the same message."""
    found = []
    if len(e.wrong) < FEWEST_WRONG:
        found.append(
            f"{e.id}: {len(e.wrong)} wrong answers stored; "
            f"at least {FEWEST_WRONG} are wanted"
        )
    texts = [diagnosis(path) for path in e.wrong]
    for path, text in zip(e.wrong, texts, strict=True):
        if sum(text in other for other in texts) > 1:
            found.append(f"{e.id}: {path.name}: another wrong answer has its diagnosis")
    return found
