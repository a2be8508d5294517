"""Cells packed into the blocks that stand on sites: what an iCE40 does by wiring.

A lookup table shares a site with the register that it alone feeds, and with the carry
of its own bit. Carries that follow one another form a chain, which stands in one column
from the first site of a tile on; where it starts from a net, and where other cells read
one of its carries, it has one site more. A register that would bring a second clock,
enable or reset into a tile of the chain stands elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from .annealing import SITES
from .circuit import CONSTANTS, Circuit, Gate

WIDE = 15  # a reset that more registers read goes by a global net


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands on one site, or a pad at the rim."""

    name: str
    cells: tuple[Gate, ...]

    @property
    def pad(self) -> bool:
        """Whether it is a pin of the chip."""
        return bool(self.cells) and self.cells[0].kind in ("IN", "OUT")

    @property
    def controls(self) -> tuple[str, ...]:
        """Kind, clock, enable and reset, which a tile has once; without one none."""
        told = [c for c in self.cells if c.register and c.controls]
        # Cells that set and cells that reset may stand together, edges may not.
        return (told[0].kind.replace("S", "R"), *told[0].controls) if told else ()


@dataclass(frozen=True)
class Together:
    """Blocks, chains of them, and the nets that join different blocks.

    - ``chains``: numbers of blocks, in the order in which they stand
    - ``nets``: the blocks of each net, its driver first; global nets are left out
    - ``globals``: nets with wires of their own: clocks, and resets that many read
    """

    circuit: Circuit
    blocks: tuple[Standing, ...]
    chains: tuple[tuple[int, ...], ...]
    nets: dict[str, tuple[int, ...]]
    globals: frozenset[str]


def pack(circuit: Circuit) -> Together:
    """Blocks of a circuit."""
    blocks: list[Standing] = []
    used: set[str] = set()
    chains, feeds = [], {}  # the block that hands a net to a chain's first carry

    def stand(first: int, *cells: Gate) -> None:
        """On a chain's next site: cells, and their register if the tile allows it."""
        tile = blocks[first + (len(blocks) - first) // SITES * SITES :]
        clocked = {b.controls for b in tile} - {()}
        register = _fed(circuit, cells[-1]) if cells[-1].kind != "SB_CARRY" else []
        if not clocked or clocked == {Standing("", (r,)).controls for r in register}:
            cells = (*cells, *register)
        used.update(c.name for c in cells)
        blocks.append(Standing(cells[0].name, cells))

    for chain in _carries(circuit):
        first = len(blocks)
        if chain[0].inputs[2] not in CONSTANTS:
            blocks.append(Standing(f"{chain[0].name}+in", ()))
            feeds[len(blocks) - 1] = chain[0].inputs[2]
        for carry, following in zip(chain, [*chain[1:], None], strict=True):
            stand(first, carry, *_table_of(circuit, carry, used))
            last = [] if following else _table_after(circuit, carry, used)
            if last:
                stand(first, *last)
            elif any(
                c is not following and (not _own(following, c, pin) or c.name in used)
                for c, pin in circuit.readers.get(carry.output, ())
            ):
                blocks.append(Standing(f"{carry.name}+out", ()))
        chains.append(tuple(range(first, len(blocks))))
    for cell in circuit.cells:
        if cell.name not in used and not cell.register:
            cells = [cell, *_fed(circuit, cell)]
            used.update(c.name for c in cells)
            blocks.append(Standing(cell.name, tuple(cells)))
    blocks += [Standing(c.name, (c,)) for c in circuit.cells if c.name not in used]
    wide = _globals(circuit)
    nets = _nets(circuit, blocks, chains, feeds, wide)
    return Together(circuit, tuple(blocks), tuple(chains), nets, wide)


def _globals(circuit: Circuit) -> frozenset[str]:
    registers = [c for c in circuit.cells if c.register and c.controls]
    resets = Counter(c.controls[-1] for c in registers if len(c.controls) > 1)
    clocks = {c.controls[0] for c in registers}
    named = {net for net, n in resets.items() if n > WIDE and _is_reset(circuit, net)}
    return frozenset((clocks | named) - set(CONSTANTS))


def _is_reset(circuit: Circuit, net: str) -> bool:
    """Whether registers of a kind that ends with a reset read it as their last."""
    return all(
        c.kind.endswith(("R", "S", "_P_", "_N_")) or "_SDFF" in c.kind
        for c, pin in circuit.readers.get(net, ())
        if c.register and pin == len(c.inputs) - 1
    )


def _carries(circuit: Circuit) -> list[list[Gate]]:
    """Chains of carries, each from its first to its last."""
    carries = [c for c in circuit.cells if c.kind == "SB_CARRY"]
    made = {c.output for c in carries}
    after = {c.inputs[2]: c for c in carries[::-1] if c.inputs[2] in made}
    found = []
    for head in carries:
        if after.get(head.inputs[2]) is not head:
            found.append([head])
            while found[-1][-1].output in after:
                found[-1].append(after[found[-1][-1].output])
    return found


def _own(carry: Gate | None, table: Gate, pin: int) -> bool:
    """Whether a lookup table is that of the carry's own bit."""
    same = carry is not None and table.inputs[1:] == carry.inputs
    return same and pin == 3 and table.kind.startswith("SB_LUT4")


def _table_of(circuit: Circuit, carry: Gate, used: set[str]) -> list[Gate]:
    net = next((n for n in carry.inputs[::-1] if n not in CONSTANTS), None)
    readers = circuit.readers[net] if net else []
    own = [c for c, _ in readers if _own(carry, c, 3) and c.name not in used]
    return own[:1]


def _table_after(circuit: Circuit, carry: Gate, used: set[str]) -> list[Gate]:
    """The lookup table that alone reads the last carry, by the pin that may."""
    readers = circuit.readers.get(carry.output, [])
    one = len(readers) == 1 and readers[0][1] == 3 and readers[0][0].name not in used
    return [readers[0][0]] if one else []


def _fed(circuit: Circuit, cell: Gate) -> list[Gate]:
    """The register that a lookup table alone feeds."""
    if cell.kind in ("IN", "OUT") or cell.output in CONSTANTS:
        return []
    readers = circuit.readers[cell.output]
    one = len(readers) == 1 and readers[0][0].register and readers[0][1] == 0
    return [readers[0][0]] if one else []


def _nets(
    circuit: Circuit,
    blocks: list[Standing],
    chains: list[tuple[int, ...]],
    feeds: dict[int, str],
    wide: frozenset[str],
) -> dict[str, tuple[int, ...]]:
    home = {c.name: at for at, b in enumerate(blocks) for c in b.cells}
    outs = {blocks[at].name: at for chain in chains for at in chain}
    beside = {(a, b) for chain in chains for a, b in pairwise(chain)}
    nets = {}
    for net, driver in circuit.driver.items():
        if net in wide:
            continue
        start = outs.get(f"{driver.name}+out", home[driver.name])
        ends = [at for at, fed in feeds.items() if fed == net]
        for cell, pin in circuit.readers[net]:
            at = home[cell.name]
            by_carry = driver.kind == "SB_CARRY" and (start, at) in beside
            fed_in = pin == 2 and feeds.get(at - 1) == net and cell.kind == "SB_CARRY"
            if not by_carry and not fed_in:
                ends.append(at)
        pins = tuple(dict.fromkeys([start, *ends]))
        if len(pins) > 1:
            nets[net] = pins
    return nets
