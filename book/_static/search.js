// What the search finds, in which order, and how it is shown. MiniSearch weighs the rows
// of the index (search_names.py): names most, then titles, then what is said, and
// chapters more than annexes and the reference. No page is fetched, so it runs from disk.
"use strict";

const Finder = (() => {
  const FIELDS = { names: 6, title: 4, page: 2, text: 1, words: 0.5 };
  const WEIGHTS = [
    [/^book\/(evidence|references|how-to|edition|readiness|teach|tools)/, 0.1],
    [/^book\/api\/cli#$/, 0.7],
    [/^book\/api\//, 0.2],
    [/^chapters\/[^/]+\/annex|#exercise-/, 0.3],
    [/^book\/glossary/, 0.12],
    [/^chapters\//, 1],
    [/./, 0.7],
  ];
  const NAMED = 4; // times as much for a name that is all of the query
  const LISTS = /^book\/(api|glossary)/; // every row of these; of other pages the best
  const ASKING = "a an can do does how i is much my of should the to versus vs was we what when where which who why you".split(" ");
  const MOST = 40, LEAST = 0.01, EXCERPT = 240; // the least: as a share of the best’s

  // Words as they are compared: small, spelled as in America, without their endings.
  const stemmer = new Stemmer(), stems = new Map();
  const american = (word) => word.replace(/is(ation|e|ed|es|er|ing)(?=s?$)/, "iz$1").replace(/our(?=s?$|ed$|ing$)/, "or")
    .replace(/(cent|fib|lit|met)re(?=s?$)/, "$1er").replace(/enc(?=e(s|d)?$)/, "ens").replace(/(\w[ae])ll(?=ing$|ed$)/, "$1l");
  function stem(word) {
    const small = american(word.toLowerCase());
    if (!stems.has(small)) stems.set(small, stemmer.stemWord(small));
    return stems.get(small);
  }
  const split = (text) => text.match(/[\p{L}\p{N}]+/gu) || [];
  // Two words that may be written as one: top-p, KV cache, all_reduce.
  const joined = (words) => words.slice(1).map((word, i) => words[i] + word);
  const key = (name) => wanted(name).map(stem).join("");

  // Of a name or title any two words, of a text only those that it joins itself.
  function tokens(text, field) {
    const loose = field === "names" || field === "title";
    const together = loose ? text.split("\n") : text.match(/[\p{L}\p{N}]+(?:[-_./][\p{L}\p{N}]+)+/gu) || [];
    return [...split(text), ...together.flatMap((words) => joined(split(words)))];
  }

  // The most frequent word of the index that is one letter, or two changed about, away.
  function respelled(word) {
    const long = word.length, near = [...spelled.keys()].filter((other) => Math.abs(other.length - long) < 2 && isNear(word, other));
    return near.reduce((best, other) => (spelled.get(other) > (spelled.get(best) || 0) ? other : best), word);
  }

  function isNear(word, other) {
    let from = 0, a = word.length, b = other.length;
    while (from < Math.min(a, b) && word[from] === other[from]) from += 1;
    while (a > from && b > from && word[a - 1] === other[b - 1]) { a -= 1; b -= 1; }
    const [one, two] = [word.slice(from, a), other.slice(from, b)];
    return Math.max(one.length, two.length) < 2 || (one.length === 2 && one === [...two].reverse().join(""));
  }

  let rows, mini, spelled;
  function open() {
    const { pages, names } = Search._index;
    rows = Object.entries(pages).flatMap(([docname, [page, found]]) => found.map((row, at) => {
      const [title, place, own, text, words] = row;
      const anchor = at ? place : "";
      const weight = WEIGHTS.find(([pattern]) => pattern.test(`${docname}#${anchor}`))[1];
      const all = at ? own : [own, ...(names[docname] || [])].join("\n");
      return { docname, page: at && !LISTS.test(docname) ? page : "", title, anchor, names: all, text, words, weight };
    }));
    rows.forEach((row, id) => { row.id = id; });
    mini = new MiniSearch({
      fields: Object.keys(FIELDS), tokenize: tokens, processTerm: stem,
      searchOptions: { boost: FIELDS, tokenize: (word) => [word] },
    });
    mini.addAll(rows);
    spelled = new Map();
    for (const { title, names, text } of rows) for (const word of split(`${title} ${names} ${text}`.toLowerCase())) spelled.set(word, (spelled.get(word) || 0) + 1);
  }

  // The words of a query that count: all of them where none does.
  function wanted(query) {
    const words = split(query);
    const told = words.filter((word) => !ASKING.includes(word.toLowerCase()) && !stopwords.includes(word.toLowerCase()));
    return told.length ? told : words;
  }

  // A word that nothing in the book begins with is taken for a slip.
  const known = (words) => words.map((word) => {
    const small = word.toLowerCase(), long = small.length > 3;
    return !long || spelled.has(small) || mini.search(small, { prefix: true }).length ? word : respelled(small);
  });

  function hits(words) {
    const query = { combineWith: "OR", queries: [...new Set([...words, ...joined(words)])] };
    const found = mini.search(query, { prefix: (term) => term.length > 3 });
    return found.length ? found : mini.search(query, { fuzzy: (term) => term.length > 3 && 0.25 });
  }

  // The rows that a query finds, the best first.
  function find(query) {
    if (!mini) open();
    const words = known(wanted(query)), asked = key(words.join(" ")), terms = new Set(words.map(stem));
    const scored = hits(words).map(({ id, score, queryTerms }) => {
      const row = rows[id];
      const held = queryTerms.filter((term) => terms.has(term)).length;
      const share = held < queryTerms.length ? 1 : held / terms.size; // else two words in one
      const called = [row.title, row.title.replace(/^stacklib\./, ""), row.title.split(".").pop(), ...row.names.split("\n")];
      const named = called.some((name) => key(name) === asked) ? NAMED : 1;
      return { row, score: score * row.weight * share ** 3 * named };
    });
    scored.sort((a, b) => b.score - a.score);
    const seen = new Set();
    return scored.filter(({ score, row: { docname, anchor } }) => {
      if (score < LEAST * scored[0].score) return false;
      const one = LISTS.test(docname) ? `${docname}#${anchor}` : docname;
      return !seen.has(one) && seen.add(one);
    }).slice(0, MOST);
  }

  // Whole sentences from the one that has most of the words.
  function excerpt(text, query) {
    const terms = new Set([...wanted(query), ...joined(wanted(query))].map(stem));
    const sentences = text.match(/.+?(?:[.?!](?=\s|$)|$)\s*/g) || [];
    const held = sentences.map((one) => new Set(tokens(one).map(stem).filter((word) => terms.has(word))).size);
    const from = held.indexOf(Math.max(...held));
    const said = sentences.slice(from).join("");
    const short = said.length > EXCERPT ? `${said.slice(0, said.lastIndexOf(" ", EXCERPT))} …` : said;
    return from > 0 ? `… ${short}` : short;
  }

  const title = ({ page, title: own }) => (page ? `${page} > ${own}` : own);
  const href = ({ docname, anchor }) => `${docname}${DOCUMENTATION_OPTIONS.FILE_SUFFIX}${anchor && `#${anchor}`}`;

  // What is marked in an excerpt, and on the page that is opened: no single letters.
  const marked = (query) => wanted(query.toLowerCase()).filter((word) => word.length > 2);

  function item(row, query) {
    const line = document.createElement("li");
    const link = line.appendChild(document.createElement("a"));
    link.href = document.documentElement.dataset.content_root + href(row);
    link.textContent = title(row);
    const said = line.appendChild(document.createElement("p"));
    said.className = "context";
    said.textContent = excerpt(row.text, query);
    if (SPHINX_HIGHLIGHT_ENABLED) marked(query).forEach((word) => _highlightText(said, word, "highlighted"));
    return line;
  }

  return { find, item, marked, title };
})();

// As Sphinx has it: the best last, each with page, title, anchor, description, score.
Search._performSearch = (query) => Finder.find(query).reverse().map(({ row, score }) => [
  row.docname, Finder.title(row), row.anchor && `#${row.anchor}`, null, score, row.docname]);

Search.query = (query) => {
  const found = Finder.find(query);
  if (SPHINX_HIGHLIGHT_ENABLED) localStorage.setItem("sphinx_highlight_terms", Finder.marked(query).join(" "));
  Search.output.append(...found.map(({ row }) => Finder.item(row, query)));
  _finishSearch(found.length);
};

// The index is as heavy as ten pages: it comes with a question.
if (new URLSearchParams(location.search).get("q")) Search.loadIndex("searchindex.js");
