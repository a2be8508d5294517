"""Built pages as parts of one document: their ids, links and folds.

Every id becomes one of the whole document, every link between pages an anchor in it.
What a reader should not see at once (hints, answers, solutions) moves to the end.
Page numbers are left open, for whoever prints to fill in.
"""

import html
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from _tools import release_paper

# What belongs to a page on a screen, or to a script that does not run on paper.
DROPPED = (
    "script, noscript, form, button, input, a.headerlink, a.viewcode-back, "
    "a:has(> .viewcode-link), .st-predict-note, .sd-stretched-link, "
    "div.cell:has(> .st-said)"
)
POINTING = ("for", "headers", "aria-labelledby", "aria-describedby", "aria-controls")
URL = re.compile(r"url\(['\"]?#([^'\")]+)['\"]?\)")
# Summary of a fold that moves -> the part at the end that it moves to.
MOVED = {"Hint": "Hints", "Answer": "Answers", "Solution": "Answers"}
FOLDERS = ("st-exercise", "st-prediction")


class PrintError(RuntimeError):
    """The book cannot be put on paper; names the page and what is wrong."""


@dataclass
class Sheet:
    """An article of the document; `names` are its ids: the page's and ours."""

    file: str
    article: Tag
    anchor: str
    names: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its first heading, section number included."""
        heading = self.article.find("h1")
        return heading.get_text().strip() if heading else self.file


def parsed(text: str) -> BeautifulSoup:
    """HTML as a tree."""
    return BeautifulSoup(text, "html.parser")


def read(built: Path, file: str) -> BeautifulSoup:
    """The built page of `file`, which is given without suffix as in the contents."""
    path = built / f"{file}.html"
    if not path.exists():
        raise PrintError(f"{file}.html is not in the built book; run `make book`")
    return parsed(path.read_text(encoding="utf-8"))


def sheet(page: BeautifulSoup, file: str, number: int) -> Sheet:
    """The article of a page, its ids made unlike those of every other page."""
    article = page.find("article")
    if article is None:
        raise PrintError(f"{file}.html has no article")
    for element in article.select(DROPPED):
        element.decompose()
    release_paper.put_on_paper(article, file)
    made = Sheet(file, article, f"p{number}")
    for count, element in enumerate(article.select("[id]")):
        made.names[element["id"]] = element["id"] = f"p{number}-{count}"
    article["id"] = made.anchor
    return made


# ---- links ----


def tie(sheets: list[Sheet], built: Path) -> None:
    """Point every link, label and drawing of `sheets` at the one document."""
    known = {f"{s.file}.html": s for s in sheets}
    for one in sheets:
        for element in one.article.find_all(True):
            rename(element, one.names)
        for image in one.article.select("img[src]"):
            image["src"], _ = place(one, image["src"])
        for link in one.article.select("a[href]"):
            retarget(link, one, known, built)


def rename(element: Tag, names: dict[str, str]) -> None:
    """Put our ids wherever an attribute of `element` means one of the page's."""
    for key, value in list(element.attrs.items()):
        if key in POINTING:
            words = value if isinstance(value, list) else value.split()
            element[key] = " ".join(names.get(word, word) for word in words)
        elif key in ("href", "xlink:href") and element.name != "a":
            element[key] = "#" + names.get(value[1:], value[1:])
        elif isinstance(value, str) and "url(" in value:
            element[key] = URL.sub(lambda m: f"url(#{names.get(m[1], m[1])})", value)


def place(one: Sheet, address: str) -> tuple[str, str]:
    """Path below the book's root, and anchor, that an address on a page means."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return address, ""
    if not parts.path:
        return f"{one.file}.html", unquote(parts.fragment)
    path = posixpath.join(posixpath.dirname(one.file), unquote(parts.path))
    return posixpath.normpath(path), unquote(parts.fragment)


def retarget(link: Tag, one: Sheet, known: dict[str, Sheet], built: Path) -> None:
    """Make a link an anchor of the document, or text where that has no such place."""
    if urlsplit(link["href"]).scheme:
        return
    path, anchor = place(one, link["href"])
    target = known.get(path)
    if target is None and not (built / path).exists():
        raise PrintError(f"{one.file}.html links to {link['href']}: no such file")
    if target is None:
        link.unwrap()
    elif anchor and anchor not in target.names:
        raise PrintError(f"{one.file}.html links to {link['href']}: no such anchor")
    else:
        link["href"] = "#" + target.names.get(anchor, target.anchor)


# ---- folds ----


def reference(anchor: str) -> str:
    """A page number to be filled in."""
    return f'<a class="pr-page" href="#{anchor}">000</a>'


def unfold(one: Sheet) -> Iterator[tuple[str, str]]:
    """Open every fold of a sheet; yield those that move as (part, HTML)."""
    for number, fold in enumerate(one.article.find_all("details")):
        summary = fold.find("summary")
        word = summary.get_text().strip() if summary else ""
        if word in MOVED and fold.find_parent(class_=FOLDERS):
            yield MOVED[word], move(fold, word, f"{one.anchor}-fold{number}")
        else:
            fold["open"] = ""


def move(fold: Tag, word: str, anchor: str) -> str:
    """Leave the page number of a fold in its place; its HTML for the end."""
    fold.summary.decompose()
    moved = (
        f'<section class="pr-fold"><h2 id="{anchor}">{owner(fold)}: {word.lower()}'
        f'<span class="pr-back">from page {reference(anchor + "-from")}</span></h2>'
        f"{fold.decode_contents()}</section>"
    )
    see = f'<p class="pr-see" id="{anchor}-from">{word}: page {reference(anchor)}</p>'
    fold.replace_with(parsed(see))
    return moved


def owner(fold: Tag) -> str:
    """What a fold belongs to: its exercise, or a prediction."""
    exercise = fold.find_parent(class_="st-exercise")
    if exercise is None:
        return "Prediction"
    names = exercise.select(".st-exercise-title strong, .st-exercise-name")
    return html.escape(", ".join(name.get_text() for name in names))


def endings(sheets: list[Sheet]) -> list[Sheet]:
    """Open the folds of `sheets`; the articles that hold those that moved."""
    parts: dict[str, list[str]] = {part: [] for part in MOVED.values()}
    for one in sheets:
        for part, fold in unfold(one):
            parts[part].append(fold)
    return [ending(part, folds) for part, folds in parts.items() if folds]


def ending(part: str, folds: list[str]) -> Sheet:
    """An article of moved folds."""
    inside = f"<h1>{part}</h1>{''.join(folds)}"
    page = parsed(f'<article class="bd-article" id="{part.lower()}">{inside}</article>')
    return Sheet("", page.article, part.lower())
