"""A page for each model of the database, and the table of all of them."""

from collections import Counter

from fact_devices import devices
from fact_html import (
    Cell,
    Column,
    Row,
    Sheet,
    anchor,
    escape,
    link,
    sift,
    table,
)
from fact_runs import FORMATS, SETTING, by_size, hold, run_cell, tried

from stacklib import models, plots
from stacklib.evidence import guard
from stacklib.models import Attention, LanguageModel, LatentAttention
from stacklib.quantity import Quantity

SECTIONS = [
    ("attention", "How tokens look back"),
    ("shape", "Shape"),
    ("parameters", "Parameters"),
    ("cache", "What a token leaves in the cache"),
    ("work", "Work a token"),
    ("fits", "What holds it"),
]
COLUMNS = (
    Column("name", "Model"),
    Column("attention", "Attention", menu=True),
    Column("kind", "MLP", menu=True),
    Column("parameters", "Parameters (billion)", number=True, scale=1e9),
    Column("active", "Active (billion)", number=True, scale=1e9),
    Column("gap", "Counted over published - 1", "%"),
    Column("layers", "Layers", number=True),
    Column("hidden", "Hidden size", number=True),
    Column("heads", "Query heads", number=True),
    Column("kv_heads", "KV heads", number=True),
    Column("kv", "KV a token, bf16", "kB"),
    Column("weights", "Weights, bf16", "GB"),
    Column("context", "Longest context", number=True),
)
CONTEXT = 4096
CONTEXTS = (128, 512, 2048, 8192, 32768, 131072)
CURVE = tuple(2**e for e in range(7, 18))
PARTS = {"attention": "attention", "mlp": "MLP", "norms": "norms", "head": "output"}
NAMES = {"MHA": "Multi-head", "GQA": "Grouped-query", "MQA": "Multi-query"}


def text(model: LanguageModel) -> str:
    """What the book's search finds a model by."""
    return f"{model.key} {model.name} {_kinds(model)} {model.source.title}"


def _kinds(model: LanguageModel) -> str:
    """Kinds of attention, windows and rates left out, the most frequent first."""
    named = [block.attention.kind.split(",")[0].split(" ")[0] for block in model.blocks]
    return " + ".join(name for name, _ in Counter(named).most_common())


def _mlp(model: LanguageModel) -> str:
    return "dense" if model.experts is None else "experts"


def _gap(model: LanguageModel) -> Quantity:
    """Counted parameters over published ones, less one."""
    published = models.published_parameters(model.key)
    return (model.parameters / published - 1).named("counted / published - 1")


# ---- the table of all ----


def model_table(sheet: Sheet) -> str:
    """All models, to sort and sift."""
    rows = [Row(m.key, _table_row(m), text(m)) for m in by_size()]
    return sift("models", f"{len(rows)} models, largest first", COLUMNS, rows, sheet)


def _table_row(model: LanguageModel) -> list[Cell]:
    return [
        Cell(model.name, f"{model.key}.html"),
        Cell(_kinds(model)),
        Cell(_mlp(model)),
        Cell(model.parameters),
        Cell(model.active_parameters),
        Cell(_gap(model)),
        Cell(model.layers),
        Cell(model.hidden),
        Cell(model.heads),
        Cell(model.kv_heads),
        Cell(model.kv_bytes_per_token("bf16")),
        Cell(model.weight_bytes("bf16")),
        Cell(model.max_context),
    ]


# ---- one model ----


def summary(model: LanguageModel, sheet: Sheet) -> str:
    """One computed line."""
    total = sheet.number("summary.parameters", model.parameters)
    active = ""
    if model.experts is not None:
        number = sheet.number("summary.active", model.active_parameters)
        active = f", of which a token passes {number}"
    line = f"{total} parameters in {model.layers} layers{active}."
    return f'<p class="st-summary">{line}</p>'


def model_page(model: LanguageModel) -> str:
    """The body of a model's page."""
    sheet = Sheet()
    bodies = (
        f"<p>{_attention(model, sheet)}</p>",
        _shape(model),
        _parameters(model, sheet),
        _cache(model, sheet),
        _work(model),
        _fits(model, sheet),
    )
    parts = [
        f'<p class="st-crumbs">{link("index.html", "Models")} · {_kinds(model)}</p>',
        f'<section id="model"><h1>{escape(model.name)}</h1>',
        summary(model, sheet),
        *(
            f'<section id="{name}"><h2>{escape(head)}</h2>\n{body}</section>'
            for (name, head), body in zip(SECTIONS, bodies, strict=True)
        ),
        "</section>",
        sheet.script(),
    ]
    return "\n".join(parts)


