// What the tests ask of a page, in the page. browser.py calls these by name.
({
  // The elements that make a page wider than its window; none that scroll inside.
  overflow() {
    const room = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= room + 1) return [];
    const scrolls = (e) => {
      for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) {
        if (getComputedStyle(p).overflowX !== "visible") return true;
      }
      return false;
    };
    return [...document.body.querySelectorAll("*")]
      .filter((e) => e.getBoundingClientRect().right > room + 1 && !scrolls(e))
      .slice(0, 3)
      .map((e) => e.outerHTML.slice(0, 90));
  },

  // Cells of tables whose text lies on the cell beside them.
  overprinted() {
    const words = document.createRange();
    const spills = (cell) => {
      const next = cell.nextElementSibling;
      if (!next || !cell.checkVisibility() || getComputedStyle(cell).overflowX !== "visible") return false;
      words.selectNodeContents(cell);
      const [mine, its] = [words.getBoundingClientRect(), next.getBoundingClientRect()];
      return mine.width > 0 && mine.right > its.left + 1 && its.top < mine.bottom && its.bottom > mine.top;
    };
    return [...document.querySelectorAll("td, th")].filter(spills).map((cell) => cell.textContent.trim().slice(0, 60));
  },

  // Tables that have to be scrolled where there is room: on a phone some may (tables.js).
  clipped() {
    const cut = (box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1;
    return innerWidth <= 600 ? [] : [...document.querySelectorAll(".st-table")].filter(cut)
      .map((box) => box.textContent.trim().slice(0, 60));
  },

  // Buttons of a drawing's steps whose words stand in another line.
  parted() {
    const above = (button, words) => getComputedStyle(button).opacity !== "0" &&
      button.getBoundingClientRect().bottom <= words.getClientRects()[0].top;
    return [...document.querySelectorAll(".st-drawing > input + label")]
      .filter((words) => words.checkVisibility() && above(words.previousElementSibling, words))
      .map((words) => words.textContent);
  },

  // WCAG 2: (L1 + 0.05) / (L2 + 0.05) of the relative luminances of [r, g, b].
  ratio(one, other) {
    const light = (colour) => {
      const [r, g, b] = colour.map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  },

  // Any CSS colour as [r, g, b, alpha]; a canvas reads them all.
  reader() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const brush = canvas.getContext("2d", { willReadFrequently: true });
    const known = {};
    return (css) => {
      if (!known[css]) {
        brush.clearRect(0, 0, 1, 1);
        brush.fillStyle = css;
        brush.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
        known[css] = [r, g, b, a / 255];
      }
      return known[css].slice();
    };
  },

  // Visible text whose contrast is below `least` (3 where it is large).
  contrast(least) {
    const rgba = this.reader();
    const blend = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
    // What is asked of an element many times is read once.
    const once = (read) => {
      const held = new Map();
      return (e) => {
        if (!held.has(e)) held.set(e, read(e));
        return held.get(e);
      };
    };
    const behind = once((e) => {
      if (!e) return [255, 255, 255];
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 1) return colour.slice(0, 3);
      const under = behind(e.parentElement);
      return colour[3] > 0 ? blend(colour, under) : under;
    });
    const opacity = once((e) => (e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1));
    const painted = once((svg) => [...svg.querySelectorAll("path, rect")].flatMap((shape) => {
      const style = getComputedStyle(shape);
      if (shape.closest("defs") || /none|url/.test(style.fill)) return [];
      const colour = rgba(style.fill);
      colour[3] *= Number(style.fillOpacity) * Number(style.opacity);
      return [{ shape, colour, box: shape.getBoundingClientRect() }];
    }));
    // Shapes of a drawing that lie under its text, in the order they are painted.
    const shapes = (e) => {
      if (!e.ownerSVGElement) return [];
      const box = e.getBoundingClientRect();
      const centre = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
      const inside = ({ left, right, top, bottom }) =>
        left <= centre.x && centre.x <= right && top <= centre.y && centre.y <= bottom;
      return painted(e.ownerSVGElement)
        .filter(({ shape, box }) => inside(box)
          && shape.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING
          && shape.isPointInFill(centre.matrixTransform(shape.getScreenCTM().inverse())))
        .map(({ colour }) => colour);
    };
    const ink = (e, style) => {
      const svg = e instanceof SVGElement;
      const colour = rgba(svg ? style.fill : style.color);
      if (svg) colour[3] *= Number(style.fillOpacity);
      colour[3] *= opacity(e);
      return colour;
    };
    // Not seen: scripts, the field under a coloured listing, text for readers aloud.
    const unseen = "script, style, textarea, mjx-assistive-mml, .skip-link, .pst-skip-link";
    const visible = { visibilityProperty: true, opacityProperty: true };
    const faults = new Map();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const e = node.parentElement;
      const words = node.textContent.trim();
      if (!words || e.closest(unseen) || !e.checkVisibility(visible)) continue;
      const box = e.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue;
      const style = getComputedStyle(e);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const paper = shapes(e).reduce((under, top) => blend(top, under), behind(e));
      const ratio = this.ratio(blend(ink(e, style), paper), paper);
      if (ratio + 0.005 >= (large ? 3 : least)) continue;
      const name = (x) => x.getAttribute("class") || x.tagName.toLowerCase();
      faults.set(`${name(e)} in ${name(e.parentElement)}: "${words.slice(0, 40)}"`, ratio);
    }
    return [...faults];
  },

  // Contrast of each of the book's colours against its two papers.
  palette() {
    const rgba = this.reader();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => rgba(style.getPropertyValue(`--st-${name}`).trim()).slice(0, 3);
    const names = ["ink", "muted", "link", "line", "this-machine", "impossible", "good"];
    for (let i = 0; i < 6; i += 1) names.push(`series-${i}`);
    for (let i = 1; i <= 7; i += 1) names.push(`layer-${i}`);
    const papers = ["paper", "raised"].map(colour);
    return Object.fromEntries(names.map((n) => [n, papers.map((p) => this.ratio(colour(n), p))]));
  },

  // [name, text, text of the derivation] of numbers where the two differ.
  stale() {
    const data = document.getElementById("st-quantities");
    const known = data ? JSON.parse(data.textContent) : {};
    return [...document.querySelectorAll(".st-q[data-q]")]
      .map((e) => [e.dataset.q, e.textContent, (known[e.dataset.q] || {}).text ?? null])
      .filter(([, here, there]) => here !== there);
  },

  // What stands in the panel of a number, and where; nothing while none is open.
  panel() {
    const panel = document.getElementById("st-popover");
    if (!panel || !panel.checkVisibility()) return null;
    const { left, right } = panel.getBoundingClientRect();
    return { text: panel.textContent, left, right };
  },

  focused_number() {
    return document.activeElement.dataset.q || null;
  },

  // Names of the computed numbers that can be seen.
  numbers() {
    const seen = [...document.querySelectorAll(".st-q[data-q]")].filter((e) => e.checkVisibility());
    return [...new Set(seen.map((e) => e.dataset.q))];
  },

  // What is wrong with opening these numbers, by Enter or else by a tap, and Escape.
  opens([names, byKey, known]) {
    const press = (e, key) =>
      e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const tap = (e) => {
      const at = e.getClientRects()[0];
      const hit = document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2);
      if (!e.contains(hit)) return false;
      hit.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerType: "touch" }));
      hit.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); // SVG, too
      return true;
    };
    const all = [...document.querySelectorAll(".st-q[data-q]")].filter((e) => e.checkVisibility());
    return names.flatMap((name) => {
      const e = all.find((x) => x.dataset.q === name);
      e.scrollIntoView({ block: "center", inline: "center" });
      if (byKey) {
        e.focus();
        press(e, "Enter");
      } else if (!tap(e)) return [`number ${name} lies under something`];
      const panel = document.getElementById("st-popover");
      if (!panel || !panel.checkVisibility()) return [`number ${name} does not open`];
      const faults = [];
      if (!new RegExp(known).test(panel.textContent)) faults.push(`number ${name} shows no source`);
      const box = panel.getBoundingClientRect();
      if (box.left < 0 || box.right > innerWidth + 1) faults.push(`number ${name} opens beyond the window`);
      press(document.activeElement, "Escape");
      if (panel.checkVisibility()) faults.push(`Escape does not close number ${name}`);
      else if (byKey && document.activeElement !== e) faults.push(`Escape loses the focus of number ${name}`);
      return faults;
    });
  },

  // What a finger must push sideways to see whole; code and formulas count, too.
  scrollers() {
    return [...document.querySelectorAll("main *")]
      .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth && e.checkVisibility() &&
        ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
      .map((e) => `<${e.localName} class="${e.className}">: ${e.textContent.trim().replace(/\s+/g, " ").slice(0, 50)}`);
  },

  // A table that scrolls keeps its caption and first column in sight and says that it
  // scrolls; no row is as tall as what lies beyond the edge would make it.
  tables() {
    const scrolling = (table) => {
      for (let e = table; e; e = e.parentElement) {
        if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return e.scrollWidth > e.clientWidth + 1 ? e : null;
      }
      return null;
    };
    return [...document.querySelectorAll("main table")].flatMap((table) => {
      const box = scrolling(table), faults = [];
      if (!box || !table.checkVisibility() || !table.rows.length) return [];
      if (table.caption) faults.push("a caption inside what scrolls");
      if (getComputedStyle(table.rows[0].cells[0]).position !== "sticky") faults.push("a first column that scrolls away");
      if (!getComputedStyle(box).backgroundImage.includes("gradient")) faults.push("no shadow where it scrolls");
      for (const row of [...table.rows].filter((r) => r.checkVisibility())) {
        const { height } = row.getBoundingClientRect();
        if (height > 110) faults.push(`a row of ${Math.round(height)} px`);
      }
      return faults.map((fault) => `${(box.previousElementSibling ?? box).textContent.trim().slice(0, 40)}: ${fault}`);
    });
  },

  // ---- predictions ----

  answer: (name) => document.querySelector(`[data-predict="${name}"] .st-answer .st-q`).dataset.q,

  // What gives the answers of boxes that wait away, and what such a box hides besides.
  tells_answers([name, answers]) {
    const box = document.querySelector(`[data-predict="${name}"]`);
    const seen = (e) => e.checkVisibility() && e.textContent.trim();
    const below = [...document.querySelectorAll("article p, article li, article td")].filter((e) => e.textContent.trim()
      && !e.closest("details, figure, .st-live, .st-predict, [hidden]") && box.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
    const told = [...document.querySelectorAll(".st-q[data-q]")].filter((e) => seen(e) && answers.includes(e.dataset.q));
    const asked = answers.map((q) => document.querySelector(`.st-answer .st-q[data-q="${q}"]`).textContent);
    const code = [...document.querySelectorAll("[class*=highlight-]:not(.output)")].map((e) => e.innerText).join("\n");
    const unit = (td) => td.closest("table").tHead?.rows[0].cells[td.cellIndex]?.textContent.match(/\((.+)\)$/)?.[1];
    const cells = [...document.querySelectorAll("article td")].map((td) => `${td.textContent.trim()} ${unit(td)}`);
    const lines = [...(document.querySelector("article")?.innerText ?? "").split("\n"), ...cells]
      .filter((line) => !code.includes(line));
    const written = asked.filter((text) => text.includes(" ")).flatMap((text) => lines.filter((line) =>
      [` ${line}`.indexOf(` ${text}`), ` ${line}`.indexOf(`(${text}`)].some((at) => at >= 0)));
    return [...below.filter((e) => !e.checkVisibility()).slice(0, 1).map((e) => `hides "${e.textContent.trim().slice(0, 60)}"`),
      ...told.map((e) => `shows its answer before a prediction, ${e.dataset.q}`),
      ...written.map((line) => `is told in "${line.trim().slice(0, 60)}"`)];
  },

  // ---- live figures ----

  fields: (id) => [...document.getElementById(id).querySelectorAll("[data-control]")],

  given: (id) => JSON.parse(document.querySelector(`#${id} .st-live-controls`).textContent),

  stands: (field) => (field.type === "range" ? Number(field.value) : field.selectedIndex),

  controls(id) {
    return this.fields(id).map((field) => ({ name: field.dataset.control, at: this.stands(field),
      menu: field.type !== "range", count: field.type === "range" ? Number(field.max) + 1 : field.length }));
  },

  // Puts the controls of a figure at these places of theirs, one event each.
  move([id, places]) {
    this.fields(id).forEach((field, i) => {
      if (field.type === "range") field.value = places[i];
      else field.selectedIndex = places[i];
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  },

  // What the controls stand at, as the figure was given it.
  values(id) {
    const all = Object.fromEntries(this.given(id).map((c) => [c.name, c.values || c.options.map(([value]) => value)]));
    return Object.fromEntries(this.fields(id).map((f) => [f.dataset.control, all[f.dataset.control][this.stands(f)]]));
  },

  // Where a figure differs from an answer of the function that it calls.
  figure([id, spec]) {
    const figure = document.getElementById(id);
    const faults = [];
    const hold = (what, shown, wanted) => {
      const [here, there] = [shown, wanted].map((x) => JSON.stringify(x ?? null));
      if (here !== there) faults.push(`${what} shows ${here}, not ${there}`);
    };
    const words = (e) => (e && e.checkVisibility() ? e.textContent : "");
    const one = (selector) => figure.querySelector(`.st-live-moving ${selector}`);
    hold("status", words(figure.querySelector(".st-live-status")), "");
    hold("title", words(one(".st-live-title")), spec.title);
    hold("message", words(one(".st-live-message")), spec.message || "");
    const rows = [...figure.querySelectorAll(".st-live-moving .st-readout")];
    const readouts = spec.readouts || [];
    hold("readouts", rows.map((row) => [words(row.querySelector("dt")), words(row.querySelector("dd"))]),
      readouts.map(({ label, text }) => [label, text]));
    const table = one(".st-live-table:not([hidden]) table"); // a hidden one keeps what it last had
    const cells = (row) => [...row.children].map(words);
    hold("table", words(table) && [words(table.caption), ...[...table.rows].map(cells)],
      spec.table ? [spec.table.caption, ["", ...spec.table.head].slice(-spec.table.head.length),
        ...spec.table.rows.map((row) => [row.head, ...row.cells.map((c) => c.text + (c.note || ""))])] : "");
    const numbers = [...rows.map((row) => row.querySelector(".st-q")), ...(table ? table.querySelectorAll("td > :first-child") : [])];
    const trees = [...readouts, ...(spec.table ? spec.table.rows.flatMap((row) => row.cells) : [])];
    numbers.forEach((e, i) => hold(`what ${e.textContent} opens to`, this.told(e), this.tells(trees[i], e)));
    const plot = one(".st-live-plot");
    faults.push(...this.apart(plot.firstElementChild, st.chart(spec, plot.clientWidth)));
    return faults;
  },

  // What a number's panel says: of whom, by which formula, from which inputs.
  told(e) {
    if (e.getAttribute("role") !== "button") return null;
    e.click();
    const panel = document.getElementById("st-popover");
    const said = (selector) => [...panel.querySelectorAll(selector)].map((x) => x.textContent);
    const found = [said(".st-popover-value"), said(".st-popover-what"), said(".st-popover-formula"),
      said(":scope > .st-inputs > li > .st-input > .st-input-value, :scope > .st-inputs > li > details > summary .st-input-value")];
    panel.querySelector(".st-popover-close").click();
    return found;
  },

  // A rate of a cache is said with the clock that its unit is of.
  clocked(tree, text) {
    const clock = /@([\d.]+)MHz/.exec(tree.unit || "");
    return clock ? `${text} at ${+(clock[1] / 1000).toPrecision(4)} GHz` : text;
  },

  tells({ tree }, e) {
    if (!tree) return null;
    return [[this.clocked(tree, tree.full || e.textContent)], [tree.what || tree.label || ""],
      tree.formula ? [`= ${tree.formula}`] : [], (tree.inputs || []).map((input) => this.clocked(input, input.text))];
  },

  // Two drawings, mark by mark: the same but for the last digits of places.
  apart(shown, wanted) {
    const parts = (svg) => (svg ? svg.outerHTML : "").replace(/st-(hatch|clip)-\d+/g, "st-$1").split(/(-?\d+\.?\d*)/);
    const [here, there] = [parts(shown), parts(wanted)];
    const same = (one, other) => one === other || Math.abs(one - other) <= 0.11;
    const at = there.findIndex((part, i) => !same(here[i], part));
    if (here.length === there.length && at < 0) return [];
    return [`draws ${here.slice(at, at + 9).join("").slice(0, 120)}, not ${there.slice(at, at + 9).join("").slice(0, 120)}`];
  },

  // The words of what has the focus, whether it stands in the text, whether a ring is seen.
  focused() {
    const e = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(e);
    const words = (e.getAttribute("aria-label") || e.textContent || e.title).trim();
    return [words, !!e.closest("article.bd-article"), outlineStyle !== "none" && parseFloat(outlineWidth) >= 1];
  },

  // [which, what, name, other]: names of these drawings that touch, are cut or missing.
  crowded([specs, width]) {
    const room = st.element("div", { style: `width: ${width}px` });
    document.body.append(room);
    const touch = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    const faults = specs.flatMap((spec, which) => {
      room.replaceChildren(st.chart(spec, width));
      const edge = room.getBoundingClientRect();
      const texts = [...room.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
      const wanted = spec.marks.filter((mark) => mark.name && mark.label_at !== "none");
      return [
        ...texts.filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1).map(([name]) => [which, "is cut", name]),
        ...texts.flatMap(([name, box], i) => texts.slice(i + 1)
          .filter(([, other]) => touch(box, other)).map(([other]) => [which, "touches", name, other])),
        ...wanted.filter(({ name }) => !texts.some(([text]) => text === name)).map(({ name }) => [which, "is missing", name]),
      ];
    });
    room.remove();
    return faults;
  },
})
