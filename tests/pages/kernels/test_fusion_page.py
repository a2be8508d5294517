"""Section 4.2: the layer's graphs, the page's loop, and plans that compute again."""

import math

import pytest

from stacklib.kernels.launch.fuse import KERNELS, RULES, fuse
from stacklib.pages.kernels import fusion as page
from stacklib.pages.kernels import launches
from stacklib.pages.kernels.fusion import drawings, graphs, live

from ...programs import loop_of

loop = loop_of("04-kernels/fusion")


@pytest.mark.parametrize("tokens", [1, 4096])
def test_the_loop_is_the_package(tokens, capsys: pytest.CaptureFixture[str]):
    kept: dict[str, int] = {}
    exec(loop().replace("= 4096,", f"= {tokens},"), kept)
    found = fuse(graphs.norm(tokens), graphs.LIBRARY)
    assert kept["apart"] == found.unfused_bytes
    assert kept["outside"] == found.fused_bytes
    assert f"{found.fused_bytes / 1e6:,.0f} MB" in capsys.readouterr().out


def test_the_graphs_have_the_kernels_that_torch_dispatches():
    pytest.importorskip("torch")
    layer = launches.layer()
    assert page.per_layer(fused=False).si == len(layer)
    # Bytes by part; a half that is turned is drawn as the whole.
    names = {
        "q, k, v": ("q, k, v",),
        "out": ("out",),
        "gate, up": ("gate, up",),
        "activation": ("activation",),
        "down": ("down",),
    }
    for part, of in names.items():
        theirs = sum(k.bytes for k in layer if k.part in of)
        assert page.moved(1, fused=False, part=part).si == theirs
    theirs = sum(k.bytes for k in layer if k.part in ("norm", "residual"))
    ours = page.moved(1, fused=False, part="add, norm").si
    assert 2 * ours == pytest.approx(theirs, rel=1e-3)


def test_eleven_kernels_are_left_and_only_a_prompt_saves_bytes():
    assert page.per_layer(fused=True).si == 11
    assert all(part.launches == 1 for part in page.parts(1, True).values())
    assert page.saved(1).si < 0.01 < 0.6 < page.saved(page.PROMPT).si
    assert fuse(graphs.mlp(1), graphs.LIBRARY).launches == 2  # its own epilogue
    for part in graphs.PARTS:
        made = graphs.graph(part, 16, 64)
        sizes = [fuse(made, rules).fused_bytes for rules in ((), KERNELS, RULES)]
        assert sizes == sorted(sizes, reverse=True)


def test_the_step_is_its_reading_and_its_nodes():
    nodes = (page.kernels() * launches.cost("node", "low")).si
    submit = launches.cost("replay", "low").si
    read = launches.decode_step("llama-3-70b", on="h100_sxm", tp=8, context=4096)
    assert page.step().si == pytest.approx(read.time.si + nodes + submit)
    assert page.step().si < page.before().si < page.eager().si
    assert page.blog_reading().si < page.blog_step().si < page.blog_measured().si


@pytest.mark.rows("name", ["layernorm", "attention", "experts"])
@pytest.mark.rows("rules", [(), KERNELS, RULES])
def test_a_run_moves_what_the_graph_says(name, rules):
    assert page.ran(name, rules).si == page.told(name, "fused_bytes", rules).si


def test_online_softmax_leaves_no_scores_in_memory():
    apart, one = (page.attention("bytes", online=on).si for on in (False, True))
    scores = graphs.HEADS * page.PROMPT**2 * 2
    assert apart - one == pytest.approx(4 * scores, rel=0.01)
    assert page.attention("kernels", online=True).si == 1


def test_plans_walked_are_plans_told():
    for method in ("keep", "every", "sqrt", "optimal"):
        assert page.memory(method).si == pytest.approx(page.plan(method).memory)
    best = min(range(1, 81), key=lambda k: page.by_segments(k).si)
    assert abs(best - page.root(page.KEPT).si) < 1
    assert (
        page.by_segments(9).si > page.by_segments(best).si > page.memory("optimal").si
    )
    lengths = [s.last - s.first for s in page.plan("optimal").segments]
    assert lengths == sorted(lengths, reverse=True)
    assert math.isclose(page.again("sqrt").si, 1 / 3)


def test_the_tiny_model_keeps_what_was_told():
    pytest.importorskip("torch")
    for method in ("keep", "every", "sqrt", "optimal"):
        ratio = (page.tiny_kept(method) / page.tiny_foretold(method)).si
        assert ratio == pytest.approx(1, abs=0.04), method


def test_the_live_figure_and_the_drawing():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "become 3 kernels" in live.explore(**given)["title"]
    assert "become one kernel" in live.explore(**given | {"online": "on"})["title"]
    off = dict.fromkeys(("elementwise", "rows", "siblings", "online"), "off")
    assert "become 6 kernels" in live.explore(**given | off)["title"]
    assert "268 MB" in drawings.traffic_that_disappears().html
