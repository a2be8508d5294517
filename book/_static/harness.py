"""What the page's Python runs first: calls for live figures, programs for blocks.

Loaded into Pyodide by ``python-worker.mjs``; plain Python, so that the tests run it
outside a browser too. Both functions return JSON text and never raise.
"""

import ast
import contextlib
import importlib
import io
import json
import linecache
import traceback

BLOCK = "<block>"
PLAIN = (
    "This page has plain Python: the standard library and stacklib. In Jupyter, with "
    "the book's notebook, a block can import what is installed there."
)


def call(target: str, arguments: str) -> str:
    """``{"value": f(**arguments)}`` or ``{"error": text}`` for ``module:function``."""
    module, _, function = target.partition(":")
    try:
        answer = getattr(importlib.import_module(module), function)
        return json.dumps({"value": answer(**json.loads(arguments))}, allow_nan=False)
    except Exception as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def run(code: str) -> str:
    """``{"output": text, "error": text}`` of a program; error is "" when it ended."""
    printed = io.StringIO()
    error = ""
    # Lets a traceback quote the block's own lines.
    linecache.cache[BLOCK] = (len(code), None, code.splitlines(True), BLOCK)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            execute(code)
        except BaseException as raised:
            error = short(raised)
    return json.dumps({"output": printed.getvalue(), "error": error})


def execute(code: str) -> None:
    """Run a program; like a notebook cell, show the value of a last expression."""
    tree = ast.parse(code, BLOCK)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    names = {"__name__": "__main__"}
    exec(compile(tree, BLOCK, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), BLOCK, "eval"), names)
        if value is not None:
            print(value)


def short(error: BaseException) -> str:
    """The traceback's lines that are the reader's own, and the message."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == BLOCK]
    places = [f"line {frame.lineno}: {frame.line}" for frame in own]
    if isinstance(error, SyntaxError) and error.filename == BLOCK:
        places = [f"line {error.lineno}: {(error.text or '').strip()}"]
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, ModuleNotFoundError):
        message += f". {PLAIN}"
    return "\n".join([*places, f"{type(error).__name__}: {message}".rstrip(": ")])
