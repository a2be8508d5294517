"""The drawing of section 8.4: what two users have in common, as a tree."""

from stacklib.paged_kv import PrefixTree
from stacklib.pages.serving import prefix as page
from stacklib.plots import drawing as d
from stacklib.quantity import counted

__all__ = ["two_users"]
TURN = 300  # tokens that the first user's second turn adds
NAMES = ("instructions", "user A asks", "user B asks", "A asks on")
ROLES = ("layer-3", "layer-2", "layer-4", "layer-2")


def two_users() -> d.Drawing:
    """The tree after two users and a second turn: nodes are runs of tokens."""
    tree = PrefixTree()
    first = page.prompt(1)
    tree.insert(first)
    tree.insert(page.prompt(2))
    tree.insert([*first, *range(5000, 5000 + TURN)])
    root, *below = tree.nodes()
    by_first = {node.text[:8]: node for node in below}
    a = next(n for n in root.children.values() if n.children)
    b = next(n for n in root.children.values() if not n.children)
    (on,) = a.children.values()
    assert len(by_first) == len(below)
    boxes = {
        name: _edge(name, node.blocks, role)
        for name, node, role in zip(NAMES, (root, a, b, on), ROLES, strict=True)
    }

    def edge(start: str, end: str) -> d.Edge:
        return d.Edge(start, end, arrow="end", role=ROLES[NAMES.index(end)])

    instructions, asks, other, asks_on = (boxes[name] for name in NAMES)
    mine = d.tree(asks, asks_on, edge=edge)
    return d.draw(
        d.tree(instructions, mine, other, edge=edge),
        name="prefix-tree",
        title="What two users begin with is stored once, and both go on from its end.",
        devices=[page.DEVICE],
    )


def _edge(name: str, pages: list[int], role: str) -> d.Box:
    tokens = counted(len, pages, label=f"tokens, {name}")  # a page is a token
    told = [d.line(name, bold=True), (tokens, " tokens")]
    return d.Box(name, told, role=role, lit=name == NAMES[0])
