"""Parts of a step on a toy machine whose every rate is another number."""

from dataclasses import replace

import pytest

from stacklib.interconnect.parallelism import exchange, layer, waits
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.memory import held, layer_bytes
from stacklib.interconnect.parallelism.rates import Device, Rates, hop
from stacklib.interconnect.parallelism.shape import Kind, Mat, Shape, numbers
from stacklib.interconnect.parallelism.split import Stage

# One operation, byte and second are no ones here, as if they were other units.
O, B, S = 3.0, 0.5, 2.0  # noqa: E741
TOY = Device("toy", None, None, 1e9, 40.0, 3.0, 4, True, 2.0, O, B, S)
RATES = Rates(TOY, 7.0, 5.0, 3.0, 0.25, 16.0, 11.0, 6.0, 13.0, 0.5, False)
MATS = (
    Mat(4, 9, 1, 1, "columns"),
    Mat(6, 4, 1, 1, "rows"),
    Mat(4, 8, 1, 1, "none"),
    Mat(4, 10, 2, 8, "columns"),
    Mat(5, 4, 2, 8, "rows"),
)
KIND = Kind(3, MATS, 2, 17.0, 19.0, 15.0, 20.0, 10.0, 6.0, 2, 21.0, 8, False, 17 / 12)
ALL = Stage(0, 1, (3.0,), 1, 1)  # its three layers, embedding and head
SHAPE = Shape(
    "toy", 3, 4, 50, 2, 1, 8, (KIND,), (0, 0, 0), (numbers(KIND),), 200.0, False, 1, 1
)


def product(m, n, k, groups=1.0):
    """A product by its operations or by its bytes, what it writes in 16 bits."""
    done, moved = 2 * m * n * k, 2 * (m * k + k * n + m * n)
    return groups * max(done * O / 7, moved * B / 13)


def test_the_products_of_a_layer_one_by_one():
    tokens, cut = 12, Layout(tp=2, ep=4, dp=4)
    time, back, read, apart = layer.products(KIND, cut, tokens, RATES)
    # two experts a chip: each has the tokens of all, a quarter of the pairs
    each = tokens * 2 / 2
    whole = product(12, 4.5, 4) + product(12, 4, 3) + product(12, 8, 4)
    parts = product(each, 5, 4, 2) + product(each, 4, 2.5, 2)
    assert time == pytest.approx(whole + parts)
    assert (read, apart) == (12 * (4 + 3 + 4), 12 * (2 * 4 + 2 * 2.5))
    # back: rows again, and weights' gradients, whose depth is an expert's tokens
    rows = product(each, 4, 5, 2) + product(each, 2.5, 4, 2)
    deep = product(4, 5, each, 2) + product(2.5, 4, each, 2)
    assert back == pytest.approx(2 * whole + rows + deep)
    inside = layer.products(KIND, cut, tokens, replace(RATES, fused=True))
    assert inside == (time, back, read, 0)
    fast = replace(RATES, product=1e9)  # then it waits for its bytes
    moved = 3 * 2 * (12 * 4 + 4 * 5 + 12 * 5) * B
    assert layer.product_time(12, 5, 4, 3.0, fast) == pytest.approx(moved / 13)
    alike = replace(KIND, mats=MATS[3:4])  # ten columns, halved: two experts of a chip
    time, *_ = layer.products(alike, cut, tokens, fast)
    moved = 2 * 2 * (each * 4 + 4 * 5 + each * 5) * B
    assert time == pytest.approx(moved / 13)
    sent = exchange.Sent(1, 2, 4, 8, 16)
    assert sent.total == 31


def test_tiles_are_whole_and_the_last_wave_costs_its_share():
    rates = replace(RATES, tiled=True)
    # 2 x 3 tiles of 256 x 128, four times, on three units: eight waves
    full = 8 * 3 * 2 * 256 * 128 * (32 + 16) * O / 7
    assert layer.product_time(500, 300, 32, 4.0, rates) == pytest.approx(full)
    # one tile is a third of a wave: it pays that and a quarter of the rest
    one = (1 / 3 + 0.25 * 2 / 3) * 3 * 2 * 256 * 128 * (32 + 16) * O / 7
    assert layer.product_time(256, 128, 32, 1.0, rates) == pytest.approx(one)


