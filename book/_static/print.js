// Paper cannot unfold and is white: while the page prints, every fold is open and
// the theme is light.
"use strict";

(() => {
  const root = document.documentElement;
  let before = null;

  window.addEventListener("beforeprint", () => {
    const folds = [...document.querySelectorAll("article details:not([open])")];
    before = { folds, theme: root.dataset.theme };
    folds.forEach((fold) => { fold.open = true; });
    root.dataset.theme = "light";
  });

  window.addEventListener("afterprint", () => {
    before.folds.forEach((fold) => { fold.open = false; });
    root.dataset.theme = before.theme;
  });
})();
