"""What an extension remembers of each page, kept in Sphinx's pickled environment.

Pages may be read by several processes: each remembers its own, and Sphinx asks that
they be put together when it ends.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def by_page(env: Any, name: str) -> dict[str, Any]:
    """What is remembered under a name, by page."""
    if not hasattr(env, name):
        setattr(env, name, {})
    return getattr(env, name)


def keep(app: Sphinx, name: str) -> None:
    """Drop what is remembered of a page read again; take over what others read."""

    def forget(app: Sphinx, env: Any, page: str) -> None:
        by_page(env, name).pop(page, None)

    def merge(app: Sphinx, env: Any, pages: list[str], other: Any) -> None:
        theirs = by_page(other, name)
        by_page(env, name).update({p: theirs[p] for p in pages if p in theirs})

    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
