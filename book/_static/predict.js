// Predictions: committed before the answer opens, kept in this browser, never sent.
"use strict";

(() => {
  const PREFIX = "st-predict:";

  const kept = (name) => { try { return localStorage.getItem(PREFIX + name); } catch { return null; } };
  const keep = (name, value) => {
    try {
      if (value === null) localStorage.removeItem(PREFIX + name);
      else localStorage.setItem(PREFIX + name, value);
    } catch { /* storage may be forbidden; the prediction then lasts as long as the page */ }
  };

  // "2.5", "2,5", "1 000", "1,000", "1e3" and "10^3" are all numbers a reader may type.
  function read(text) {
    const plain = text.replace(/[\s_]/g, "")
      .replace(/^(\d{1,3})((,\d{3})+)(?=$|\.)/, (whole) => whole.replaceAll(",", ""))
      .replace(",", ".").replace(/^10\^/, "1e").replace(/[x×*]10\^/, "e");
    const value = Number(plain);
    return plain !== "" && Number.isFinite(value) && value > 0 ? value : null;
  }

  const short = (ratio) => (ratio < 9.95 ? ratio.toFixed(1) : String(Number(ratio.toPrecision(2))));

  function verdict(guess, answer) {
    const ratio = guess / answer;
    if (ratio > 0.9 && ratio < 1.1) return "Within 10 % of the answer.";
    return ratio > 1 ? `${short(ratio)} times too high.` : `${short(1 / ratio)} times too low.`;
  }

  function begin(box) {
    const { predict: name, unit, value } = box.dataset;
    const form = box.querySelector("form");
    const input = form.querySelector("input");
    const note = box.querySelector(".st-predict-note");
    const answer = box.querySelector(".st-answer");

    function hide() {
      box.classList.add("st-waiting"); // folds the answer away, on screen only
      form.hidden = answer.open = false;
      note.hidden = true;
    }

    function reveal(text) {
      const again = st.element("button", { type: "button", class: "st-quiet" }, "Predict again");
      again.addEventListener("click", () => { keep(name, null); hide(); input.focus(); });
      note.replaceChildren(`You predicted ${text} ${unit}. `.replace(" .", "."), verdict(read(text), Number(value)), " ", again);
      box.classList.remove("st-waiting");
      form.hidden = answer.open = true;
      note.hidden = false;
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      input.setCustomValidity(read(text) === null ? "A positive number, such as 2.5 or 1e3." : "");
      if (!form.reportValidity()) return;
      keep(name, text);
      reveal(text);
    });
    input.addEventListener("input", () => input.setCustomValidity(""));

    const before = kept(name);
    if (before !== null && read(before) !== null) reveal(before);
    else hide();
  }

  document.querySelectorAll(".st-prediction").forEach(begin);
})();
