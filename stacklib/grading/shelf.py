"""Which exercises there are, and whether every file of theirs is in its place.

    exercises/01-roofline/01_slug.py          question, answer and tests
    exercises/01-roofline/wrong/01_slug.diff  the answers that must fail
    exercises/01-roofline/right/01_slug.py    answers of another kind that must pass
    my/01-roofline/01_slug.py                 a reader's copy, not part of the book

The folder is the list: an exercise is there when its file is, its id is made of the
two leading numbers (1.1), and a file that belongs to none is a fault.
"""

from __future__ import annotations

import difflib
import itertools
import re
from dataclasses import dataclass, replace
from pathlib import Path

from stacklib.grading.format import FormatError, Other, Text, other_answers, parse
from stacklib.grading.view import stub

CHAPTER = re.compile(r"^(\d\d)-[a-z0-9-]+$")
FILE = re.compile(r"^(\d\d)_([a-z0-9_]+)\.py$")
FEWEST = 2  # other right answers, and mistakes that are told apart


class UnknownExercise(LookupError):
    """A target that names no exercise; the message says which there are."""


@dataclass(frozen=True)
class Exercise:
    """The files of one exercise: the book's, those of its wrong and of its other right
    answers, and the reader's (``path``). ``id`` is ``chapter.number``.
    """

    chapter: int
    number: int
    slug: str
    file: Path
    wrong: Path
    right: Path
    path: Path

    @property
    def id(self) -> str:
        """Chapter and number: ``3.6``."""
        return f"{self.chapter}.{self.number}"

    @property
    def root(self) -> Path:
        """The checkout it stands in."""
        return self.file.parents[2]

    def text(self) -> Text:
        """The book's file, taken apart: question, hint and the tests that count."""
        return parse(self.file.read_text("utf-8"), self.file.name)

    def stub(self) -> str:
        """What a reader begins with."""
        return stub(self.file.read_text("utf-8"), self.file.name)

    def wrong_answers(self) -> tuple[Other, ...]:
        """The stored wrong answers, in file order; none where there is no file."""
        return others(self.wrong, self.text().answer)

    def right_answers(self) -> tuple[Other, ...]:
        """The other right answers, in file order; none where there is no file."""
        return others(self.right)


def others(path: Path, answer: str = "") -> tuple[Other, ...]:
    """The answers of one file; of some only the lines that `answer` has otherwise."""
    if not path.exists():
        return ()
    name = f"{path.parent.name}/{path.name}"
    return other_answers(path.read_text("utf-8"), name, answer)


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
    root = Path(root).absolute()
    found = [
        Exercise(
            chapter=int(chapter.name[:2]),
            number=int(name[1]),
            slug=name[2],
            file=file,
            wrong=chapter / "wrong" / f"{file.stem}.diff",
            right=chapter / "right" / file.name,
            path=root / "my" / chapter.name / file.name,
        )
        for chapter in chapters(root)
        for file in sorted(chapter.glob("*.py"))
        if (name := FILE.match(file.name))
    ]
    return sorted(found, key=lambda e: (e.chapter, e.number))


def chapters(root: Path) -> list[Path]:
    """The chapter folders of ``root/exercises``."""
    folders = sorted((root / "exercises").glob("*"))
    return [f for f in folders if f.is_dir() and CHAPTER.match(f.name)]


def select(exercises: list[Exercise], target: str | None) -> list[Exercise]:
    """The exercises a target means: all (None), a chapter (``1``, ``01-roofline``), one
    (``1.2``, its name or its file's), or the one that a reader's file answers, wherever
    it lies. A line behind a file's name is no matter.

    Raises UnknownExercise with what there is.
    """
    if not exercises:
        raise UnknownExercise("no exercises in this checkout")
    if target is None:
        return exercises
    target = re.sub(r"(\.py)(:\d+)+:?$", r"\1", target).rstrip("/")
    path = Path(target)
    if target.endswith(".py") and path.is_file():
        return [answered_by(exercises, path.absolute())]
    word = path.name.removesuffix(".py").replace("-", "_")
    found = [
        e
        for e in exercises
        if target in (e.id, str(e.chapter))
        or path.name == e.file.parent.name
        or word in (e.file.stem, e.slug)
    ]
    if not found:
        is_file = target.endswith(".py")
        none = f"no file {target}" if is_file else f"{target!r} names no exercise"
        raise UnknownExercise(f"{none}; {there_is(exercises, word)}")
    return found


