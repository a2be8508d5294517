"""What may lean on what: imports of `stacklib`, read from the source.

A room imports lower floors only, never its own or a higher one, and a folder of a
room only folders before it; imports inside functions count. torch, triton, amaranth,
cocotb and onnx are kept to the files named for them, pandas and matplotlib to `plots`,
which in `stacklib` only `pages` and `cli` import.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from _tools import tree

PACKAGE = "stacklib"
# Lowest first; rooms on one floor do not see one another.
FLOORS = [
    {"quantity", "sweep"},
    {"hardware", "models"},
    {"roofline"},
    {"memory", "quantizers", "cost"},
    {"gpu", "tinylm"},
    {"kernels", "interconnect", "paged_kv"},
    {"serving"},
    {"accelerators"},
    {"diy", "frontier"},
    {"evidence", "grading"},
    {"plots"},
    {"pages"},
    {"cli"},
]
# Folders of a room, lowest first. A room whose modules all stand in folders.
FOLDERS = {
    "roofline": ("work", "host", "bound", "count", "timing", "journey"),
    "memory": (
        "warp",
        "tile",
        "cache",
        "dram",
        "stack",
        "scratchpad",
        "tiers",
        "ladder",
    ),
    "kernels": (
        "launch",
        "schedule",
        "rows",
        "scaled",
        "experts",
        "attention",
        "plan",
        "series",
        "written",
    ),
    "interconnect": (
        "schedules",
        "networks",
        "best",
        "selection",
        "queues",
        "switches",
        "optics",
        "experts",
        "pipelines",
        "parallelism",
        "sharding",
        "failures",
    ),
    "gpu": (
        "issue",
        "chip",
        "vm",
        "lang",
        "thread",
        "simt",
        "tensor",
        "tiles",
        "code",
        "interpreter",
    ),
    "serving": (
        "token",
        "speculation",
        "estimates",
        "layouts",
        "prices",
        "simulation",
        "slots",
        "text",
        "masks",
        "tiers",
        "engine",
        "pools",
        "agentic",
        "server",
        "readings",
    ),
    "accelerators": (
        "array",
        "rtl",
        "products",
        "packets",
        "scratchpad",
        "sram",
        "machines",
    ),
}
MODULES = 24  # of a folder, at most
FLOOR = {room: height for height, floor in enumerate(FLOORS) for room in floor}
DRAWING = {"pandas", "matplotlib"}
NAMED = {"torch", "triton", "amaranth", "cocotb", "onnx"}  # only in files so named
LOADERS = {"import_module", "__import__"}
BODIES = ("body", "handlers", "orelse", "finalbody", "cases")  # statements of a node


@dataclass(frozen=True)
class Import:
    """One imported module, absolute, the names taken from it, and the line."""

    module: str
    line: int
    names: tuple[str, ...] = ()

    @property
    def room(self) -> str | None:
        """The room of `stacklib` it names, if it does."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == PACKAGE and len(parts) > 1 else None

    @property
    def modules(self) -> set[str]:
        """All that may be a module: the one named, and what is taken from it."""
        return {self.module, *(f"{self.module}.{name}" for name in self.names)}


@cache
def imports(source: str, module: str, is_package: bool) -> tuple[Import, ...]:
    """Every import of a module's source, relative ones made absolute.

    `from stacklib import roofline` counts as `stacklib.roofline`. Imports that only a
    type checker sees, under `if TYPE_CHECKING:`, do not run and do not count.
    """
    return tuple(_imports(source, module, is_package))


def _imports(source: str, module: str, is_package: bool) -> Iterator[Import]:
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in run(source):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            names = tuple(alias.name for alias in node.names)
            yield Import(origin, node.lineno, names)
            if origin == PACKAGE:
                yield from (Import(f"{origin}.{n}", node.lineno) for n in names)
        elif isinstance(node, ast.Call) and loaded(node):
            yield Import(loaded(node), node.lineno)


def run(source: str) -> Iterator[ast.AST]:
    """Every node that may import and is run: none under `if TYPE_CHECKING:`."""
    checked = "TYPE_CHECKING" in source
    calls = any(name in source for name in LOADERS)  # or statements alone import
    waiting: list[ast.AST] = [ast.parse(source)]
    for node in waiting:
        yield node
        if checked and isinstance(node, ast.If) and _for_a_checker(node):
            waiting += node.orelse
        elif calls:
            waiting += ast.iter_child_nodes(node)
        else:
            waiting += (part for name in BODIES for part in getattr(node, name, ()))


