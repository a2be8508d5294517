"""``stacklib estimate MODEL --on DEVICE``: what a token takes, part by part."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from .arguments import add_json, add_serving, beyond_model, columns, emit, whole
from .models import find

if TYPE_CHECKING:
    from stacklib.serving.estimates.estimate import Estimate


def share(text: str) -> float:
    """A number; what it may be is asked where it is used."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: a number is needed") from None


def draft(text: str) -> tuple[Any, ...]:
    """An acceptance, draft tokens and perhaps a model, with commas between."""
    words = text.split(",", 2)
    if len(words) < 2:
        raise argparse.ArgumentTypeError(
            f"{text!r}: an acceptance and draft tokens, and perhaps the model that "
            "writes them: 0.7,4,llama-3-8b"
        )
    return (share(words[0]), whole(words[1]), *words[2:])


def listed(text: str) -> tuple[str, ...]:
    """Devices, with commas between."""
    return tuple(word.strip() for word in text.split(","))


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "estimate",
        description="Time of a token and of a first token: the account's lines with an "
        "engine's losses, and the band of published rows like it. Exit status 0: it "
        "fits, 1: it does not, 2: bad input.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b, or a config.json")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    add_serving(parser)
    parser.add_argument(
        "--ep", type=whole, default=1, help="groups of chips that share experts (1)"
    )
    parser.add_argument(
        "--prompt", type=whole, help="tokens of the prompt (as many as the context)"
    )
    parser.add_argument("--new", type=whole, default=1, help="tokens written (1)")
    parser.add_argument(
        "--prefix-hit", type=share, default=0.0, help="share of the prompt found (0)"
    )
    parser.add_argument(
        "--draft", type=draft, help="acceptance,tokens[,model]: 0.7,4,llama-3-8b"
    )
    parser.add_argument("--chunk", type=whole, help="tokens of a prompt in one pass")
    parser.add_argument(
        "--split", default="tensors", help="how chips share: tensors or layers"
    )
    parser.add_argument(
        "--devices", type=listed, help="unlike chips in place of --tp: h100,rtx-4090"
    )
    parser.add_argument(
        "--host-layers", type=whole, default=0, help="layers in the host's memory (0)"
    )
    parser.add_argument(
        "--software",
        help="engine; library, whose exchanges are slower; or runner, as llama.cpp "
        "(engine, but a runner where one sequence asks for weights in a format that "
        "GGUF files alone have)",
    )
    parser.add_argument("--mode", default="calibrated", help="calibrated or limit")
    add_json(parser)
    parser.set_defaults(func=run, context=None)


def run(args: argparse.Namespace) -> int:
    """Print the parts; 0 when it fits."""
    from stacklib.serving import estimate
    from stacklib.serving.token.host import own_name

    names = "dtype tp batch context ep prompt new kv_dtype prefix_hit draft chunk split"
    given = {name: getattr(args, name) for name in names.split()}
    given |= {n: getattr(args, n) for n in ("devices", "host_layers")}
    model = args.model if own_name(args.model) else find(args.model)
    given["software"] = args.software or _software(args, model)
    found = estimate(model, args.on, mode=args.mode, **given)
    if args.json:
        facts = _facts(found) | {"why": found.why, "fits": bool(found.fits)}
        emit(facts | {"software": given["software"]})
        return 0 if found.fits else 1
    print(found.title)
    if args.software is None and given["software"] == "runner":
        print("by a runner, such as llama.cpp, whose format it is (--software engine)")
    print(found.why)
    if not found.fits:
        return 1
    rows = [("part", "time", "of the step")]
    for line in found.parts:
        if line.time is not None:
            part = line.time.si / found.tpot.si
            rows.append((line.name, line.time.text(), f"{part:.1%}"))
    print(columns(rows))
    rate = found.tokens_per_s.text()
    print(
        f"a token {found.tpot.text()}, {rate} in all; first token {found.ttft.text()}"
    )
    print(_band(found))
    print(f"bound by {found.bound}; next by {found.next_bound}")
    context = int(found.asked.context)
    if not isinstance(model, str) and (beyond := beyond_model(model, context)):
        print(beyond)
    return 0


def _software(args: argparse.Namespace, model: Any) -> str:
    """Who runs it, where nobody says: a runner what is in formats of GGUF files."""
    from stacklib.models.weights.kept import kept

    served = args.batch != 1 or args.ep != 1 or args.draft is not None
    if served or args.mode == "limit" or isinstance(model, str):
        return "engine"
    named = (share.format.name for share in kept(model, args.dtype).shares)
    return "runner" if any(re.match(r"[it]?q\d", name) for name in named) else "engine"


def _band(found: Estimate) -> str:
    """Where nine in ten published rows like it lie."""
    from stacklib.hardware.errors import why_none
    from stacklib.roofline.work.bounds import device_of
    from stacklib.serving.estimates.parts import family

    band = found.error
    if band is None or not band.low:
        why = why_none(family(found.asked), device_of(found.asked.on))
        return f"no band: {why}"
    low, high = (found.tpot * end for end in (band.low, band.high))
    cell = band.cell.replace("/", ", ")
    return f"nine in ten rows like it: {low.text()} to {high.text()} ({cell})"


def _facts(found: Estimate) -> dict[str, Any]:
    """What the command says, as JSON has it; times in seconds."""
    if not found.fits:
        return {"title": found.title}
    band, energy = found.error, found.energy
    ends = None
    if band is not None and band.low:
        ends = [found.tpot.si * band.low, found.tpot.si * band.high]
    return {
        "title": found.title,
        "tpot_s": found.tpot.si,
        "ttft_s": found.ttft.si,
        "tokens_per_s": found.tokens_per_s.to("token/s").value,
        "bound": found.bound,
        "next_bound": found.next_bound,
        "tpot_band_s": ends,
        "band": "" if band is None else band.cell,
        "energy_J": energy and [energy.low.si, energy.high.si],
        "parts": [
            {"line": line.name, "time_s": line.time.si, "section": line.section}
            for line in found.parts
            if line.time is not None
        ],
    }
