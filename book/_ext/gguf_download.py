"""The book's own model as a GGUF file, beside the pages that speak of it.

It is written when the book is built, so that no copy of the weights is kept: the file
is what ``stacklib quantize tiny --scheme q4_k`` writes.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from stacklib.tinylm import load
from stacklib.tinylm.gguf_model import write_model
from stacklib.tinylm.quantized import quantized

SCHEME = "q4_k"
NAME = f"tiny-{SCHEME}.gguf"  # pages link to ``_static`` / NAME


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the file among what the book serves."""
    if error is None and app.builder.format == "html":
        goal = Path(app.outdir) / "_static" / NAME
        goal.parent.mkdir(parents=True, exist_ok=True)
        write_model(goal, quantized(load(), SCHEME), force=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the file when the book was built."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}
