"""Kernels that chapter 4 prints: three machines, their slips, and the pages' words."""

import contextlib
import io

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import interpreter, tiles
from stacklib.kernels.attention.naive import naive_attention
from stacklib.kernels.attention.split_kv import split_decode
from stacklib.kernels.rows.norm_tiles import layernorm_reference
from stacklib.pages.kernels.texts import cases, judge, launches, run
from stacklib.quantity import UnknownName

from ...programs import programs, with_tl

PAGES = {
    "norm": "04-kernels/norms",
    "product": "04-kernels/feed",
    "attend": "04-kernels/attention",
    "piece": "04-kernels/mla",
    "scaled": "04-kernels/scaled",
    "score": "04-kernels/sampling",
}
FORMS = {"e4m3fn": tiles.float8e4nv, "int32": tiles.int32, "fp32": tiles.float32}
SLIPS = [(name, said) for name, case in cases.CASES.items() for said in case.slips]


def said_by(text):
    """What a block prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "<block>", "exec"), {})
    return out.getvalue()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_the_packages_text_and_it_is_short(name):
    block = judge.block_of(cases.CASES[name])
    assert block in programs(PAGES[name])
    assert len(block.splitlines()) <= 25 and max(map(len, block.splitlines())) <= 86
    assert said_by(block).splitlines()[-1].startswith("right: ")


@pytest.fixture
def few_draws(monkeypatch):
    """Fewer seeds than the page has: a slip shows in any."""
    monkeypatch.setattr(launches, "SEEDS", 20)
    launches.right_draw.cache_clear()
    yield
    launches.right_draw.cache_clear()


@pytest.mark.rows(("name", "said"), SLIPS)
def test_a_broken_line_is_told_by_its_sentence(name, said, few_draws):
    case = cases.CASES[name]
    block, (old, new) = judge.block_of(case), case.slips[said]
    assert block.count(old) == 1
    assert said_by(block.replace(old, new)).splitlines()[-1] == f"wrong: {said}"


def as_array(x):
    return np.array([np.nan if v is None else v for v in x])


def test_what_is_right_is_what_the_rooms_compute():
    def near(mine, other):
        assert np.allclose(as_array(mine), np.ravel(other), rtol=1e-9, atol=1e-9)

    x, weight = launches.NORM
    rows = np.reshape(x, (launches.ROWS, -1))
    near(
        launches.right_norm(),
        layernorm_reference(rows, weight, 0 * as_array(weight), launches.EPS),
    )
    a, b = launches.PRODUCT
    near(
        launches.right_product(),
        np.reshape(a, (launches.M, -1)) @ np.reshape(b, (-1, launches.N)),
    )
    q, k, v = (
        np.reshape(x, (1, 1, launches.S, launches.D))
        for x in (launches.QUERIES, launches.KEYS, launches.VALUES)
    )
    near(launches.right_attend(), naive_attention(q, k, v, causal=True))
    near(launches.right_pieces(), split_decode(q[:, :, :1], k, v, splits=3)[0])
    codes = [as_array(x.values) for x in launches.quantized()]
    groups, side = launches.LONG // launches.GROUP, launches.GROUP
    a = codes[0].reshape(32, groups, side) * codes[1].reshape(32, groups, 1)
    b = codes[2].reshape(-1, side, groups, side)
    b = b * codes[3].reshape(-1, 1, groups, 1)
    near(launches.right_scaled(), a.reshape(32, -1) @ b.reshape(launches.WIDE, -1).T)
    seeds = [tiles_noise(seed) for seed in range(5)]
    drawn = [int(np.argmax(launches.logits() - np.log(-np.log(u)))) for u in seeds]
    assert launches.right_draw()[:5] == drawn


def tiles_noise(seed):
    """Uniform numbers of the machine on NumPy."""

    def noise(out, seed, N: tiles.constexpr):
        at = tiles.arange(0, N)
        tiles.store(out + at, tiles.rand(seed, at))

    ran = gpu.launch_tiles(noise, 1, gpu.empty(8), seed, N=8)
    return ran.results["out"][: launches.VOCAB]


def on_numpy(kernel, grid, *given, **words):
    """The same launch by `gpu.launch_tiles`: what it stored stays, its counts."""
    arrays = {id(x): x for x in given if isinstance(x, interpreter.Array)}
    sent = {
        at: tiles.empty(len(x.values), FORMS[x.form])
        if x.values[0] is None
        else tiles.array(np.array(x.values, np.float32), FORMS[x.form])
        for at, x in arrays.items()
    }
    made = gpu.launch_tiles(
        *(with_tl(kernel, tiles), grid, *(sent.get(id(x), x) for x in given)),
        num_warps=1,  # more would load small tiles several times
        **words,
    )
    for name, x in zip(kernel.__code__.co_varnames, given, strict=False):
        if id(x) in arrays:
            x.values[:] = [float(y) for y in made.results[name]]
    return made.report.traffic.asked


@pytest.mark.parametrize("name", PAGES)
def test_the_machine_on_numpy_finds_the_same_and_counts_the_same(
    name, monkeypatch, few_draws
):
    case = cases.CASES[name]
    monkeypatch.setattr(launches, "SEEDS", 3)
    found, counts = case.launch(case.kernels, **case.sizes)
    asked = []

    def both(*given, **words):
        asked.append(on_numpy(*given, **words))

    monkeypatch.setattr(launches.tl, "run", both)
    other, _ = case.launch(case.kernels, **case.sizes)
    near = 2e-3 * np.abs(as_array(found)).max()  # TF32, and 14 bits of an FP8 sum
    assert np.allclose(as_array(found), as_array(other), rtol=0, atol=near)
    last = asked[-len(counts) :]
    for mine, theirs in zip(counts, last, strict=True):
        assert mine.total("read") == theirs["load"]
        assert mine.total("written") == theirs["store"]


def test_what_is_right_but_dear_is_told_and_a_forgotten_mask_is_named():
    attend = judge.block_of(cases.CASES["attend"])
    dear = said_by(attend.replace("range(0, top + TILE, TILE)", "range(0, S, TILE)"))
    assert "right, but 50,688 B are read where 34,304 B suffice" in dear
    product = judge.block_of(cases.CASES["product"])
    with pytest.raises(IndexError, match="a has 1,600 elements"):
        said_by(product.replace("(row < M) & (along < K)", "row < M"))
    with pytest.raises(IndexError, match="store: out has"):
        said_by(attend.replace("sums / total, mask=row < S", "sums / total"))
    starts = "tl.program_id(0) * TILE, S, tl.num_programs(0) * TILE"
    both = said_by(attend.replace(starts, "0, S, TILE"))  # each program does all rows
    assert "right, but 68,608 B are read" in both
    never = said_by(attend.replace("tl.store(out + row", "tl.store(out + 0 * row"))
    assert "wrong: 1,136 of 1,152 numbers were never stored" in never


@pytest.mark.parametrize(("side", "bytes_"), [(16, 24320), (32, 14080)])
def test_a_taller_tile_reads_less(side, bytes_, capsys):
    run(*cases.CASES["product"].kernels, SIDE=side)
    read = capsys.readouterr().out.split("; ")[0]
    numbers = [int(w.replace(",", "")) for w in read.split() if w[0].isdigit()]
    assert sum(numbers) == bytes_


def test_who_asks_for_no_text_is_told_which_there_are():
    with pytest.raises(UnknownName, match="attend, "):
        run(lambda: None)
    with pytest.raises(ValueError, match=r"run\(piece, merge\)"):
        run(cases.CASES["piece"].kernels[0])
    with pytest.raises(UnknownName, match="TILE"):
        run(*cases.CASES["attend"].kernels, SIDE=4)
    for side in (0, -16, 16.0):
        with pytest.raises(ValueError, match="STEP = "):
            run(*cases.CASES["product"].kernels, STEP=side)