def _attention(model: LanguageModel, sheet: Sheet) -> str:
    """One computed sentence on the kind of attention, one on windows."""
    a = model.attention
    kv = sheet.number("attention.kv", model.kv_bytes_per_token("bf16"))
    if isinstance(a, LatentAttention):
        plain = a.heads * (a.head_dim + a.v_head_dim)
        ratio = Quantity(plain / a.per_token).text(digits=2)
        said = (
            f"Latent attention: a layer keeps {a.kv_lora_rank} numbers of a latent and "
            f"{a.rope_head_dim} of position for a token, {kv} over all layers in bf16; "
            f"keys and values of its {a.heads} heads would take {ratio} times that."
        )
    elif isinstance(a, Attention):
        name = NAMES[a.kind.split(",")[0]]
        if a.heads == a.kv_heads:
            share = f"each of {a.heads} heads keeps keys and values of its own"
            less = ""
        else:
            share = f"{a.heads} query heads read {a.kv_heads} of keys and values"
            ratio = Quantity(a.heads / a.kv_heads).text(digits=3)
            less = f", {ratio} times less than with a KV head for every query head"
        said = f"{name} attention: {share}. A token leaves {kv} in bf16{less}."
    else:
        said = (
            f"Compressed attention ({escape(a.kind)}): a layer sees the newest tokens "
            "as they are and older ones in merged entries, so a token leaves "
            f"{kv} in bf16 once windows are full."
        )
    return said + _windows(model)


def _windows(model: LanguageModel) -> str:
    kept = [b.attention for b in model.blocks if isinstance(b.attention, Attention)]
    windowed = [attention.window for attention in kept if attention.window]
    if not windowed:
        return ""
    spans = " or ".join(f"{size:,}" for size in sorted(set(windowed)))
    return (
        f" {len(windowed)} of {model.layers} layers look back over the last {spans} "
        "tokens only."
    )


def _shape(model: LanguageModel) -> str:
    """Sizes as the config gives them, and the kinds of layer."""
    sizes: list[tuple[str, object]] = [
        ("layers", model.layers),
        ("hidden size", model.hidden),
        ("query heads", model.heads),
        ("KV heads", model.kv_heads),
        ("head size", model.head_dim),
        ("MLP size, of an expert where there are", model.intermediate),
        ("vocabulary", model.vocab),
        ("longest context, tokens", model.max_context),
        ("output matrix", "the embedding" if model.tied else "its own"),
    ]
    if model.experts is not None:
        chosen = f"{model.experts.top_k} of {model.experts.experts}"
        sizes.insert(6, ("experts a token passes", chosen))
    rows = [
        [escape(words), f"{value:,}" if isinstance(value, int) else escape(value)]
        for words, value in sizes
    ]
    kinds = [
        [f"{escape(block.kind)}", f"{model.count(number)}"]
        for number, block in enumerate(model.kinds)
    ]
    body = table(f"Sizes of {model.name}", ("Size", "Value"), rows)
    if len(kinds) > 1:
        body += table("Kinds of layer", ("Kind", "Layers"), kinds)
    source = model.source
    parts = (source.title, source.where, f"seen {source.seen}", source.confidence)
    return body + f'<p class="st-note">{escape(", ".join(filter(None, parts)))}.</p>'


def _parameters(model: LanguageModel, sheet: Sheet) -> str:
    """Counted beside published, and what a token passes."""
    published = models.published_parameters(model.key)
    gap = _gap(model)
    shown = [
        ("counted from the shape", "counted", model.parameters, {"digits": 15}),
        ("published", "published", published, {"digits": 15}),
        ("counted over published, less one", "gap", gap, {"unit": "%", "digits": 2}),
        ("a token passes", "active", model.active_parameters, {}),
        ("a token is multiplied by", "streamed", model.streamed_parameters, {}),
    ]
    rows = [
        [words, sheet.number(name, value, value.text(**how))]
        for words, name, value, how in shown
    ]
    body = table("Parameters", ("What", "Parameters"), rows)
    if model.left_out:
        body += f"<p>Not counted: {escape('; '.join(model.left_out))}.</p>"
    return body


