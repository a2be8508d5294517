// The claims ledger: search and filters over the rows the page holds. What they show
// is kept in the address (#chapter=3&verdict=open&search=hbm), to share or come back
// to; #claim-ID goes to one claim. Without this file: all rows, folded by chapter.
"use strict";

(() => {
  const ANNOUNCE_MS = 250;
  const ORDER = ["reproduced", "close", "other convention", "right if", "agrees with its source",
    "wrong", "true", "false", "depends", "conflict", "cited", "open"];
  const SEARCHED = ".st-claim-text, .st-claim-value, .st-claim-source";
  const ledger = document.querySelector(".st-claims-ledger");
  if (!ledger) return;
  const form = ledger.querySelector(".st-claims-form");
  const status = ledger.querySelector(".st-claims-count");
  const fields = ["search", "chapter", "source", "verdict"];
  let timer = 0;
  let folds = null; // which groups were open before anything was filtered

  const groups = [...ledger.querySelectorAll(".st-claims-group")].map((details) => ({
    details,
    chapter: details.dataset.chapter,
    sum: details.querySelector(".st-claims-sum"),
    rows: [...details.querySelectorAll(".st-claim")].map((node) => ({
      node,
      source: node.dataset.source,
      verdict: node.dataset.verdict,
      text: null, // read at the first search
    })),
  }));

  function text(row) {
    row.text ??= [...row.node.querySelectorAll(SEARCHED)]
      .map((part) => part.textContent).join(" ").toLowerCase();
    return row.text;
  }

  function counted(rows) {
    const count = {};
    rows.forEach((row) => { count[row.verdict] = (count[row.verdict] || 0) + 1; });
    const parts = ORDER.filter((verdict) => count[verdict]).map((verdict) => `${count[verdict]} ${verdict}`);
    return parts.length ? `: ${parts.join(", ")}` : "";
  }

  const asked = () => Object.fromEntries(fields.map((name) => [name, form.elements[name].value.trim()]));
  const claims = (n) => `${n} ${n === 1 ? "claim" : "claims"}`;

  function show(want) {
    const words = want.search.toLowerCase().split(/\s+/).filter(Boolean);
    const active = fields.some((name) => want[name]);
    if (active && !folds) folds = groups.map((group) => group.details.open);
    const all = [];
    let total = 0;
    groups.forEach((group) => {
      const here = !want.chapter || want.chapter === group.chapter;
      const shown = group.rows.filter((row) => here
        && (!want.source || want.source === row.source)
        && (!want.verdict || want.verdict === row.verdict)
        && words.every((word) => text(row).includes(word)));
      const kept = new Set(shown);
      group.rows.forEach((row) => { row.node.hidden = !kept.has(row); });
      group.details.hidden = !shown.length;
      const of = active ? `${shown.length} of ${claims(group.rows.length)}` : claims(group.rows.length);
      group.sum.textContent = of + counted(shown);
      all.push(...shown);
      total += group.rows.length;
    });
    groups.forEach((group, i) => {
      if (active) group.details.open = true;
      else if (folds) group.details.open = folds[i];
    });
    if (!active) folds = null;
    clearTimeout(timer);
    timer = setTimeout(() => {
      status.textContent = all.length
        ? (active ? `${all.length} of ${claims(total)}` : claims(total)) + counted(all)
        : "No claim is left. Clear a filter, or search for fewer words.";
    }, ANNOUNCE_MS);
  }

  // ---- the address ----

  function remember(want) {
    const set = fields.filter((name) => want[name]).map((name) => [name, want[name]]);
    const hash = set.length ? `#${new URLSearchParams(set)}` : "";
    history.replaceState(null, "", location.pathname + location.search + hash);
  }

  function fill(want) {
    fields.forEach((name) => { form.elements[name].value = want.get(name) || ""; });
    show(asked());
  }

  function follow() {
    const hash = location.hash.slice(1);
    const target = hash.startsWith("claim-") ? document.getElementById(hash) : null;
    if (target) {
      if (target.hidden) fill(new URLSearchParams());
      target.closest("details").open = true;
      target.scrollIntoView();
      // Rows above are laid out only now that they are near; go there once more.
      requestAnimationFrame(() => target.scrollIntoView());
    } else if (!hash || hash.includes("=")) {
      fill(new URLSearchParams(hash));
    }
  }

  function changed() {
    show(asked());
    remember(asked());
  }

  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    changed();
    form.elements.search.focus();
  }));
  window.addEventListener("hashchange", follow);
  form.hidden = false;
  if (location.hash) follow();
})();
