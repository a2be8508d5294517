"""Section 4.13: the token's kernels, and the page's loop."""

import pytest

from stacklib import models
from stacklib.kernels.launch.launches import Launches, run_launches
from stacklib.pages import chain
from stacklib.pages.kernels import fusion, launches
from stacklib.pages.kernels import journey as page
from stacklib.pages.kernels.journey import drawings, live
from stacklib.roofline import decode_step
from stacklib.serving import account
from stacklib.serving.token.work import kernels

from ...programs import loop_of

loop = loop_of("04-kernels/journey")
OLD, NEW = page.DEVICES


def test_the_loop_is_the_page():
    said = loop.prints().splitlines()
    ways = {3360: list(page.WAYS)[::2], 880: list(page.WAYS)[1::2]}
    for line in said[:2]:
        words = line.split()
        for found, way in zip((words[2], words[7]), ways[int(words[0])], strict=True):
            assert float(found) == pytest.approx(1e3 * page.step(way, OLD).si, abs=6e-3)
    assert len(said) == 4


def test_steps_are_those_of_their_sections():
    apart, _, graph, fused = page.WAYS
    assert page.step(apart, OLD).si == launches.one_by_one().si
    assert page.step(graph, NEW).si == launches.replayed(device=NEW).si
    assert page.step(fused, OLD).si == fusion.step().si
    assert page.kernels(apart).si == launches.kernels().si
    for device in page.DEVICES:
        read = decode_step("llama-3-70b", on=device, tp=8, context=4096).time
        assert page.reading(device).si == read.si


def test_the_queue_says_it_event_by_event():
    """Kernels of equal length through the simulated queue, in all four ways."""
    for way, (_, graph) in page.WAYS.items():
        count = int(page.kernels(way).si)
        each = page.reading(OLD).si / count
        submit = page.cost("replay" if graph else "eager", "low").si
        start = page.cost("node", "low").si if graph else 0.0
        sizes = (1, count) if graph else (count, 1)
        plan = Launches(sizes[0], each, submit, start, nodes=sizes[1])
        assert run_launches(plan).time == pytest.approx(page.step(way, OLD).si)


def test_a_token_is_its_parts_and_a_newer_chip_gains_less_than_it_reads():
    for device in page.DEVICES:
        rest = page.token(device).si - page.step(page.FASTEST, device).si
        others = (chain.NORMS, chain.SAMPLING, chain.EXCHANGES)
        told = page.caches(device).si + sum(page.line(x, device).si for x in others)
        assert rest == pytest.approx(told, abs=2e-7)  # gains: reading has them, too
        assert page.inside(device).si < page.token(device).si
    gains = [page.over(way).si for way in page.WAYS]
    assert max(gains) < page.promised().si
    assert gains[0] == pytest.approx(1, rel=1e-3)
    assert page.busy(NEW).si < page.busy(OLD).si < 1


def test_a_prompt_loses_in_every_part():
    parts = page.prompt().values()
    assert all(after.si < before.si for before, after in parts)
    total = sum(before.si for before, _ in parts)
    assert page.first(after=False).si == pytest.approx(total)


def test_the_live_figure_is_the_page():
    for fused, way in (("no", "operator by operator"), ("yes", "fused, one by one")):
        told = live.explore(device=NEW, fused=fused, graph="no", submit=20, node=0.5)
        assert f"{page.kernels(way).si:,.0f} kernels" in told["title"]
        assert f"{1e3 * page.step(way, NEW).si:.3g} ms" in told["title"]
    small = live.explore(device="t4", fused="no", graph="no", submit=20, node=0.5)
    assert small["message"] and "ms" not in small["title"]


def test_the_drawings_say_each_way_and_part():
    html = drawings.four_ways().html
    assert all(page.step(way, OLD).text("ms") in html for way in page.WAYS)
    html = drawings.prompt_before_and_after().html
    assert all(q.text("ms") in html for pair in page.prompt().values() for q in pair)


def test_the_account_counts_what_the_page_counts():
    token = account("llama-3-70b", "h100_sxm", tp=8)
    assert token["launches and pauses"].time.si == pytest.approx(
        (page.step(page.FASTEST, "h100_sxm") - page.reading("h100_sxm")).si
    )
    assert fusion.kernels().si == kernels(models.get("llama-3-70b"), 8)
    # the graph's tables of angles and gains are a third of a per cent
    prompt = account("llama-3-70b", "h100_sxm", tp=8, prompt=page.PROMPT)
    between = fusion.between_time(fused=True).si
    assert prompt["norms and the like"].time.si == pytest.approx(between, rel=4e-3)
