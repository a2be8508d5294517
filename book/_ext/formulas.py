"""Formulas are set when the book is built: as drawings, with MathML for screen readers.

A page then loads no MathJax and none of its fonts, and has its formulas without scripts
and on paper. MathJax runs once, in the Node that pip installed (``typeset.js``).
"""

import functools
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

HERE = Path(__file__).resolve().parent
MATHJAX = HERE.parent / "vendor" / "_static" / "vendor" / "mathjax"

# One MathJax serves all processes that write pages, one formula at a time.
ASKING = multiprocessing.Lock()

logger = logging.getLogger(__name__)


@functools.cache
def typesetter() -> subprocess.Popen[str]:
    """MathJax, listening; it ends with this process, whose pipe it reads."""
    beside = Path(sys.executable).with_name("node")
    node = str(beside) if beside.exists() else "node"
    command = [node, str(HERE / "typeset.js"), str(MATHJAX)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


@functools.cache
def typeset(tex: str, display: bool) -> str:
    """HTML of a formula; ValueError says what MathJax does not read."""
    running = typesetter()
    assert running.stdin and running.stdout  # both are pipes
    with ASKING:
        running.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
        running.stdin.flush()
        line = running.stdout.readline()
    answer = json.loads(line or '{"wrong": "no answer of Node"}')
    if "wrong" in answer:
        raise ValueError(f"{tex}: {answer['wrong']}")
    return answer["html"]


def start(app: Sphinx, builder: Any) -> None:
    """Start MathJax before pages are written, so that all who write share it."""
    if getattr(builder, "math_renderer_name", "") == "set":
        typesetter()


def set_math(page: Any, node: nodes.Element, display: bool) -> None:
    """Write the formula of `node`; a warning and its source where it has a fault."""
    try:
        made = typeset(node.astext(), display)
    except ValueError as error:
        logger.warning("formula %s", error, location=node)
        made = page.encode(node.astext())
    page.body.append(made)


def inline(page: Any, node: nodes.math) -> None:
    """A formula in a line."""
    page.body.append(page.starttag(node, "span", "", CLASS="math"))
    set_math(page, node, display=False)
    page.body.append("</span>")
    raise nodes.SkipNode


def displayed(page: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, its number beside it where it has one."""
    page.body.append(page.starttag(node, "div", CLASS="math"))
    if node.get("number"):
        number = get_node_equation_number(page, node)
        page.body.append(f'<span class="eqno">({number})</span>')
    set_math(page, node, display=True)
    page.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``html_math_renderer`` chooses it."""
    app.add_html_math_renderer("set", (inline, None), (displayed, None))
    app.connect("write-started", start)
    return {"version": "1", "parallel_read_safe": True}