def _cache(model: LanguageModel, sheet: Sheet) -> str:
    """Bytes of the cache of one sequence, by tokens and format."""
    contexts = [c for c in (1, *CONTEXTS) if c <= model.max_context]
    longest = model.max_context
    rows = []
    for tokens in dict.fromkeys((*contexts, longest)):
        cells = [f"{tokens:,}"]
        for dtype in FORMATS:
            size = model.kv_bytes(tokens, dtype)
            cells.append(sheet.number(f"kv.{tokens}.{dtype}", size))
        rows.append(cells)
    return table("Cache of one sequence", ("Tokens", *FORMATS), rows)


def _work(model: LanguageModel) -> str:
    """Operations a token by part and phase, by layer, and over the context."""
    context = min(CONTEXT, model.max_context)
    decode, prefill = (_by_part(model, phase, context) for phase in PHASES)
    whole = [sum(found.values()) for found in (decode, prefill)]
    rows = [
        [words, _flop(decode[part]), _flop(prefill[part])]
        for part, words in PARTS.items()
    ]
    rows.append(["all", *map(_flop, whole)])
    head = ("Part", f"Decode, {context:,} cached", f"Prompt of {context:,}")
    return (
        _work_figure(model).html
        + table("Operations a token, by part", head, rows)
        + table("Decode, by kind of layer", LAYER_HEAD, _by_layer(model, context))
    )


PHASES = ("decode", "prefill")
LAYER_HEAD = ("Layer", "How many", "Operations each", "Bytes read each, bf16")


def _flop(value: float) -> str:
    return Quantity(value, "FLOP").text(digits=3)


def _by_part(model: LanguageModel, phase: str, context: int) -> Counter[str]:
    """FLOP a token of each part of the model."""
    tokens = context if phase == "prefill" else 1
    found: Counter[str] = Counter()
    for op in models.operations(model, phase, context=context):
        found[op.part] += op.flops / tokens
    return found


def _by_layer(model: LanguageModel, context: int) -> list[list[str]]:
    work = models.work_per_token(model, context, "decode")
    kinds = dict.fromkeys(layer.kind for layer in work)
    rows = []
    for kind in kinds:
        alike = [layer for layer in work if layer.kind == kind]
        moved = Quantity(alike[0].bytes, "B").text(digits=3)
        rows.append([escape(kind), str(len(alike)), _flop(alike[0].flops), moved])
    return rows


def _work_figure(model: LanguageModel) -> plots.Figure:
    """Operations a token of decode against tokens cached: weights and looking back."""
    contexts = [c for c in CURVE if c <= model.max_context] or [model.max_context]
    totals = [
        sum(op.flops for op in models.operations(model, "decode", context=c))
        for c in contexts
    ]
    weights = 2 * model.streamed_parameters.si
    share = Quantity(1 - weights / totals[-1]).text("%", 2)
    common = {"kind": "line", "evidence": "predicted", "x": contexts}
    spec = {
        "title": f"At {contexts[-1]:,} tokens, looking back is {share} of the work.",
        "x": {"label": "Tokens cached", "scale": "log"},
        "y": {"label": "Operations a token (GFLOP)", "unit": "GFLOP"},
        "marks": [
            {**common, "name": "all", "y": [total / 1e9 for total in totals]},
            {**common, "name": "weights", "y": [weights / 1e9] * len(contexts)},
        ],
        "readouts": [],
    }
    alt = f"Operations a token of {model.name} against the tokens cached"
    figure = plots.figure(spec, name=f"work-{anchor(model.key)}", alt=alt)
    hold(figure.entry)
    return figure


def _fits(model: LanguageModel, sheet: Sheet) -> str:
    """Devices of which one holds the model, with the speed it allows."""
    known = [d for d in devices() if d.fields["memory_capacity"] is not None]
    rows, told, small = [], [], 0
    for device in known:
        if not any(tried(device, model, f)[0].fits for f in FORMATS):
            small += 1
            continue
        cells = [link(f"../hardware/{device.key}.html", device.name)]
        for dtype in FORMATS:
            name = f"run.{device.key}.{dtype}"
            cell, row = run_cell(device, model, dtype, sheet, name)
            cells.append(cell)
            told.append(row)
        rows.append(cells)
    hold(guard.entry("table", "fits", told))
    left = f"<p>One of each of the other {small} devices holds it in no format.</p>"
    if not rows:
        return f"<p>{SETTING}</p>\n<p>No single device of the database holds it.</p>"
    caption = f"{model.name} on one device: tokens a second at best"
    body = table(caption, ("Device", *FORMATS), rows)
    return f"<p>{SETTING}</p>\n{body}{left if small else ''}"
