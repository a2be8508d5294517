// A table's caption stands above the box that scrolls, not inside it. One that is wider
// than its page is set tight, and its long words break. On a phone, tables
// that do not fit stand as cards, each cell under its column's head; only the longest few
// of a page scroll, as rows are compared there. Facts are read one by one: always cards.
"use strict";

(() => {
  const MAY_SCROLL = 3, LONG = 36; // characters that a third of a card does not hold
  const WORD = /\S{15}/; // in a table that is set tight such a word is broken
  const BOXES = ".st-table, .st-facts, .st-sift-box, .pst-scrollable-table-container, .cell_output .text_html:has(> table)";
  const phone = matchMedia("(max-width: 600px)");
  // A box inside another scrolls with it.
  const boxes = [...document.querySelectorAll(BOXES)].filter((box) => !box.parentElement.closest(BOXES) && box.querySelector("table"));
  const rows = (box) => box.querySelectorAll("tbody tr").length;
  // Rows of text are read, not compared.
  const tall = (box) => [...box.querySelectorAll("tr")].some((row) => row.clientHeight > 110);
  const overflows = (box) => box.scrollWidth > box.clientWidth + 1;

  boxes.forEach((box, number) => {
    const table = box.querySelector("table");
    if (table.caption) {
      const above = st.element("p", { class: "st-caption", id: `st-caption-${number}` });
      above.append(...table.caption.childNodes);
      table.caption.remove();
      table.setAttribute("aria-labelledby", above.id);
      box.before(above);
    }
    const heads = [...(table.tHead?.rows ?? [])].at(-1)?.cells ?? [];
    for (const row of table.tBodies[0]?.rows ?? [])
      [...row.cells].forEach((cell, at) => {
        if (at && heads[at]) cell.dataset.label = heads[at].textContent.trim();
        cell.classList.toggle("st-long", cell.textContent.trim().length > LONG);
        cell.classList.toggle("st-breaks", WORD.test(cell.textContent));
      });
  });

  function lie() {
    for (const box of boxes) box.classList.remove("st-cards", "st-scrolls", "st-tight");
    if (!phone.matches) return boxes.filter((box) => !box.matches(".st-sift-box") && overflows(box)).forEach((box) => box.classList.add("st-tight"));
    const sifts = boxes.filter((box) => box.matches(".st-sift-box"));
    const wide = boxes.filter((box) => !sifts.includes(box) && overflows(box));
    for (const box of [...wide, ...sifts.filter(overflows)]) box.classList.add("st-scrolls");
    const compared = wide.filter((box) => !box.matches(".st-facts") && !tall(box)).sort((a, b) => rows(b) - rows(a));
    const scroll = new Set(compared.slice(0, Math.max(0, MAY_SCROLL - sifts.length)));
    for (const box of wide.filter((one) => !scroll.has(one))) box.classList.replace("st-scrolls", "st-cards");
  }

  phone.addEventListener("change", lie);
  document.addEventListener("toggle", lie, true); // what was folded had no width
  lie();
})();
