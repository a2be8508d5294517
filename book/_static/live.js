// Live figures: controls that call a stacklib function in the page's own Python and
// draw what it returns. Until the first touch, and in print, the static figure stands.
"use strict";

(() => {
  const PAUSE_MS = 60; // of a slider, before it computes
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
    return { field, parts: [field], read: () => field.value, put: (value) => { field.value = value; } };
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
      field.value = Math.max(0, control.values.findIndex((one) => String(one) === value));
      tell();
    };
    field.addEventListener("input", tell);
    tell();
    return { field, parts: [field, output], read, put };
  }

  function buildControl(figure, control) {
    const id = `${figure.id}-${control.name}`;
    const made = (control.type === "range" ? rangeControl : selectControl)(control, id);
    const label = make("label", { for: id }, control.label);
    return { ...made, name: control.name, element: make("div", { class: `st-control st-control-${control.type}` }, label, ...made.parts) };
  }

  // ---- readouts ----

  function readoutRow({ name, label, tree }) {
    const value = make("span", { class: "st-q", "data-readout": name });
    return make("div", { class: "st-readout", "data-name": name, "data-opens": Boolean(tree) },
      make("dt", {}, label), make("dd", {}, value));
  }

  // Rows are kept where they can be, so that a readout that is open stays open.
  function showReadouts(list, wanted) {
    const kept = (one) => [...list.children].find((row) =>
      row.dataset.name === one.name && row.dataset.opens === String(Boolean(one.tree)));
    const rows = wanted.map((one) => {
      const row = kept(one) || readoutRow(one);
      const value = row.querySelector(".st-q");
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
    st.python.watch((text) => { if (figure.dataset.state === "starting") status.textContent = text; });

    let spec = null;
    let width = 0;
    let timer = 0;
    let asked = 0;

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
      redraw();
    }

    function complain(words) {
      status.textContent = words;
      figure.dataset.state = "failed";
    }

    async function compute() {
      asked += 1;
      const mine = asked;
      if (figure.dataset.state !== "ready") figure.dataset.state = "starting";
      const values = Object.fromEntries(controls.map((c) => [c.name, c.read()]));
      if (shared) st.fragment.set(figure.id, values);
      try {
        const answer = await st.python.call(figure.dataset.call, values);
        if (mine !== asked) return; // a later move has overtaken this one
        if (answer.error) { complain(answer.error); return; }
        figure.dataset.state = "ready";
        status.textContent = "";
        show(answer.value);
      } catch (error) {
        complain(error.message);
      }
    }

    for (const { field } of controls) {
      field.addEventListener("pointerdown", () => { if (!spec) compute(); });
      field.addEventListener("keydown", (event) => { if (!spec && event.key !== "Tab") compute(); });
      field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(compute, PAUSE_MS); });
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
