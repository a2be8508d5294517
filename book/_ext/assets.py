"""The pages' own styles and scripts, and a build that notices when they change.

Sphinx copies static files only when some page is out of date. Here a changed style
or script makes every page so (their addresses in the pages carry a digest), and a
changed ``book/vendor`` makes one page so, which is enough to have it copied.
"""

import hashlib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

STATIC = Path(__file__).resolve().parent.parent / "_static"
VENDORED = STATIC.parent / "vendor" / "_static" / "vendor"

STYLES = (
    "icons.css",
    "book.css",
    "figures.css",
    "boxes.css",
    "numbers.css",
    "live.css",
    "facts.css",
    "stack.css",
    "phone.css",
)
# In the order in which they build on one another.
SCRIPTS = (
    "quantities.js",
    "fragment.js",
    "ink.js",
    "predict.js",
    "python.js",
    "scales.js",
    "chart.js",
    "live.js",
    "pyrun.js",
    "sift.js",
    "tables.js",
    "print.js",
    "nav.js",
)


def add_static(app: Sphinx, config: Any) -> None:
    """Serve ``book/_static`` where the configuration does not already."""
    served = [(Path(app.confdir) / path).resolve() for path in config.html_static_path]
    if STATIC not in served:
        config.html_static_path.append(str(STATIC))


def digest(paths: list[Path]) -> str:
    """Digest of the names and bytes of `paths`."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
    """All pages after a change of ours, one after a change of the vendored."""
    old_own, old_vendored = getattr(env, "book_assets", ("", ""))
    own = digest([path for path in STATIC.iterdir() if path.is_file()])
    # Two small files that name, by digest, all that is vendored.
    names = [VENDORED / "npm.json", VENDORED / "wheels" / "index.json"]
    vendored = digest([path for path in names if path.exists()])
    env.book_assets = own, vendored
    if own != old_own:
        return sorted(env.found_docs)
    return [app.config.root_doc] if vendored != old_vendored else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Add styles and scripts to every page and watch them."""
    app.connect("config-inited", add_static)
    app.connect("env-get-outdated", outdated)
    for name in STYLES:
        app.add_css_file(name)
    for name in SCRIPTS:
        app.add_js_file(name, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True}
