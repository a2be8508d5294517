"""An array of any size out of the netlist of one place, wired as the hardware is."""

from __future__ import annotations

from stacklib.quantity.bounds import whole

from .netlist import Netlist, NetlistError

PINS = ("a_in", "b_in", "clear", "a_out", "b_out", "acc")


def array_of(place: Netlist, rows: int, cols: int) -> Netlist:
    """``rows`` x ``cols`` copies of a place, each fed by its left and upper neighbour.

    Registers that pass operands over the edge stay in; synthesis of the whole array
    drops them.
    """
    whole(rows=rows, cols=cols)
    if missing := set(PINS) - {*place.inputs, *place.outputs}:
        raise NetlistError(
            f"no place of an array: {', '.join(sorted(missing))} missing"
        )
    inputs = {f"a{r}": place.inputs["a_in"] for r in range(rows)}
    inputs |= {f"b{c}": place.inputs["b_in"] for c in range(cols)}
    inputs |= {n: w for n, w in place.inputs.items() if n not in ("a_in", "b_in")}
    at: dict[str, tuple[int, ...]] = {}
    bit = 2
    for name, width in inputs.items():
        at[name] = tuple(range(bit, bit + width))
        bit += width
    held, new = len(place.states), len(place.cells)
    first_cell = bit + rows * cols * held
    outputs: dict[str, tuple[int, ...]] = {}
    states: list[int] = []
    cells: list[tuple[str, int, int]] = []
    for index in range(rows * cols):
        r, c = divmod(index, cols)
        left, top = f"a{r}" if not c else f"a{r}>{c}", f"b{c}" if not r else f"b{c}>{r}"
        here = [0, 1]
        for name in place.inputs:
            here += at[{"a_in": left, "b_in": top}.get(name, name)]
        here += range(bit + index * held, bit + (index + 1) * held)
        here += range(first_cell + index * new, first_cell + (index + 1) * new)
        outputs |= {f"a{r}_{c}": at[left], f"b{r}_{c}": at[top]}
        outputs[f"c{r}_{c}"] = tuple(here[n] for n in place.outputs["acc"])
        at[f"a{r}>{c + 1}"] = tuple(here[n] for n in place.outputs["a_out"])
        at[f"b{c}>{r + 1}"] = tuple(here[n] for n in place.outputs["b_out"])
        states += [here[n] for n in place.states]
        cells += [(kind, here[a], here[b]) for kind, a, b in place.cells]
    about = f"{rows} x {cols} of: {place.about}"
    return Netlist(about, inputs, outputs, tuple(states), tuple(cells))
