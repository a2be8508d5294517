"""Drawings of section 4.7: split KV and its merge; cache rows to scale."""

from stacklib import hardware
from stacklib.pages.kernels import mla as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, model
from stacklib.plots.live.parts import stand
from stacklib.quantity import chosen

__all__ = ["cache_rows", "split_and_merge"]


def split_and_merge() -> d.Drawing:
    """The cache of one KV head, the SMs that read it, and the merge."""
    every = int(page.pieces().si)
    steps = [("one block", _read(1)), ("split", _read(every))]
    title = "A cache cut into tiles is read by as many SMs as it has tiles."
    return d.draw(steps, name="split-kv", title=title, devices=[page.CHIP])


def _read(splits: int) -> d.Node:
    tiles, units = int(page.pieces().si), hardware.get(page.CHIP).compute_units
    sms = int(units.si)
    cache = d.Cells(
        "tiles of keys and values",
        tiles,
        8,
        side=(15.0, 11.0),
        gap=3.0 if splits > 1 else 1.0,
        role=model.TOKEN,
        lit=frozenset(range(tiles)),
        words="a tile is some keys with their values",
    )
    chip = d.Cells(
        "SMs",
        sms,
        12,
        side=8.0,
        gap=2.2,
        role=gpu.CHIP,
        lit=frozenset(range(splits)),
        dark=frozenset(range(splits, sms)),
        words="those that read are lit",
    )
    results = d.Cells(
        "partial results",
        tiles,
        8,
        side=(11.0, 8.0),
        gap=3.0,
        role="layer-4",
        lit=frozenset(range(tiles) if splits > 1 else ()),
        dark=frozenset(range(tiles) if splits == 1 else ()),
        words="each an output, a maximum and a sum",
    )
    some = stand(page, "splits", splits).named("blocks that read")
    told = page.all_layers(splits)
    boxes = [
        d.Box(
            "cache",
            [d.line("one KV head", bold=True), (page.tile(), " tokens per tile")],
            cache,
            role=model.TOKEN,
        ),
        d.Box(
            "chip",
            [d.line(some, " of ", units, " SMs", bold=True), "read"],
            chip,
            role=gpu.CHIP,
        ),
        d.Box(
            "results",
            [d.line("partial results", bold=True), "max, sum, output"],
            results,
            role="layer-4",
        ),
        d.Box(
            "merge",
            [
                d.line("merge", bold=True),
                "nothing to do" if splits == 1 else "one output",
            ],
            role="layer-4",
        ),
    ]
    foot = d.line("all layers: ", d.Shown(told, "us"), bold=True)
    return d.below(d.chain(*boxes), d.Words([foot]), gap=8)


def cache_rows() -> d.Drawing:
    """What a token leaves in a layer by kind of attention, bars to scale."""
    kinds = page.kinds()
    steps = [
        ("all kinds", _bars(tuple(kinds), "MHA")),
        ("without MHA", _bars(tuple(kinds)[1:], "GQA")),
    ]
    title = "Bytes of a token and layer by kind of attention, for the same heads."
    return d.draw(steps, name="cache-rows", title=title)


def _bars(names: tuple[str, ...], most: str) -> d.Node:
    kinds, begin = page.kinds(), chosen(0, "B", "begin")
    told = {
        "MHA": "a key and a value for each head",
        "GQA": "a key and a value for each group",
        "MQA": "one key and one value",
        "MLA": "one latent with its place",
    }
    bars = [
        d.Clip(
            kind,
            begin,
            kinds[kind],
            kinds[most],
            [d.line(f"{kind}: ", d.Shown(kinds[kind], "B", 5), bold=True), told[kind]],
            "layer-6" if kind == "MLA" else model.TOKEN,
        )
        for kind in names
    ]
    return d.Box("cache of a token", None, d.below(*bars, gap=7), role=model.TOKEN)
