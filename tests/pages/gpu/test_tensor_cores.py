"""The figure of section 2.5: loads and products that begin in time."""

from stacklib.gpu.tensor.tile_feed import Feed, run_feed
from stacklib.pages.gpu.tensor_cores.figures import feed_spec
from stacklib.plots.spec import check


def test_every_load_and_product_that_begins_in_time_is_a_bar():
    feeds = [Feed(300, 100, 200, 2), Feed(100, 0, 400, 3)]
    rows = [(feed, run_feed(feed, 9)) for feed in feeds]
    spec = feed_spec(rows, title="T.", names=["a", "b"], end=2000)
    check(spec)
    bars = [m for m in spec["marks"] if m["kind"] == "bar"]
    starts = [t for _, ran in rows for s in ran for t in (s.load, s.start)]
    assert len(bars) == sum(t < 2000 for t in starts) < len(starts)
    assert max(x for m in bars for x in m["x"]) <= 2000
