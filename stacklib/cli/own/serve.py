"""``stacklib serve``: the book's own model behind OpenAI's API, on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ..arguments import add_json, whole


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "serve",
        description="Serves the book's own model at /v1/completions and "
        "/v1/chat/completions until Ctrl-C. It goes on with a text; it was not taught "
        "to converse, and roles of messages are not told to it.",
    )
    parser.add_argument(
        "--model", default="tiny", help="tiny, draft, draft_plain (tiny)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (127.0.0.1)")
    parser.add_argument("--port", type=whole, default=8000, help="0: any free (8000)")
    parser.add_argument(
        "--expose", action="store_true", help="let --host be one that others reach"
    )
    parser.add_argument("--blocks", type=whole, default=512, help="of the pool (512)")
    parser.add_argument(
        "--block-size", type=whole, default=16, help="tokens of a block (16)"
    )
    parser.add_argument(
        "--max-batch", type=whole, default=16, help="sequences in a step (16)"
    )
    parser.add_argument("--chunk", type=whole, default=64, help="tokens a step (64)")
    parser.add_argument(
        "--waiting",
        type=whole,
        default=64,
        help="answers that may wait in line; others get status 429 (64)",
    )
    parser.add_argument(
        "--role",
        choices=("prefill", "decode"),
        help="of two servers that share each request: one reads prompts, the other "
        "has their blocks sent and answers",
    )
    parser.add_argument(
        "--peer", metavar="HOST:PORT", help="the other one, for --role decode"
    )
    parser.add_argument(
        "--shadow",
        action="store_true",
        help="simulate the same requests beside the engine; /shadow has both",
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Listen, say where, and serve."""
    from stacklib.quantity.bounds import whole
    from stacklib.roofline.host.measure import THREAD_VARIABLES

    # Read when NumPy is first imported. Products of a step are too small to be shared
    # out, and threads of BLAS that wait for one another keep the server's loop waiting.
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
    from stacklib import tinylm
    from stacklib.serving import Engine
    from stacklib.serving.engine.timed import Noted
    from stacklib.serving.pools.exchange import Reader, Writer
    from stacklib.serving.server.run import bound, peer_at, serve
    from stacklib.serving.server.shadow import Shadow, timed_pace
    from stacklib.serving.simulation.setup import BLOCK

    whole(0, waiting=args.waiting)
    if (args.role == "decode") != (args.peer is not None):
        raise ValueError(
            f"--role {args.role or 'none'} and --peer {args.peer or 'none'}: a server "
            "with --role decode needs the HOST:PORT of one with --role prefill, and "
            "no other has a peer"
        )
    if args.shadow and args.role is not None:
        raise ValueError(f"--shadow --role {args.role}: of a server that does both")
    if args.shadow and args.block_size != BLOCK:
        raise ValueError(
            f"--shadow --block-size {args.block_size}: the simulator's have {BLOCK}"
        )
    kinds: dict[str | None, Callable[..., Engine]] = {
        None: Noted if args.shadow else Engine,
        "prefill": Reader,
        "decode": partial(Writer, held=args.blocks),
    }
    sizes = {
        "blocks": args.blocks,
        "max_batch": args.max_batch,
        "chunk": args.chunk,
    }
    engine = kinds[args.role](
        tinylm.load(args.model),
        block_size=args.block_size,
        clock=time.perf_counter,
        **sizes,
    )
    peer = None
    if isinstance(engine, Writer):
        peer = peer_at(args.peer, engine, args.expose)
    beside = None
    if args.shadow:
        beside = partial(Shadow, pace=timed_pace(engine.model, sizes), sizes=sizes)
    with bound(args.host, args.port, args.expose) as held:
        host, port = held.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        told = {"model": engine.model.name, "url": url, "host": host, "port": port}
        line = json.dumps(told) if args.json else f"{engine.model.name} at {url}/v1"
        serve(
            engine,
            held,
            args.max_batch + args.waiting,
            lambda said: print(f"stacklib serve: {said}", file=sys.stderr, flush=True),
            lambda: print(line, flush=True),
            peer,
            beside,
        )
    return 0
