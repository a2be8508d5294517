"""The way in: the stack map, the readiness page, the plan, the glossary."""

import json
import re
from pathlib import Path

import pytest
from _ext import first_terms
from _tools import contents

from stacklib import grading
from stacklib.pages.chapters import CHAPTERS
from stacklib.roofline.count import readiness
from stacklib.roofline.journey import layers as stack

from . import browser as b
from .needs import BUILT
from .test_extension import ROOT, Book, book, notebook  # noqa: F401  (a fixture)

BOOK = ROOT / "book"
LAYER = re.compile(
    r":::\{stack-layer\} (\d) ([a-z ]+)\n(?::to: (\S+)\n)?(?::share: (\S+)\n)?"
    r"(.*?)\n:::",
    re.S,
)


def page(name: str) -> str:
    return (BOOK / name).read_text("utf-8")


# ---- the map, as it is written ----


def test_the_map_has_the_layers_of_the_package_with_their_questions():
    rows = LAYER.findall(page("index.md"))
    assert [int(row[0]) for row in rows] == sorted(stack.LAYERS, reverse=True)
    for number, name, to, _, body in rows:
        layer = stack.STACK[int(number) - 1]
        assert name == layer.name
        asked = re.search(r"\*\*(.*?)\*\*", body)[1]
        assert layer.question.startswith(asked.rstrip("?"))
        assert "#q:" in body, f"layer {number} has no computed number"
        assert not to or to in contents.documents(), to


def test_shares_of_the_map_are_those_of_the_account(numbers):
    shares = {int(r[0]): r[3] for r in LAYER.findall(page("index.md")) if r[3]}
    of = {2: "memory", 4: "kernels", 5: "link"}
    assert shares == {layer: f"token.{what}_share" for layer, what in of.items()}
    total = sum(numbers[name].quantity.si for name in shares.values())
    assert total == pytest.approx(1)


def test_the_reconciled_table_is_the_package_s():
    rows = re.findall(
        r"^\| \[(\d) ([^\]]+)\]\(#layer-\d\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| "
        r"([^|]+) \|$",
        page("stack-map.md"),
        re.M,
    )
    assert [int(row[0]) for row in rows] == sorted(stack.LAYERS, reverse=True)
    for number, name, question, first, second, chapters in rows:
        layer = stack.STACK[int(number) - 1]
        assert (name, question.strip()) == (layer.name, layer.question)
        assert [int(c) for c in chapters.split(",")] == list(layer.chapters)
        for document, cell in (("000", first), ("001", second)):
            named = stack.there(layer.number, document)
            assert cell.strip() == (", ".join(named) or "none"), (number, document)
        assert f"(layer-{number})=" in page("stack-map.md")


# ---- readiness ----


def test_the_page_asks_the_ten_questions_in_their_units():
    asked = re.findall(
        r":::\{predict\} [\w-]+\n(?::unit: (.*)\n)?:answer: readiness\.(\w+)",
        page("readiness.md"),
    )
    assert [key for _, key in asked] == [q.key for q in readiness.QUESTIONS]
    assert len(asked) == 10
    for unit, key in asked:
        assert unit == readiness.question(key).unit, key


GIVEN = {
    "loop_bytes": ("1000000", "4 bytes"),
    "offset": ("a[64][32]", "a[3][5]"),
    "page_faults": ("1 GiB", "4 KiB"),
    "gibibytes": ("80 GB",),
    "strided_bytes": ("64 MiB", "i += 16", "64 bytes"),
    "access_time": ("hit = 4 ", "penalty = 200", "misses = 0.05"),
    "simd_flop": ("register = 256", "number = 32", "units = 2 "),
    "product_flop": ("(512, 1024)", "(1024, 256)"),
    "whole_speedup": ("A   6 ms", "B   3 ms   now 10 x", "C   1 ms"),
    "transfer_time": ("16 GB", "400 Gbit/s"),
}


def test_the_page_gives_what_the_answers_are_computed_from():
    text = page("readiness.md")
    before = 0
    for question in readiness.QUESTIONS:
        here = text.index(f"readiness.{question.key}")
        part = text[before : here + 300]
        for words in GIVEN[question.key]:
            assert words in part, (question.key, words)
        before = here


def test_every_answer_is_a_number_of_the_book(numbers):
    for question in readiness.QUESTIONS:
        entry = numbers[f"readiness.{question.key}"]
        assert entry.quantity.si == pytest.approx(question.answer.si)
        assert entry.what == question.what


# ---- glossary, plan, tools ----

TERMS = """arithmetic intensity, bf16, CTA, CUDA graph, CPO, CoWoS, EP, tensor
parallelism, PP, DP, E4M3, E5M2, E8M0, FSDP, GQA, HBM, HVX, HMX, IBGDA, ICI, KV cache,
MLA, MFU, MIG, MMA, WGMMA, UMMA, MoE, MX, MXU, NCCL, NVLink, NVSwitch, NVLS, NVFP4, NF4,
OCS, PSUM, SBUF, PTQ, QAT, PXN, QP, WQE, doorbell, RDMA, reticle, ridge point, roofline,
SHARP, SIMT, SM, swizzle, TCM, TMA, TMEM, TPOT, TTFT, TBT, TSV, VLIW, warp, XLA"""


