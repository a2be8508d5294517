"""Section 7.10: stations of the token, and the page's loop."""

from itertools import pairwise

import nbformat
import pytest
from _tools import tree

from stacklib import models
from stacklib.pages import chain
from stacklib.pages.quantizers import journey as page
from stacklib.pages.quantizers import quality, steps
from stacklib.pages.quantizers.journey import drawings
from stacklib.pages.quantizers.quality import ladders

from ...programs import loop_of

NOTEBOOK = tree.ROOT / "chapters/07-quantizers/journey.ipynb"

loop = loop_of("07-quantizers/journey")


def test_the_loop_is_the_page():
    said = loop.prints().splitlines()
    assert len(said) == len(page.DEVICES) * 4
    for one in said:
        device, scheme, found, _ = one.replace(":", "").split()
        mine = 1e3 * steps.step(scheme, device=device).time.si
        assert float(found) == pytest.approx(mine, abs=0.0006)


def test_a_published_loss_is_of_the_model_and_of_the_file_that_is_read():
    for name, id in page.FILES.items():
        row = ladders.figures_of.row(id)
        assert (row.subject, row.text("quant")) == ("Llama-3-70B", name)
        size = models.get(page.MODEL).weight_bytes(name.lower()).si / 2**30
        assert float(row.text("size_GiB")) == pytest.approx(size, rel=0.005)
    prices = [page.price(a, b).si for a, b in pairwise(page.FILES)]
    assert prices == sorted(prices)


def test_no_loss_stands_beside_another_models_time():
    """Neither in the drawing nor in a row of a table."""
    assert "bit/B" not in drawings.stations().html
    for cell in nbformat.read(NOTEBOOK, 4).cells:
        if "plots.table" in cell.source:
            of_tiny, of_large = "page.loss" in cell.source, "page.step" in cell.source
            assert not (of_tiny and of_large), cell.source


def test_fewer_bits_are_fewer_bytes_and_the_tiny_model_is_counted():
    for names in (page.STATIONS, page.FILES):
        times = [page.step(name).time.si for name in names]
        assert times == sorted(times, reverse=True)
    for scheme in page.SCHEMES:
        nbytes = quality.row(scheme).nbytes
        assert page.tiny_bytes(scheme).si == pytest.approx(nbytes)


def test_the_drawing_has_every_station():
    found = drawings.stations().html
    for dtype, cache in page.STATIONS.values():
        assert page.account(dtype, cache).total().text("ms") in found
    assert page.whole("nvfp4", "engine").si == chain.time(page.HERE).si