def there_is(exercises: list[Exercise], word: str) -> str:
    """What was probably meant: a name near the word, or the chapters there are."""
    names = {name: e.id for e in exercises for name in (e.slug, e.file.stem)}
    if close := difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6):
        return f"{close[0]} is {names[close[0]]}"
    ends: dict[int, list[str]] = {}
    for e in exercises:
        ends.setdefault(e.chapter, []).append(e.id)
    there = ", ".join(f"{c} ({ids[0]} to {ids[-1]})" for c, ids in ends.items())
    return f"there {'is chapter' if len(ends) == 1 else 'are chapters'} {there}"


def answered_by(exercises: list[Exercise], path: Path) -> Exercise:
    """The exercise whose copy this is, told by place, by name or by title."""
    for e in exercises:
        if path.samefile(e.file):
            raise UnknownExercise(f"{path} holds the book's answer; yours is {e.path}")
    for same in (
        lambda e: e.path.exists() and path.samefile(e.path),
        lambda e: e.file.name == path.name,
        lambda e: e.text().title == parse(path.read_text("utf-8"), path.name).title,
    ):
        if found := next(filter(same, exercises), None):
            return replace(found, path=path)
    raise UnknownExercise(f"{path}: no exercise has its name or its title")


def faults(root: Path | str) -> list[str]:
    """What is wrong with the files, one sentence each; empty when all is in place.

    Looks for files that belong to no exercise, numbers used twice, files without the
    promised shape, fewer than two other right answers, two wrong answers with one
    diagnosis, and text still to be filled in (``TODO``).
    """
    root = Path(root).absolute()
    exercises = discover(root)
    found = unlisted(root, exercises) + doubled(exercises)
    for e in exercises:
        try:
            found += exercise_faults(e)
        except FormatError as error:
            found.append(f"{e.id}: {error}")
    return found


def unlisted(root: Path, exercises: list[Exercise]) -> list[str]:
    """Files below ``exercises/`` that belong to no exercise, its README apart."""
    folder = root / "exercises"
    known = {p for e in exercises for p in (e.file, e.wrong, e.right)}
    known.add(folder / "README.md")
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return [
        f"{path.relative_to(root)}: belongs to no exercise; there is none of its "
        "number, or its name is not NN_slug.py"
        for path in files
        if path not in known and "__pycache__" not in path.parts
    ]


def doubled(exercises: list[Exercise]) -> list[str]:
    """Two exercises with one number."""
    return [
        f"{a.id}: {a.file.name} and {b.file.name} have the same number"
        for a, b in itertools.pairwise(exercises)
        if a.id == b.id
    ]


def exercise_faults(e: Exercise) -> list[str]:
    """What is wrong with the files of one exercise."""
    e.stub()  # an answer that has none says so
    found = []
    if not e.text().test_names:
        found.append(f"{e.id}: {e.file.name} has no test function")
    found += stored_faults(e)
    for path in (p for p in (e.file, e.wrong, e.right) if p.exists()):
        name = path.relative_to(e.file.parent)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if "TODO" in line:
                found.append(f"{e.id}: {name}:{number}: TODO left: {line.strip()}")
    return found


def stored_faults(e: Exercise) -> list[str]:
    """Too few stored answers, or two wrong ones that would get the same message."""
    found, wrong, right = [], e.wrong_answers(), e.right_answers()
    if len(right) < FEWEST:
        found.append(
            f"{e.id}: {len(right)} other right answers stored; "
            f"at least {FEWEST} are wanted"
        )
    for one in wrong:
        if sum(one.words in other.words for other in wrong) > 1:
            found.append(f"{e.id}: {one.name}: another wrong answer has its diagnosis")
    return found