def terms() -> dict[str, str]:
    """The glossary's terms, in lower case, with their text."""
    found = first_terms.entries(BOOK / "glossary.md")
    return {term.lower(): text for term, text in found.items()}


def test_every_promised_term_is_in_the_glossary():
    known = terms()
    wanted = [" ".join(term.split()).lower() for term in TERMS.split(",")]
    assert [term for term in wanted if term not in known] == []


def test_the_plan_has_twelve_weeks_every_chapter_and_exercises_that_are_there():
    rows = re.findall(r"^\| (\d+) \|.*?\|(.*)\|(.*)\|.*\|$", page("teach.md"), re.M)
    assert [int(week) for week, _, _ in rows] == list(range(1, 13))
    there = {exercise.id for exercise in grading.discover(ROOT)}
    chapters = [int(re.search(r"[Cc]hapter (\d+)|$", s)[1] or 1) for _, s, _ in rows]
    assert {*chapters} == {*CHAPTERS}
    for chapter, (week, _, asked) in zip(chapters, rows, strict=True):
        named = re.findall(r"\b(?:P?\d+)\.\d+", asked)
        assert named or "the rest of chapter" in asked, week
        assert {*named} <= there, week
        assert all(one.startswith(f"{chapter}.") for one in named), week


def test_every_room_has_one_row_and_a_page():
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\)", page("api/index.md"), re.M)
    pages = {path.stem for path in (BOOK / "api").glob("*.md")}
    assert all(name == file for name, file in rows) and len(rows) == len({*rows})
    assert {name for name, _ in rows} == pages - {"index", "parameters"}


def test_tools_papers_and_people_are_named():
    text = page("tools.md")
    for name in ("nsys", "ncu", "nvidia-smi topo", "Triton", "Perfetto", "vLLM",
                 "SGLang", "TensorRT-LLM", "llama.cpp", "CUTLASS",
                 "williams2009roofline",
                 "jouppi2017tpu", "jouppi2023tpuv4", "dao2022flashattention",
                 "kwon2023pagedattention", "frantar2022gptq", "dettmers2023qlora",
                 "leviathan2022speculative", "2603.15854", "2603.24517", "2512.14080",
                 "Hazy Research", "DeepEP", "US20250123802A1"):  # fmt: skip
        assert name in text, name


# ---- the extension, on a tiny book ----


def layers(change: str = "", to: str = "other#here") -> str:
    made = "".join(
        f":::{{stack-layer}} {n} layer{'' if n > 3 else ' low'}\n:to: {to}\n"
        "It takes [21.1 ms](#q:decode.t_mem).\n:::\n"
        for n in range(7, 0, -1)
    ).replace("layer low", "memory")
    made = re.sub(r"(\d) layer\n", r"\1 name\n", made)
    return f"# Tiny\n\n::::{{stack-map}}\n{made}::::\n{change}"


def test_a_map_is_a_list_of_links_with_numbers(book):  # noqa: F811
    book.write("index.md", layers("\n```{toctree}\nother\n```\n"))
    book.write("other.md", "# Other\n")
    assert book.build() == []
    html = book.html()
    assert html.count('class="st-stack-layer"') == 7
    assert html.count('href="other.html#here"') == 7
    assert html.count('class="st-q"') == 7 and "st-quantities" in html


def test_a_link_to_no_page_is_a_warning(book):  # noqa: F811
    book.write("index.md", layers(to="nowhere"))
    assert any("{stack-layer}: no page 'nowhere'" in w for w in book.build())


WRONG = [
    ("::::{stack-map}\nNothing.\n::::\n", "needs layers 7 down to 1"),
    (":::{stack-layer} 9 sky\n:to: index\nWords.\n:::\n", "write `2 memory`"),
    (":::{stack-layer} 2 memory\nWords.\n:::\n", "no page 'book/stack-map'"),
    (":::{section-list}\n:::\n", "is no chapter's first page"),
    ("It has {chapters}`ready`.\n", "`written` or `planned`"),
    (
        ":::{stack-layer} 2 memory\n:to: index\n:share: decode.t_men\nWords.\n:::\n",
        "no computed number 'decode.t_men'",
    ),
    (
        ":::{stack-layer} 2 memory\n:to: index\n:share: h100.bandwidth\nWords.\n:::\n",
        "not a share",
    ),
    (":::{reading-time} nowhere\n:::\n", "no notebook in nowhere"),
    (":::{device-rows} h1000\nA caption.\n:::\n", "h1000"),
    (":::{exercise-list} 77-none\n:::\n", "no exercises in '77-none'"),
]


