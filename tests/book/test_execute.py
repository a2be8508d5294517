"""`make execute` writes what changed, whole or not at all."""

from pathlib import Path

import nbformat
import pytest
from _tools import execute, outputs, rerun, tree

MASKS = outputs.patterns()
MEASURED = ["measured", "nbval-ignore-output"]


@pytest.fixture
def stored(notebook, repo: Path) -> Path:
    """A notebook that has been executed once, with a measured cell."""
    clock = "import time\nprint(time.perf_counter_ns())"
    gpu = ("1 / 0  # needs a card", ["nbval-skip"])
    made = notebook("print('21.1 ms')", (clock, MEASURED), gpu)
    path = repo / "chapters" / "01-roofline" / "a.ipynb"
    nbformat.write(made, str(path))
    assert execute.refresh_notebook(path, repo).written
    return path


def test_a_second_run_changes_no_byte_not_even_a_measured_one(stored, repo):
    before = stored.read_bytes()
    outcome = execute.refresh_notebook(stored, repo)
    assert (outcome.written, outcome.fault) == (False, "")
    assert stored.read_bytes() == before
    skipped = tree.read_notebook(stored).cells[2]
    assert (skipped.cell_type, skipped.execution_count) == ("code", None)


def test_a_changed_output_is_written_with_a_stamp(stored, repo):
    made = tree.read_notebook(stored)
    made.cells[0].outputs[0].text = "20 ms\n"
    made.metadata.pop("stacklib")
    measured = made.cells[1].outputs[0].text
    nbformat.write(made, str(stored))
    assert execute.refresh_notebook(stored, repo).written
    fresh = tree.read_notebook(stored)
    assert fresh.cells[0].outputs[0].text == "21.1 ms\n"
    assert fresh.cells[1].outputs[0].text != measured
    stamp = fresh.metadata.stacklib.executed
    assert set(stamp) == {"date", "machine", "python", "seconds"}


def test_a_run_that_took_too_long_is_stamped_anew(stored, repo):
    made = tree.read_notebook(stored)
    made.metadata.stacklib.executed.seconds = 90.0
    nbformat.write(made, str(stored))
    assert execute.refresh_notebook(stored, repo).written
    assert 0 < tree.read_notebook(stored).metadata.stacklib.executed.seconds < 90


def test_a_failing_cell_is_named_and_its_file_left_alone(notebook, repo, capsys):
    made = notebook("x = 1", "y = 2\nz = y / (x - 1)", "print(x)")
    path = repo / "chapters" / "01-roofline" / "bad.ipynb"
    nbformat.write(made, str(path))
    before = path.read_bytes()
    assert execute.main([str(path)], repo) == 1
    assert (
        "chapters/01-roofline/bad.ipynb: code cell 2, line 2: `z = y / (x - 1)` "
        "raised ZeroDivisionError: division by zero"
    ) in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("asked", ["chapters/01/aa.ipynb", "01-roofline/b", "/a.ipynb"])
def test_a_notebook_that_is_not_there_is_one_line_with_the_nearest(
    asked, stored, repo, capsys
):
    assert execute.main([asked], repo) == 2
    said = f"{asked} is no notebook of the book; the nearest is "
    assert capsys.readouterr() == ("", f"{said}chapters/01-roofline/a.ipynb\n")


def displayed(notebook, html: str):
    """A notebook of one cell that shows `html`."""
    made = notebook("show()")
    made.cells[0].execution_count = 1
    made.cells[0].outputs = [
        nbformat.v4.new_output("display_data", {"text/html": html})
    ]
    return made


def test_a_redrawn_figure_alone_changes_nothing(notebook):
    old = displayed(notebook, '<figure data-digest="a"><svg d="M1"></svg></figure>')
    new = displayed(notebook, '<figure data-digest="a"><svg d="M2"></svg></figure>')
    assert rerun.merged(old, new, MASKS, measured=False) is not new
    assert rerun.merged(old, new, [], measured=False) is new


def test_a_new_digest_is_a_change(notebook):
    old = displayed(notebook, '<figure data-digest="a"><svg>1</svg></figure>')
    new = displayed(notebook, '<figure data-digest="b"><svg>1</svg></figure>')
    assert rerun.merged(old, new, MASKS, measured=False) is new


def test_measured_cells_change_only_when_asked(notebook):
    old, new = displayed(notebook, "1.2 s"), displayed(notebook, "1.3 s")
    for made in (old, new):
        made.cells[0].metadata = nbformat.from_dict({"tags": MEASURED})
    assert rerun.merged(old, new, MASKS, measured=False) is not new
    assert rerun.merged(old, new, MASKS, measured=True) is new


def test_what_editors_leave_behind_is_removed(notebook):
    made = notebook("x = 1  \n")
    made.metadata = nbformat.from_dict(
        {
            "kernelspec": {"name": "venv-7", "display_name": "mine"},
            "language_info": {"name": "python", "version": "3.11.9"},
            "widgets": {},
            "stacklib": {"executed": {"date": "2026-11-21"}},
        }
    )
    made.cells[0].metadata = nbformat.from_dict(
        {"execution": {"iopub.execute_input": "2026"}, "tags": ["t"], "collapsed": True}
    )
    clean = rerun.normalised(made)
    assert set(clean.metadata) == {"kernelspec", "language_info", "stacklib"}
    assert clean.metadata.language_info.version == "3.11"
    assert clean.metadata.kernelspec.name == "python3"
    assert clean.cells[0].metadata == {"tags": ["t"]}
    assert clean.cells[0].source == "x = 1"
    assert rerun.text_of(rerun.normalised(clean)) == rerun.text_of(clean)


PAGE = "It takes [old](#q:a.b). Write `[old](#q:a.b)`.\n\n```md\n[old](#q:a.b)\n```\n"


def test_brackets_are_refreshed_in_pages_and_cells_but_not_in_code(notebook, repo):
    page = repo / "book" / "page.md"
    page.write_text(PAGE)
    made = notebook("x = 1")
    made.cells.insert(0, nbformat.v4.new_markdown_cell(PAGE))
    path = repo / "chapters" / "01-roofline" / "a.ipynb"
    nbformat.write(made, str(path))
    new = PAGE.replace("takes [old]", "takes [21.1 ms]")
    names = ["book/page.md", "chapters/01-roofline/a.ipynb"]
    assert execute.refresh_links(repo, lambda name: "21.1 ms") == names
    assert page.read_text() == new
    assert tree.read_notebook(path).cells[0].source == new
    assert execute.refresh_links(repo, lambda name: "21.1 ms") == []


def test_an_unknown_number_names_its_page(repo, capsys):
    (repo / "book" / "page.md").write_text("It takes [old](#q:no.such).")
    assert execute.main(["--links-only"], repo) == 2
    assert "book/page.md: no cell says a number 'no.such'" in capsys.readouterr().err


def test_a_crash_while_writing_leaves_the_old_file(repo, monkeypatch):
    path = repo / "book" / "page.md"
    path.write_text("old")

    def crash(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(OSError, match="disk full"):
        tree.write_atomic(path, "new")
    assert path.read_text() == "old"
