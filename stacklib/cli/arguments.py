"""Arguments several commands share, and how they are read."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .terminal import holds_all

if TYPE_CHECKING:
    from stacklib.models import LanguageModel


def text_of(name: str, most: int, wanted: str) -> str:
    """The text of a file, or of standard input for ``-``.

    - ``most``: characters; a longer one is refused, never cut
    - ``wanted``: what to give in place of a file that holds no text
    """
    try:
        if name == "-":
            text = sys.stdin.read(most + 1)
        else:
            with Path(name).open("rb") as file:
                raw = file.read(4 * most + 4)
            wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")  # as PowerShell's > writes
            text = raw.decode("utf-16" if wide else "utf-8-sig").replace("\r\n", "\n")
    except OSError as wrong:
        raise ValueError(f"{name}: {wrong.strerror or wrong}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: not text; {wanted}") from None
    if len(text) > most:
        raise ValueError(f"{name}: longer than {most:,} characters; {wanted}")
    return text


def whole(text: str) -> int:
    """A whole number; anything else is named in the error."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: a whole number is needed"
        ) from None


def gigabytes(text: str) -> float:
    """A finite number of GB, not below zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of GB is needed")
    return value


def add_json(parser: argparse.ArgumentParser) -> None:
    """The ``--json`` flag of every command."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """``--json``, ``--csv`` and ``--markdown``, of a command that prints a table."""
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print one JSON object")
    formats.add_argument("--csv", action="store_true", help="print the table as CSV")
    formats.add_argument(
        "--markdown", action="store_true", help="print the table as Markdown"
    )


def as_table(args: argparse.Namespace) -> bool:
    """Whether the table alone is asked for, in a form that other programs read."""
    return bool(args.csv or args.markdown)


def add_dtype(parser: argparse.ArgumentParser) -> None:
    """``--dtype``: how the weights are kept."""
    parser.add_argument(
        "--dtype",
        help="a format or a mixture of the weights: bf16, int4, q4_k_m, awq (as the "
        "model's file or release has them, or bf16)",
    )


def add_serving(parser: argparse.ArgumentParser) -> None:
    """Format, chips, batch and context, as ``fit`` and ``roofline`` take them."""
    add_dtype(parser)
    parser.add_argument(
        "--kv-dtype",
        help="format of the KV cache (that of the weights where it is plain, else 16 "
        "bits)",
    )
    parser.add_argument(
        "--tp", type=whole, default=1, help="chips sharing the model (1)"
    )
    parser.add_argument("--batch", type=whole, default=1, help="sequences (1)")
    parser.add_argument(
        "--context", type=whole, default=4096, help="tokens cached in each (4096)"
    )


def add_port(parser: argparse.ArgumentParser) -> None:
    """``--port``: of each chip, where another than it is sold with."""
    parser.add_argument(
        "--port", type=float, metavar="GBIT", help="Gbit/s of each chip's network port"
    )


def port_of(args: argparse.Namespace) -> float | None:
    """Bytes a second of it, one direction; None where it is not told."""
    return None if args.port is None else args.port * 1e9 / 8


def beyond_model(model: LanguageModel, context: int) -> str:
    """A line for a context that the release was not trained for; empty within it."""
    if context <= model.max_context or not model.max_context:
        return ""
    return (
        f"note: {context:,} tokens are beyond the {model.max_context:,} positions of "
        f"{model.name}; its positions would have to be scaled"
    )


def emit(data: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    plain = not holds_all(sys.stdout)
    print(json.dumps(data, indent=2, ensure_ascii=plain, allow_nan=False))


def show_table(
    args: argparse.Namespace, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Rows under their heads, in the form asked for."""
    if args.csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([head, *rows])
    elif args.markdown:
        cells = [[c.replace("|", "\\|") for c in r] for r in [head, *rows]]
        lines = [f"| {' | '.join(r)} |" for r in cells]
        print("\n".join([lines[0], "| --- " * len(head) + "|", *lines[1:]]))
    else:
        print(columns([head, *rows]))


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned text columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
