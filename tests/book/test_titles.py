"""A number in a title stands on the page."""

import json

import pytest
from _tools import titles, tree


def test_no_title_of_the_book_types_a_number():
    found = [fault for path in tree.notebooks() for fault in titles.typed(path)]
    assert found == [], "\n".join(found)


LIES = ["21.7 ms", "1.36 times as fast", "sixty-five warps", "43 %", "712 TFLOP/s"]


@pytest.mark.rows("lie", LIES)
@pytest.mark.rows("tag", ["caption", "figcaption", 'th scope="col"'])
def test_a_number_typed_into_a_title_is_named(tmp_path, lie, tag):
    """And the same where the cell takes it, or the output prints it."""
    title = f"A token of 4,096 takes {lie}."
    shown = {"text/html": f"<{tag}>{title}</{tag.split()[0]}>"}

    def faults(more="", also=""):
        html = {"text/html": shown["text/html"] + also}
        out = {"output_type": "display_data", "metadata": {}, "data": html}
        cell = {"cell_type": "code", "metadata": {}, "outputs": [out]}
        cell |= {"execution_count": 1, "source": f"f('{title}', 4096{more})"}
        kind = {"metadata": {}, "nbformat": 4, "nbformat_minor": 4, "cells": [cell]}
        path = tmp_path / "n.ipynb"
        path.write_text(json.dumps(kind))
        return [*titles.typed(path)]

    (fault,) = faults()
    assert "which is typed" in fault and lie.split()[0] in fault
    value = {"sixty-five warps": 65}.get(lie, lie.split()[0])
    assert faults(more=f", {value}") == []
    assert faults(also=f"<td>{value} of them</td>") == []
