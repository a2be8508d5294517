"""Derivations of a page with what they share written once.

The bandwidth of an H100 is an input of many numbers, and of the inputs of others. A
subtree that occurs more than once gets a name of its own, and stands as that name where
it was (``quantities.js`` puts it back).
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

MARK = "~"  # first letter of the names given here; no number is called so
LEAST = 120  # characters below which a repetition costs less than a name


def written(tree: Mapping[str, Any]) -> str:
    """A tree as text: equal trees have equal texts."""
    return json.dumps(tree, sort_keys=True, default=str)


def shared(trees: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same derivations, repeated subtrees replaced by names."""
    counts: Counter[str] = Counter()

    def count(tree: Mapping[str, Any]) -> None:
        for part in tree.get("inputs") or ():
            if isinstance(part, str):
                continue
            text = written(part)
            counts[text] += 1
            if counts[text] == 1:  # what is inside a repetition repeats with it
                count(part)

    for tree in trees.values():
        count(tree)
    names: dict[str, str] = {}
    apart: dict[str, dict[str, Any]] = {}

    def short(tree: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(tree)
        if tree.get("inputs"):
            made["inputs"] = [named(part) for part in tree["inputs"]]
        return made

    def named(part: Any) -> Any:
        if isinstance(part, str):
            return part
        text = written(part)
        if counts[text] < 2 or len(text) < LEAST:
            return short(part)
        if text not in names:
            names[text] = f"{MARK}{len(names)}"
            apart[names[text]] = short(part)
        return names[text]

    return {name: short(tree) for name, tree in trees.items()} | apart
