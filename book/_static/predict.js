// Predictions: committed before the bars over their answer lift, kept in this browser,
// never sent.
"use strict";

(() => {
  const PREFIX = "st-predict:";

  const WANTED = "A positive number, such as 2.5 or 1e3";

  // Storage may be forbidden; a prediction then lasts as long as the page.
  const got = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const put = (key, value) => {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch { /* as above */ }
  };
  const kept = (name) => got(PREFIX + name);
  const keep = (name, value) => put(PREFIX + name, value);

  // "2.5", "2,5", "1 000", "1,000", "1e3" and "10^3" are all numbers a reader may type.
  function number(text) {
    const plain = text.replace(/[\s_]/g, "")
      .replace(/^(\d{1,3})((,\d{3})+)(?=$|\.)/, (whole) => whole.replaceAll(",", ""))
      .replace(",", ".").replace(/^10\^/, "1e").replace(/[x×*·]10\^/, "e");
    const value = Number(plain);
    return plain !== "" && Number.isFinite(value) && value > 0 ? value : null;
  }

  const PREFIXES = { p: 1e-12, n: 1e-9, "µ": 1e-6, m: 1e-3, "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
    Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
  const BASES = ["s", "B", "FLOP", "W", "J", "Hz", "bit", "MAC", "OP", "m", "cycle", "USD", ""];
  const WORDS = { times: "", x: "", "×": "", "$": "USD", bytes: "B", byte: "B", percent: "%",
    bits: "bit", cycles: "cycle", tokens: "token", days: "day", years: "year",
    seconds: "s", second: "s", milliseconds: "ms", microseconds: "µs", nanoseconds: "ns" };

  // [factor, base] of a unit: ms is [0.001, "s"], TFLOP/s is [1e12, "FLOP/s"].
  function unitOf(text) {
    const [over, ...under] = text.trim().replace(/[uμ](?=s|m|W|J)/, "µ").split("/");
    const word = WORDS[over.trim()] ?? over.trim();
    const tail = ["", ...under].join("/");
    for (const base of BASES) {
      const prefix = word.slice(0, word.length - base.length);
      if (base && word.endsWith(base) && prefix in PREFIXES) return [PREFIXES[prefix], base + tail];
    }
    return [1, word + tail];
  }
  st.unitOf = unitOf;

  // What was typed, as a number of the unit asked for; null where it is no such number.
  function read(text, unit) {
    const bare = number(unit.startsWith("USD") ? text.replace("$", "") : text);
    if (bare !== null) return bare;
    const [, amount, typed] = text.trim().match(/^(.*?[\d.])\s*([a-zµμ%×$][^\d]*)$/i) || [];
    const value = number(amount || "");
    if (value === null) return null;
    if (typed.toLowerCase() === unit.toLowerCase()) return value;
    const [[factor, base], [asked, wanted]] = [unitOf(typed), unitOf(unit)];
    return base === wanted ? value * factor / asked : null;
  }

  const short = (ratio) => (ratio < 9.95 ? ratio.toFixed(1) : String(Number(ratio.toPrecision(2))));

  function verdict(guess, answer) {
    const ratio = guess / answer;
    if (ratio > 0.9 && ratio < 1.1) return "Within 10 % of the answer.";
    return ratio > 1 ? `${short(ratio)} times too high.` : `${short(1 / ratio)} times too low.`;
  }

  const ALWAYS = "st-predict-never-ask";
  const SHOWN = "shown"; // kept instead of a prediction
  const boxes = []; // how each is passed by, and whether it waits

  const button = (words, act) => {
    const made = st.element("button", { type: "button", class: "st-quiet" }, words);
    made.addEventListener("click", act);
    return made;
  };

  function begin(box) {
    const { predict: name, unit, value, also } = box.dataset;
    const form = box.querySelector("form");
    const input = form.querySelector("input");
    const note = box.querySelector(".st-predict-note");
    const answer = box.querySelector(".st-answer");
    let lift = null; // the bars over the answer, while it waits

    function hide() {
      box.classList.add("st-waiting"); // folds the answer away, on screen only
      form.hidden = answer.open = false;
      note.hidden = true;
      lift ??= st.ink(answer.querySelector(".st-q").dataset.q, () => pass(true), also ? also.split("; ") : []);
    }

    function reveal(...words) {
      const again = button("Predict again", () => { keep(name, null); put(ALWAYS, null); hide(); input.focus(); });
      note.replaceChildren(...words, " ", again);
      box.classList.remove("st-waiting");
      form.hidden = answer.open = true;
      note.hidden = false;
      if (lift) lift();
      lift = null;
    }

    function commit(text) {
      const said = number(text) === null ? text : `${text} ${unit}`.trim();
      reveal(`You predicted ${said}. `, verdict(read(text, unit), Number(value)));
    }

    function pass(lasting) {
      if (lasting) keep(name, SHOWN);
      reveal("Shown without a prediction.");
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      input.setCustomValidity(read(text, unit) === null ? WANTED + (unit ? `, in ${unit}.` : ".") : "");
      if (!form.reportValidity()) return;
      keep(name, text);
      commit(text);
    });
    input.addEventListener("input", () => input.setCustomValidity(""));

    form.append(button("Show me", () => pass(true)), button("Never ask", () => {
      put(ALWAYS, "1");
      boxes.forEach((one) => one());
    }));
    boxes.push(() => { if (lift) pass(false); });
    const before = kept(name);
    if (before === SHOWN || got(ALWAYS)) pass(false);
    else if (before !== null && read(before, unit) !== null) commit(before);
    else hide();
  }

  document.querySelectorAll(".st-prediction").forEach(begin);
})();
