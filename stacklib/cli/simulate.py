"""``stacklib simulate MODEL --on DEVICE``: how long requests wait in line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import add_dtype, add_json, columns, emit, whole
from .estimate import draft
from .models import find

if TYPE_CHECKING:
    from stacklib.serving.simulation.results import Simulation

FORWARDED = (
    "replicas tp ep dtype kv_dtype software blocks scheduler chunk max_batch router "
    "gap seed pools draft"
).split()


def number(text: str) -> float:
    """A number; what it may be is asked where it is used."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: a number is needed") from None


def named(text: str) -> dict[str, float]:
    """Numbers by name, with commas between; whole ones stay whole."""
    found = {}
    for word in text.split(","):
        name, _, value = word.partition("=")
        name, value = name.strip(), value.strip()
        if name in found:
            raise argparse.ArgumentTypeError(f"{text!r}: {name} is told twice")
        found[name] = int(value) if value.isdecimal() else number(value)
    return found


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "simulate",
        description="Requests served event by event: percentiles of the time to the "
        "first token, between tokens and to the end. Exit status 0: they are served, "
        "1: they come faster than that, or none meets the limits, 2: bad input.",
    )
    parser.add_argument("model", help="a model, such as llama-2-7b, or a config.json")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    parser.add_argument("--rate", type=number, default=10.0, help="requests a s (10)")
    parser.add_argument("--requests", type=whole, default=1000, help="how many (1000)")
    parser.add_argument("--prompt", type=whole, default=512, help="tokens read (512)")
    parser.add_argument("--new", type=whole, default=256, help="tokens written (256)")
    parser.add_argument(
        "--burst", type=number, help="spread of pauses over their mean (1: Poisson)"
    )
    parser.add_argument("--trace", help="a CSV: arrival (ns), prompt, new, prefix")
    add_dtype(parser)
    parser.set_defaults(dtype="bf16")
    parser.add_argument("--kv-dtype", help="format of the KV cache")
    for name, default, words in (
        ("tp", 1, "chips of a replica"),
        ("ep", 1, "groups of chips that share experts"),
        ("replicas", 1, "machines alike"),
        ("chunk", 512, "tokens of a step"),
        ("max-batch", 128, "requests of a step"),
        ("seed", 0, "of all draws"),
    ):
        parser.add_argument(
            f"--{name}", type=whole, default=default, help=f"{words} ({default})"
        )
    parser.add_argument(
        "--blocks", type=whole, help="of 16 tokens (what weights leave room for)"
    )
    parser.add_argument(
        "--scheduler", default="continuous", help="static, continuous or chunked"
    )
    parser.add_argument(
        "--router",
        default="round-robin",
        help="round-robin, least-loaded or prefix-aware",
    )
    parser.add_argument(
        "--software", default="engine", help="who exchanges: engine or library"
    )
    parser.add_argument(
        "--pools",
        type=named,
        help="in place of --replicas: prefill=1,decode=3 or attention=1,mlp=1",
    )
    parser.add_argument(
        "--draft", type=draft, help="acceptance,tokens[,model]: 0.7,4,llama-3-8b"
    )
    parser.add_argument("--gap", type=number, help="seconds of the host in each step")
    parser.add_argument("--slo", type=named, help="limits in s: ttft=0.5,tpot=0.05")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print percentiles; 0 where the line does not grow."""
    from stacklib.serving import simulate
    from stacklib.serving.simulation.results import OverCapacity
    from stacklib.serving.token.host import own_name

    model = args.model if own_name(args.model) else find(args.model)
    given = {name: getattr(args, name) for name in FORWARDED}
    if own_name(args.model):
        given["dtype"] = None
    found = simulate(model, args.on, _traffic(args), **given)
    # Asked before anything is printed: limits that are none are bad input.
    good = found.goodput(args.slo) if args.slo else None
    try:
        facts = _facts(found)
    except OverCapacity as wrong:
        if args.json:
            emit({"title": found.words, "over_capacity": True, "why": str(wrong)})
        else:
            print(found.words)
            print(wrong)
        return 1
    if good is not None:
        facts["goodput"] = {
            "rate_per_s": good.rate,
            "share": good.share,
            "nearest": good.nearest,
        }
    if args.json:
        emit(facts)
    else:
        _show(found, facts)
    return 1 if good is not None and not good.met else 0


def _traffic(args: argparse.Namespace) -> Any:
    from stacklib.serving import bursty, poisson, trace

    if args.trace:
        return trace(args.trace)
    drawn = {"prompt": args.prompt, "new": args.new, "seed": args.seed}
    if args.burst is not None:
        return bursty(args.rate, args.requests, cv=args.burst, **drawn)
    return poisson(args.rate, args.requests, **drawn)


def _facts(found: Simulation) -> dict[str, Any]:
    """What the command says, as JSON has it; times in seconds."""
    facts: dict[str, Any] = {
        "title": found.words,
        "over_capacity": False,
        "requests": len(found.requests),
        "tokens_per_s": found.tokens_per_s,
        "preemptions": found.outcome.preemptions,
        "steps": found.outcome.steps,
        "busy": found.busy,
    }
    for of in ("ttft", "itl", "e2e"):
        told = found.percentiles(of, band=True)
        if not told.counted:
            continue
        facts[of] = {
            f"p{percent:g}": {
                "s": value,
                "low_s": None if told.low is None else _finite(told.low[percent]),
                "high_s": None if told.high is None else _finite(told.high[percent]),
            }
            for percent, value in told.values.items()
        }
        facts["words"] = told.words
    # Of a traffic that came all at once there is no rate.
    facts["utilisation"] = _finite(found.utilisation)
    return facts


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _show(found: Simulation, facts: dict[str, Any]) -> None:
    print(found.words)
    used = facts["utilisation"]
    shown = "all at once" if used is None else f"utilisation {used:.3f}"
    many, rate = facts["requests"], facts["tokens_per_s"]
    print(f"{many:,} requests, {rate:,.4g} tokens/s; {shown}")
    rows: list[tuple[str, ...]] = [
        ("", "50 %", "90 %", "95 %", "99 %", "99 % with its interval")
    ]
    for of in ("ttft", "itl", "e2e"):
        if of not in facts:
            continue
        cells = [f"{each['s'] * 1e3:,.4g} ms" for each in facts[of].values()]
        last = facts[of]["p99"]
        ends = [last["low_s"], last["high_s"]]
        words = "no band" if ends[0] is None else f"{ends[0] * 1e3:,.4g} ms to "
        if ends[0] is not None:
            grows = "a line that grows"
            words += grows if ends[1] is None else f"{ends[1] * 1e3:,.4g} ms"
        rows.append((of, *cells, words))
    print(columns(rows))
    if facts["preemptions"]:
        print(f"{facts['preemptions']:,} times a request lost its place for blocks")
    if good := facts.get("goodput"):
        near = f"; nearest: {good['nearest']}" if good["nearest"] else ""
        print(f"goodput {good['rate_per_s']:.4g} a second, {good['share']:.1%}{near}")
