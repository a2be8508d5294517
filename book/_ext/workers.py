"""Pages are read and written by several processes where the system can fork them.

How many, `_tools.build` says (Sphinx's `parallel`). Sphinx asks every extension
whether it can be run so; two of the book's have never said.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.parallel import ParallelTasks, SerialTasks

# The first numbers sections when all are read, the second acts on LaTeX alone; neither
# keeps anything while a page is read or written.
SILENT = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def declare(app: Sphinx) -> None:
    """Say of the `SILENT` extensions that they are safe."""
    for name in SILENT:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def number_nothing(app: Sphinx, config: Any) -> None:
    """Leave figures without numbers: none has one, and to count reads every page."""
    config.numfig = False


def drop_unshown(app: Sphinx, env: Any) -> None:
    """Forget modules of which no page shows anything, lest they get a source page.

    Sphinx forgets those of a page when it reads the next, which a worker may not have.
    """
    modules = getattr(env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if entry and not entry[2]]:
        del modules[name]


def share(
    app: Sphinx, work: Callable[[Sequence[Any]], None], parts: Sequence[Any]
) -> ParallelTasks | SerialTasks:
    """Begin `work` on `parts` in processes beside this one, which goes on and joins.

    What the work returns is lost, its warnings are not.
    """
    if not getattr(app.builder, "parallel_ok", False):
        work(parts)
        return SerialTasks()
    tasks = ParallelTasks(app.parallel)
    for first in range(app.parallel):
        tasks.add_task(work, parts[first :: app.parallel])
    return tasks


def setup(app: Sphinx) -> dict[str, Any]:
    """Declare what others left open, and tidy what they leave."""
    app.connect("builder-inited", declare)
    app.connect("config-inited", number_nothing, priority=900)  # after those who do
    app.connect("env-updated", drop_unshown)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
