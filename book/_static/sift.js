// Tables that sort and sift. Without this file they stand whole, in their first order.
// A cell's data-v is the number it sorts by; a cell without one is not known and comes
// last in either direction.
"use strict";

(() => {
  const make = st.element;
  const TYPING_MS = 120;
  const compareText = (a, b) => a.localeCompare(b, "en", { numeric: true });
  const words = (row, at) => row.cells[at].textContent.trim();

  const number = (row, at) => {
    const { v } = row.cells[at].dataset;
    return v === undefined ? null : Number(v);
  };

  function order(at, numeric, sign) {
    if (!numeric) return (a, b) => sign * compareText(words(a, at), words(b, at));
    return (a, b) => {
      const [x, y] = [number(a, at), number(b, at)];
      return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);
    };
  }

  const labelled = (id, label, field) =>
    make("div", { class: "st-sift-field" }, make("label", { for: id }, label), field);

  function begin(box) {
    const body = box.querySelector("tbody");
    const rows = [...body.rows];
    const heads = [...box.querySelectorAll("thead th")];
    const found = new Map(rows.map((row) => [row, `${row.textContent} ${row.dataset.words || ""}`.toLowerCase()]));
    const count = make("p", { class: "st-sift-count", role: "status" });
    const text = make("input", { type: "search", id: `${box.id}-text`, autocomplete: "off", spellcheck: "false" });
    const menus = new Map(heads.filter((head) => "menu" in head.dataset).map((head) => [head, menu(head)]));
    let state = {};

    function menu(head) {
      const values = [...new Set(rows.map((row) => words(row, heads.indexOf(head))))].sort(compareText);
      const field = make("select", { id: `${box.id}-${head.dataset.key}` }, make("option", { value: "" }, "all"),
        ...values.map((value) => make("option", { value }, value)));
      field.addEventListener("change", () => change({ [head.dataset.key]: field.value }));
      return field;
    }

    function keeps(row) {
      const asked = (state.text || "").toLowerCase().split(/\s+/).filter(Boolean);
      return asked.every((word) => found.get(row).includes(word)) &&
        [...menus.keys()].every((head) => {
          const wanted = state[head.dataset.key];
          return !wanted || words(row, heads.indexOf(head)) === wanted;
        });
    }

    function show() {
      const [key, way] = (state.sort || "").split(".");
      const at = heads.findIndex((head) => head.dataset.key === key);
      const sorted = at < 0 ? rows : [...rows].sort(order(at, heads[at].dataset.type === "number", way === "down" ? -1 : 1));
      for (const row of rows) row.hidden = !keeps(row);
      body.append(...sorted);
      heads.forEach((head, i) => {
        if (i === at) head.setAttribute("aria-sort", way === "down" ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      const left = rows.filter((row) => !row.hidden).length;
      count.textContent = left === rows.length ? `All ${left}` : `${left} of ${rows.length}`;
    }

    function change(values) {
      state = { ...state, ...values };
      show();
      st.fragment.set(box.id, state);
    }

    // Numbers fall first, names rise first; a third press gives the first order back.
    function press(head) {
      const [key, way] = (state.sort || "").split(".");
      const [one, two] = head.dataset.type === "number" ? ["down", "up"] : ["up", "down"];
      const next = key !== head.dataset.key ? one : way === one ? two : "";
      change({ sort: next && `${head.dataset.key}.${next}` });
    }

    function restore() {
      state = st.fragment.get(box.id);
      text.value = state.text || "";
      for (const [head, field] of menus) field.value = state[head.dataset.key] || "";
      show();
    }

    let timer = 0;
    text.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({ text: text.value.trim() }), TYPING_MS);
    });
    const clear = make("button", { type: "button", class: "st-sift-clear" }, "Clear");
    clear.addEventListener("click", () => {
      st.fragment.set(box.id, {});
      restore();
      text.focus();
    });
    const fields = [...menus].map(([head, field]) => labelled(field.id, head.textContent, field));
    for (const head of heads) {
      const button = make("button", { type: "button", class: "st-sift-sort" }, ...head.childNodes);
      button.addEventListener("click", () => press(head));
      head.append(button);
    }
    box.prepend(make("div", { class: "st-sift-bar" }, labelled(text.id, "Find", text), ...fields, clear, count));
    window.addEventListener("hashchange", restore);
    restore();
    if (Object.keys(state).length) box.scrollIntoView();
  }

  document.querySelectorAll(".st-sift").forEach(begin);
})();
