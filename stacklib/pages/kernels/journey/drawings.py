"""Drawings of section 4.13: a token four ways, and a prompt before and after."""

from stacklib.pages.kernels import journey as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["four_ways", "prompt_before_and_after"]
DEVICE = "h100_sxm"
ZERO = chosen(0, "s", "begin")


def four_ways() -> d.Drawing:
    """A bar for each way to start a step, on one scale; lit is the time of reading."""
    whole = page.step("operator by operator", DEVICE)
    reads = page.reading(DEVICE)
    rows: list[d.Node] = []
    for way in page.WAYS:
        step = page.step(way, DEVICE)
        told = (f"{way}: ", d.Shown(step, "ms"), ", ", page.kernels(way), " kernels")
        waits = (step - reads).named(f"not reading, {way}")
        parts = (("reads", reads, "layer-2", True), ("waits", waits, "layer-2", False))
        rows.append(d.Bar(way, parts, whole, [told], high=16.0))
    lit = ("lit: memory is read, ", d.Shown(reads, "ms"), "; pale: it waits")
    note = d.Words([d.line(*lit, role="muted")])
    title = "The same bytes, four ways to start the kernels that read them."
    return d.draw(
        d.below(*rows, note, gap=9),
        name="token-four-ways",
        title=title,
        devices=[DEVICE],
    )


def prompt_before_and_after() -> d.Drawing:
    """The parts of a prompt one after the other, as found and as left."""
    whole = page.first(after=False)
    roles = ("layer-3", "layer-2", "layer-4")
    boxes: list[d.Node] = []
    for after, words in ((False, "as it was found"), (True, "as it is left")):
        begin, clips = ZERO, []
        for (part, pair), role in zip(page.prompt().items(), roles, strict=True):
            end = (begin + pair[after]).named(f"end of {part}, {words}")
            told = [(f"{part}: ", d.Shown(pair[after], "ms"))]
            clips.append(
                d.Clip(f"{part}, {words}", begin, end, whole, told, role=role, grow=0)
            )
            begin = end
        total = [d.line(words, bold=True), ("in all ", d.Shown(begin, "ms"))]
        boxes.append(d.Box(words, total, d.below(*clips, gap=5, grow=0), role="muted"))
    title = "A prompt's kernels: fewer bits, no scores in memory, fewer crossings."
    return d.draw(
        d.below(*boxes), name="prompt-before-after", title=title, devices=[DEVICE]
    )
