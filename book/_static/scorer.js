// How the search orders what it finds (html_search_scorer): first what is asked for by
// its name, then sections of the chapters, facts, and the reference last.
"use strict";

const RANKS = [
  [/^book\/api\//, 0],
  [/^book\/(evidence|references|how-to)/, 1],
  [/^chapters\/[^/]+\/index$/, 2],
  [/^chapters\//, 4],
  [/./, 3],
];
// What many pages have and nobody looks for by its name.
const FURNITURE = / > (Exercises|Sources|Sections|Fallacies|Claims of|A claim|Headline|With a GPU|What the)/;
const NAMED = 100; // the score of a name in the index that is all of the query

// "3.11 Where ..." as a number between 0 and 1: of equals, the book's order decides.
function early(title) {
  const [, chapter, section] = title.match(/^(\d+)\.(\d+) /) || [0, 10, 0];
  return 1 - (100 * chapter + Number(section)) / 1000;
}

var Scorer = {
  score([page, title, , description, score]) {
    const symbol = /^Python /.test((description || "").replace(/[()]/g, "").trim());
    const rank = symbol ? 0 : RANKS.find(([pattern]) => pattern.test(page))[1] + (score >= NAMED ? 4 : 0);
    return 1000 * rank + score - (FURNITURE.test(title) ? 500 : 0) + early(title);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

document.addEventListener("DOMContentLoaded", () => {
  // Names stand in the index in the singular.
  const find = Search._performSearch;
  const one = (query) => query.trim().replace(/s$/i, "");
  Search._performSearch = (query, ...given) =>
    find(one(query).toLowerCase() in Search._index.indexentries ? one(query) : query, ...given);
  // An answer is not shown beside what was searched for, either.
  const whole = Search.htmlToText;
  Search.htmlToText = (html, anchor) => whole(html.replace(/<details class="st-answer">[^]*?<\/details>/g, ""), anchor);
});
