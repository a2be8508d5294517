"""``{exercise-file} 01-roofline/01_slug``: an exercise, from its own file.

Question, level and hint come from the file's docstring, the folded solution from its
answer region, and the stub is derived from that; nothing is typed twice.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from stacklib import grading

PLACE = re.compile(r"(?P<chapter>\d\d)-[a-z0-9-]+/(?P<number>\d\d)_\w+")


class fold(nodes.General, nodes.Element):
    """``<details>``; attribute ``summary`` is the line that opens it, ``held`` that it
    is printed last.
    """


def folded(summary: str, *children: nodes.Node, held: bool = False) -> fold:
    """`children` behind a line to open."""
    return fold("", *children, summary=summary, held=held)


def listing(code: str) -> nodes.literal_block:
    """A highlighted Python block without its region marker."""
    lines = [x for x in code.splitlines() if not x.startswith("# ---- ")]
    code = "\n".join(lines).strip("\n")
    return nodes.literal_block(code, code, language="python")


class ExerciseFile(SphinxDirective):
    """The exercise named by its path below ``exercises/``, without suffix."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        place = self.arguments[0].strip()
        found = PLACE.fullmatch(place)
        if not found:
            raise self.error(
                f"{{exercise-file}} {place!r} is not like 01-roofline/01_slug"
            )
        number = f"{int(found['chapter'])}.{int(found['number'])}"
        stub, solution = self.texts(place)
        node = nodes.container(classes=["st-exercise"], is_div=True)
        node["ids"].append(f"exercise-{number.replace('.', '-')}")
        node += self.heading(number, stub)
        node += self.parse_text_to_nodes(stub.question)
        node += listing(stub.answer)
        node += folded("The tests it must pass", listing(stub.tests))
        node += folded("Hint", *self.parse_text_to_nodes(solution.hint), held=True)
        node += folded("Solution", listing(solution.answer), held=True)
        node += self.how_to_check(place, number)
        return [node]

    def texts(self, place: str) -> list[grading.Text]:
        """The stub and the whole exercise, taken apart."""
        path = Path(self.env.srcdir) / "exercises" / f"{place}.py"
        if not path.exists():
            raise self.error(f"{{exercise-file}}: no file {place}.py")
        self.env.note_dependency(str(path))
        text = path.read_text("utf-8")
        return [grading.parse(t, path.name) for t in (grading.stub(text), text)]

    def heading(self, number: str, text: grading.Text) -> nodes.paragraph:
        """``Exercise 1.1  Title  estimate  P1.1``."""
        line = nodes.paragraph(classes=["st-exercise-title"])
        line += nodes.strong("", f"Exercise {number}")
        line += nodes.Text(" ")
        line += nodes.inline("", text.title.rstrip("."), classes=["st-exercise-name"])
        for word in (text.level, *text.project):
            line += [nodes.Text(" "), nodes.inline("", word, classes=["st-badge"])]
        return line

    def how_to_check(self, place: str, number: str) -> nodes.paragraph:
        """Where to write the answer, and the command that checks it."""
        line = nodes.paragraph(classes=["st-check"])
        line += nodes.Text("Write your answer in ")
        line += nodes.literal("", f"my/{place}.py")
        line += nodes.Text(", then ")
        line += nodes.literal("", f"stacklib check {number}")
        return line


def open_fold(self: SphinxTranslator, node: fold) -> None:
    summary = self.encode(node["summary"])
    classes = "st-fold st-held" if node["held"] else "st-fold"
    self.body.append(
        f'<details class="{classes}"><summary>{summary}</summary>'
        '<div class="st-fold-body">\n'
    )


def close_fold(self: SphinxTranslator, node: fold) -> None:
    self.body.append("</div></details>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the fold."""
    app.add_directive("exercise-file", ExerciseFile, override=True)
    app.add_node(fold, override=True, html=(open_fold, close_fold))
    return {"version": "1", "parallel_read_safe": True}
