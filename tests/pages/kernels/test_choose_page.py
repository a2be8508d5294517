"""Section 4.12: a recorded profile, its three orders, and what is advised."""

import math
import subprocess
import sys

import pytest

from stacklib.kernels.plan.advise import ROUTES, TERMS
from stacklib.pages.kernels import choose as page
from stacklib.pages.kernels.choose import drawings, live
from stacklib.quantity.files import PACKAGE

from ...programs import loop_of

loop = loop_of("04-kernels/choose")
KNOWN = ("products", "attention", "loss")


def test_the_loop_ranks_as_the_page_does(capsys: pytest.CaptureFixture[str]):
    exec(loop(), {})
    orders = {"share": page.share, "slowness": page.slowness, "saved": page.saved}
    for text in capsys.readouterr().out.splitlines():
        _, order, *rest = text.split()
        told = dict(zip(rest[::2], map(float, rest[1::2]), strict=True))
        assert set(told) == set(KNOWN)
        for part, value in told.items():
            assert value == pytest.approx(orders[order](part).si, rel=0.01, abs=6e-4), (
                order
            )
        assert list(told.values()) == sorted(told.values(), reverse=True)


def test_three_orders_have_three_firsts():
    firsts = [
        max(KNOWN, key=lambda part: of(part).si)
        for of in (page.share, page.slowness, page.saved)
    ]
    assert firsts == ["products", "loss", "attention"]
    least = loop.prints("(224.7, 68.2)", "(90, 68.2)").splitlines()[2]
    assert least.split()[2] == "products"


def test_the_parts_make_up_the_step():
    assert sum(page.share(part).si for part in page.PARTS) == pytest.approx(1)
    phases = [page.share("products", phase).si for phase in page.PHASES]
    assert sum(phases) == pytest.approx(page.share("products").si)
    assert phases[2] > phases[0]  # Muon's products, and those of the forward pass
    assert page.whole().si == pytest.approx(page.profiled()["wall_s"], rel=0.02)
    assert all(page.slowness(part).si > 1 for part in KNOWN)
    text = (PACKAGE.parent / page.FILE).read_text("utf-8")
    assert len(text) < 60_000 and "/" not in text


def test_what_is_left_is_one_kernel():
    assert page.left().si == pytest.approx(page.reading().si, rel=0.001)
    between = (page.kernels().si - 1) * page.node().si
    assert page.starts().si == pytest.approx(between)


def test_advice_of_the_table():
    rows = {
        name: (page.advice(name, page.FEW).do, page.advice(name, page.MANY).do)
        for name in page.cases()
    }
    assert rows[page.ONE] == ("leave it", "cutlass")
    assert rows["layer norm as seven calls"] == ("compiler", "compiler")
    assert rows["product at 80 % of the peak"] == ("leave it", "leave it")
    assert rows["routing of experts"] == ("leave it", "triton")
    assert rows["attention on new units"] == ("leave it", "cutlass")


def test_the_break_even_in_quantities_is_the_rooms():
    name = page.ONE
    assert page.break_even(name).si == pytest.approx(page.pays_from(name).si)
    few, many = page.fleet(page.FEW), page.fleet(page.MANY)
    assert few.si < page.pays_from(name).si < many.si
    assert page.fewer().si == pytest.approx(6, rel=1e-3)
    assert page.calls_of_norm().si == 7


def test_triton_lies_between_two_kernels_in_cuda():
    assert (
        page.over_triton("FlashAttention-3").si
        > 1
        > page.over_triton("FlashAttention-2").si
    )


def test_every_place_of_the_controls_answers_without_numpy():
    lines = [
        "import sys",
        "sys.modules['numpy'] = None",
        "from stacklib.pages.kernels.choose import live",
        "given = {c['name']: c['value'] for c in live.controls()}",
        "for c in live.controls():",
        "    for v in c.get('values') or [o[0] for o in c['options']]:",
        "        live.explore(**{**given, c['name']: v})",
        loop(),
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_the_live_figure_is_the_sum():
    given = {control["name"]: control["value"] for control in live.controls()}
    spec = live.explore(**given)
    (compiler,) = (m for m in spec["marks"] if m["name"] == "compiler")
    (route,) = (r for r in ROUTES if r.name == "compiler")
    saved = given["share"] / 100 * (1 - 1 / (route.memory * given["above"]))
    for fleet, worth in zip(compiler["x"], compiler["y"], strict=True):
        right = saved * fleet * TERMS["gpu"].value - route.hours * TERMS["wage"].value
        assert worth == pytest.approx(right / 1e3)
    assert math.isfinite(sum(compiler["y"]))


def test_drawings_say_what_each_part_saves():
    html = drawings.cut_step().html
    for part in KNOWN:
        assert page.saved(part).text("%", 2) in html
    assert "leave it" in drawings.the_way().html
