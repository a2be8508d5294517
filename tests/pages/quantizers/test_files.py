"""Section 7.5: bytes of a block and of a file, the loop, and the file to download."""

import json

import numpy as np

from stacklib.pages import figures_of
from stacklib.pages.quantizers import files as page
from stacklib.pages.quantizers.files import drawings, runs
from stacklib.quantizers import dequantize, pack, quantize, read_gguf, unpack
from stacklib.tinylm.gguf_model import gguf_name

from ...programs import program


def test_the_loop_reads_as_the_package_does(capsys):
    names: dict = {}
    exec(program("07-quantizers/files"), names)
    printed = [float(x) for x in capsys.readouterr().out.split()]
    data = names["data"]
    assert len(data) == page.block("q4_0").si
    assert dequantize(unpack(data, "q4_0", (32,))).tolist() == printed
    weights = np.random.default_rng(5).standard_normal(32).astype(np.float32)
    made = quantize(weights, "q4_0")
    assert names["weights"](pack(made)) == dequantize(made).tolist()


def test_a_super_block_is_what_the_package_packs():
    made = quantize(np.zeros(256, np.float32), "q4_k")
    assert made.nbytes == page.block().si
    assert page.code_bytes().si + page.scale_bytes().si == page.block().si - 4
    assert page.block_bits().to("bit").value == made.row.bits


def test_the_parts_are_the_whole_file(tmp_path):
    parts = page._parts()
    data = page.file_bytes()
    assert sum(parts.values()) == len(data) and min(parts.values()) > 0
    path = tmp_path / "tiny.gguf"
    path.write_bytes(data)
    held = read_gguf(path).tensors
    assert len(held) == len(page.made().tensors)
    inside = sum(tensor.nbytes for tensor in held.values())
    assert len(data) - inside == parts["words and facts"]
    kinds = [held[gguf_name(name)].scheme for name in page.made().fallbacks]
    assert kinds == ["q5_0"] * int(page.fallbacks().si)
    assert page.row_length().si % 256


def test_texts_part_only_where_rounding_can_turn_them():
    for row, at in runs.partings():
        for side in ("ours", "theirs"):
            assert 0 <= row["apart"][at][side][3] <= 2 * row["farthest_logit"]
    rows = figures_of.rows(runs.STEM)
    assert all(r["equal"] + len(r["apart"]) == r["prompts"] for r in rows)
    assert set(runs.SHOWN) <= {row["id"] for row in rows}


def test_four_bits_change_a_text_and_not_its_beginning():
    before, after = page.texts().values()
    assert before != after and before.startswith(page.PROMPT)
    assert after.startswith(page.PROMPT)


def test_the_drawings_have_the_bytes_of_a_block_and_of_the_file():
    block = drawings.a_super_block()
    said = json.dumps(block.entry, default=str) + block.html
    assert "144 B" in said and "128 B" in said
    ends = drawings.the_file_in_parts()
    assert page.size().text("kB", 4) in ends.html
    way = drawings.the_way_of_a_weight()
    assert way.alt.count("4.5 bits") >= 5 and "16 bits" in way.alt


def test_a_misread_nibble_shows_from_the_first_token():
    """Far above what two decoders of one file differ by."""
    worst = max(row["farthest_logit"] for row in figures_of.rows(runs.STEM))
    assert page.misread().si > 4 * worst
