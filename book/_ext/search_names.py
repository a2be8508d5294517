"""Names of the index stay in the search of a book that was built in part.

Sphinx reads its stored search index back without the names that pages define
(`IndexBuilder.load`), so after a page is changed only that page's names would be found.
"""

from __future__ import annotations

from typing import IO, Any

from sphinx.search import IndexBuilder

__all__ = ["Names", "setup"]


class Names(IndexBuilder):
    """The builder of the search index, which remembers names as it does terms."""

    def load(self, stream: IO[Any], format: Any) -> None:
        """What was stored, names too."""
        super().load(stream, format)
        stream.seek(0)
        stored = (self.formats[format] if isinstance(format, str) else format).load(
            stream
        )
        self._index_entries.clear()
        for name, places in stored["indexentries"].items():
            for page, place, main in places:
                entry = (name, place, "main" if main else "")
                page = stored["docnames"][page]
                self._index_entries.setdefault(page, []).append(entry)

    def prune(self, docnames: Any) -> None:
        """Forget pages that are gone."""
        kept = set(docnames)
        super().prune(kept)
        gone = [page for page in self._index_entries if page not in kept]
        for page in gone:
            del self._index_entries[page]


def setup(app: Any) -> dict[str, bool]:
    """Builders of HTML make their index with it."""
    import sphinx.search

    sphinx.search.IndexBuilder = Names  # type: ignore[misc]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
