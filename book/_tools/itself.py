"""Sentences about the book itself, held to its contents: chapters, sections, commands.

Prose names a section by a link whose text is its number, and a chapter by its number
alone: the pages link it, or mark it as planned (`chapters_table`). So no sentence has
to change when a chapter is written, and none may say of a chapter that it will come,
nor of a planned one what it does. Messages of the package are read as well.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import normpath

from _tools import contents, prose, tree
from stacklib import cli
from stacklib.pages.chapters import CHAPTERS

NUMBERS = r"\d+(?:(?:, and|,| and| or| to) \d+)*"
CHAPTER = re.compile(rf"\b[Cc]hapters? (?P<numbers>{NUMBERS})(?![\d.]*\d)")
FUTURE = re.compile(
    r"\b(?:will|shall|going to|not yet|not written|unwritten|in the making|upcoming"
    r"|coming|planned|still to come)\b"
)
DOES = re.compile(r" (?!as\b|is\b|was\b|plus\b|does\b)[a-z]+s\b")  # chapter 8 builds
DONE = re.compile(r"\b(?:is|are|was|were|been) (?:\w+ )?\w+(?:ed|en|wn) (?:in|by) $")
COUNT = re.compile(r"\b(?P<word>\w+) chapters\b(?! \d)")
PAST = re.compile(r"\b(?P<word>\w+) sections have\b")  # those before this one
WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
# What is a paper's or a book's follows a comma: "arXiv 2412.19437, section 3.3.2".
CITED = re.compile(r", chapter \d+\b[\d, ]*")
SECTION = re.compile(r"(?<!, )(?<!,)\b[Ss]ections? (?P<number>\d+\.\d+)(?!\.?\d)")
LINKED = re.compile(r"\[(?P<words>[^\]\[]*)\]\((?P<to>[^)\s#]+\.(?:ipynb|md))[^)\s]*\)")
NUMBER = re.compile(r"(?:(?P<what>[Ss]ection|[Cc]hapter) )?(?P<number>\d+(?:\.\d+)?)")
COMMAND = re.compile(r"(?:^|`|\$ )stacklib (?P<name>[a-z]+)(?P<rest>[^`\n#]*)", re.M)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
MAKE = re.compile(r"(?:^|`|\$ )make (?P<name>[a-z-]+)", re.M)
STRINGS = ("stacklib", "exercises", "book/_ext")


def faults(root: Path = tree.ROOT) -> list[str]:
    """Every sentence that is not so, with its place."""
    found = [f"{b}: {f}" for b in prose.blocks(root) for f in of_prose(b.text, b.file)]
    for place, text in strings(root):
        found += [f"{place}: {fault}" for fault in of_string(text)]
    return found


def of_prose(text: str, page: str) -> Iterator[str]:
    """Faults of a page's Markdown: chapters, sections, links, commands."""
    plain = prose.blank(text, prose.code_spans(text))
    for start, end in prose.sentences(text):
        sentence = " ".join(plain[start:end].split())
        yield from of_chapters(sentence)
        outside = LINKED.sub("", sentence)
        for found in SECTION.finditer(outside):
            yield f"section {found['number']} is named without a link to it"
    for found in PAST.finditer(plain):
        yield from of_past(found["word"], numbered().get(page, ""))
    if "/annex" in page and "the next section" in plain:
        yield "'the next section': an annex has none"
    for found in LINKED.finditer(plain):
        target = normpath(f"{Path(page).parent}/{found['to']}")
        yield from of_link(found["words"], target, page)
    yield from of_commands(text)


def of_string(text: str) -> Iterator[str]:
    """Faults of a message, a label or a docstring."""
    line = " ".join(text.split())
    for sentence in prose.STOP.split(line):
        yield from of_chapters(CITED.sub("", sentence))
        for found in SECTION.finditer(sentence):
            if found["number"] not in contents.sections():
                yield f"there is no section {found['number']}"


def of_chapters(sentence: str) -> Iterator[str]:
    """Faults of a sentence that names chapters by number, or counts them."""
    for found in CHAPTER.finditer(sentence):
        numbers = [int(number) for number in re.findall(r"\d+", found["numbers"])]
        for number in numbers:
            if number not in CHAPTERS:
                yield f"there is no chapter {number}"
        if word := FUTURE.search(sentence):
            yield f"{word[0]!r} beside {found[0]!r}: the pages say what is planned"
        if set(numbers) & set(contents.planned()):
            before = sentence[: found.start()]
            if DOES.match(sentence, found.end("numbers")) or DONE.search(before):
                yield f"{found[0]!r} is not written: say what belongs to it"
    for found in COUNT.finditer(sentence):
        count = counted(found["word"])
        if count not in (None, len(CHAPTERS)):
            yield f"{found[0]!r}: there are {len(CHAPTERS)}"


def counted(word: str) -> int | None:
    """The number that a word is, if it is one."""
    if word.isdigit():
        return int(word)
    return WORDS.index(word.lower()) + 1 if word.lower() in WORDS else None


def of_past(word: str, number: str) -> Iterator[str]:
    """A section that counts those before it, `number` being its own."""
    before = int(number.partition(".")[2] or 1) - 1
    if number and counted(word) not in (None, before):
        yield f"'{word} sections have': there are {before} before {number}"


def of_link(words: str, target: str, page: str) -> Iterator[str]:
    """A link that is named by a number, or as the next, leads to what is that."""
    named, number = NUMBER.fullmatch(words), numbered().get(target, "")
    if words == "the next section":
        chapter, _, at = numbered().get(page, "").partition(".")
        if number != (after := f"{chapter}.{int(at or 0) + 1}"):
            yield f"[{words}] leads to {target}, which is {number}, not {after}"
    if not named or not target.startswith("chapters/"):
        return
    if number != named["number"]:
        yield f"[{words}] leads to {target}, which is {number or 'no section'}"


@cache
def numbered() -> dict[str, str]:
    """The number of each page of the chapters."""
    every = (page for pages in contents.written().values() for page in pages)
    return {f"{page.document}.ipynb": page.number for page in every}


def of_commands(text: str) -> Iterator[str]:
    """Commands and options that the parsers do not have, targets that make lacks."""
    for found in COMMAND.finditer(text):
        if found["name"] not in cli.COMMANDS:
            yield f"there is no command `stacklib {found['name']}`"
            continue
        for flag in FLAG.findall(found["rest"]):
            if flag not in options(found["name"]):
                yield f"`stacklib {found['name']}` has no {flag}"
    for found in MAKE.finditer(text):
        if found["name"] not in targets():
            yield f"there is no target `make {found['name']}`"


@cache
def options(command: str) -> set[str]:
    """Every option of a command and of what it is made of."""
    parser = cli.parser_of(command)
    waiting, found = [parser], set()
    while waiting:
        for action in waiting.pop()._actions:
            found |= set(action.option_strings)
            if isinstance(action.choices, dict):
                waiting += action.choices.values()
    return found


@cache
def targets() -> set[str]:
    """The targets of the Makefile."""
    text = (tree.ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.M))


def strings(root: Path) -> Iterator[tuple[str, str]]:
    """Texts of the package, the exercises and the extensions that name a part."""
    for folder in STRINGS:
        for path in tree.find(root, folder, "*.py"):
            text = path.read_text("utf-8")
            if not (CHAPTER.search(text) or SECTION.search(text)):
                continue
            name = tree.name(path, root)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{name}:{node.lineno}", node.value


if __name__ == "__main__":
    wrong = faults()
    print("\n".join(wrong) or "every sentence about the book is so")
    sys.exit(bool(wrong))
