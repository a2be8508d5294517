"""Claims on the guide's build of two cards."""

from stacklib.evidence import Finding, claim
from stacklib.pages.diy import parts as page


@claim("tr7960x-8ch")
def channels() -> Finding:
    """Of the processor, as its maker lists it."""
    more = page.fact("7965wx", "channels").text()
    why = f"A Threadripper PRO, such as the 7965WX, has {more}, on another board."
    return Finding(page.fact("7960x", "channels"), why=why)


@claim("tr7960x-wrx90")
def board() -> Finding:
    """The rule of series, asked of the pair."""
    first = page.steps()[0]
    where = first.sources[1].title
    return Finding.false(f"{first.says}: only the socket is the same. Source: {where}.")


@claim("build-total-8600")
def total() -> Finding:
    """All parts at the newest price that the catalogue has."""
    saved = page.bill(page.mended()).text()
    why = f"With the board that runs this processor {saved}."
    return Finding(page.bill(), why=why)


@claim("build-power-1500")
def power() -> Finding:
    """What its makers print for cards and processor, which are what it counts."""
    cards = page.fact("rtx_5090", "power").across(2)
    why = (
        "Cards and processor, as their makers rate them. With fans, drives, board and "
        f"memory the supply gives {page.need('supply').text()}, and the wall "
        f"{page.need('circuit').text()}."
    )
    return Finding(cards + page.fact("7960x", "power"), why=why)


@claim("build-psu-1600")
def supply() -> Finding:
    """What the supply has to give, beside what it can."""
    need = page.need("supply")
    have = page.need("circuit", have=True).text()
    return Finding.false(
        f"Cards, processor and the rest take {need.text()}, and cards more for an "
        f"instant. A circuit of 120 V gives {have} for hours.",
        computed=need,
    )


@claim("nvlink-bridge-unifies")
def bridged() -> Finding:
    """What one allocation gets; both cards hold as much again."""
    return Finding(
        page.fact("rtx_3090", "memory"),
        why="A bridge lets a card read the other's memory. No allocation spans both: "
        "the program has to split its model, and it can do so without a bridge.",
        convention="per pair",
        stated="NVIDIA's announcement of the RTX A6000 in October 2020, two of 48 GB "
        "on a bridge for 96 GB in all,",
    )