def _for_a_checker(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


def loaded(call: ast.Call) -> str:
    """The module a call of import_module names by a literal, else nothing."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    called = call.func.id if isinstance(call.func, ast.Name) else called
    first = call.args[0] if call.args else None
    if called in LOADERS and isinstance(first, ast.Constant):
        return str(first.value)
    return ""


def faults(root: Path = tree.ROOT) -> list[str]:
    """Every import in `root/stacklib` that leans the wrong way."""
    found = []
    for path in tree.find(root, PACKAGE, "*.py"):
        for imported in imports(*described(path, root)):
            why = wrong(path.relative_to(root), imported)
            if why:
                found.append(f"{tree.name(path, root)}:{imported.line}: {why}")
    return found


def described(path: Path, root: Path) -> tuple[str, str, bool]:
    """Source, dotted module name, and whether it is a package."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return path.read_text("utf-8"), name, is_package


def wrong(path: Path, imported: Import) -> str:
    """Why the file may not import that; empty where it may."""
    return (
        wrong_room(path, imported)
        or wrong_folder(path, imported)
        or wrong_library(path, imported)
    )


def wrong_room(path: Path, imported: Import) -> str:
    """Floors: a room leans on lower ones only."""
    room, target = room_of(path), imported.room
    if target is None or target == room or target not in FLOOR:
        return ""
    if room not in FLOOR:
        return f"room {room!r} stands on no floor; add it to FLOORS in layers.py"
    if target == "plots" and room not in ("pages", "cli"):
        return f"{room} imports plots; in stacklib only pages and cli do"
    if FLOOR[target] == FLOOR[room]:
        return f"{room} imports {target}, a room on its own floor"
    if FLOOR[target] > FLOOR[room]:
        return f"{room} imports {target}, a room on a higher floor"
    return ""


def wrong_folder(path: Path, imported: Import) -> str:
    """Folders: a module leans on its own folder and on those before it."""
    room, order = room_of(path), FOLDERS.get(room_of(path), ())
    if not order or imported.room != room or len(path.parts) < 4:
        return ""  # the room's own __init__ sees them all
    below = imported.module.split(".")[2:3] or [n for n in imported.names if n in order]
    folder, (target, *_) = path.parts[2], (*below, "")
    if not target:
        return f"imports what {room} offers; import from the folder that has it"
    for name in (folder, target):
        if name not in order:
            return f"{room}/{name} stands in no order; add it to FOLDERS in layers.py"
    if order.index(target) > order.index(folder):
        return f"{room}/{folder} imports {room}/{target}, a folder above it"
    return ""


def circles(root: Path = tree.ROOT) -> list[str]:
    """Modules of a room with folders that need one another."""
    read = [
        described(path, root)
        for room in FOLDERS
        for path in tree.find(root, f"{PACKAGE}/{room}", "*.py")
    ]
    known = {name for _, name, _ in read}
    graph = {
        name: {m for i in imports(source, name, package) for m in i.modules & known}
        for source, name, package in read
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" needs ".join(reversed(error.args[1]))]
    return []


def crowded(root: Path = tree.ROOT) -> dict[str, str]:
    """Folders of `stacklib` with too many modules, and what to do about it."""
    files = tree.find(root, PACKAGE, "*.py")
    held = Counter(tree.name(p.parent, root) for p in files if p.stem != "__init__")
    return {
        name: f"{name}: {count} modules; at most {MODULES}, make folders"
        for name, count in held.items()
        if count > MODULES
    }


def room_of(path: Path) -> str:
    """The room of a file under `stacklib/`; `__main__` and `__init__` are cli's."""
    name = Path(path.parts[1]).stem
    return "cli" if name.startswith("__") else name


def wrong_library(path: Path, imported: Import) -> str:
    """Heavy libraries: each only in the files named for it."""
    library = imported.module.split(".")[0]
    if library in NAMED and not path.stem.endswith(f"_{library}"):
        return f"imports {library}; only files named *_{library}.py do"
    if library in DRAWING and room_of(path) != "plots":
        return f"imports {library}; only plots does"
    return ""
