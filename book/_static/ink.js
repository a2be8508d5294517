// Answers inked over. What a prediction asks for lies under a bar wherever it stands,
// in text, tables, boxes and drawings; a chart that prints it is blurred. The bar lifts
// on commit, and by key or touch. Nothing else of the page is hidden.
"use strict";
window.st = window.st || {};

(() => {
  const BLANK = "\u2007"; // as wide as a digit
  const BLOCK = "█"; // in a drawing, whose texts have no background
  const HIDDEN = "answer hidden";
  const BUTTON = { role: "button", tabindex: "0", "aria-label": HIDDEN, "aria-expanded": null, "aria-haspopup": null };
  const PLACES = "td, th, caption, pre, svg, dd, figcaption, .st-live-title"; // of numbers that are no links
  const KEPT = ".st-q, .st-inked, .st-prediction, .st-answer, [class*=highlight-]:not(.output), script, style, textarea, button"; // nothing there is inked

  const article = document.querySelector(".bd-article");
  const lifts = new WeakMap(); // what is inked -> how it is shown
  const inked = new Set(); // all that is inked now, as [cover, uncover]

  const put = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  });

  // ---- what is the answer ----

  const near = (a, b) => Math.abs(a - b) <= 5e-4 * Math.abs(a);

  // Whether another number of the page says the same. Small counts occur for other
  // reasons, too: theirs is the same if it counts the same things.
  function alike(tree, other) {
    if (!other) return false;
    const same = other.unit === tree.unit && near(tree.value, other.value);
    if (!/^\d\d?$/.test(tree.text)) return same || other.text === tree.text;
    return same && (!Number.isInteger(tree.value) || Boolean(tree.label && other.label === tree.label));
  }

  const stands = (words, index) => Object.assign([words], { index });
  const read = (digits) => Number(digits.replaceAll(",", ""));

  // Where the answer stands in a text that is no number of the page: in as many digits
  // as that place has, with its unit, under a head that has it, or long enough; where the
  // words stand that are given, and alone in a cell of the tables that are.
  function finder(tree, words, tables) {
    const [amount, ...unit] = tree.text.split(" ");
    const printed = read(amount), power = 10 ** Math.round(Math.log10(tree.value / printed));
    const exact = Math.abs(tree.value / printed / power - 1) < 0.06 ? tree.value / power : printed;
    const [factor, base] = st.unitOf(unit.join(" "));

    function says(digits, word, head) {
      const bare = !word && !head;
      const [other, its] = bare && base === "%" && /^0\.\d\d/.test(digits) ? [100, "%"] : st.unitOf(word || head);
      const known = its === base && (base !== "" || !bare);
      const long = digits.replace(/^0\.?0*|\D/g, "").length > 2;
      if (!known && !(long && (bare || (base === "" && word)))) return false;
      const by = known ? other / factor : 1;
      const places = (digits.split(".")[1] || "").length;
      const off = Math.abs(read(digits) * by - exact);
      const room = Math.max(5e-4 * exact, 0.5005 * 10 ** -places * by);
      return off <= 0.02 * exact && (off <= room || (by === 1 && read(digits) === printed));
    }

    return (text, head = "", table = "") => {
      if (tables.includes(table) && text.trim() === amount) return [stands(amount, text.indexOf(amount))];
      const found = [...text.matchAll(/(?<![\d.,\w])(\d[\d,]*(?:\.\d+)?)(?:[^\S\n]?([a-zA-Zµ%][\w/%µ]*))?/g)]
        .filter(([, digits, word = ""]) => says(digits, word, head));
      for (const [before, one] of words) {
        for (let at = text.indexOf(before + one); at >= 0; at = text.indexOf(before + one, at + 1)) {
          const from = at + before.length;
          if (!/[\w.,]$/.test(text.slice(0, at)) && !/^\w/.test(text.slice(from + one.length))) found.push(stands(one, from));
        }
      }
      found.sort((a, b) => a.index - b.index);
      return found.filter((one, i) => !i || one.index >= found[i - 1].index + found[i - 1][0].length);
    };
  }

  // The unit in the head of a cell's column.
  function headOf(element) {
    const cell = element.closest("td, th");
    const head = cell?.closest("table").tHead?.rows[0].cells[cell.cellIndex];
    return head && head !== cell ? head.textContent.match(/\(([^()]+)\)$/)?.[1] ?? "" : "";
  }

  // ---- one place ----

  function cover(element) {
    const shown = element.textContent;
    const before = Object.fromEntries(Object.keys(BUTTON).map((name) => [name, element.getAttribute(name)]));
    const width = element.getComputedTextLength?.();
    element.classList.add("st-inked");
    put(element, BUTTON);
    element.textContent = (element instanceof SVGElement ? BLOCK : BLANK).repeat([...shown].length);
    if (width) put(element, { textLength: width, lengthAdjust: "spacingAndGlyphs" });
    return () => {
      element.classList.remove("st-inked");
      put(element, before);
      element.textContent = shown;
      if (width) put(element, { textLength: null, lengthAdjust: null });
    };
  }

  // A text is cut where the answer stands, and joined again.
  function wrap(node, found) {
    const parent = node.parentNode;
    const svg = parent instanceof SVGElement;
    const after = node.splitText(found.index);
    after.splitText(found[0].length);
    const part = svg ? document.createElementNS("http://www.w3.org/2000/svg", "tspan") : document.createElement("span");
    parent.replaceChild(part, after);
    part.append(after);
    return part;
  }

  function unwrap(part) {
    const parent = part.parentNode;
    part.replaceWith(...part.childNodes);
    parent.normalize();
  }

  function texts(find) {
    const found = [];
    const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const at = node.parentElement;
      if (!at.closest(PLACES) || at.closest(KEPT)) continue;
      const here = find(node.data, headOf(at), at.closest(".st-table")?.id);
      if (here.length) found.push([node, here]);
    }
    return found;
  }

  // A drawing also says its parts to those who do not see it.
  function mute(find) {
    const told = [...article.querySelectorAll("svg[aria-label], img[alt]")]
      .map((element) => [element, element.hasAttribute("alt") ? "alt" : "aria-label"])
      .map(([element, name]) => [element, name, element.getAttribute(name)])
      .filter(([, , words]) => find(words).length);
    told.forEach(([element, name, words]) => element.setAttribute(name,
      find(words).reduce((rest, [whole]) => rest.replaceAll(whole, HIDDEN), words)));
    return () => told.forEach(([element, name, words]) => element.setAttribute(name, words));
  }

  function blur(figure, show) {
    const button = st.element("button", { type: "button", class: "st-unblur" }, "Answer hidden. Show it");
    button.addEventListener("click", show);
    figure.classList.add("st-blurred");
    (figure.querySelector(":scope > :is(.st-live-moving, svg, img, .st-live-static)") || figure.firstChild).before(button);
    return () => {
      button.remove();
      figure.classList.toggle("st-blurred", Boolean(figure.querySelector(".st-unblur"))); // of another box
    };
  }

  // ---- all places of an answer ----

  // Inks the number of that name and what else its box names: other numbers, words,
  // charts, tables; gives what lifts the bars. `show` is asked for it.
  function ink(name, show, also = []) {
    const known = st.quantities.known;
    const tree = known[name] || { text: "" };
    const [tables, rest] = [true, false].map((is) => also.filter((one) => one.startsWith("tab-") === is));
    const charts = rest.map((one) => document.getElementById(one)).filter(Boolean);
    const words = rest.filter((one) => !known[one] && !document.getElementById(one))
      .map((one) => ["", one.replace("~", tree.text)]);
    const same = (other, its) => its === name || also.includes(its) || alike(tree, other);
    const cells = Object.keys(known).filter((its) => same(known[its], its)).map((its) => [`${its} = `, known[its].text]);
    const find = tree.text ? finder(tree, [...words, ...cells], tables) : null;

    function lay() {
      const numbers = [...article.querySelectorAll(".st-q[data-q]")].filter((element) =>
        !element.closest(".st-prediction, .st-answer") && !element.classList.contains("st-inked")
        && same(known[element.dataset.q], element.dataset.q));
      const mending = find ? [mute(find)] : [];
      const parts = [];
      for (const [node, here] of find ? texts(find) : []) {
        for (const found of here.reverse()) parts.push(wrap(node, found));
      }
      const chart = (element) => element.closest(".st-live") || element.closest(".st-figure:not(.st-drawing)");
      const blurred = new Set([...charts, ...[...numbers, ...parts].map(chart).filter(Boolean)]);
      for (const element of [...numbers, ...parts]) {
        mending.push(cover(element));
        lifts.set(element, show);
      }
      parts.forEach((part) => mending.push(() => unwrap(part)));
      blurred.forEach((figure) => mending.push(blur(figure, show)));
      return () => mending.forEach((mend) => mend());
    }

    const layer = { lay, lift: lay(), show, same };
    inked.add(layer);
    return () => {
      if (inked.delete(layer)) layer.lift();
    };
  }

  // The value of an input, where another number was opened: it would tell as well.
  function input(element, tree) {
    const layer = [...inked].find(({ same }) => same(tree, tree.name));
    if (!layer) return;
    const uncover = cover(element);
    lifts.set(element, () => { uncover(); layer.show(); });
  }

  // ---- lifted by key and by touch, before the number itself would open ----

  function touched(event) {
    const element = event.target.closest?.(".st-inked");
    if (!element) return;
    event.stopImmediatePropagation();
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    if (event.type === "pointerenter") return;
    event.preventDefault();
    lifts.get(element)();
    element.focus();
  }

  if (article) ["click", "keydown", "pointerenter"].forEach((type) => document.addEventListener(type, touched, true));

  // Paper shows all.
  window.addEventListener("beforeprint", () => inked.forEach((layer) => layer.lift()));
  window.addEventListener("afterprint", () => inked.forEach((layer) => { layer.lift = layer.lay(); }));

  Object.assign(st, { ink, input });
})();
