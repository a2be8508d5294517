"""Section 6.12: the page's loop, bytes three ways, published times foretold."""

import pytest

from stacklib.interconnect.experts.count import count, expect
from stacklib.interconnect.experts.dispatch import dispatch_bytes, dispatch_time
from stacklib.pages.interconnect import experts as page
from stacklib.pages.interconnect.experts import claims, drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/experts")


@pytest.mark.parametrize(("experts", "top_k"), [(256, 8), (1024, 8), (256, 16)])
def test_the_loop_is_the_package(experts, top_k):
    words = loop.prints("256, 8, 64", f"{experts}, {top_k}, 64").split()
    apart, by_node = (float(words[words.index("for") - 1]), float(words[-4]))
    case = {"experts": experts, "top_k": top_k, "ranks": 64, "ranks_per_node": 8}
    assert apart == pytest.approx(expect(**case).network, rel=0.02)
    assert by_node == pytest.approx(expect(**case, once="node").network, rel=0.02)


@pytest.mark.parametrize("ranks", [8, 16, 64, 256])
def test_the_napkin_is_the_packages_model(ranks):
    sent = dispatch_bytes(page.TOKENS, ranks=ranks, header=page.HEADER)
    told = dispatch_time(sent, nvlink=page.nvlink().si, network=page.nic().si)
    assert page.floor(ranks).si == pytest.approx(told)
    assert page.sent("network", ranks).si == pytest.approx(sent.network)


def test_published_times_are_foretold_from_the_other_sizes():
    for ranks in (*page.ROWS, page.LARGEST):
        assert page.took(ranks).si > page.floor(ranks).si
    assert page.off("dispatch").si < 0.1 and page.off("combine").si < 0.15
    # No size's own time is in its prediction.
    assert page.fixed(8).si != page.fixed(16).si


def test_a_port_seems_faster_than_it_is():
    for ranks in page.NORMAL:
        assert page.seen(ranks).si > page.nic().si
        assert page.seen(ranks).si < page.seeming(ranks).si
    assert page.pure_rdma().si > page.took(page.NODE).si


def test_formula_count_and_processes_agree():
    runs = page.dispatched()["runs"]
    case = {k: page.dispatched()["case"][k] for k in ("ranks", "ranks_per_node")}
    for row, once in zip(page.three_ways(), page.WAYS, strict=True):
        drawn = count(page.routing(), **case, once=once).copies
        for part in ("own", "nvlink", "network"):
            assert runs[once][part] == pytest.approx(getattr(drawn, part))
        assert runs[once]["exact"]
        assert row["processes"].si == pytest.approx(row["drawn"].si)
        assert row["formula"].si == pytest.approx(row["drawn"].si, rel=0.01)


def test_what_volume_grows_with():
    assert page.copies(experts=1024).si == page.copies().si
    assert page.copies(experts=512, top=16).si == 2 * page.copies().si
    assert claims.exponent(False) == 0 and claims.exponent(True) == 1
    assert page.messages(together=False).si == 8 * page.messages(together=True).si
    assert page.port_bytes(together=False).si == page.port_bytes(together=True).si
    limited = page.copies(ranks=64, once="node", limit=4).si
    assert limited < page.copies(ranks=64, once="node").si < page.copies(ranks=64).si


def test_half_of_a_step_without_overlap():
    assert page.moe_layers().si == 58
    assert page.share("bf16").si < 0.5 < page.share("fp8").si
    assert page.sending().si < page.sending(None, "expert").si
    assert 0.2 < page.of_step().si < 0.3


def test_the_live_figure_and_the_drawing():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "one per node" in live.explore(**given)["title"]
    told = live.least(page.TOKENS, 8, 256, 32, "expert")
    assert told == pytest.approx(page.floor(256).si * 1e6)
    narrow = live.explore(**given | {"skew": 1, "ranks": 256, "limit": 1, "top_k": 12})
    told = {row["name"]: row["text"] for row in narrow["readouts"]}
    assert float(told["uneven"]) > 2 and told["nodes"] == "2"
    assert (
        drawings.moved("expert", "network").si
        > drawings.moved("node", "network").si
        == 1
    )
    assert len(drawings.to_its_experts().html) < 90_000
