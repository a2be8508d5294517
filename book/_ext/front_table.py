"""``{device-rows} rtx_4090 h100_sxm ...``: some devices in one small table.

Rate, memory, bandwidth, ridge, power and rent from the database, and the least time
of a token of a small model; every number opens. What is not published says so.

``{exercise-list} 01-roofline``: a chapter's exercises, from their files, each with a
link to the page that shows it.

``{mark-key}``: what each mark in a figure says.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from exercise_box import PLACE
from fact_html import UNKNOWN, Sheet, escape, link, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from stacklib import grading, hardware, models, roofline
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.plots import spec
from stacklib.quantity import Quantity, UnknownName
from stacklib.roofline import Infeasible

MODEL = "llama-3-8b"
SPOKEN = ("bf16", "fp16", "fp32")  # the first of these a device has a rate for
HEAD = (
    "Device",
    "16-bit rate (TFLOP/s)",
    "Memory (GB)",
    "Bandwidth (TB/s)",
    "Ridge (FLOP/B)",
    "Power (W)",
    "Rent (USD/h)",
    "8B token (ms)",
)
UNITS = ("TFLOP/s", "GB", "TB/s", "FLOP/B", "W", "USD/h", "ms")
WHAT = (
    "dense arithmetic rate, {dtype}",
    "memory of the device",
    "rate at which it reads its memory",
    "rate over bandwidth",
    "design power",
    "rented by the hour",
    "least time of one token of Llama-3-8B in {dtype}, alone on the device",
)


def spoken(device: Accelerator) -> str:
    """The format whose rate is shown."""
    return next(dtype for dtype in SPOKEN if dtype in device.formats)


def values(device: Accelerator) -> list[Quantity | None]:
    """The row's quantities; None where nothing is published or it does not fit."""
    dtype, fields = spoken(device), device.fields
    try:
        time = roofline.decode_step(models.get(MODEL), on=device, dtype=dtype).time
    except (Infeasible, UnknownSpec):
        time = None
    return [
        device.peak(dtype),
        fields["memory_capacity"],
        fields["memory_bandwidth"],
        roofline.ridge(device, dtype),
        fields["tdp"],
        fields["cloud_price"],
        time,
    ]


def row(device: Accelerator, sheet: Sheet) -> list[str]:
    """One row, its first cell a link to the device's page."""
    cells = [link(f"hardware/{device.key}.html", device.short)]
    dtype = spoken(device)
    found = zip(values(device), UNITS, WHAT, strict=True)
    for n, (value, unit, what) in enumerate(found):
        if value is None:
            cells.append(UNKNOWN)
            continue
        text = value.text(unit, 3).rpartition(" ")[0]
        name = f"row.{device.key}.{n}"
        says = what.format(dtype=dtype)
        cells.append(sheet.number(name, value, text, says, value.tree()))
    return cells


class DeviceRows(SphinxDirective):
    """The table; its arguments are device names, its body the caption."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        sheet, rows = Sheet(), []
        for name in self.arguments[0].split():
            try:
                rows.append(row(hardware.get(name), sheet))
            except UnknownName as error:
                raise self.error(f"{{device-rows}}: {error}") from None
        body = table(" ".join(self.content), HEAD, rows)
        return [nodes.raw("", body, format="html", trees=sheet.trees)]


class ExerciseList(SphinxDirective):
    """The table of a chapter's exercises; its argument is their folder."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.arguments[0].strip()
        folder = Path(self.env.srcdir) / "exercises" / chapter
        files = sorted(folder.glob("[0-9][0-9]_*.py"))
        if not files:
            raise self.error(f"{{exercise-list}}: no exercises in {chapter!r}")
        pages = self.pages(chapter)
        rows = []
        for path in files:
            self.env.note_dependency(str(path))
            place = f"{chapter}/{path.stem}"
            found = PLACE.fullmatch(place)
            assert found is not None
            number = f"{int(found['chapter'])}.{int(found['number'])}"
            text = grading.parse(path.read_text("utf-8"), path.name)
            title = escape(text.title.rstrip("."))
            if place in pages:
                anchor = f"#exercise-{number.replace('.', '-')}"
                title = f'<a href="{pages[place]}{anchor}">{title}</a>'
            rows.append([title, number, text.level, ", ".join(text.project) or "–"])
        caption = f"{len(rows)} exercises, each checked by one command."
        body = table(caption, ("Exercise", "Number", "Level", "Project"), rows)
        return [nodes.raw("", body, format="html")]

    def pages(self, chapter: str) -> dict[str, str]:
        """Address, from this page, of the page that shows an exercise."""
        root = Path(self.env.srcdir)
        here = Path(self.env.docname).parent
        shown: dict[str, str] = {}
        files = [*root.glob(f"chapters/{chapter}/*.ipynb"), *root.glob("book/*.md")]
        for file in files:
            self.env.note_dependency(str(file))
            name = file.relative_to(root).with_suffix(".html")
            up = len(here.parts)
            uri = "../" * up + name.as_posix()
            for line in file.read_text("utf-8").split("{exercise-file} ")[1:]:
                shown[line.split("\\n")[0].split("\n")[0].strip(' "')] = uri
        return shown


class MarkKey(SphinxDirective):
    """The key of the figures, from the table that they are drawn by."""

    def run(self) -> list[nodes.Node]:
        rows = [[mark, f"<em>{what}</em>"] for what, mark in spec.KEY.items()]
        rows += [list(spec.RULE), list(spec.PLACES)]
        body = table("What a mark in a figure says.", ("Mark", "Evidence"), rows)
        return [nodes.raw("", body, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("device-rows", DeviceRows, override=True)
    app.add_directive("exercise-list", ExerciseList, override=True)
    app.add_directive("mark-key", MarkKey, override=True)
    return {"version": "1", "parallel_read_safe": True}
