// Paper cannot unfold and is white: while the page prints, every fold is open and
// the theme is light. What a reader should not see at once comes last, as in the PDF.
"use strict";

(() => {
  const HELD = ".st-exercise > .st-held, .st-prediction .st-answer";
  const OWNER = ".st-exercise-title strong, .st-exercise-name";
  const root = document.documentElement;
  let before = null;

  const owner = (fold) => {
    const exercise = fold.closest(".st-exercise");
    if (!exercise) return "Prediction";
    return [...exercise.querySelectorAll(OWNER)].map((name) => name.textContent).join(", ");
  };

  // Hints, answers and solutions in a section of their own; where each was, a mark.
  function toTheEnd() {
    const end = document.createElement("section");
    end.className = "st-print-end";
    const marks = [...document.querySelectorAll(HELD)].map((fold) => {
      const mark = document.createComment("");
      const title = document.createElement("h3");
      title.textContent = `${owner(fold)}: ${fold.querySelector("summary").textContent.toLowerCase()}`;
      fold.replaceWith(mark);
      end.append(title, fold);
      return [mark, fold];
    });
    if (marks.length) document.querySelector("article").append(end);
    return () => {
      marks.forEach(([mark, fold]) => mark.replaceWith(fold));
      end.remove();
    };
  }

  window.addEventListener("beforeprint", () => {
    const folds = [...document.querySelectorAll("article details:not([open])")];
    before = { folds, theme: root.dataset.theme, back: toTheEnd() };
    folds.forEach((fold) => { fold.open = true; });
    root.dataset.theme = "light";
  });

  window.addEventListener("afterprint", () => {
    before.back();
    before.folds.forEach((fold) => { fold.open = false; });
    root.dataset.theme = before.theme;
  });
})();
