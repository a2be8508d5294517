// The sidebar: chapters are closed but the one that is read, and each list of links is
// one stop of Tab, walked by arrow keys. Without this file it stands whole.
"use strict";

(() => {
  const make = st.element;

  // A chapter is "2 GPU architecture", its sections "2.1 Where does a thread live?".
  function close(list) {
    let sections = null;
    for (const item of [...list.children]) {
      const words = item.querySelector("a").textContent.trim();
      if (/^\d+ /.test(words)) {
        sections = make("ul", { class: "nav st-nav-sections" });
        const fold = make("details", { class: "st-nav-chapter" },
          make("summary", { "aria-label": `Sections of chapter ${parseInt(words, 10)}` }), sections);
        item.append(fold);
        fold.open = item.matches(".active");
      } else if (/^\d+\.\d+ /.test(words) && sections) {
        sections.append(item);
        if (item.matches(".active")) sections.parentElement.open = true;
      }
    }
  }

  // One link of a list is in the order of Tab: the current one, or where the arrows went.
  function walk(nav) {
    const stops = () => [...nav.querySelectorAll("a, summary")].filter((e) => e.checkVisibility());
    const hold = (one) => nav.querySelectorAll("a, summary").forEach((e) => { e.tabIndex = e === one ? 0 : -1; });
    nav.addEventListener("focusin", (event) => hold(event.target));
    nav.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = by && stops()[stops().indexOf(document.activeElement) + by];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    hold(nav.querySelector("a.current") || stops()[0]);
  }

  document.querySelectorAll(".bd-links .bd-sidenav").forEach(close);
  document.querySelectorAll(".bd-links, .bd-toc-nav").forEach(walk);
})();
