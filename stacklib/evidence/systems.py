"""Which device a published table means, and how many of them.

Every device names its *aliases*, sets of words that tables use for it. An alias
matches when all its words occur in the text, and the alias with most words wins.
A word that marks another product (``ti``, ``pcie``, ``ultra``, ...) beside the
match must belong to the device, and so must a stated memory size: an unknown
product is refused, never taken for its neighbour.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache, lru_cache

from stacklib import hardware

from .measurements import Refusal

# Words that make another product of the name beside them.
VARIANTS = frozenset(
    "ultra max pro plus ti super d nvl pcie sxm oam mobile laptop gre xt xtx ada "
    "lite mini nano maxq sff dual serveredition".split()
)
FORMS = frozenset("sxm pcie oam nvl".split())  # how a GPU is built in
# Words that say nothing about which product it is.
NEUTRAL = frozenset("nvidia amd intel apple geforce radeon instinct gpu gb ( )".split())
# Words of boards: beside a processor they name what ran there.
BOARDS = frozenset("rtx gtx rx arc radeon".split())
# Words that speak of a part of the device, or of it in some cases only.
PARTS = frozenset("gcd gcds mig for".split())

_WORD = re.compile(r"\d+\.\d+[a-z]*|[a-z0-9]+|[(),;+]|(?<= )-(?= )")
_GLUED = re.compile(r"(rtx|gtx|rx)?(\d{3,4})(ti|super|xtx|xt|d)?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(gb|gib|g)")
_NETWORK = ("ib", "infiniband", "rdma", "roce", "cx", "nic", "ethernet", "slingshot")

Words = tuple[str, ...]


class DeviceRefusal(Refusal):
    """A system text that names no device of the database, or several."""


@lru_cache(maxsize=65536)
def words(text: str) -> Words:
    """A text as the words that are compared: lower case, split, sizes apart."""
    found: list[str] = []
    # one word: a server beside a name is the machine it stands in
    raw = _WORD.findall(text.lower().replace("server edition", "serveredition"))
    for word, after in zip(raw, [*raw[1:], ""], strict=False):
        size, glued = _SIZE.fullmatch(word), _GLUED.fullmatch(word)
        if size and not (size[2] == "g" and after.startswith(_NETWORK)):
            found += [size[1], "gb"]
        elif re.fullmatch(r"sxm\d", word):
            found.append("sxm")
        elif glued:
            found += [part for part in glued.groups() if part]
        else:
            found.append(word)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Alias:
    words: frozenset[str]
    key: str
    text: str


@cache
def _aliases() -> tuple[_Alias, ...]:
    """Every alias of every device, and its key, as sets of words."""
    found = []
    for key in hardware.names():
        if key == hardware.THIS_MACHINE:
            continue
        for text in (key, *_named(key)):
            found.append(_Alias(frozenset(words(text)), key, text))
    return tuple(found)


def _named(key: str) -> tuple[str, ...]:
    return tuple(hardware.get(key).aliases)


@cache
def _vocabulary(key: str) -> frozenset[str]:
    """All words that belong to a device."""
    device = hardware.get(key)
    texts = (key, device.name, device.short, *_named(key))
    found = frozenset(word for text in texts for word in words(text))
    return found if found & FORMS else found | form(device)


def form(device: hardware.Accelerator) -> frozenset[str]:
    """The word for how a GPU is built in that a table may add to its name.

    A product that exists in several forms has its form in its name, and no other is
    added. Otherwise: one of a rack of 72 is sold as NVL; a module that talks to seven
    others is NVIDIA's SXM or AMD's OAM; a card that is alone, or bridged to one other,
    stands on PCIe. Of what is neither, nothing is known.
    """
    domain = device.fields["link_domain"]
    if device.kind != "gpu" or domain is None:
        return frozenset()
    if domain.si >= 72:
        return frozenset({"nvl"})
    if domain.si >= 8:
        modules = {"NVIDIA": "sxm", "AMD": "oam"}
        return frozenset({modules.get(device.vendor, "")} & FORMS)
    return frozenset({"pcie"} if domain.si <= 2 else ())


def _best(text: Words) -> list[_Alias]:
    """The aliases with most words that occur in the text; CPUs give way."""
    have = frozenset(text)
    matching = [alias for alias in _aliases() if alias.words <= have]
    others = [a for a in matching if hardware.get(a.key).kind != "cpu"]
    matching = others or matching
    most = max((len(alias.words) for alias in matching), default=0)
    best = [alias for alias in matching if len(alias.words) == most]
    # Another device named beside the winner, by words the winner does not use.
    used = frozenset().union(*(alias.words for alias in best))
    keys = {alias.key for alias in best}
    return best + [a for a in matching if a.key not in keys and not a.words <= used]


def _beside(text: Words, alias: _Alias) -> tuple[list[str], list[str]]:
    """Words of other products and memory sizes that stand beside the match."""
    known = _vocabulary(alias.key)
    foreign, sizes = [w for w in text if w in PARTS - known], []
    for start in (i for i, word in enumerate(text) if word in alias.words):
        for step in (1, -1):
            i = start + step
            while 0 <= i < len(text):
                word, sized = text[i], text[i + 1 : i + 2] == ("gb",)
                if word in VARIANTS and word not in known:
                    foreign.append(word)
                elif sized and word.replace(".", "").isdigit():
                    sizes.append(word)
                elif word == "(" and step < 0:  # what was said before is another part
                    break
                elif word not in NEUTRAL and word not in known:
                    break
                i += step
    return foreign, sizes


def _fault(text: Words, alias: _Alias) -> str:
    """Why the text means another product than its best alias does, or nothing."""
    device = hardware.get(alias.key)
    foreign, sizes = _beside(text, alias)
    if device.kind == "cpu":
        foreign += sorted(BOARDS.intersection(text) - _vocabulary(alias.key))
    if foreign:
        return f"it says {foreign[0]!r}"
    capacity = device.fields["memory_capacity"]
    one_size = device.memory_type.upper().startswith(("HBM", "GDDR"))
    if capacity is None or not one_size:  # others are sold with several sizes
        return ""
    for size in sizes:
        own = size in _vocabulary(alias.key)
        if not own and abs(float(size) * 1e9 / capacity.si - 1) > 0.1:
            return f"{size} GB where {device.name} has {capacity.text()}"
    return ""


@lru_cache(maxsize=4096)
def _nearest(text: str) -> str:
    names = {a.text: a.key for a in _aliases()}
    said = words(text)
    # The maker's name is long and wrong by nothing: it would decide alone.
    makers = {word for k in hardware.names() for word in words(hardware.get(k).vendor)}
    told = [word for word in said if word not in makers] or said
    near = difflib.get_close_matches(" ".join(told), names, 3, 0.4)
    keys = dict.fromkeys(names[n] for n in near)
    return f"; nearest: {', '.join(keys)}" if keys else ""


@lru_cache(maxsize=65536)
def device_of(system: str) -> tuple[str, int]:
    """The device a text names and how many of it."""
    text = words(_GLUED_COUNT.sub("", system))
    best = _best(text)
    keys = sorted({alias.key for alias in best})
    if not keys:
        said = re.sub(r"\s*\([^)]*\)", "", system)  # without remarks
        raise DeviceRefusal(f"no device for system {said!r}{_nearest(system)}")
    if len(keys) > 1:
        raise DeviceRefusal(f"system {system!r} could be {', '.join(keys)}")
    for alias in best:
        if fault := _fault(text, alias):
            raise DeviceRefusal(f"system {system!r} is not {keys[0]}: {fault}")
    return keys[0], count(system)


# Each pattern: groups are numbers that multiply; the first that is found counts.
# A name begins, also a bare one such as 3090; the xt of 7900xt is no count.
_NAME = r"(?!tx?\b)(?=[a-z]|\d{4}\b)"
_TIMES = "[x×*]"
_COUNTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\((\d+) (?:chips|gpus)\b",
        r"^(\d+) nodes? x (\d+)\b",
        rf"\((\d+) ?{_TIMES} ?(?:\)|{_NAME})",
        rf"^(\d+) ?{_TIMES} ?{_NAME}",
        r"^(\d+) gpus?\b",
        rf"(?:(?<!pcie) {_TIMES}| \*) ?(\d+)$",
        r"(?<=\d)x(\d+)$",
    )
]
_SLICE = re.compile(r"\bv(5e|6e|5p|4)-(\d+)\b", re.IGNORECASE)
_GLUED_COUNT = re.compile(
    rf"(?:^|(?<=\())\d+ ?{_TIMES} ?{_NAME}|(?<=\d)x\d+$", re.IGNORECASE
)


def count(system: str) -> int:
    """How many devices a text speaks of; 1 where it does not say."""
    if re.search(r"\d+x\?", system):
        raise DeviceRefusal(f"system {system!r} is not sure of its own count")
    found = [m for pattern in _COUNTS if (m := pattern.search(system))]
    total = 1
    for digits in found[0].groups() if found else ():
        total *= int(digits)
    slice_ = _SLICE.search(system)
    if slice_ and "chips" not in system:  # v4 and v5p slices are named by cores
        total *= int(slice_[2]) // (1 if slice_[1] in ("5e", "6e") else 2)
    if not total:
        raise DeviceRefusal(f"system {system!r} counts no device")
    return total