@pytest.mark.parametrize(("tp", "sequence"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("scores", [False, True])
def test_a_layer_is_its_kernels(tp, sequence, scores):
    tokens, length = 12, 6
    cut = Layout(tp=tp, sequence=sequence)
    kept = tokens * 4 / (tp if sequence else 1)
    share = tokens / tp
    norms, additions = 2 * (2 + 2), 2 * (4 + 2)
    forward = [norms * kept, additions * kept]  # read and written
    forward += [2 * 2 * 15 * share]  # Q, K, V turned, and what O reads
    forward += [2 * 20 * share, 2 * 10 * share]  # the activation reads, and writes
    backward = [2 * 6 * kept, 2 * 6 * kept, 4 * 15 * share, 4 * 20 * share]
    backward += [2 * 10 * share]
    if scores:
        forward, backward = [*forward, 2 * kept], [*backward, 6 * kept]
    experts = 16 * 2 * tokens * 4  # to two experts and back, ordered and copied
    time, twice, read, apart = layer.products(KIND, cut, tokens, RATES)
    read += apart
    core, core_back = layer.core_time(KIND, cut, tokens, length, RATES, scores)
    found = layer.layer_time(KIND, SHAPE, cut, tokens, length, RATES, scores)
    starts = 0.5 * (8 + 5)
    assert found.core == core and found.forward == pytest.approx(
        time + core + (sum(forward) + experts) * B / 13 + starts
    )
    assert found.backward == pytest.approx(
        twice + core_back + (sum(backward) + experts) * B / 13 + 2 * starts
    )
    assert found.cheap == pytest.approx((8 * kept + 2 * share * 30) * B / 13)
    # in 8 bits what products read is cast, in both directions
    narrow = replace(RATES, device=replace(TOY, width=1.0))
    cast = layer.layer_time(KIND, SHAPE, cut, tokens, length, narrow, scores)
    saved, again, *_ = layer.products(KIND, cut, tokens, narrow)
    saved, again = saved - time, again - twice
    core8, back8 = layer.core_time(KIND, cut, tokens, length, narrow, scores)
    assert cast.forward - found.forward == pytest.approx(
        5 * read * B / 13 + saved + core8 - core
    )
    assert cast.backward - found.backward == pytest.approx(
        6 * read * B / 13 + again + back8 - core_back
    )
    # biases are spread over rows; fused kernels leave the second copy and these away
    biased = replace(KIND, biased=True)
    wide = layer.layer_time(biased, SHAPE, cut, tokens, length, RATES, scores)
    more = share * (20 + 2 * 4) * B / 13
    assert wide.forward - found.forward == pytest.approx(12 * more)
    assert wide.backward - found.backward == pytest.approx(28 * more)
    fused = replace(RATES, fused=True)
    one = layer.layer_time(biased, SHAPE, cut, tokens, length, fused, scores)
    assert found.forward - one.forward == pytest.approx(experts / 2 * B / 13)
    # what is of experts reaches a share of the memory's rate
    loose = layer.layer_time(
        KIND, SHAPE, cut, tokens, length, replace(RATES, scattered=0.5), scores
    )
    more = experts + 2 * share * (20 + 10)
    assert loose.forward - found.forward == pytest.approx(more * B / 13)


def test_a_host_that_starts_kernels_too_slowly_is_waited_for():
    cut = Layout(ep=4, dp=4)
    # two matrices of two experts: three products of each, and in 8 bits three casts
    assert layer.started(KIND, cut, False) == layer.started(KIND, cut, True) - 12
    slow = replace(RATES, host=1e6)
    found = layer.layer_time(KIND, SHAPE, cut, 12, 6, slow, False)
    whole = 1e6 * layer.started(KIND, cut, False)
    assert found.forward == pytest.approx(whole / 3)
    assert found.backward == pytest.approx(2 * whole / 3)
    plain = replace(KIND, routed=0)
    dense = layer.layer_time(plain, SHAPE, cut, 12, 6, slow, False)
    assert dense == layer.layer_time(plain, SHAPE, cut, 12, 6, RATES, False)


def test_attention_by_its_operations_and_by_its_scores():
    cut, tokens, length = Layout(tp=2), 12, 6
    forward, back = layer.core_time(KIND, cut, tokens, length, RATES, False)
    assert forward == pytest.approx(2 * 17 * 12 / 2 * O / (11 * 6 / (6 + 6)))
    assert back == 2.5 * forward  # five products where forward has two
    forward, back = layer.core_time(KIND, cut, tokens, length, RATES, True)
    heads, size = 2 * (12 / 6) / 2, 19 / (2 * 2 * 6)
    both = product(6, 6, size, heads) + product(6, size, 6, heads)
    numbers = 2 * 6 * 12 / 2 * B
    assert forward == pytest.approx(both + 9 * numbers / 13)
    assert back == pytest.approx(2 * both + 11 * numbers / 13)
    none = replace(KIND, pairs=0.0)
    assert layer.core_time(none, cut, tokens, length, RATES, True) == (0, 0)
    head = layer.head_time(SHAPE, cut, tokens, RATES)
    assert head == pytest.approx(6 * 12 * 25 * 4 * O / 5 + 20 * 12 * 25 * B / 13)


def test_rings_within_a_domain_and_beyond():
    near, far = hop(TOY, False), hop(TOY, True)
    assert 0 < near < far and hop(replace(TOY, second=1.0), True) == far / S
    # four chips in a domain have links alone; eight cross, two rings of four ports
    assert exchange.ring_rate(TOY, 1, 4) == 40
    assert exchange.ring_rate(TOY, 1, 8) == min(40, 4 * 3)
    assert exchange.ring_rate(TOY, 2, 4) == 2 * 3  # a domain holds two of these
    assert exchange.half_ring(TOY, 1, 4, 80.0) == pytest.approx(60 * B / 40 + 3 * near)
    assert exchange.half_ring(TOY, 1, 8, 80.0) == pytest.approx(70 * B / 12 + 7 * far)
    assert exchange.all_to_all(TOY, KIND, 1, 1, 80.0) == (0, 0)
    # two of eight experts: a holder of two is missed by 6/8 5/7, one of four by 4/8 3/7
    chips, node = 4 * (1 - 6 / 8 * 5 / 7), 1 - 4 / 8 * 3 / 7
    inside = 80 * chips * 3 / 4
    found = exchange.all_to_all(TOY, KIND, 1, 4, 80.0)
    assert found == pytest.approx((inside * B / 40 + near, inside))
    found = exchange.all_to_all(TOY, KIND, 1, 8, 80.0)  # each holds one: 2 of 8 chips
    assert found == pytest.approx((80 * node * B / 3 + far, 80 * 2 * 7 / 8))
    fast = replace(TOY, port=1e6)
    found = exchange.all_to_all(fast, KIND, 1, 8, 80.0)
    assert found[0] == pytest.approx(80 * 2 * 3 / 4 * B / 40 + far)
    assert exchange.tensor_layer(SHAPE, Layout(tp=2), 12) == 2 * 4 * 12
    assert exchange.keys_bytes(KIND, Layout(tp=2), 12) == 2 * 6 * 12 / 2


@pytest.mark.rows(
    ("width", "sequence", "again", "halves", "narrow"),
    [
        (2.0, False, 0, 8, 0),
        (1.0, False, 0.5, 10, 0),  # sums of all, whole: 16 bits
        (2.0, True, 1, 14, 0),
        (1.0, True, 1, 6, 8),  # six gathers, two of them again, in the products' 8 bits
        (0.5625, True, 0, 4, 6),
    ],
)
def test_what_is_gathered_goes_in_the_format_of_the_products(
    width, sequence, again, halves, narrow
):
    toy = replace(TOY, width=width)
    cut = Layout(tp=4, sequence=sequence, recompute=again)
    bytes_, seconds = waits.tensor_waits(toy, cut, 80.0)
    assert bytes_ == halves + narrow * width / 2
    whole = halves * (60 * B / 40 + 3 * hop(TOY, False))
    small = narrow * (60 * width / 2 * B / 40 + 3 * hop(TOY, False))
    assert seconds == pytest.approx(whole + small)
    assert waits.tensor_waits(toy, Layout(), 80.0)[1] == 0


def test_gradients_of_experts_go_round_among_fewer():
    cut = Layout(tp=2, dp=4, cp=2, ep=4)
    mine = held(SHAPE, cut, ALL)
    # dense halved by tensor parallelism, norms and latents whole, two tables
    assert mine.dense == 180 / 2 + 3 * (32 + 21) + 2 * 200 / 2
    assert mine.routed == 1440 / (2 * 4)
    sent, time = exchange.data_time(TOY, mine, cut, (3, 2))
    each = 2 * 3 + 4 * 2
    dense, routed = mine.dense * each, mine.routed * each
    assert sent == pytest.approx(dense * 7 / 8 + routed * 1 / 2)
    rings = [(2, 8, dense), (2 * 4, 8 // 4, routed)]
    assert time == pytest.approx(sum(exchange.half_ring(TOY, *r) for r in rings))
    alone = exchange.data_time(TOY, mine, Layout(tp=2, ep=1), (3, 2))
    assert alone == (0, 0)
    plain = replace(mine, routed=0.0)
    sent, time = exchange.data_time(TOY, plain, cut, (1, 0))
    assert sent == pytest.approx(mine.dense * 2 * 7 / 8)


def test_bytes_a_layer_keeps():
    kept = 2 * (15 + 20 + 10) + 2 * 2 * 4
    assert layer_bytes(KIND, SHAPE, Layout(), 6, False) == 8 * 4 + kept
    scores = 10 * 4 + kept + 5 * 2 * 6
    assert layer_bytes(KIND, SHAPE, Layout(), 6, True) == scores
    lean = Layout(recompute="selective")
    assert layer_bytes(KIND, SHAPE, lean, 6, True) == scores - 5 * 2 * 6
    assert layer_bytes(KIND, SHAPE, lean, 6, False) == 4 * 4 + kept - 2 * 10
    cut = replace(lean, tp=2, sequence=True, recompute="none")
    assert layer_bytes(KIND, SHAPE, cut, 6, True) == scores / 2
    uncut = replace(cut, sequence=False)
    assert layer_bytes(KIND, SHAPE, uncut, 6, False) == 8 * 4 + kept / 2
