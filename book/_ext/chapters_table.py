"""What the book says of itself, from its contents and `stacklib.pages.chapters`.

``{chapter-list}``: the ten chapters, written or planned, what they are about and for
whom. ``{section-list}``: the sections of the chapter whose page has it.
``{layer-chapters} 5``: where a layer of the stack is explained. ``{command-list}``: the
commands of ``stacklib``, from their parsers. ``{gpu-results}``: what a GPU measured.
``{chapters}`written` `` says which those are, inside a sentence, and ``{named-in}`nsys,
Nsight Systems` `` in which chapters' prose one of these names stands.

Wherever prose names a chapter by its number, a written one becomes a link to its first
page, and one that is not is marked *planned*: no sentence has to say it.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _tools import contents
from docutils import nodes
from first_terms import is_prose
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

from stacklib import cli
from stacklib.pages.chapters import CHAPTERS
from stacklib.roofline.journey.layers import STACK

NAMED = re.compile(r"\b[Cc]hapters? (?P<numbers>\d+(?:(?:, and|,| and| or| to) \d+)*)")
COMMON = {"--help", "--json", "--csv", "--markdown"}


class Told(SphinxDirective):
    """A directive whose text is made here, as Markdown, when the page is read."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(self.root / "book" / "_toc.yml"))
        return list(self.told())

    @property
    def root(self) -> Path:
        """The folder of the book."""
        return Path(self.env.srcdir)

    def told(self) -> Iterator[nodes.Node]:
        """The nodes in its place."""
        yield from self.parse_text_to_nodes(self.text())

    def text(self) -> str:
        """The Markdown that says it."""
        raise NotImplementedError


class ChapterList(Told):
    """A list of all chapters, each as its row says it."""

    def told(self) -> Iterator[nodes.Node]:
        made = nodes.bullet_list(classes=["st-chapters"])
        written = contents.written(self.root)
        for number, row in CHAPTERS.items():
            item = nodes.list_item(classes=[] if number in written else ["st-planned"])
            head = named(number, self.root)
            said = f"**{head}**\n\n{row.about}\n\n*{row.reader}*"
            item += self.parse_text_to_nodes(said)
            made += item
        yield made


def named(number: int, root: Path) -> str:
    """A chapter's number and title: a link, marked as planned or as unfinished."""
    written = contents.written(root)
    title = f"{number} {CHAPTERS[number].title}"
    if number not in written:
        return f"{title} (planned)"
    part = " (in part)" if number not in contents.finished(root) else ""
    return f"[{title}](/{written[number][0].document}.ipynb){part}"


class SectionList(Told):
    """The numbered sections of this page's own chapter."""

    def text(self) -> str:
        here = self.env.docname
        for pages in contents.written(self.root).values():
            if pages[0].document == here:
                numbered = [page for page in pages[1:] if page.number]
                return "\n".join(
                    f"- **{page.number}** [{page.title}](/{page.document}.ipynb)"
                    for page in numbered
                )
        raise self.error(f"{{section-list}}: {here} is no chapter's first page")


class LayerChapters(Told):
    """The chapters that explain a layer of the stack."""

    required_arguments = 1

    def text(self) -> str:
        layer = STACK[int(self.arguments[0]) - 1]
        every = [named(number, self.root) for number in layer.chapters]
        return f"*{'Chapters' if every[1:] else 'Chapter'}:* {'; '.join(every)}."


class CommandList(Told):
    """A table of the commands, each with its arguments and options."""

    def text(self) -> str:
        rows = [
            f"| `{usage(name)}` | {what} | {' '.join(options(name))} |"
            for name, what in cli.COMMANDS.items()
        ]
        head = ["| command | what it does | options |", "|---|---|---|"]
        return "\n".join(head + rows)


def actions(command: str) -> list[argparse.Action]:
    """The arguments and options of a command that are its own."""
    parser = cli.parser_of(command)
    choices = next(a for a in parser._actions if a.dest == "command").choices
    own = choices[command]._actions  # type: ignore[index]
    return [action for action in own if not COMMON & set(action.option_strings)]


