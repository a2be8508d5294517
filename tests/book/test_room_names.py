"""A short name in the API pages is that of its own room."""

import pytest
import room_names

KNOWN = (
    "stacklib.cost.spans.Span",
    "stacklib.roofline.journey.token_journey.Span",
    "stacklib.memory.Cache",
    "stacklib.memory.cache.cache.Cache",
    "stacklib.roofline.host.pipelines.Cache",
    "stacklib.memory.dram.channel.Served",
    "stacklib.memory.cache.chase_model.Served",
)


@pytest.mark.rows(
    ("name", "module", "meant"),
    [
        ("Span", "stacklib.cost.dies", "stacklib.cost.spans.Span"),
        ("Span", "stacklib.roofline", "stacklib.roofline.journey.token_journey.Span"),
        ("Cache", "stacklib.memory.tiers.walk", "stacklib.memory.Cache"),
        (
            "Served",
            "stacklib.memory.dram.verify",
            "stacklib.memory.dram.channel.Served",
        ),
        ("Span", "stacklib.gpu.simt.launcher", "Span"),
        ("pan", "stacklib.cost", "pan"),
    ],
)
def test_a_name_means_the_nearest(name: str, module: str, meant: str):
    assert room_names.nearest(name, module, KNOWN) == meant


def test_a_source_page_links_back_to_each_name_where_it_stands():
    line = '<a class="viewcode-back" href="../memory.html#{}">[docs]</a>'
    module = "stacklib.memory.dram.channel"
    body = line.format("stacklib.memory.Served") + line.format("stacklib.memory.Cache")
    mended = room_names.links_back(body, module, KNOWN)
    assert f"#{module}.Served" in mended  # documented under its module
    assert "#stacklib.memory.Cache" in mended  # offered by the room
