"""Section 4.6: units of a tile, versions by one table, others' kernels."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import pages
from stacklib.hardware import get, microarchitecture
from stacklib.kernels.schedule.pipeline import Stage, pipeline, verify
from stacklib.kernels.schedule.rules import RULES
from stacklib.pages.kernels import attention
from stacklib.pages.kernels import generations as page
from stacklib.pages.kernels.generations import drawings, drawings_tmem, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/generations")


@pytest.mark.parametrize(
    "work", [(512, 1024, 512), (1024, 1024, 1024), (512, 768, 512)]
)
def test_the_loop_is_the_pipeline(work):
    given = "512), (#exp#, exp), (#tensor#, 512".replace("#", '"')
    assert given in loop()
    told = '{}), ("exp", {}), ("tensor", {}'.format(*work)
    for text in loop.prints(given, told).splitlines():
        groups, share = int(text.split()[0]), float(text.split()[1].rstrip("%")) / 100
        stages = []
        for g in range(groups):
            for name, unit, cycles, needs in (
                (f"QK {g}", "tensor", work[0], ((f"PV {g}", 1),)),
                (f"exp {g}", "exp", work[1], (f"QK {g}",)),
                (f"PV {g}", "tensor", work[2], (f"exp {g}",)),
            ):
                stages.append(Stage(name, cycles, unit, needs))
        found = pipeline(stages, 24)
        assert verify(found) == []
        assert share == pytest.approx(found.busy("tensor"), abs=0.02), (work, groups)


def test_a_tile_on_three_chips():
    assert page.cycles("exponentials", page.B200).si == 1024
    assert page.cycles("products", page.B200).si == pytest.approx(1024)
    for device, even in ((page.A100, 32), (page.H100, 64), (page.B200, 128)):
        assert page.even_head(device).si == pytest.approx(even, rel=1e-3)
        head = round(page.even_head(device).si)
        tile = page.work(device, head)
        assert tile.exp == pytest.approx(tile.scores + tile.values, rel=1e-3)


def test_every_row_of_the_table_is_near_and_the_miss_stays():
    rows = page.rows()
    off = [(r["predicted"] / r["published"]).si - 1 for r in rows]
    assert all(abs(one) < 0.15 for one in off)
    short = [(r["published"] - r["predicted"]).si for r in rows]
    assert max(short, key=abs) == short[-1]  # in shares of the peak, as the page says
    assert {r["what binds"] for r in rows} == {"turns", "tensor cores"}
    fp16, fp8 = page.said("fa3").si, page.said("fa3-fp8").si
    assert page.claimed().si == pytest.approx(fp16, rel=0.01) and fp8 < 0.67


def test_two_tiles_of_scores_and_of_sums_fill_tmem():
    room = microarchitecture(get(page.B200)).size("tensor_memory")
    assert len(drawings_tmem.WORKS) * drawings_tmem.tile().si == room.si
    assert room.text() in drawings_tmem.tiles_in_tmem().html


def test_the_napkin_adds_up():
    parts = page.multiplied("fa2"), page.softmax("fa2"), page.reloads("fa2")
    sharp = page.sharpness().si
    joined = sum(part.si**sharp for part in parts) ** (1 / sharp)
    assert page.taken("fa2", "pace").si == pytest.approx(joined)
    both = page.taken("fa2", "overlapped").si * page.taken("fa2", "ceiling").si
    assert both == pytest.approx(page.share("fa2").si)
    assert page.busy(1).si < 0.7 and page.busy(2).si > 0.95


def test_the_prompt_begins_where_the_section_before_ends():
    fa2, fa3, fa4 = (page.prompt(v).si for v in ("fa2", "fa3", "fa4"))
    assert fa2 == attention.tiled().si and fa4 < fa3
    assert 1.5 < fa2 / fa3 < 2  # as the abstract of FlashAttention-3 has it
    assert page.at_published().si == pytest.approx(fa3, rel=0.1)


def test_the_next_is_the_committed_prediction():
    path = Path(__file__).parents[3] / "benchmarks/predictions/attention_next.json"
    committed = json.loads(path.read_text("utf-8"))
    for case, row in zip(page.COMING, page.next_rows(), strict=True):
        (same,) = (
            r
            for r in committed["coming"]
            if (r["device"], r["dtype"]) == case[:2]
            and r["exponentials"].startswith(str(case[2]))
        )
        assert row["at most"].si == pytest.approx(same["utilisation"], abs=1e-4)
        assert row["what binds"] == page.BINDS.get(same["binds"], same["binds"])
        best = max(same["tricks"], key=lambda name: same["tricks"][name]["times"])
        assert best == "two tiles of queries"
    assert page.made() == committed["made"]


def test_others_kernels_and_the_five_that_miss_most():
    assert {o.row.id for o in page.judged("source").worst(5)} == set(page.WORST)
    # The pair that is on one line of the page: one engine, a short and a long cache.
    assert page.off("B-Z00743").si < 0.1 and 0.9 < page.off("B-Z00745").si < 1.1
    for by in ("source", "device"):
        known = [o for o in page.judged(by).predicted if "Z" not in o.row.id]
        old = sorted(o.error for o in known)  # on all rows at once it is not so good
        assert len(old) > 220 and old[len(old) // 2] < 0.15
        assert old[9 * len(old) // 10] < 0.5
        assert page.error(by).si < 0.22 and page.error(by, "p90_error").si < 0.6
    assert len(page.flop_rates()) > 920
    low, high = figures.ENDS
    assert all(
        low < x / 1e12 < high for _, a, b in page.flop_rates() for x in (a.si, b)
    )


@given(st.lists(st.tuples(*2 * [st.floats(0.5, 2)]), min_size=1))
def test_best_cases_of_one_list_bound_the_third_from_below(shapes):
    """Found over one kernel and over another, shape by shape."""
    one, other = (max(column) for column in zip(*shapes, strict=True))
    assert max(a / b for a, b in shapes) >= one / other * (1 - 1e-12)
    assert page.implied().si == pytest.approx(1.105 / 1.035 - 1)
    assert "at least 6.8%" in pages.judge("avo-implied-cudnn-over-fa4").why


def test_live_follows_the_tricks():
    start = {c["name"]: c["value"] for c in live.controls()}

    def share(**changes):
        spec = live.explore(**{**start, **changes})
        text = {r["name"]: r["text"] for r in spec["readouts"]}["share"]
        return float(text.split()[0])

    assert share(way="pingpong") > 1.3 * share()
    assert share(head_dim=64) < share() < share(exp=32)
    assert (
        "no fp8"
        in live.explore(**{**start, "device": live.DEVICES[0], "dtype": "fp8"})[
            "message"
        ]
    )
    assert RULES["fa4"].software_exp in live.SHARES


def test_the_drawings_show_what_was_counted():
    units = drawings.cycles_of_a_tile().html
    assert "4,096" in units and units.count("1,024") >= 4
    assert page.busy(1).text("%") in drawings.groups_in_turns().html
