"""The chooser of 7.10: times of the account, losses of that model and of that file."""

from functools import partial

import pytest

from stacklib import models, serving
from stacklib.pages import figures_of
from stacklib.pages.quantizers import journey as page
from stacklib.pages.quantizers.journey import live, losses
from stacklib.plots import spec as grammar
from stacklib.quantity.records import quotes

from ...live_figures import ask

choose = partial(ask, live.explore, live.controls())


def cells(spec, scheme):
    return next(r["cells"] for r in spec["table"]["rows"] if r["head"] == scheme)


def test_the_case_of_the_book_has_the_chapters_account_and_the_calibrated_one():
    found, said = choose()
    for scheme, (dtype, _) in losses.SCHEMES.items():
        dtype = losses.kept(page.MODEL, scheme) or dtype
        case = {"dtype": dtype, "tp": 8, "kv_dtype": "bf16"}
        kernels = serving.account(page.MODEL, "h100_sxm", mode="calibrated", **case)
        sheet = page.account(dtype).total()
        time, _, least, *_ = (cell["text"] for cell in cells(found, scheme))
        assert (time, least) == (kernels.total().text("ms"), sheet.text("ms"))
    assert said["scheme"] == "INT4" and found["message"] is None
    assert cells(found, "NVFP4")[2]["text"] == page.whole("nvfp4", "engine").text("ms")


@pytest.mark.rows(("model", "scheme"), sorted(losses.PUBLISHED))
def test_a_loss_is_of_that_model_and_its_time_of_that_file(model, scheme):
    found = losses.PUBLISHED[model, scheme]
    for key in (found.narrow, found.wide):
        if key in quotes():
            words = f"{quotes()[key].document} {quotes()[key].says}"
        else:
            words = figures_of.row(key).subject
        name = models.get(model).name.removesuffix(" v0.1").casefold()
        assert name in words.casefold().replace("-", " ")
    if not found.kept:
        size = float(figures_of.row(found.narrow).text("model_size_GB"))
        read = models.get(model).read_bytes(1, losses.kept(model, scheme))
        assert read.si == pytest.approx(size * 1e9)
    assert losses.told(model, scheme).startswith(found.what)


def test_where_nobody_published_a_loss_the_order_of_the_books_model_is_told():
    found, _ = choose(model="qwen3-32b", device="b200_sxm", chips=1)
    rows = found["table"]["rows"]
    assert [r["cells"][1]["text"] for r in rows[1:]] == 5 * ["none published"]
    told = {r["head"]: r["cells"][1].get("note", "") for r in rows}
    assert sorted(map(losses.place, losses.SCHEMES)) == [1, 2, 3, 4, 5, 6]
    assert "6th of 6 in the book's own model" in told["INT4"]
    assert "3rd of 6" in told["FP8"] and cells(found, "BF16")[1]["text"] == "as it is"


def test_a_sign_is_told_in_words():
    """torchao's INT8 lowers the perplexity of Llama-2-7B a little."""
    assert losses.told("llama-2-7b", "INT8").endswith("lower")
    assert losses.told("llama-2-7b", "INT4").endswith("higher")
    assert losses.told("llama-3-70b", "FP8").endswith("lower")


def test_what_does_not_fit_has_its_sum_and_no_time():
    found, said = choose(device="l40s", chips=1)
    assert "BF16: 141.1 GB weights + 1.342 GB KV = 142.4 GB > 48 GB" in found["message"]
    assert cells(found, "FP8")[0]["text"] == "does not fit"
    assert len(found["marks"]) == 3 and said["scheme"] == "INT4"
    found, said = choose(device="rtx_4090", chips=1, batch=64, context=65536)
    assert found["message"].count("does not fit") == 6 and not said


@pytest.mark.rows("device", live.DEVICES)
def test_every_card_is_a_figure(device):
    small = {"chips": 8, "batch": 8, "context": 1024}
    made = live.explore(model="llama-3-8b", device=device, **small)
    grammar.check(made)
    assert "Llama 3 8B" in made["title"]
