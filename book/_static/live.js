// Live figures: controls that call a stacklib function in the page's own Python and
// draw what it returns. Until the first touch, and in print, the static figure stands.
"use strict";

(() => {
  const PAUSE_MS = 60; // of a slider, before it computes
  const SLOW_MS = 150; // after which an answer that is still to come is said to be
  const OLD = "The figure still shows the earlier values.";
  const make = st.element;

  // ---- controls: each is {element, read(), touch} ----

  function selectControl(control, id) {
    const field = make("select", { id, "data-control": control.name });
    let group = null;
    control.options.forEach(([value, words], i) => {
      const label = (control.groups || [])[i];
      if (label && (!group || group.label !== label)) {
        group = make("optgroup", { label });
        field.append(group);
      }
      (group || field).append(make("option", { value }, words));
    });
    field.value = control.value;
    // What is chosen, as it was given: a field's own value is always text.
    const read = () => control.options[field.selectedIndex][0];
    const choose = (at) => { if (at >= 0) field.selectedIndex = at; };
    return { field, parts: [field], read, put: (value) => choose(control.options.findIndex(([one]) => String(one) === value)) };
  }

  const shown = (control, value) => [value.toLocaleString("en"), control.unit].filter(Boolean).join(" ");

  function rangeControl(control, id) {
    const at = Math.max(0, control.values.indexOf(control.value));
    const field = make("input", { type: "range", id, "data-control": control.name,
      min: 0, max: control.values.length - 1, step: 1, value: at });
    const output = make("output", { for: id });
    const read = () => control.values[Number(field.value)];
    const tell = () => {
      output.textContent = shown(control, read());
      field.setAttribute("aria-valuetext", output.textContent);
    };
    const put = (value) => {
      const to = control.values.findIndex((one) => String(one) === value);
      if (to >= 0) field.value = to;
      tell();
    };
    field.addEventListener("input", tell);
    tell();
    return { field, parts: [field, output], read, put };
  }

  // A text to write, and a menu of texts to begin from; none of them is chosen once
  // the reader has changed something.
  function programControl(control, id) {
    const menu = selectControl(control, id);
    const text = make("textarea", { rows: 1 + Math.max(...control.options.map(([one]) => one.split("\n").length)),
      spellcheck: "false", autocapitalize: "off", "aria-label": control.label });
    const put = (value) => {
      text.value = value;
      menu.field.selectedIndex = control.options.findIndex(([one]) => one === value);
    };
    menu.field.addEventListener("input", () => put(menu.read()));
    text.addEventListener("input", () => put(text.value));
    put(control.value);
    return { field: menu.field, more: [text], parts: [menu.field, text], read: () => text.value, put };
  }

  const CONTROLS = { range: rangeControl, select: selectControl, program: programControl };

  function buildControl(figure, control) {
    const id = `${figure.id}-${control.name}`;
    const made = CONTROLS[control.type](control, id);
    const label = make("label", { for: id }, control.label);
    return { ...made, name: control.name, element: make("div", { class: `st-control st-control-${control.type}` }, label, ...made.parts) };
  }

  // ---- readouts ----

  function readoutRow({ name, tree }) {
    const value = make("span", { class: "st-q", "data-readout": name });
    return make("div", { class: "st-readout", "data-name": name, "data-opens": Boolean(tree) },
      make("dt", {}), make("dd", {}, value));
  }

  // Rows are kept where they can be, so that a readout that is open stays open; all
  // that a row says is set again.
  function showReadouts(list, wanted) {
    const old = [...list.children];
    const rows = wanted.map((one) => {
      const at = old.findIndex((row) =>
        row.dataset.name === one.name && row.dataset.opens === String(Boolean(one.tree)));
      const row = at < 0 ? readoutRow(one) : old.splice(at, 1)[0];
      const value = row.querySelector(".st-q");
      row.querySelector("dt").textContent = one.label;
      value.textContent = one.text;
      if (one.tree) st.quantities.attach(value, one.tree);
      return row;
    });
    const same = rows.length === list.children.length && rows.every((row, i) => row === list.children[i]);
    if (!same) list.replaceChildren(...rows);
  }

  // ---- a table under the figure: rows of {head, cells: [{text, tree, note}]} ----

  function showTable(box, given) {
    box.hidden = !given;
    if (!given) return;
    const cell = ({ text, tree, note }) => {
      const value = make("span", tree ? { class: "st-q" } : { class: "st-unknown" }, text);
      if (tree) st.quantities.attach(value, tree);
      return make("td", {}, value, note ? make("span", { class: "st-note" }, note) : "");
    };
    box.replaceChildren(make("table", {},
      make("caption", {}, given.caption),
      make("thead", {}, make("tr", {}, ...given.head.map((words) => make("th", { scope: "col" }, words)))),
      make("tbody", {}, ...given.rows.map(({ head, cells }) =>
        make("tr", {}, make("th", { scope: "row" }, head), ...cells.map(cell))))));
  }

  // ---- one figure ----

  function begin(figure) {
    const given = JSON.parse(figure.querySelector(".st-live-controls").textContent);
    const controls = given.map((control) => buildControl(figure, control));
    const still = figure.querySelector(".st-live-static");
    const status = make("p", { class: "st-live-status", role: "status" });
    const message = make("p", { class: "st-live-message", role: "status", hidden: "" });
    const title = make("p", { class: "st-live-title" });
    const plot = make("div", { class: "st-live-plot" });
    const readouts = make("dl", { class: "st-live-readouts", "aria-live": "polite" });
    const table = make("div", { class: "st-live-table", role: "region", tabindex: "0", "aria-label": "Table of the figure", hidden: "" });
    const moving = make("div", { class: "st-live-moving", hidden: "" }, title, plot, message, readouts, table);
    const shared = "share" in figure.dataset;
    const row = make("div", { class: "st-live-controls-row" }, ...controls.map((c) => c.element), status);
    still.before(row, moving);
    st.python.watch((text) => { if (figure.dataset.state === "starting" && text) status.textContent = `${text}. ${OLD}`; });

    let spec = null;
    let width = 0;
    let timer = 0;
    let slow = 0;
    let asked = 0;
    const chosen = () => Object.fromEntries(controls.map((c) => [c.name, c.read()]));
    let shown = chosen(); // the values of the figure that is seen

    function redraw() {
      width = plot.clientWidth;
      if (spec && width) plot.replaceChildren(st.chart(spec, width));
    }

    function show(answer) {
      spec = answer;
      moving.hidden = false;
      still.classList.add("st-live-replaced");
      title.textContent = spec.title;
      message.hidden = !spec.message;
      message.textContent = spec.message || "";
      showReadouts(readouts, spec.readouts || []);
      showTable(table, spec.table);
      st.quantities.settle();
      redraw();
    }

    // Between a move and its answer the figure is of other values than the controls:
    // it is grey and says so. An answer to an earlier move no longer counts.
    function wait() {
      asked += 1;
      if (figure.ariaBusy === "true") return;
      figure.ariaBusy = "true";
      slow = setTimeout(() => { status.textContent ||= OLD; }, SLOW_MS);
    }

    function agree(words = "") {
      clearTimeout(slow);
      figure.ariaBusy = "false";
      status.textContent = words;
    }

    function complain(words) {
      figure.dataset.state = "failed";
      for (const control of controls) control.put(String(shown[control.name]));
      if (shared) st.fragment.set(figure.id, shown);
      agree(words);
    }

    async function compute() {
      clearTimeout(timer);
      wait();
      const mine = asked;
      const values = chosen();
      if (!["ready", "starting"].includes(figure.dataset.state)) {
        figure.dataset.state = "starting";
        status.textContent = OLD;
      }
      if (shared) st.fragment.set(figure.id, values);
      const answer = await st.python.call(figure.dataset.call, values).catch(({ message }) => ({ error: message }));
      if (mine !== asked) return; // a later move has overtaken this one
      if (answer.error) { complain(answer.error); return; }
      figure.dataset.state = "ready";
      shown = values;
      show(answer.value);
      agree();
    }

    // The first touch starts Python, which takes a while.
    function touched() {
      if (figure.dataset.state === "waiting") compute();
    }

    for (const field of controls.flatMap((c) => [c.field, ...(c.more || [])])) {
      field.addEventListener("pointerdown", touched);
      field.addEventListener("keydown", (event) => { if (event.key !== "Tab") touched(); });
      field.addEventListener("input", () => { wait(); clearTimeout(timer); timer = setTimeout(compute, PAUSE_MS); });
    }
    new ResizeObserver(() => { if (plot.clientWidth !== width) redraw(); }).observe(plot);
    figure.dataset.state = "waiting";

    // A figure that is shared by its address starts with what the address says.
    function restore() {
      const chosen = Object.entries(st.fragment.get(figure.id));
      const known = chosen.filter(([name]) => controls.some((c) => c.name === name));
      for (const [name, value] of known) controls.find((c) => c.name === name).put(value);
      if (known.length) compute();
    }
    if (!shared) return;
    window.addEventListener("hashchange", restore);
    restore();
  }

  document.querySelectorAll(".st-live").forEach(begin);
})();
