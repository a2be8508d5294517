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
  const PLACES = "td, th, pre, svg, dd, figcaption, .st-live-title"; // of numbers that are no links
  const KEPT = ".st-q, .st-inked, .st-prediction, [class*=highlight-]:not(.output), script, style, textarea, button"; // nothing there is inked

  const article = document.querySelector(".bd-article");
  const lifts = new WeakMap(); // what is inked -> how it is shown
  const inked = new Set(); // all that is inked now, as [cover, uncover]

  const put = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  });

  // ---- what is the answer ----

  const near = (a, b) => Math.abs(a - b) <= 5e-4 * Math.abs(a);

  // A small whole number without a unit occurs for other reasons, too.
  const common = (tree) => /^\d\d?$/.test(tree.text);

  // Whether another number of the page says the same.
  const alike = (tree, other) => other && !common(tree)
    && (other.text === tree.text || (other.unit === tree.unit && near(tree.value, other.value)));

  // Where the answer stands in a text that is no number of the page: with its unit, or
  // long enough, in as many digits as that place has.
  function finder(tree) {
    const [amount, ...words] = tree.text.split(" ");
    const [value, unit] = [Number(amount.replaceAll(",", "")), words.join(" ")];
    return (text) => [...text.matchAll(/(?<![\d.,\w])(\d[\d,]*(?:\.\d+)?)(?:\s?([a-zA-Zµ%][\w/%µ]*))?/g)]
      .filter(([, digits, word = ""]) => Math.abs(Number(digits.replaceAll(",", "")) / value - 1) < 5e-3
        && (digits.replace(/\D/g, "").length > 2 ? !word || !unit || word === unit : unit && word === unit));
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
      if (at.closest(PLACES) && !at.closest(KEPT)
        && find(node.data).length) found.push(node);
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
    return () => { figure.classList.remove("st-blurred"); button.remove(); };
  }

  // ---- all places of an answer ----

  // Inks the number of that name; gives what lifts the bars. `show` is asked for it.
  function ink(name, show) {
    const known = st.quantities.known;
    const tree = known[name] || { text: "" };
    const find = tree.text ? finder(tree) : null;

    function lay() {
      const numbers = [...article.querySelectorAll(".st-q[data-q]")].filter((element) =>
        !element.closest(".st-prediction") && !element.classList.contains("st-inked")
        && (element.dataset.q === name || alike(tree, known[element.dataset.q])));
      const mending = find ? [mute(find)] : [];
      const parts = [];
      for (const node of find ? texts(find) : []) {
        for (const found of find(node.data).reverse()) parts.push(wrap(node, found));
      }
      const chart = (element) => element.closest(".st-live") || element.closest(".st-figure:not(.st-drawing)");
      const charts = new Set([...numbers, ...parts].map(chart).filter(Boolean));
      for (const element of [...numbers, ...parts]) {
        mending.push(cover(element));
        lifts.set(element, show);
      }
      parts.forEach((part) => mending.push(() => unwrap(part)));
      charts.forEach((figure) => mending.push(blur(figure, show)));
      return () => mending.forEach((mend) => mend());
    }

    const layer = { lay, lift: lay() };
    inked.add(layer);
    return () => {
      if (inked.delete(layer)) layer.lift();
    };
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

  st.ink = ink;
})();