def test_each_mistake_is_named(book):  # noqa: F811
    found = book.told([f"# Tiny\n\n{text}" for text, _ in WRONG])
    for (text, message), told in zip(WRONG, found, strict=True):
        assert any(message in warning for warning in told), (text, told)


def test_reading_time_counts_words_figures_tables_and_exercises(book):  # noqa: F811
    prose = (
        "word " * 1990 + "[two words](page.ipynb) `code`\n\n:::{predict} x\n:unit: ms\n"
    )
    table = "\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    book.write("notes/a.ipynb", notebook("# Title", prose, table))
    one = next((ROOT / "exercises" / "01-roofline").glob("01_*.py"))
    book.write("exercises/notes/01_one.py", one.read_text("utf-8"))
    book.write(
        "index.md",
        "# Tiny\n\n:::{reading-time} notes\n:::\n\n```{toctree}\nnotes/a\n```\n",
    )
    book.build()
    read = "about 10 minutes (1,998 words; figures and tables: 1)."
    assert f"{read} Exercises (1): about 5 minutes more." in book.words()


def test_device_rows_open_and_say_what_is_unknown(book):  # noqa: F811
    book.write(
        "index.md", "# Tiny\n\n:::{device-rows} h100_sxm m4_max\nA caption.\n:::\n"
    )
    assert book.build() == []
    html = book.html()
    assert 'data-q="row.h100_sxm.0">989<' in html and "unknown" in html
    trees = json.loads(re.search(r'id="st-quantities">(.*?)</script>', html)[1])
    assert trees["row.h100_sxm.2"]["source"]["title"]


# ---- in a browser ----


@pytest.mark.browser
def test_every_band_leads_to_a_place_that_exists(visit):
    tab, _ = visit("book/index.html")
    links = tab.locator(".st-stack-name a").evaluate_all("all => all.map(a => a.href)")
    assert len(links) == 7
    for link in links:
        path, _, anchor = link.partition("#")
        file = BUILT / path.split("/", 3)[3]
        assert file.exists(), link
        if anchor:
            assert f'id="{anchor}"' in file.read_text("utf-8"), link


@pytest.mark.browser
@pytest.mark.parametrize("look", ["light-desktop", "dark-phone"])
def test_the_map_fits_opens_and_leads_by_keyboard(visit, look):
    tab, faults = visit("book/index.html", look)
    assert b.overflow_faults(tab) == [] and b.contrast_faults(tab) == []
    by = b.open_by_tap if look.endswith("phone") else b.open_by_key
    assert b.number_faults(tab, by) == []
    link = tab.locator(".st-stack-name a").nth(5)
    link.focus()
    assert link.evaluate(b.IS_FOCUSED)
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/decode.html")
    assert faults == []


@pytest.mark.browser
def test_a_click_on_a_band_leads_and_on_its_number_opens(visit):
    tab, _ = visit("book/index.html")
    band = tab.locator(".st-stack-layer").nth(4)
    band.locator(".st-q").first.click()
    assert tab.locator("#st-popover:visible").count() == 1
    tab.keyboard.press("Escape")
    box = band.bounding_box()
    tab.mouse.click(box["x"] + box["width"] - 12, box["y"] + 12)
    tab.wait_for_url("**/roofline.html")


@pytest.mark.browser
def test_the_token_moves_once_and_not_for_those_who_prefer_none(browser, served):
    shown = {}
    for motion in ("no-preference", "reduce"):
        inside = browser.new_context(reduced_motion=motion, **b.DESKTOP)
        tab = inside.new_page()
        tab.goto(served + "book/index.html")
        shown[motion] = tab.locator(".st-stack-token").evaluate(
            "e => e.getAnimations().map(a => a.effect.getComputedTiming())"
            ".map(t => [t.endTime, t.iterations])"
        )
        inside.close()
    ((end, iterations),) = shown["no-preference"]
    assert iterations == 1 and 0 < float(end) <= 5_500
    assert shown["reduce"] == []


@pytest.mark.browser
def test_without_scripts_the_map_is_a_list_of_links(visit):
    tab, _ = visit("book/index.html", "light-phone", java_script_enabled=False)
    links = tab.locator(".st-stack-name a")
    assert links.count() == 7
    assert all(link.is_visible() for link in links.all())
    assert b.without_script_faults(tab) == []


@pytest.mark.browser
def test_the_ten_questions_keep_an_answer_each(visit):
    tab, faults = visit("book/readiness.html", asked=True)
    assert tab.locator(".st-prediction").count() == 10
    assert b.predict_faults(tab) == [] and faults == []


def test_this_file_s_pages_are_in_the_contents():
    contents = (BOOK / "_toc.yml").read_text("utf-8")
    for name in ("how-to-read", "stack-map", "readiness", "teach", "tools"):
        assert f"file: book/{name}\n" in contents, name
    assert Path(ROOT / "chapters/01-roofline/journey.ipynb").exists()
