"""Committed notebooks are executed and compared, and what may hide is caught."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from _tools import nb, outputs, rerun, suite, tree
from nbformat import v4

FIGURE = (
    "class Figure:\n"
    "    def _repr_html_(self):\n"
    '        return \'<figure data-digest="a1"><svg><path d="M0 1"/></svg></figure>\'\n'
    "    def __repr__(self):\n"
    "        return 'figure f: a1'\n"
    "Figure()"
)
TABLE = (
    "class Table:\n"
    "    def _repr_html_(self):\n"
    "        return '<table><tr><td>21.1</td></tr></table>'\n"
    "    def __repr__(self):\n"
    "        return 'table'\n"
    "Table()"
)


def test_every_notebook_of_the_repo_is_sound():
    faults = [fault for path in tree.notebooks() for fault in nb.faults(path)]
    assert faults == [], "\n".join(faults)


def test_no_tracked_notebook_escapes_the_checks():
    tracked = (tree.git(tree.ROOT, "ls-files", "*.ipynb") or "").split()
    assert set(tracked) <= {tree.name(path) for path in tree.notebooks()}


def cell(source: str, count: int | None = 1, tags=(), text: str = "") -> dict:
    """A code cell as committed."""
    shown = [v4.new_output("stream", text=text)] if text else []
    made = v4.new_code_cell(source, execution_count=count, outputs=shown)
    made.metadata = nbformat.from_dict({"tags": list(tags)} if tags else {})
    return made


def timed(seconds: int) -> dict:
    made = cell("x = 1")
    made.metadata["execution"] = {
        "iopub.execute_input": "2026-11-21T10:00:00Z",
        "shell.execute_reply": f"2026-11-21T10:00:{seconds}Z",
    }
    return made


FINE = [
    cell("x = 1"),
    cell("print(1)", text="21.12 of 1,234 and 0.01230\n"),
    cell("x", text="stacklib 1.0.4, 2026-11-21, 30.25 %"),
    cell("show()", tags=["no-output"]),
    cell("gpu()", count=None, tags=["nbval-skip"]),
    cell("t()", tags=["measured", "nbval-ignore-output"], text="1.2 s"),
    cell("\n".join(["x = 1"] * 15)),
    timed(14),
]
error = cell("1/0")
error.outputs = [v4.new_output("error", ename="ZeroDivisionError", evalue="by zero")]
html = cell("t")
html.outputs = [
    v4.new_output("display_data", {"text/html": "<svg>1.23456</svg><td>1.23456</td>"})
]
PLANTED = [
    (cell("x", count=None), "was never executed: no execution_count"),
    (cell("x"), "has no output though it ends in an expression"),
    (cell("if x:\n    print(1)"), "has no output though it ends in an expression"),
    (cell("gpu()", tags=["nbval-skip"]), "is tagged nbval-skip but was executed"),
    (error, "stores an error: ZeroDivisionError: by zero"),
    (cell("\n".join(["x = 1"] * 16)), "has 16 lines; at most 15"),
    (cell("plots.table([])\nprint(1)"), "calls plots.table before its end"),
    (cell("x = 1", tags=["measured"]), "is tagged 'measured' alone"),
    (cell("x = 1", tags=["nbval-ignore-output"]), "'nbval-ignore-output' alone"),
    (cell("# NBVAL_IGNORE_OUTPUT\nx = 1"), "hides from the comparison by a comment"),
    (cell("x", text="0.123456"), "prints 0.123456; at most 4 significant digits"),
    (cell("x", text="1.00e-05 1,234.5"), "prints 1,234.5; at most 4"),
    (html, "prints 1.23456; at most 4 significant digits"),
    (timed(16), "took 16 s; at most 15"),
]


@pytest.mark.rows("sound", FINE)
def test_a_sound_cell_passes(sound):
    assert [fault for check in nb.CELL_CHECKS for fault in check(sound)] == []


@pytest.mark.rows(("faulty", "message"), PLANTED)
def test_a_planted_fault_of_a_cell_is_named(faulty, message: str):
    found = [fault for check in nb.CELL_CHECKS for fault in check(faulty)]
    assert any(message in fault for fault in found), found


def test_planted_faults_of_a_notebook_are_named(notebook, repo: Path):
    made = notebook("x = 1")
    made.metadata = nbformat.from_dict({"stacklib": {"executed": {"seconds": 20.0}}})
    path = repo / "chapters" / "a.ipynb"
    nbformat.write(made, str(path))
    assert nb.faults(path, repo) == [
        "chapters/a.ipynb: language_info is missing; Sphinx has no lexer for its cells",
        "chapters/a.ipynb: kernel None, not 'python3'",
        "chapters/a.ipynb: took 20 CPU s when last executed; at most 15",
        "chapters/a.ipynb, code cell 1: was never executed: no execution_count; "
        "run make execute",
    ]


def altered(made: nbformat.NotebookNode, number: int, old: str, new: str) -> None:
    """Change a cell's stored output."""
    (output,) = made.cells[number].outputs
    if "text" in output:
        output.text = output.text.replace(old, new)
    else:
        html = output.data["text/html"]
        assert old in html
        output.data["text/html"] = html.replace(old, new)


def test_strict_nbval_compares_everything_but_drawings(notebook, tmp_path: Path):
    sources = [
        "print('21.1 ms')",
        "print('21.1 ms')",
        FIGURE,
        FIGURE,
        TABLE,
        "print(1)",
    ]
    made = rerun.run(notebook(*sources), tmp_path)
    altered(made, 1, "21.1", "21.2")
    altered(made, 2, "a1", "b2")
    altered(made, 3, "M0 1", "M0 2")
    altered(made, 4, "21.1", "21.2")
    made.cells[5].outputs, made.cells[5].execution_count = [], None
    path, report = tmp_path / "planted.ipynb", tmp_path / "report.xml"
    nbformat.write(made, str(path))
    command = suite.command([path], f"--junitxml={report}", "-p", "no:cacheprovider")
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    cases = ElementTree.parse(report).iter("testcase")
    passed = [case.get("name") for case in cases if case.find("failure") is None]
    # Cell 5 passes although it was stripped; that is why nb.executed exists.
    assert passed == ["Cell 0", "Cell 3", "Cell 5"]
    assert any("never executed" in fault for fault in nb.executed(made.cells[5]))


def figures() -> list[str]:
    """The HTML of every figure in the repo's notebooks."""
    shown = [
        output.get("data", {}).get("text/html", "")
        for path in tree.notebooks()
        for cell in tree.read_notebook(path).cells
        for output in cell.get("outputs", ())
    ]
    return [html for html in shown if "data-digest" in html]


def test_real_figures_are_held_by_their_digest():
    masks = outputs.patterns()
    for html in figures():
        drawn = re.sub(r'(<path[^>]* d=")', r"\1M9 9 ", html)
        digest = re.sub(r'(data-digest=")', r"\g<1>0", html)
        assert drawn != html and digest != html
        assert outputs.sanitized(drawn, masks) == outputs.sanitized(html, masks)
        assert outputs.sanitized(digest, masks) != outputs.sanitized(html, masks)
