"""Small notebooks and repositories to plant faults in."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import v4


@pytest.fixture
def notebook() -> Callable[..., nbformat.NotebookNode]:
    """Make a notebook of code cells, each a source or (source, tags)."""

    def make(*sources: str | tuple[str, list[str]]) -> nbformat.NotebookNode:
        made = v4.new_notebook()
        made.metadata = nbformat.from_dict(
            {
                "language_info": {"name": "python"},
                "kernelspec": {"name": "python3", "display_name": "Python 3"},
            }
        )
        for number, source in enumerate(sources, 1):
            text, tags = source if isinstance(source, tuple) else (source, [])
            cell = v4.new_code_cell(text, metadata={"tags": tags} if tags else {})
            cell.id = f"cell-{number}"
            made.cells.append(cell)
        return made

    return make


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty checkout with a chapter folder."""
    (tmp_path / "chapters" / "01-roofline").mkdir(parents=True)
    (tmp_path / "book").mkdir()
    return tmp_path
