"""``stacklib models [NAME | config.json]``: counted against published, and work."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import (
    add_dtype,
    add_formats,
    as_table,
    columns,
    emit,
    show_table,
    whole,
)

if TYPE_CHECKING:
    from stacklib.models import LanguageModel
    from stacklib.models.database import AuditRow
    from stacklib.models.work import LayerWork


WORK = ("layers", "kind", "FLOP each", "bytes each")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "models",
        description="Without a name, all models: parameters counted from the config "
        "against the published count. Exit status 0, or 1 when a count disagrees.",
    )
    parser.add_argument(
        "model", nargs="?", help="a model, such as llama-3-70b, or a config.json"
    )
    parser.add_argument(
        "--work", action="store_true", help="work of one token, layer by layer"
    )
    parser.add_argument(
        "--phase", choices=("decode", "prefill"), default="decode", help="(decode)"
    )
    add_dtype(parser)
    parser.add_argument(
        "--context", type=whole, default=4096, help="tokens cached, or of the prompt"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def find(text: str) -> LanguageModel:
    """The model a person means: a name, or a file, or a folder of a release."""
    from stacklib.models.files import opened

    return opened.find(text)


def mixture(model: LanguageModel, dtype: str | None) -> str:
    """Bytes of the weights by format, where they are in several; else empty."""
    from stacklib.models.weights.kept import kept, way_of

    return "" if way_of(model, dtype).element else kept(model, dtype).summary


def run(args: argparse.Namespace) -> int:
    """Print all models, or one."""
    if args.model is None:
        return _all(args)
    model = find(args.model)
    facts = _facts(model, args.context, args.dtype)
    layers = _work(model, args) if args.work else None
    if args.json:
        found: dict[str, Any] = {"key": model.key, "name": model.name, **facts}
        if layers is not None:
            found["phase"] = args.phase
            found["work"] = [
                {"layer": w.layer, "kind": w.kind, "flop": w.flops, "bytes": w.bytes}
                for w in layers
            ]
        emit(found)
        return 0
    if as_table(args) and layers is not None:
        show_table(args, WORK, _runs(layers))
        return 0
    rows = [(words, _text(value)) for words, value in facts.items()]
    if as_table(args):
        show_table(args, ("fact", "value"), rows)
        return 0
    print(model.name)
    print(columns(rows))
    if layers is not None:
        print(
            f"\nwork per token, {args.phase}, context {args.context}, {facts['dtype']}"
        )
        show_table(args, WORK, _runs(layers))
        print(f"FLOP in all: {sum(w.flops for w in layers):,.0f}")
        print(f"bytes in all: {sum(w.bytes for w in layers):,.0f}")
    return 0


def _all(args: argparse.Namespace) -> int:
    from stacklib import models

    rows = models.audit()
    if args.json:
        emit({"models": [_row(r) for r in rows]})
    else:
        head = ("model", "counted", "published", "difference", "why")
        lines = [
            (r.key, f"{r.counted:,}", f"{r.published:,}", f"{r.difference:,}", r.why)
            for r in rows
        ]
        show_table(args, head, lines)
    return 0 if all(r.holds for r in rows) else 1


def _row(row: AuditRow) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(row), "holds": row.holds}


def _facts(model: LanguageModel, context: int, dtype: str | None) -> dict[str, Any]:
    from stacklib.models.weights.kept import way_of

    way = way_of(model, dtype)
    kinds = [f"{model.count(n)} x {b.kind}" for n, b in enumerate(model.kinds)]
    return {
        "parameters": int(model.parameters.si),
        "active_parameters": int(model.active_parameters.si),
        "active_without_input_embedding": int(model.streamed_parameters.si),
        "layers": model.layers,
        "layer_kinds": kinds,
        "hidden": model.hidden,
        "vocab": model.vocab,
        "tied": model.tied,
        "max_context": model.max_context,
        "dtype": way.name,
        "weights": mixture(model, dtype) or way.words,
        "weight_bytes": model.weight_bytes(dtype).si,
        "kv_dtype": way.cache,
        "kv_bytes_per_token": model.kv_bytes_per_token(way.cache).si,
        "kv_growth_per_token": model.kv_growth_per_token(way.cache).si,
        "context": context,
        "kv_bytes": model.kv_bytes(context, way.cache).si,
        "left_out": list(model.left_out),
        "source": f"{model.source.title} ({model.source.confidence})",
    }


def _work(model: LanguageModel, args: argparse.Namespace) -> list[LayerWork]:
    from stacklib import models

    return models.work_per_token(model, args.context, args.phase, dtype=args.dtype)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}"
    return "; ".join(value) if isinstance(value, list) else str(value)


def _runs(layers: list[LayerWork]) -> list[tuple[str, ...]]:
    """Neighbouring layers alike as one line."""
    found: list[tuple[str, ...]] = []
    start = 0
    for n, w in enumerate(layers):
        after = layers[n + 1] if n + 1 < len(layers) else None
        same = after and (after.kind, after.flops, after.bytes) == (
            w.kind,
            w.flops,
            w.bytes,
        )
        if same:
            continue
        label = "output" if w.layer < 0 else f"{layers[start].layer}-{w.layer}"
        found.append((label, w.kind, f"{w.flops:,.0f}", f"{w.bytes:,.0f}"))
        start = n + 1
    return found
