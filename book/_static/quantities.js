// Computed numbers that open: value, meaning, formula, inputs, sources.
// The page's derivations stand once at its end (#st-quantities); live figures give
// theirs with st.quantities.attach(element, tree). Without this file: plain text.
"use strict";
window.st = window.st || {};

(() => {
  const HOVER_MS = 150;
  const trees = new WeakMap(); // element -> derivation
  const known = {}; // derivations of the page, by name
  let panel = null; // the one popover
  let owner = null; // the number it belongs to
  let pinned = false; // opened by click or key, so the pointer leaving keeps it
  let under = null; // which side of the number it stands on
  let timer = 0;

  st.element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  };
  const make = st.element;

  // ---- what the popover says ----

  const KINDS = {
    config: "from a model's config", measured: "measured",
    claimed: "claimed", chosen: "we take", assumed: "assumed", counted: "counted by a run",
    constant: "constant", bare: "typed", computed: "computed",
  };

  // A published number is as good as who published it, from the best to the least.
  const PUBLISHED = {
    vendor: "published by the vendor", measured: "measured by others", announced: "announced",
    secondary: "from a secondary source", recalled: "recalled, not looked up",
  };

  const least = (tree) => Math.max(-1, ...(tree.inputs || []).map(least),
    tree.source ? Object.keys(PUBLISHED).indexOf(tree.source.confidence) : -1);

  // What the inputs of a sum or a quotient leave of its sources.
  function standing(tree) {
    const word = Object.values(PUBLISHED)[least(tree)];
    return word ? `computed, an input ${word}` : KINDS.computed;
  }

  function kind(tree) {
    const { confidence } = tree.source || {};
    if (tree.kind === "spec") return PUBLISHED[confidence] || confidence || "without a source";
    const word = KINDS[tree.kind] || tree.kind;
    return confidence === "recalled" ? `${word}, recalled` : word;
  }

  // How a number was come by: in the word of its page, where the word says it all.
  function told(tree) {
    if (tree.evidence === "spec") return tree.kind === "computed" ? standing(tree) : kind(tree);
    return { chosen: KINDS.chosen, bare: KINDS.bare }[tree.evidence] || tree.evidence || kind(tree);
  }

  // What a number without inputs stands on where no document is named.
  const GIVEN = {
    chosen: "A given of this page: we take it so.", counted: "Counted by a run of the program.",
    constant: "A constant.", bare: "A number that was typed in.",
  };

  function sourceLine(source) {
    const parts = [source.title, source.where, source.seen && `seen ${source.seen}`,
      source.confidence, source.inherited && "inherited"];
    return make("span", { class: "st-source" }, "Source: " + parts.filter(Boolean).join(", "));
  }

  // Cycles, and rates of a cache, are of one clock.
  function atClock(tree) {
    const clock = /@([\d.]+)MHz/.exec(tree.unit || "");
    return clock ? ` at ${+(clock[1] / 1000).toPrecision(4)} GHz` : "";
  }

  function inputLine(tree) {
    const value = make("span", { class: "st-input-value" }, tree.text + atClock(tree));
    st.input?.(value, tree); // a prediction may wait for it
    const line = make("span", { class: "st-input" },
      make("span", { class: "st-input-name" }, tree.label || "given"), " = ", value, " ");
    if (tree.kind !== "computed") line.append(make("span", { class: "st-kind" }, kind(tree)));
    return line;
  }

  function inputItem(tree) {
    const notes = [
      tree.formula ? make("span", { class: "st-input-formula" }, "= " + tree.formula) : null,
      tree.why ? make("span", { class: "st-source" }, `Assumed: ${tree.why}`) : null,
      tree.source ? sourceLine(tree.source) : null,
    ];
    if (!tree.inputs || !tree.inputs.length) return make("li", {}, inputLine(tree), ...notes);
    return make("li", {}, make("details", {},
      make("summary", {}, inputLine(tree)), ...notes, inputList(tree.inputs)));
  }

  const inputList = (inputs) => make("ul", { class: "st-inputs" }, ...inputs.map(inputItem));

  function fill(tree) {
    const close = make("button", { type: "button", class: "st-popover-close", "aria-label": "Close" }, "×");
    close.addEventListener("click", () => shut(true));
    panel.setAttribute("aria-label", `Where ${tree.text} comes from`);
    panel.replaceChildren(close,
      make("div", { class: "st-popover-head" },
        make("span", { class: "st-popover-value" },
          (tree.full || tree.shown || tree.text) + atClock(tree)),
        make("span", { class: "st-kind" }, told(tree))),
      make("p", { class: "st-popover-what" }, tree.what || tree.label || ""),
      tree.formula ? make("p", { class: "st-popover-formula" }, "= " + tree.formula) : "",
      tree.why ? make("p", { class: "st-popover-note" }, `Assumed: ${tree.why}.`) : "",
      tree.source ? sourceLine(tree.source) : "",
      tree.inputs && tree.inputs.length ? inputList(tree.inputs) : "",
      !tree.source && !(tree.inputs && tree.inputs.length) && GIVEN[tree.kind]
        ? make("p", { class: "st-popover-note" }, GIVEN[tree.kind]) : "",
      tree.error_bar ? make("p", { class: "st-popover-note" }, `Error bar: ${tree.error_bar}.`) : "");
  }

  // ---- opening and closing ----

  // A sheet lies at the bottom of a phone: the number is scrolled above it, and the
  // page made longer where it ends too soon for that.
  function lift(margin) {
    const rects = owner.getClientRects();
    const hidden = rects[rects.length - 1].bottom + margin - panel.getBoundingClientRect().top;
    if (hidden <= 0) return;
    document.body.style.paddingBottom = `${panel.offsetHeight}px`;
    window.scrollBy(0, hidden);
  }

  // Under the number, or over it where there is more room. The side is chosen once,
  // so that a panel that grows does not jump; on a phone CSS places it.
  function place() {
    panel.style.left = panel.style.top = panel.style.maxHeight = document.body.style.paddingBottom = "";
    const [gap, margin] = [6, 16];
    if (matchMedia("(max-width: 600px)").matches) { lift(margin); return; }
    const at = owner.getClientRects()[0];
    const [above, below] = [at.top, innerHeight - at.bottom].map((room) => room - gap - margin);
    under ??= panel.offsetHeight <= below || below >= above;
    panel.style.maxHeight = `${Math.min(panel.offsetHeight, Math.max(160, under ? below : above))}px`;
    const top = under ? at.bottom + gap : at.top - gap - panel.offsetHeight;
    const right = document.documentElement.clientWidth - panel.offsetWidth - margin;
    panel.style.left = `${Math.max(margin, Math.min(at.left, right)) + scrollX}px`;
    panel.style.top = `${top + scrollY}px`;
  }

  function open(element, pin) {
    clearTimeout(timer);
    if (owner && owner !== element) shut(false);
    pinned = pin || (owner === element && pinned);
    if (owner === element) return;
    owner = element;
    fill({ ...trees.get(element), shown: element.textContent });
    panel.hidden = false;
    element.setAttribute("aria-expanded", "true");
    element.setAttribute("aria-describedby", panel.id);
    place();
  }

  function shut(refocus) {
    clearTimeout(timer);
    if (!owner) return;
    owner.setAttribute("aria-expanded", "false");
    owner.removeAttribute("aria-describedby");
    if (refocus) owner.focus();
    panel.hidden = true;
    document.body.style.paddingBottom = "";
    [owner, pinned, under] = [null, false, null];
  }

  const later = (action) => { clearTimeout(timer); timer = setTimeout(action, HOVER_MS); };

  function toggle(element) {
    if (owner === element && pinned) shut(false);
    else open(element, true);
  }

  // The popover stands at the page's end; Tab goes in and out as if it stood here.
  function keys(event) {
    if (!owner) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      shut(panel.contains(document.activeElement) || document.activeElement === owner);
    } else if (event.key === "Tab") {
      const stops = [...panel.querySelectorAll("button, summary")].filter((x) => x.offsetParent);
      const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
      if (!event.shiftKey && document.activeElement === owner) {
        event.preventDefault();
        pinned = true;
        stops[0].focus();
      } else if (document.activeElement === edge) {
        if (event.shiftKey) event.preventDefault();
        shut(true);
      }
    }
  }

  // ---- wiring ----

  function attach(element, tree) {
    trees.set(element, tree);
    if (element.getAttribute("role") === "button") {
      if (owner === element) fill({ ...tree, shown: element.textContent });
      return;
    }
    const attributes = { role: "button", tabindex: "0", "aria-expanded": "false", "aria-haspopup": "dialog" };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.addEventListener("click", (event) => { event.preventDefault(); toggle(element); });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(element);
    });
    element.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") later(() => open(element, false));
    });
    element.addEventListener("pointerleave", () => later(() => { if (!pinned) shut(false); }));
  }

  function begin() {
    panel = make("div", { id: "st-popover", class: "st-popover", role: "dialog", hidden: "" });
    panel.addEventListener("toggle", () => { if (owner) place(); }, true);
    panel.addEventListener("pointerenter", () => clearTimeout(timer));
    panel.addEventListener("pointerleave", () => later(() => { if (!pinned) shut(false); }));
    document.body.append(panel);
    document.addEventListener("keydown", keys, true);
    document.addEventListener("pointerdown", (event) => {
      if (owner && !panel.contains(event.target) && !owner.contains(event.target)) shut(false);
    });
    window.addEventListener("resize", () => { if (owner) place(); });
    const data = document.getElementById("st-quantities");
    if (!data) return;
    Object.assign(known, JSON.parse(data.textContent));
    // An input may be named instead of repeated, at any depth.
    const name = (tree) => {
      tree.inputs = (tree.inputs || []).map((input) => (typeof input === "string" ? known[input] : name(input)));
      return tree;
    };
    for (const tree of Object.values(known)) name(tree);
    for (const element of document.querySelectorAll(".st-q[data-q]")) {
      if (known[element.dataset.q]) attach(element, known[element.dataset.q]);
    }
  }

  // After a figure has changed what it shows: the panel follows its number or goes.
  function settle() {
    if (owner && !owner.isConnected) shut(false);
    else if (owner) place();
  }

  st.quantities = { attach, settle, known };
  begin(); // deferred scripts run once the page is parsed
})();
