"""Section 8.1: room by division and by filling, two attentions, and the page's loop."""

import re
from functools import partial

import pytest

from stacklib import models, roofline
from stacklib.pages.serving import fits as page
from stacklib.pages.serving.fits import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("08-serving/fits")
readouts = partial(ask, live.explore, live.controls())
LINE = re.compile(r"(.+): ([\d,]+) B a token, (\d+) conversations")


def printed(**changes):
    """What the loop says of each kind: bytes of a token, conversations."""
    lines = LINE.findall(loop.prints(**changes))
    return {kind: (int(b.replace(",", "")), int(n)) for kind, b, n in lines}


def test_the_loop_fills_what_the_package_divides():
    found, room = printed(), page.machine()
    token, many = found["grouped heads"]
    assert token == page.per_token().si and many == room.conversations.si
    assert found["own heads"][0] == 2 * page.own_heads(page.MODEL).si
    assert found["a latent"][0] == page.per_token(page.LATENT).si
    assert found["own heads"][1] < many / 7.9
    narrow = printed(old="width = 434.893e9, 4096, 2", new="width = 434.893e9, 4096, 1")
    twice = page.machine(kv_dtype="fp8").conversations.si
    assert narrow["grouped heads"] == (token / 2, twice)


def test_an_allocator_admits_what_the_division_says():
    assert page.filled().si == page.machine().conversations.si
    assert page.blocks().si * 16 <= page.tokens().si < (page.blocks().si + 1) * 16


def test_both_documents_can_be_computed():
    assert page.grouped(page.LONG).to("GiB").value == 40
    assert page.own(page.LONG).to("GiB").value == 160
    assert page.own(page.LONG).si / page.grouped(page.LONG, "fp8").si == 8


def test_every_llama_of_that_size_has_grouped_heads():
    big = [m for m in models.names() if m.startswith("llama") and "70b" in m]
    assert len(big) > 3
    assert all(models.get(m).heads > models.get(m).kv_heads for m in big)


@pytest.mark.parametrize("model", page.SHOWN)
def test_a_model_s_kinds_are_all_its_layers(model):
    told = page.attention_of(model)
    said = re.findall(r"(\d+) x ", told)
    assert sum(map(int, said)) == models.get(model).layers
    assert not re.search("[A-Z]{3}", told)


def test_entries_left_are_the_long_context_s_limit():
    """Without index and windows, a cache of entries alone comes to the closed form."""
    model = models.get(page.FOURTH)
    blocks = [b.attention for b in model.blocks if b.attention.rate]
    tokens = 128 * 10**6
    share = sum(a.entries(tokens) for a in blocks) / len(blocks) / tokens
    assert page.entries_left().si == pytest.approx(share, rel=0.02)
    assert page.cache_cut().si == pytest.approx(1 - page.entries_left().si, rel=0.02)


def test_operations_are_those_of_a_step():
    new, old = (
        roofline.decode_work(models.get(m), dtype="e4m3fn", context=page.MILLION)
        for m in (page.FOURTH, page.BEFORE)
    )
    cut = 1 - new.operations.si / old.operations.si
    assert page.operations_cut().si == pytest.approx(cut)


def test_the_drawing_names_what_fills_the_memory():
    told = drawings.memory_of_a_gpu().html
    for words in ("weights", "blocks", "kept back", "a conversation", "a token"):
        assert words in told


@pytest.mark.parametrize("place", range(len(page.SHOWN)))
def test_every_choice_draws(place):
    """Each value of each control once, in turn."""
    found = {}
    for control in live.controls():
        choices = values(control)
        found[control["name"]] = choices[place % len(choices)]
    full, said = readouts(**found)
    assert full["message"] or said["many"] != "0"


def test_what_does_not_fit_says_so():
    full, said = readouts(chips=1)
    assert full["message"] and said["many"] == "0" and not full["marks"]
