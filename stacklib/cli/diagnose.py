"""``stacklib diagnose FILE``: a server's log or metrics, and what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import add_dtype, add_json, columns, emit, whole
from .models import find

if TYPE_CHECKING:
    from stacklib.serving.readings.diagnose import Diagnosis

MOST = 1 << 28  # bytes that are read; of more, the end
BEGINS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
QUOTED = 5  # lines of another version that are shown


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "diagnose",
        description="The start-up log, periodic lines or /metrics of vLLM, SGLang, "
        "llama.cpp or this book's server: the KV cache to the block, whether it is "
        "saturated, and ranked causes. Exit status 0, or 2 for bad input.",
    )
    parser.add_argument("file", help="a file with that text, or - for standard input")
    parser.add_argument("--model", required=True, help="the model, such as llama-3-8b")
    parser.add_argument("--on", required=True, help="its chip, such as h100-sxm")
    add_dtype(parser)
    parser.add_argument("--kv-dtype", help="format of the KV cache (as the log says)")
    parser.add_argument("--tp", type=whole, help="chips that share it (from the log)")
    parser.add_argument(
        "--context", type=whole, help="tokens cached of a sequence (from the log)"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the diagnosis."""
    from stacklib.serving import diagnose, read_log
    from stacklib.serving.token.host import own_name

    model = args.model if own_name(args.model) else find(args.model)
    found = diagnose(
        read_log(_text(args.file)),
        model,
        args.on,
        args.dtype,
        args.tp,
        args.context,
        kv_dtype=args.kv_dtype,
    )
    if args.json:
        emit(asdict(found))
    else:
        print("\n".join(_told(found)))
    return 0


def _text(name: str) -> str:
    """All of it, or its last ``MOST`` bytes; PowerShell writes UTF-16."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read()[-MOST:]
        else:
            with Path(name).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(size - MOST, 0))
                data = file.read()
    except OSError as wrong:
        raise ValueError(f"{name}: {wrong.strerror or wrong}") from None
    coding = next(
        (code for mark, code in BEGINS.items() if data.startswith(mark)), "utf-8"
    )
    return data.decode(coding, errors="replace")


def _told(found: Diagnosis) -> list[str]:
    from stacklib.serving.readings.lines import NAMES

    told = [
        f"{NAMES[found.engine]}, {found.model} on {found.on}: {found.saturation.words}"
    ]
    ours, theirs = (_ms(time) for time in (found.predicted, found.measured))
    if found.band and found.predicted:
        ours += f", 90 % from {found.band.low:.2f} to {found.band.high:.2f} of it"
    told.append(f"between two tokens: {theirs}; by the estimate {ours}")
    if found.first is not None:
        told.append(f"half of the first tokens came within {_ms(found.first)}")
    told += [f"{'=' if one.equal else '!'} {one}" for one in found.checks]
    for place, cause in enumerate(found.causes, 1):
        brings = str(cause.gain) if cause.gain else "gain not known"
        rows = [
            ("because", cause.because),
            ("read in", "; ".join(one.brief for one in cause.evidence)),
            ("move", cause.flag),
            ("brings", f"{brings}{f' ({cause.why})' if cause.why else ''}"),
            ("refuted if", cause.refute),
        ]
        told += ["", f"{place}. {cause.name}"]
        told += [f"   {line}" for line in columns(rows).splitlines()]
    if not found.causes:
        told += ["", "nothing that these lines could show"]
    quoted = [f"not read, {one}" for one in found.unread[:QUOTED]]
    more = len(found.unread) - QUOTED
    told += ["", *(f"note: {note}" for note in found.notes), *quoted]
    told += [f"and {more} more such lines"] if more > 0 else []
    return told


def _ms(time: float | None) -> str:
    return f"{1e3 * time:.3g} ms" if time else "not known"
