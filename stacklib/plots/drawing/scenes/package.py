"""Packages: from above and cut, in their own lengths."""

from __future__ import annotations

from stacklib.cost.making import fact
from stacklib.cost.packages import reticle
from stacklib.hardware import Accelerator, get, stack_generation
from stacklib.memory.ladder.energy import die_area

from ..marks import Measured
from ..nodes import Words, with_
from ..parts import package
from ..picture import Drawing, draw
from ..relate import below, flow
from ..words import line


def package_above(on: str | Accelerator, name: str = "package-above") -> Drawing:
    """Dies and stacks from above, beside the field of a scanner, to one scale."""
    device = get(on) if isinstance(on, str) else on
    long, _ = package.die_sides(device)
    above = package.from_above(
        device, [("die, ", die_area(device).named(f"{device.short} area of a die"))]
    )
    made = stack_generation(device.memory_type)
    stacks = device.memory_stacks * made.width * made.depth
    fields = ((die_area(device) * device.dies + stacks) / reticle()).to("1")
    each = (long * device.dies).named("long edge of all dies")
    plan = Measured(
        above,
        [
            line(device, bold=True),
            ("long edge ", each),
            ("a stack ", made.depth, " × ", made.width),
            (
                "all silicon: ",
                fields.named("area of dies and stacks, in fields"),
                " fields",
            ),
        ],
    )
    field = Measured(
        with_(package.field(), scale=above.scale), ["what a scanner", "exposes at once"]
    )
    title = (
        f"A die of {device.short} is as large as a scanner can expose; its stacks "
        "stand at its long edges, because the wires to them are short."
    )
    scene = flow(plan, field, gap=24)
    return draw(scene, name=name, title=title, devices=[device.key])


def package_section(on: str | Accelerator, name: str = "package-section") -> Drawing:
    """The package cut across: stacks and die on an interposer, that on a substrate."""
    device = get(on) if isinstance(on, str) else on
    made, pitch = stack_generation(device.memory_type), fact("pitch", "microbump").low
    _, short = package.die_sides(device)
    scene = below(
        Measured(
            package.in_section(device),
            [
                ("stacks ", made.module_height, " high; micro-bumps every ", pitch),
                ("the die ", short, " across, a stack ", made.depth),
            ],
        ),
        Words("widths to scale; heights enlarged; bands are not to scale"),
    )
    title = (
        f"Cut open, {device.short} is a thin plate: everything that computes and "
        "remembers is less than a millimetre high."
    )
    return draw(scene, name=name, title=title, devices=[device.key])
