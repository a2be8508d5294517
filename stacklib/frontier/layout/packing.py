"""Cells packed into the blocks that stand on sites: what an iCE40 does by wiring.

A lookup table shares a site with the register that it alone feeds, and with the carry
of its own bit. Carries that follow one another form a chain, which stands in one column
from the first site of a tile on; a chain that starts from a net, or whose last carry is
read by other cells, has one site more for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from .circuit import CONSTANTS, Circuit, CircuitError, Gate

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
        """Clock, enable and reset, which a tile has once; none without a register."""
        return next((c.controls for c in self.cells if c.register), ())


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
    """Blocks of a circuit; raises for a chain of carries that others read from."""
    blocks: list[Standing] = []
    used: set[str] = set()
    chains, feeds = [], {}  # the block that hands a carry's net to the fabric
    for chain in _carries(circuit):
        first = len(blocks)
        if chain[0].inputs[2] not in CONSTANTS:
            blocks.append(Standing(f"{chain[0].name}+in", ()))
            feeds[len(blocks) - 1] = chain[0].inputs[2]
        for carry in chain:
            table = _table_of(circuit, carry)
            cells = [carry, *([table] if table else [])]
            cells += _fed(circuit, table) if table else []
            used.update(c.name for c in cells)
            blocks.append(Standing(carry.name, tuple(cells)))
        last = _table_after(circuit, chain[-1], used)
        if last:
            cells = [last, *_fed(circuit, last)]
            used.update(c.name for c in cells)
            blocks.append(Standing(last.name, tuple(cells)))
        elif circuit.readers[chain[-1].output]:
            blocks.append(Standing(f"{chain[-1].name}+out", ()))
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
    after = {c.inputs[2]: c for c in carries}
    if len(after) < len([c for c in carries if c.inputs[2] not in CONSTANTS]):
        raise CircuitError("two carries go on from one net; a chain has one next")
    heads = [
        c
        for c in carries
        if c.inputs[2] in CONSTANTS or circuit.driver[c.inputs[2]].kind != "SB_CARRY"
    ]
    found = []
    for head in heads:
        chain = [head]
        while chain[-1].output in after:
            chain.append(after[chain[-1].output])
        for carry, following in pairwise(chain):
            for reader, pin in circuit.readers[carry.output]:
                if reader is not following and not _own(following, reader, pin):
                    raise CircuitError(
                        f"{reader.name!r} reads the carry of {carry.name!r} inside a "
                        "chain; only the last carry of a chain leaves it"
                    )
        found.append(chain)
    return found


def _own(carry: Gate, table: Gate, pin: int) -> bool:
    """Whether a lookup table is that of the carry's own bit."""
    same = (
        table.inputs[1:3] == carry.inputs[:2] and table.inputs[3:] == carry.inputs[2:]
    )
    return table.kind.startswith("SB_LUT4") and pin == 3 and same


def _table_of(circuit: Circuit, carry: Gate) -> Gate | None:
    net = next(n for n in (carry.inputs[2], *carry.inputs) if n not in CONSTANTS)
    for cell, _ in circuit.readers[net]:
        if _own(carry, cell, 3):
            return cell
    return None


def _table_after(circuit: Circuit, carry: Gate, used: set[str]) -> Gate | None:
    """The lookup table that alone reads the last carry, by the pin that may."""
    readers = circuit.readers.get(carry.output, [])
    if len(readers) == 1 and readers[0][1] == 3 and readers[0][0].name not in used:
        return readers[0][0]
    return None


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
    outs = {blocks[c[-1]].name: c[-1] for c in chains if not blocks[c[-1]].cells}
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
            fed_in = cell.kind == "SB_CARRY" and pin == 2 and driver.kind != "SB_CARRY"
            if not by_carry and not fed_in:
                ends.append(at)
        pins = tuple(dict.fromkeys([start, *ends]))
        if len(pins) > 1:
            nets[net] = pins
    return nets