def usage(command: str) -> str:
    """The command with what it must be given and what it may be given by place."""
    words = ["stacklib", command]
    for action in actions(command):
        if action.option_strings:
            words += [f"{action.option_strings[-1]} ..."] if action.required else []
            continue
        name = str(action.metavar or action.dest).upper()
        words.append(f"[{name}]" if action.nargs in ("?", "*") else name)
    return " ".join(words)


def options(command: str) -> list[str]:
    """The options of a command that may be left out."""
    own = [a for a in actions(command) if a.option_strings and not a.required]
    return [f"`{action.option_strings[-1]}`" for action in own]


class GpuResults(Told):
    """One sentence: what `make gpu` measured and somebody committed, or nothing."""

    def text(self) -> str:
        found = sorted((self.root / "benchmarks/results").glob("gpu_*.json"))
        for path in found:
            self.env.note_dependency(str(path))
        if not found:
            return (
                "No result of a GPU is in this edition: what a *Tonight* box expects "
                "of one is predicted."
            )
        files = ", ".join(f"`benchmarks/results/{path.name}`" for path in found)
        return f"Measured on GPUs: {files}."


class Chapters(SphinxRole):
    """``{chapters}`written` ``: which those are, without those begun."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        root = Path(self.env.srcdir)
        known = {
            "written": contents.finished(root),
            "planned": contents.planned(root),
        }
        if self.text not in known:
            message = self.inliner.reporter.error(
                f"{{chapters}}`{self.text}`: `written` or `planned`", line=self.lineno
            )
            return [], [message]
        numbers = known[self.text]
        word = "chapter" if len(numbers) == 1 else "chapters"
        return [nodes.Text(f"{word} {contents.listed(numbers)}")], []


class NamedIn(SphinxRole):
    """``{named-in}`nsys, Nsight Systems` ``: the chapters that name it, each a link."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        root, found = Path(self.env.srcdir), []
        for number in contents.naming(self.text.split(", "), root):
            link = reference(number, contents.written(root), self.env.docname)
            found += [nodes.Text(", "), *link]
        return found[1:] or [nodes.Text("none")], []


class MarkChapters(SphinxTransform):
    """Links the chapters that prose names by number, or marks them as planned."""

    default_priority = 590  # before the terms, which are looked for in what is left

    def apply(self, **kwargs: Any) -> None:
        root = Path(self.env.srcdir)
        for node in list(self.document.findall(nodes.Text)):
            if NAMED.search(node) and is_prose(node):
                self.env.note_dependency(str(root / "book" / "_toc.yml"))
                node.parent.replace(node, marked(node.astext(), root, self.env.docname))


def marked(text: str, root: Path, page: str) -> list[nodes.Node]:
    """The text with a link, or a mark, at each chapter."""
    written, parts, end = contents.written(root), [], 0
    for group in NAMED.finditer(text):
        every = list(re.finditer(r"\d+", group["numbers"]))
        absent = [number for number in every if int(number[0]) not in written]
        for number in every:
            start = group.start("numbers") + number.start()
            parts.append(nodes.Text(text[end:start]))
            end = start + len(number[0])
            alone = number is every[-1] or len(absent) < len(every)
            parts += reference(int(number[0]), written, page)
            if number in absent and alone:
                parts.append(nodes.inline("", " (planned)", classes=["st-planned"]))
    return [*parts, nodes.Text(text[end:])]


def reference(number: int, written: Any, page: str) -> list[nodes.Node]:
    """A chapter's number, a link where it leads to another page."""
    words = nodes.inline("", str(number))
    if number not in written or written[number][0].document == page:
        return [words]
    target = f"/{written[number][0].document}"
    link = pending_xref(
        "",
        words,
        refdoc=page,
        refdomain="std",
        reftype="doc",
        reftarget=target,
        refexplicit=True,
        refwarn=True,
    )
    return [link]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, the role and the transform."""
    app.add_directive("chapter-list", ChapterList, override=True)
    app.add_directive("section-list", SectionList, override=True)
    app.add_directive("layer-chapters", LayerChapters, override=True)
    app.add_directive("command-list", CommandList, override=True)
    app.add_directive("gpu-results", GpuResults, override=True)
    app.add_role("chapters", Chapters(), override=True)
    app.add_role("named-in", NamedIn(), override=True)
    app.add_transform(MarkChapters)
    return {"version": "1", "parallel_read_safe": True}
