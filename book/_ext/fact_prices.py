"""Prices with their dates: devices, wafers, defects, memory, packaging."""

from fact_html import Cell, Column, Row, Sheet, escape, sift, table

from stacklib import cost, hardware
from stacklib.cost.data import Quote, Range, packaging_price

COLUMNS = (
    Column("device", "Device"),
    Column("what", "Kind", menu=True),
    Column("date", "Date"),
    Column("hour", "Rent", "USD/h"),
    Column("price", "Price", "USD"),
    Column("source", "Source"),
    Column("note", "Note"),
)
HEAD = ("What", "Quote", "Date", "Source", "Confidence")


def price_table(sheet: Sheet) -> str:
    """Every dated price of a device, to sort and sift."""
    rows = [
        _price_row(key, number, quote)
        for key in cost.names("prices")
        for number, quote in enumerate(cost.prices(key))
    ]
    caption = f"{len(rows)} prices of {len(cost.names('prices'))} devices"
    return sift("prices", caption, COLUMNS, rows, sheet)


def _price_row(key: str, number: int, quote: Quote) -> Row:
    device, rent = hardware.get(key), quote.what == "cloud"
    source = quote.value.source
    assert source is not None  # the loader gives every quote one
    cells = [
        Cell(device.name, f"{key}.html"),
        Cell(quote.what),
        Cell(quote.date),
        Cell(quote.value if rent else None, absent="–"),
        Cell(None if rent else quote.value, absent="–"),
        Cell(source.title),
        Cell(quote.note),
    ]
    return Row(f"{key}-{number}", cells, key)


def cost_tables(sheet: Sheet) -> str:
    """Wafers, defects, memory and packaging: who said what, when."""
    shelves = (
        ("wafer", "Wafers", "A processed wafer, by node", cost.wafer_price),
        ("defects", "Defects", "Defects that kill, by area", cost.defect_density),
        ("memory", "Memory", "A gigabyte of memory", cost.memory_price),
        ("packaging", "Packaging", "Putting dies together", packaging_price),
    )
    parts = []
    for what, head, caption, find in shelves:
        rows = [
            row
            for key in cost.names(what)
            for row in _rows(what, key, find(key), sheet)
        ]
        body = table(caption, HEAD, rows)
        parts.append(f'<section id="{what}"><h2>{head}</h2>\n{body}</section>')
    return "\n".join(parts)


def _rows(what: str, key: str, found: Range, sheet: Sheet) -> list[list[str]]:
    """A quote a row; the first names the thing."""
    rows = []
    for number, quote in enumerate(found.quotes):
        source = quote.value.source
        assert source is not None
        unit = "1/cm2" if what == "defects" else None
        name = f"{what}.{key}.{number}"
        shown = sheet.number(name, quote.value, quote.value.text(unit, 4))
        title = escape(source.title)
        for more in (source.where, quote.note):
            title += f'<span class="st-note">{escape(more)}</span>' if more else ""
        head = escape(found.name)
        if number == 0 and found.note:
            head += f'<span class="st-note">{escape(found.note)}</span>'
        date = f'<span class="st-date">{escape(quote.date)}</span>'
        rows.append([head, shown, date, title, escape(source.confidence)])
    return rows
