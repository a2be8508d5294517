"""What an extension remembers of each page, kept in Sphinx's pickled environment.

Pages may be read by several processes: each remembers its own, and Sphinx asks that
they be put together when it ends.
"""

from collections.abc import Callable
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


def remember(env: Any, name: str, digests: dict[Any, str]) -> None:
    """Note digests, by key, of what the page being read shows."""
    by_page(env, name).setdefault(env.docname, {}).update(digests)


def watch(app: Sphinx, name: str, now: Callable[[Sphinx, Any], str]) -> None:
    """Have a page read again when a digest that it noted is not its key's `now`."""

    def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
        return [
            page
            for page, shown in by_page(env, name).items()
            if any(now(app, key) != old for key, old in shown.items())
        ]

    app.connect("env-get-outdated", outdated)
    keep(app, name)
