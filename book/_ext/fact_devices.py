"""A page for each device of the database, and the table of all of them."""

from fact_html import (
    UNKNOWN,
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
from fact_runs import SETTING, all_devices, hold, runs_table

from stacklib import plots, roofline
from stacklib.hardware import Accelerator
from stacklib.hardware.accelerator import FIELDS, Peak
from stacklib.hardware.crosscheck import residuals
from stacklib.pages.hardware import compare
from stacklib.plots.rooflines import device_roofline_spec, main_format
from stacklib.quantity import Quantity

KINDS = {"gpu": "GPU", "tpu": "TPU", "cpu": "CPU", "asic": "ASIC"}
BASIS = {"per_direction": "each way", "bidirectional": "both ways"}
FIELD_HEAD = ("Field", "Value", "Source", "Confidence, seen")
RATE_HEAD = ("Format", "Dense rate", "A unit and cycle", "Source", "Confidence, seen")
SECTIONS = [
    ("roofline", "Roofline"),
    ("fields", "Every field"),
    ("rates", "Arithmetic"),
    ("check", "Do the figures agree?"),
    ("runs", "What one of them runs"),
]
COLUMNS = (
    Column("name", "Device"),
    Column("vendor", "Vendor", menu=True),
    Column("year", "Year", number=True, menu=True),
    Column("kind", "Kind", menu=True),
    Column("memory", "Memory"),
    Column("capacity", "Capacity", "GB"),
    Column("bandwidth", "Bandwidth", "TB/s"),
    Column("bf16", "bf16 dense", "TFLOP/s"),
    Column("fp8", "fp8 dense", "TFLOP/s"),
    Column("fp4", "fp4 dense", "TFLOP/s"),
    Column("ridge", "Ridge, bf16", "FLOP/B"),
    Column("link", "Link, one direction", "GB/s"),
    Column("tdp", "Design power", "W"),
    Column("cloud", "Cloud price", "USD/h"),
    Column("purchase", "Purchase price", "USD"),
)


def devices() -> list[Accelerator]:
    """Every published device, newest first."""
    return sorted(all_devices(), key=lambda d: (-d.year, d.vendor, d.name))


# ---- the table of all ----


def device_table(sheet: Sheet) -> str:
    """All devices, to sort and sift."""
    rows = [Row(d.key, _table_row(d), _words(d)) for d in devices()]
    caption = f"{len(rows)} devices, newest first"
    return sift("devices", caption, COLUMNS, rows, sheet)


def _words(device: Accelerator) -> str:
    """What a reader may type to find the device, beyond what its row shows."""
    parts = (device.key, device.name, device.architecture, device.process)
    return " ".join((*parts, *device.aliases))


def _table_row(device: Accelerator) -> list[Cell]:
    """Fields and rates of a device; what it cannot do is none, not unknown."""
    absent = "none" if device.peaks else "unknown"

    def rate(name: str) -> Cell:
        peak = device.peaks.get(name)
        return Cell(peak.rate if peak else None, absent=absent)

    known = "bf16" in device.formats and device.fields["memory_bandwidth"] is not None
    ridge = roofline.ridge(device, "bf16") if known else None
    prices = ("link", "tdp", "cloud_price", "purchase_price")
    return [
        Cell(device.name, f"{device.key}.html"),
        Cell(device.vendor),
        Cell(device.year),
        Cell(KINDS[device.kind]),
        Cell(device.memory_type),
        Cell(device.fields["memory_capacity"]),
        Cell(device.fields["memory_bandwidth"]),
        *(rate(name) for name in ("bf16", "fp8", "fp4")),
        Cell(ridge, absent=absent if "bf16" not in device.formats else "unknown"),
        *(Cell(device.fields[name]) for name in prices),
    ]


# ---- one device ----


def device_page(device: Accelerator, conflicts: str = "") -> str:
    """The body of a device's page."""
    sheet = Sheet()
    beside = link(f"compare.html#live-compare:first={device.key}", "Compare it")
    bodies = (
        _roofline(device, sheet),
        _fields(device, sheet),
        _rates(device, sheet),
        _agreement(device) + conflicts,
        _runs(device, sheet),
    )
    parts = [
        f'<p class="st-crumbs">{link("index.html", "Hardware")} · '
        f"{escape(device.vendor)} · {beside}</p>",
        f'<section id="device"><h1>{escape(device.name)}</h1>',
        summary(device, sheet),
        *(
            f'<section id="{name}"><h2>{escape(head)}</h2>\n{body}</section>'
            for (name, head), body in zip(SECTIONS, bodies, strict=True)
        ),
        "</section>",
        sheet.script(),
    ]
    return "\n".join(parts)


def text(device: Accelerator) -> str:
    """What the book's search finds a device by."""
    return f"{_words(device)} {device.short} {device.vendor} {device.memory_type}"


def summary(device: Accelerator, sheet: Sheet) -> str:
    """One computed line, and what nobody has said."""
    f = device.fields

    def shown(name: str) -> str:
        value = f[name]
        return "" if value is None else sheet.number(f"summary.{name}", value)

    parts = [f"{KINDS[device.kind]} of {device.year}"]
    if capacity := shown("memory_capacity"):
        at = shown("memory_bandwidth")
        kind = "" if device.memory_type == "unknown" else f" of {device.memory_type}"
        parts.append(f"{capacity}{escape(kind)}" + (f" at {at}" if at else ""))
    if spoken := main_format(device):
        rate = sheet.number("summary.rate", device.peak(spoken))
        parts.append(f"{rate} in {spoken}")
    if power := shown("tdp"):
        parts.append(power)
    line = f'<p class="st-summary">{", ".join(parts)}.</p>'
    missing = [words for name, (_, words) in FIELDS.items() if f[name] is None]
    if not device.peaks:
        missing.append("arithmetic rates")
    if missing:
        line += f'<p class="st-missing">Unknown: {escape(", ".join(missing))}.</p>'
    return line


def _roofline(device: Accelerator, sheet: Sheet) -> str:
    """The figure, or why there is none."""
    if device.fields["memory_bandwidth"] is None:
        return "<p>No roofline: the memory bandwidth is unknown.</p>"
    spoken = main_format(device)
    if spoken is None:
        return _integers_only(device, sheet)
    spec = device_roofline_spec(device)
    ridge = roofline.ridge(device, spoken)
    place = device.key.replace("_", "-")
    alt = f"Rooflines of {device.name}, one a format: {spec['title']}"
    figure = plots.figure(spec, name=f"roof-{place}", alt=alt, devices=[device.key])
    hold(figure.entry)
    point = sheet.number("ridge", ridge)
    return (
        f"{figure.html}\n<p>In {spoken} an operation needs {point} before the "
        "arithmetic, and not the memory, is its limit.</p>"
    )


def _integers_only(device: Accelerator, sheet: Sheet) -> str:
    """The ridge of a device that computes in integers, as far as is known."""
    if not device.formats:
        return "<p>No roofline: no arithmetic rate is known.</p>"
    first = device.formats[0]
    point = sheet.number("ridge", roofline.ridge(device, first))
    return f"<p>Only integer rates are known. In {first} the ridge is {point}.</p>"


def comparison(sheet: Sheet) -> str:
    """The live figure of three devices side by side."""
    figure = plots.live(
        call="stacklib.pages.hardware.compare:explore",
        controls=compare.controls(),
        name="compare",
        alt="Rooflines of three devices, attainable rate against intensity",
        share=True,
    )
    hold(figure.static.entry)
    return figure.html


def _basis(value: Quantity) -> str:
    words = [BASIS[tag] for tag in sorted(value.tags) if tag in BASIS]
    return f" {words[0]}" if words else ""


def _source_cells(value: Quantity, note: str = "") -> list[str]:
    """Source with its place and our note; confidence and date."""
    source = value.source
    assert source is not None  # the loader gives every field one
    first = escape(source.title)
    for more in (source.where, note):
        first += f'<span class="st-note">{escape(more)}</span>' if more else ""
    trust = escape(source.confidence) + (", inherited" if source.inherited else "")
    return [first, f'{trust}<span class="st-note">{escape(source.seen)}</span>']


def _fields(device: Accelerator, sheet: Sheet) -> str:
    rows = []
    for name, (_, words) in FIELDS.items():
        value, head = device.fields[name], f"{anchor(name)}|{escape(words)}"
        note = " ".join(
            part
            for part in (device.notes.get(name), device.inconsistent.get(name))
            if part
        )
        if value is None:
            rows.append([head, UNKNOWN, "", ""])
            continue
        shown = sheet.number(name, value, value.text(digits=6)) + _basis(value)
        rows.append([head, shown, *_source_cells(value, note)])
    words = [
        ("Key", device.key),
        ("Architecture", device.architecture),
        ("Compute capability", device.compute_capability),
        ("Process", device.process),
        ("Memory", device.memory_type),
    ]
    named = [f"{head}: <code>{escape(text)}</code>" for head, text in words if text]
    caption = f"All fields of {device.short}, each with where it is from"
    return f"<p>{', '.join(named)}.</p>\n" + table(caption, FIELD_HEAD, rows)


def _rates(device: Accelerator, sheet: Sheet) -> str:
    if not device.peaks:
        return "<p>No arithmetic rate is known.</p>"
    rows = [_rate_row(device, key, peak, sheet) for key, peak in device.peaks.items()]
    caption = f"Dense rates of {device.short}; after the slash, another accumulator"
    return table(caption, RATE_HEAD, rows)


def _rate_row(device: Accelerator, key: str, peak: Peak, sheet: Sheet) -> list[str]:
    head = f"{anchor(f'peak {key}')}|{escape(key)}"
    if peak.accumulate:
        head += f'<span class="st-note">sums in {escape(peak.accumulate)}</span>'
    rate = sheet.number(f"peak.{key}", peak.rate, peak.rate.text(digits=6))
    if peak.sparse_factor != 1:
        rate += f'<span class="st-note">sparse: {peak.sparse_factor:g} times</span>'
    cycle = UNKNOWN
    if peak.per_unit_per_cycle is not None:
        clock = FIELDS[peak.clock][1]
        cycle = sheet.number(f"cycle.{key}", peak.per_unit_per_cycle)
        cycle += f'<span class="st-note">at the {clock}</span>'
    contradiction = device.inconsistent.get(f"peak.{key}", "")
    note = " ".join(part for part in (peak.note, contradiction) if part)
    return [head, rate, cycle, *_source_cells(peak.rate, note)]


def _agreement(device: Accelerator) -> str:
    """Published figures that physics ties together, and the gap between them."""
    gaps = residuals(device)
    if not gaps:
        return "<p>Too few figures are known to hold one to another.</p>"
    rows = [
        [escape(rule), Quantity(gap, label=rule).text("%", 2)]
        for rule, gap in gaps.items()
    ]
    worst = Quantity(max(abs(gap) for gap in gaps.values())).text("%", 2)
    caption = f"What the parts give over what is printed, less one; at most {worst}"
    return table(caption, ("Relation", "Gap"), rows)


def _runs(device: Accelerator, sheet: Sheet) -> str:
    if device.fields["memory_capacity"] is None:
        return "<p>Nothing can be said: the memory capacity is unknown.</p>"
    body, entry = runs_table(device, sheet)
    hold(entry)
    return f"<p>{SETTING}</p>\n{body}"
