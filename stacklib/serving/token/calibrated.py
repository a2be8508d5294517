"""Lines of an account as the models predict them that were fitted on measurements.

Products and output matrix by ``roofline.bound.gemm`` (family A), or by ``few_rows``
where that is faster; attention by ``kernels.schedule`` (family B). Matrices with the
same input are one product, as engines join them; chips share the columns of the first
matrix of a part and the rows of the last. What a kernel costs to start stands in the
line of launches, not in these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from stacklib.kernels.schedule import attention_time as kernels
from stacklib.models import Attention, Experts, LatentAttention, Matrix
from stacklib.quantity import Quantity, stamp
from stacklib.quantity.dtypes import DTYPES
from stacklib.quantity.stored import products
from stacklib.roofline.bound import gemm
from stacklib.roofline.bound.few_rows import kernel_time
from stacklib.roofline.work.products import EXPAND, Product

from .lines import Line
from .shape import ATTENTION, HEAD, PRODUCTS

if TYPE_CHECKING:
    from .account import Case

BACK = ("o", "down", "expert down", "shared down")  # whose rows chips share
SOFTWARE = "tuned"  # an engine's kernels of attention
_HALF = 2.0  # bytes of an activation


def line(case: Case, found: Line, told: Callable[[Case, str], Quantity]) -> Line:
    """The line with a calibrated time; as it is where no family predicts it.

    ``told``: gives the time of a line as a quantity.
    """
    if getattr(case.rows, "shape", ()) or getattr(case.context, "shape", ()):
        raise ValueError("mode = 'calibrated': one case at a time, not a sweep")
    by: Callable[..., float]
    if found.name in (PRODUCTS, HEAD):
        # The largest of its products says what the line is like.
        every = (work for _, work in products_of(case, found.name))
        largest = max(every, key=lambda work: work.bytes)
        chip = gemm.chip_of(case.frame.device, case.frame.runs_in)
        family, by = gemm.band_of(largest, chip, "engine"), products_time
    elif found.name == ATTENTION:
        kinds = (a for _, a in case.frame.shape.attention)
        if not all(map(predicted, kinds)):
            return found.noted("at its limit: no family predicts its kernels")
        family, by = cell(case), cache_time
    else:
        return found
    time: Any = (
        stamp(told(case, found.name), family) if case.traced else by(case, found.name)
    )
    rows = "one token" if case.rows == 1 else f"{int(case.rows):,} tokens"
    return replace(
        found,
        t_bytes=None,
        t_arithmetic=None,
        t_fixed=time,
        family=family,
        regime=f"{case.frame.runs_in}, {rows}",
    )


def predicted(a: Any) -> bool:
    """Whether family B has kernels like these: no states, no selection of tokens."""
    if isinstance(a, LatentAttention):
        return not a.selected
    return isinstance(a, Attention) and a.plain


def products_time(case: Case, name: str, routed: bool = False) -> float:
    """Seconds of the products of a line, one after the other, without their starts.

    - ``routed``: of the experts' alone
    """
    on, every = case.frame.device, products_of(case, name)
    mine = (one for one in every if not routed or one[1].groups > 1)
    return sum(often * kernel_time(work, on) for often, work in mine)


def grouped_time(case: Case) -> float:
    """Seconds of the experts' arithmetic at the peak, on each chip."""
    on = case.frame.device
    return sum(
        often * float(work.operations) / on.peak(work.dtype).si
        for often, work in products_of(case, PRODUCTS)
        if work.groups > 1
    )


def products_of(case: Case, name: str) -> Iterator[tuple[int, Product]]:
    """How often each product of a line occurs on one chip, and the product."""
    model, rows = case.frame.model, max(1, round(case.rows / case.frame.ep))
    if name == HEAD:
        last = max(1, round(case.batch / case.frame.ep))
        size = Matrix("output", model.hidden, model.vocab)
        yield 1, _product(case, [size], -1, last)
        return
    for kind, block in enumerate(model.kinds):
        for (_, _, routed), group in groupby(block.matrices(model.hidden), _input):
            listed = list(group)
            if not listed[0].each:  # a layer without that part
                continue
            if not routed:
                yield model.count(kind), _product(case, listed, kind, rows)
            elif isinstance(block.mlp, Experts):
                yield model.count(kind), _experts(case, listed, kind, block.mlp)


def _input(m: Matrix) -> tuple[int, bool, bool]:
    """What matrices share that are one product."""
    return m.rows, m.name in BACK, m.routed


def _product(
    case: Case, listed: list[Matrix], kind: int, rows: int, groups: int = 1
) -> Product:
    """A product of one chip, its weights in the format that they are kept in."""
    inputs, outputs = listed[0].rows, sum(m.columns for m in listed)
    if listed[0].name in BACK:
        inputs = max(1, inputs // case.frame.tp)
    else:
        outputs = max(1, outputs // case.frame.tp)
    each = [case.frame.shape.widths[kind, m.name] * m.columns for m in listed]
    width = sum(each) / sum(m.columns for m in listed)
    multiplied = DTYPES[case.frame.runs_in].bits / 8
    narrow = width < 0.9 * multiplied
    return Product(
        rows,
        outputs,
        inputs,
        case.frame.runs_in,
        min(_HALF, multiplied),
        width,
        _HALF,
        groups,
        expand=EXPAND[4 if width < 0.75 else 8] if narrow else 0.0,
    )


def _experts(case: Case, listed: list[Matrix], kind: int, mlp: Experts) -> Product:
    """The experts of one chip that the pass touches, with the tokens of each."""
    touched = mlp.touched(case.rows)
    held = max(1, round(touched / case.frame.ep))
    rows = max(1, round(case.rows * mlp.top_k / touched))
    return _product(case, listed, kind, rows, held)


def cache_time(case: Case, name: str, software: str = SOFTWARE) -> float:
    """Seconds of attention in all layers, on each chip, without its starts."""
    total = 0.0
    for layers, a in case.frame.shape.attention:
        found = kernels.predict(
            kernels.plan(layer_of(case, a), case.frame.device, software)
        )
        total += layers * float(found.time - found.launch)
    return total


def cell(case: Case) -> str:
    """The family and cell of the layers' attention: that which most of them are of."""
    _, a = max(case.frame.shape.attention, key=lambda kind: kind[0])
    words = kernels.cell(layer_of(case, a), case.frame.device)
    return "/".join(("B", *words, SOFTWARE))


def layer_of(case: Case, a: Any) -> kernels.Attention:
    """The attention of one layer on one chip."""
    batch = max(1, round(case.batch / case.frame.ep))
    queries, keys, window = 1, int(case.context) + 1, None
    if case.prompt is not None:
        queries = keys = case.prompt
    absorbed = isinstance(a, LatentAttention) and case.prompt is None
    kv_heads, head_dim, wide = a.kv_heads, a.head_dim, None
    if isinstance(a, LatentAttention):
        wide = a.v_head_dim
        if absorbed:
            kv_heads, wide = 1, a.kv_lora_rank
            head_dim = a.kv_lora_rank + a.rope_head_dim
    elif a.window and case.prompt is None:
        keys = min(keys, a.window)
    elif a.window:
        window = a.window
    return kernels.Attention(
        batch,
        a.heads // case.frame.tp,
        max(1, kv_heads // case.frame.tp),
        queries,
        keys,
        head_dim,
        products("", case.frame.device.formats).name,
        case.prompt is not None,
        wide,
        Quantity(8 * case.frame.shape.number, "bit"),
        window=window,
        served=True,
    )
