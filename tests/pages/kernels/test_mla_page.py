"""Section 4.7: a query split over its keys, kinds of cache, and the page's loop."""

import numpy as np
import pytest

from stacklib.kernels import attention_time
from stacklib.kernels.attention.split_kv import split_decode
from stacklib.pages.kernels import mla as page
from stacklib.pages.kernels.mla import drawings, live, split

from ...programs import loop_of

loop = loop_of("04-kernels/mla")


def test_the_loop_is_the_package(capsys: pytest.CaptureFixture[str]):
    names: dict[str, object] = {}
    exec(loop(), names)
    merged, whole = (float(w.strip(",")) for w in capsys.readouterr().out.split()[1::3])
    assert merged == whole
    pairs = np.array(names["cache"])
    keys, values = pairs[None, None, :, :1], pairs[None, None, :, 1:]
    q = np.ones((1, 1, 1, 1))
    for pieces in (1, 4, 7):
        out, _ = split_decode(q, keys, values, splits=pieces, scale=1.0)
        assert out.item() == pytest.approx(whole, abs=1e-9)


def test_a_cut_as_the_room_makes_it_is_the_rooms_prediction():
    for keys, batch in ((1024, 1), (4096, 1), (32_768, 4), (4096, 64)):
        found = split.planned(
            page.CHIP, keys=keys, heads=8, kv_heads=1, head_dim=128, batch=batch
        )
        room = attention_time(
            page.CHIP,
            batch=batch,
            heads=8,
            kv_heads=1,
            queries=1,
            keys=keys,
            head_dim=128,
        )
        mine = split.in_pieces(found, room.splits)
        assert (mine.time, mine.memory) == (room.time, room.memory)
    with pytest.raises(ValueError, match="tiles"):
        split.cut(found, split.most(found) + 1)


def test_reading_falls_with_the_blocks_until_memory_is_full():
    one, all_ = page.all_layers(1).si, page.all_layers().si
    # a short piece draws a little less of the bandwidth
    assert one == pytest.approx(page.pieces().si * all_, rel=0.1)
    assert one == pytest.approx(0.84 * page.step().si, rel=0.1)
    assert page.step().si > 20 * all_
    assert all_ > page.at_full().si
    four = page.all_layers(0, page.LONG).si / all_  # four times the keys
    assert four == pytest.approx(1.6, rel=0.1)
    assert page.tile().si == 128


def test_a_row_of_the_latent_is_read_once_and_whole():
    assert page.columns().si == 576
    assert page.kinds()["MLA"].si == 2 * 576
    assert page.on_a_gpu("MLA").si > page.on_a_gpu("GQA").si
    assert page.intensity("MLA").si < page.ridge().si < page.twice().si
    assert page.intensity("MHA").si == 1


def test_published_runs_are_predicted():
    ratios = [(r["predicted"] / r["published"]).si for r in page.run_rows()]
    assert max(ratios) == ratios[0] == pytest.approx(1.41, abs=0.01)  # it misses
    assert all(abs(ratio - 1) < 0.3 for ratio in ratios[1:])
    assert 0.85 < ratios[1] < 1 and 0.85 < ratios[5] < 1  # one long sequence: too fast
    reached, rate = page.flash_mla()
    assert page.predicted("B-0356", "B/s").si == pytest.approx(reached.si, rel=0.1)
    assert rate.si < page.ridge().si * reached.si


def test_a_saved_share_of_time_is_more_than_as_much_work():
    rows = page.framework_rows()
    assert {one["as"] for one in rows} == {"less time", "more work"}
    assert page.sooner().si == pytest.approx(1 / 0.31)
    assert all(one["over"] and one["measured on"] for one in rows)


def test_drawings_and_the_live_figure():
    found = drawings.split_and_merge().html
    for splits in (0, 1):
        assert page.all_layers(splits).text("us", 3) in found
    assert page.kinds()["MLA"].text("B", 5) in drawings.cache_rows().html
    chosen = {"keys": 4096, "batch": 1, "kv_heads": 1, "on": "h100-sxm"}
    assert live.explore(splits=128, **chosen)["message"]
    assert "1 of 132" in live.explore(splits=1, **chosen)["title"]
    full = {**chosen, "keys": 512, "batch": 64, "kv_heads": 8}
    assert "; 1 pieces" in live.explore(splits=1, **full)["title"]
