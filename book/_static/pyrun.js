// Runnable blocks: the listing becomes a field over its own coloured text.
// Tab indents; Escape first gives Tab back its usual meaning.
"use strict";

(() => {
  const make = st.element;

  // Token classes are Pygments', so that the page's style colours the edited text too.
  const TOKENS = [
    ["c1", /#[^\n]*/], ["s2", /[fFrRbB]{0,2}("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/],
    ["mi", /\b\d[\w.]*\b/],
    ["kn", /\b(?:from|import)\b/],
    ["kc", /\b(?:True|False|None)\b/],
    ["ow", /\b(?:and|or|not|in|is)\b/],
    ["k", /\b(?:def|class|return|if|elif|else|for|while|break|continue|pass|raise|try|except|finally|with|as|lambda|yield|assert|global|nonlocal|del|async|await)\b/],
    ["n", /[A-Za-z_]\w*/],
  ];
  const ANY = new RegExp(TOKENS.map(([, pattern]) => `(${pattern.source.replace(/\((?!\?)/g, "(?:")})`).join("|"), "g");

  function coloured(code) {
    const parts = [];
    let at = 0;
    for (const found of code.matchAll(ANY)) {
      const kind = TOKENS[found.slice(1).findIndex((group) => group !== undefined)][0];
      parts.push(code.slice(at, found.index), make("span", { class: kind }, found[0]));
      at = found.index + found[0].length;
    }
    return [...parts, code.slice(at), "\n"];
  }

  function tabKey(editor, paint) {
    let leaving = false; // after Escape, Tab moves on
    editor.addEventListener("blur", () => { leaving = false; });
    editor.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leaving = true;
      if (event.key !== "Tab" || leaving || event.shiftKey) return;
      event.preventDefault();
      editor.setRangeText("    ", editor.selectionStart, editor.selectionEnd, "end");
      paint();
    });
  }

  function begin(block, index) {
    const listing = block.querySelector("pre");
    const original = listing.textContent.replace(/\n$/, "");
    const hint = `st-pyrun-hint-${index}`;
    const editor = make("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", rows: 1, "aria-label": "Python program", "aria-describedby": hint });
    const run = make("button", { type: "button", class: "st-run" }, "Run");
    const reset = make("button", { type: "button", class: "st-reset" }, "Reset");
    const status = make("span", { role: "status" });
    const output = make("pre", { class: "st-pyrun-output", tabindex: "0", "aria-label": "Output", "aria-live": "polite", hidden: "" });
    const help = make("span", { id: hint }, "Editable. Escape, then Tab, leaves the field.");
    const bar = make("div", { class: "st-pyrun-bar" }, run, reset, help, status);
    const pane = make("div", { class: "highlight" }, make("div", { class: "st-pyrun-editor" }, listing, editor));
    let running = false;

    const paint = () => { listing.replaceChildren(...coloured(editor.value)); };

    function show(words, failed) {
      output.hidden = false;
      output.textContent = words || "(no output)";
      output.classList.toggle("st-pyrun-error", failed);
    }

    async function start() {
      if (running) { st.python.stop(); return; }
      running = true;
      run.textContent = "Stop";
      const unwatch = st.python.watch((text) => { status.textContent = text; });
      try {
        const { output: printed, error } = await st.python.run(editor.value);
        show(printed + error, Boolean(error));
      } catch (error) {
        show(error.message, true);
      }
      unwatch();
      status.textContent = "";
      running = false;
      run.textContent = "Run";
    }

    listing.setAttribute("aria-hidden", "true");
    editor.value = original;
    block.replaceChildren(pane, bar, output);
    paint();
    tabKey(editor, paint);
    editor.addEventListener("input", paint);
    editor.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); start(); }
    });
    run.addEventListener("click", start);
    reset.addEventListener("click", () => { editor.value = original; output.hidden = true; paint(); });
  }

  // Copy buttons read the listing later than this; they keep working on its text.
  document.querySelectorAll(".st-pyrun").forEach(begin);
})();
