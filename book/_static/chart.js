// Draws a figure's specification as SVG, in the grammar of stacklib.plots: marks by
// the key of stacklib.plots.spec; colours are the page's variables.
//   st.chart(spec, width) -> <svg>
"use strict";
window.st = window.st || {};

(() => {
  const NS = "http://www.w3.org/2000/svg";
  const SIZE = 12.5; // text, px
  const ROW = 17; // line of text, px
  const NARROW = 560; // below, names stand in a legend instead of at line ends

  const draw = (tag, attributes, ...children) => {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  const text = (x, y, words, more = {}) => draw("text", {
    x, y, "font-size": SIZE, fill: "var(--st-muted)", "font-family": "var(--st-sans)", ...more }, words);

  const ruler = document.createElement("canvas").getContext("2d");
  const fonts = getComputedStyle(document.documentElement).getPropertyValue("--st-sans");
  ruler.font = `${SIZE}px ${fonts}`;
  const wide = (words) => ruler.measureText(words).width;

  const scale = st.scale;
  const label = st.tickText;

  // ---- marks ----

  const colour = (mark) => {
    if (mark.evidence === "impossible") return "var(--st-impossible)";
    if (mark.this_machine) return "var(--st-this-machine)";
    return `var(--st-series-${mark.series % 6})`;
  };

  const DASH = { simulated: "7 4" };

  function points(mark, x, y) {
    return mark.x.map((value, i) => [x.at(value), y.at(mark.y[i])]).filter((p) => p.every(Number.isFinite));
  }

  function line(mark, x, y) {
    const path = points(mark, x, y).map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("");
    return [draw("path", { d: path, fill: "none", stroke: colour(mark), "stroke-width": 2,
      "stroke-linejoin": "round", "stroke-dasharray": DASH[mark.evidence] || "none" })];
  }

  // 4.5 times as thick as a line, dashes with it; seen however short it is.
  function bar(mark, x, y) {
    const [[left, row], [right]] = points(mark, x, y);
    const dash = (DASH[mark.evidence] || "none").replace(/\d+/g, (n) => 4.5 * n);
    const d = `M${left.toFixed(1)} ${row.toFixed(1)}H${Math.max(right, left + 1.5).toFixed(1)}`;
    const drawn = (own) => draw("path", { d, fill: "none", stroke: colour(mark), "stroke-width": 9, ...own });
    // The gaps of its dashes are not taken for its ends.
    return [...(dash === "none" ? [] : [drawn({ "stroke-opacity": 0.5 })]), drawn({ "stroke-dasharray": dash })];
  }

  // One value of a line is a short piece of it, clear of what it lies on.
  const stroke = (d, colour) => draw("g", {},
    draw("path", { d, stroke: "var(--st-paper)", "stroke-width": 7 }),
    draw("path", { d, stroke: colour, "stroke-width": 3 }));

  function dot(mark, [cx, cy]) {
    const tint = colour(mark);
    const hollow = { fill: "var(--st-paper)", stroke: tint, "stroke-width": 2 };
    const drawn = {
      predicted: () => stroke(`M${cx - 8} ${cy}h16`, tint),
      simulated: () => stroke(`M${cx - 8} ${cy}h6.4m3.2 0h6.4`, tint),
      measured: () => draw("circle", { cx, cy, r: 4.5, fill: tint }),
      claimed: () => draw("path", { d: `M${cx} ${cy - 6}l6 6l-6 6l-6 -6z`, ...hollow }),
      "data sheet": () => draw("rect", { x: cx - 4.5, y: cy - 4.5, width: 9, height: 9, ...hollow }),
      yours: () => draw("circle", { cx, cy, r: 6, ...hollow, "stroke-width": 3 }),
    };
    return drawn[mark.evidence]();
  }

  function dots(mark, x, y) {
    const bars = (mark.spread || []).map(([low, high], i) => draw("line", {
      x1: x.at(mark.x[i]), x2: x.at(mark.x[i]), y1: y.at(low), y2: y.at(high), stroke: colour(mark), "stroke-width": 1.5 }));
    const each = points(mark, x, y).map((p, i) => (mark.each
      ? draw("g", { "data-name": mark.each[i] }, dot(mark, p), draw("title", {}, mark.each[i]))
      : dot(mark, p)));
    return [...bars, ...each];
  }

  // What can be held exactly: strokes as one path, else small dots; a lit one has a
  // circle of its own.
  function places(mark, x, y) {
    const tint = colour(mark);
    if (mark.to) {
      const d = mark.x.map((value, i) => `M${x.at(value).toFixed(1)} ${y.at(mark.y[i]).toFixed(1)}V${y.at(mark.to[i]).toFixed(1)}`).join("");
      return [draw("path", { d, fill: "none", stroke: tint, "stroke-width": mark.lit ? 4 : 1.5 })];
    }
    return points(mark, x, y).flatMap(([cx, cy]) => [
      ...(mark.lit ? [draw("circle", { cx, cy, r: 8, fill: "none", stroke: tint, "stroke-width": 1.5 })] : []),
      draw("circle", { cx, cy, r: mark.lit ? 3.6 : 2.4, fill: tint })]);
  }

  const rule = (mark) => ({ stroke: colour(mark), "stroke-width": 1.2, "stroke-dasharray": "3 3" });

  const vline = (mark, x, y, box) => mark.x.map((value, i) => draw("line", { ...rule(mark),
    x1: x.at(value), x2: x.at(value), y1: box.bottom, y2: mark.y && mark.y.length ? y.at(mark.y[i]) : box.top }));

  const hline = (mark, x, y, box) => mark.y.map((value) => draw("line", { ...rule(mark),
    x1: box.left, x2: box.right, y1: y.at(value), y2: y.at(value) }));

  function corners(mark, x, y, box) {
    const [x1, x2] = mark.x && mark.x.length ? mark.x.map(x.at) : [box.left, box.right];
    const [y1, y2] = mark.y && mark.y.length ? mark.y.map(y.at) : [box.bottom, box.top];
    return { left: Math.max(Math.min(x1, x2), box.left), right: Math.min(Math.max(x1, x2), box.right),
      top: Math.max(Math.min(y1, y2), box.top), bottom: Math.min(Math.max(y1, y2), box.bottom) };
  }

  function band(mark, x, y, box, hatch) {
    const at = corners(mark, x, y, box);
    const impossible = mark.evidence === "impossible";
    return [draw("rect", { x: at.left, y: at.top, width: Math.max(0, at.right - at.left), height: Math.max(0, at.bottom - at.top),
      fill: impossible ? `url(#${hatch})` : colour(mark), "fill-opacity": impossible ? 1 : 0.14 })];
  }

  const CELL = 0.92; // side of a cell, of the place it has
  const TINTED = 0.5; // shades up to this carry text in ink

  // One path a shade, as stacklib.plots; texts only where they fit.
  function cells(mark, x, y, box, hatch) {
    const shades = mark.shades || mark.x.map(() => 1);
    const wideness = CELL * Math.abs(x.at(1) - x.at(0));
    const height = CELL * Math.abs(y.at(1) - y.at(0));
    const fill = mark.evidence === "impossible" ? `url(#${hatch})` : colour(mark);
    const paths = [...new Set(shades)].sort((a, b) => a - b).map((shade) => draw("path", {
      fill, "fill-opacity": shade,
      d: mark.x.map((value, i) => (shades[i] === shade
        ? `M${(x.at(value) - wideness / 2).toFixed(1)} ${(y.at(mark.y[i]) - height / 2).toFixed(1)}h${wideness.toFixed(1)}v${height.toFixed(1)}h${(-wideness).toFixed(1)}z`
        : "")).join("") }));
    const texts = (mark.texts || []).flatMap((words, i) => (words && wide(words) < wideness && height > SIZE
      ? [text(x.at(mark.x[i]), y.at(mark.y[i]) + 4.5, words, { "text-anchor": "middle",
        fill: shades[i] > TINTED ? "var(--st-over)" : "var(--st-ink)" })]
      : []));
    return [...paths, ...texts];
  }

  const MARKS = { line, dots, places, bar, cells, vline, hline, band };

  // ---- axes, names ----

  const said = (axis, value, i) => (axis.names ? axis.names[i] : label(value));

  function axes(spec, x, y, box) {
    const parts = [];
    const grid = (more) => parts.push(draw("line", { stroke: "var(--st-grid)", "stroke-width": 1, ...more }));
    const bare = spec.marks.some((mark) => mark.kind === "cells"); // a grid of its own
    for (const v of bare ? [] : y.ticks.major) grid({ x1: box.left, x2: box.right, y1: y.at(v), y2: y.at(v) });
    for (const v of bare ? [] : x.ticks.major) grid({ x1: x.at(v), x2: x.at(v), y1: box.top, y2: box.bottom });
    for (const v of x.ticks.minor) grid({ x1: x.at(v), x2: x.at(v), y1: box.bottom - 4, y2: box.bottom, stroke: "var(--st-line)" });
    grid({ x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, stroke: "var(--st-line)" });
    y.ticks.major.forEach((v, i) => parts.push(text(box.left - 7, y.at(v) + 4, said(spec.y, v, i), { "text-anchor": "end" })));
    x.ticks.major.forEach((v, i) => parts.push(text(x.at(v), box.bottom + ROW, said(spec.x, v, i), { "text-anchor": "middle" })));
    parts.push(text(2, SIZE, spec.y.label), text(box.right, box.bottom + 2.3 * ROW, spec.x.label, { "text-anchor": "end" }));
    return parts;
  }

  const STROKES = ["line", "bar"]; // kinds with an end to be named at
  const POINTS = ["dots", "places"]; // kinds named beside their last point
  const named = (spec, kinds = [...STROKES, ...POINTS]) =>
    spec.marks.filter((m) => m.name && m.label_at !== "none" && kinds.includes(m.kind));

  // A name over the plot, with a halo in the paper's colour.
  const over = ([x, y], mark) => text(x, y, mark.name, { fill: colour(mark), stroke: "var(--st-paper)",
    "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke" });

  // Where names stand, as [left, baseline]: the first wish that touches no name, else
  // the free row nearest to one of them.
  function spots(box) {
    const taken = [];
    const covers = ([left, y], space) => ({ left: left - 3, right: left + space + 3, top: y - SIZE, bottom: y + 4 });
    const free = (r) => taken.every((t) => r.right <= t.left || r.left >= t.right || r.bottom <= t.top || r.top >= t.bottom);
    const rows = Array.from({ length: Math.floor((box.bottom - box.top) / ROW) }, (_, i) => box.bottom - 8 - i * ROW);
    return (words, wishes) => {
      const space = wide(words);
      const most = box.outer - space - 2;
      // Clear of the ticks at the left, where the name is no longer than the plot.
      const kept = wishes.map(([left, y]) => [Math.max(2, Math.min(box.left + 2, most), Math.min(left, most)), y]);
      const others = kept.flatMap(([left, y]) => rows.map((row) => [left, row, Math.abs(row - y)])).sort((a, b) => a[2] - b[2]);
      const above = kept.filter(([, y]) => y <= box.bottom - 6); // below stand axis and ticks
      const at = [...above, ...others].find((place) => free(covers(place, space))) || kept[0];
      taken.push(covers(at, space));
      return at;
    };
  }

  const atEdge = (mark, x, box) => STROKES.includes(mark.kind) && x.at(mark.x[mark.x.length - 1]) > box.right - 0.05 * (box.right - box.left);

  // Heights as wanted, pushed apart where two rows would touch.
  function apart(rows, box) {
    rows.sort((a, b) => a.y - b.y);
    for (let i = 1; i < rows.length; i += 1) rows[i].y = Math.max(rows[i].y, rows[i - 1].y + ROW);
    const excess = rows.length ? Math.max(0, rows[rows.length - 1].y - box.bottom) : 0;
    for (const row of rows) row.y -= excess;
    return rows;
  }

  // Lines that reach the right edge are named outside it; the rest at their last point.
  function ends(spec, x, y, box, place) {
    const rows = named(spec).flatMap((mark) => {
      const [last] = points({ ...mark, y: mark.to || mark.y }, x, y).slice(-1);
      return last ? [{ mark, x: last[0], y: Math.min(Math.max(last[1], box.top), box.bottom) }] : [];
    });
    const outside = rows.filter((row) => atEdge(row.mark, x, box));
    const inside = rows.filter((row) => !outside.includes(row)).map(({ mark, x: px, y: py }) => {
      const space = wide(mark.name);
      const sides = [px + 9, px - 9 - space];
      if (px + 11 + space > box.right) sides.reverse();
      // A dot may lie on a line: its name stands clear of it, above or below.
      const lifts = STROKES.includes(mark.kind) ? [4, -11, 20] : py - 28 > box.top ? [-11, 20] : [20, -11];
      return over(place(mark.name, lifts.flatMap((lift) => sides.map((left) => [left, py + lift]))), mark);
    });
    return [...inside, ...apart(outside, box).map((row) => text(box.right + 8, row.y + 4, row.mark.name, { fill: colour(row.mark) }))];
  }

  // Names of rules at their foot, in as many rows as they need; of bands at their top.
  function ruleNames(spec, x, y, box, place) {
    return spec.marks.filter((m) => m.name && m.label_at !== "none").flatMap((mark) => {
      const space = wide(mark.name);
      if (mark.kind === "hline") return [over(place(mark.name, [[box.left + 6, y.at(mark.y[0]) - 5]]), mark)];
      if (mark.kind === "band") {
        const at = corners(mark, x, y, box);
        const middle = Math.max(box.left + space / 2, Math.min((at.left + at.right) / 2, box.right - space / 2));
        return [over(place(mark.name, [[middle - space / 2, at.top + ROW - 3]]), mark)];
      }
      if (mark.kind !== "vline") return [];
      const px = x.at(mark.x[0]);
      const left = px + 5 + space > box.right ? px - 5 - space : px + 5;
      return [over(place(mark.name, [[left, box.bottom - 8]]), mark)];
    });
  }

  function keyOf(mark, left, py) {
    const here = { at: (v) => v };
    if (STROKES.includes(mark.kind)) return MARKS[mark.kind]({ ...mark, x: [left, left + 20], y: [py - 4, py - 4] }, here, here);
    if (mark.kind === "dots") return [dot(mark, [left + 10, py - 4])];
    if (mark.kind === "places") return places({ ...mark, x: [left + 10], y: [mark.to ? py : py - 4], to: mark.to && [py - 11] }, here, here);
    return [draw("rect", { x: left + 6, y: py - 11, width: 13, height: 13,
      fill: colour(mark), "fill-opacity": Math.max(...(mark.shades || [1])) })];
  }

  function legend(spec, box, below, kinds) {
    const parts = [];
    const listed = named(spec, kinds);
    let [left, row] = [4, 0];
    for (const mark of listed) {
      const space = wide(mark.name) + 40;
      if (left + space > box.outer && left > 4) [left, row] = [4, row + 1];
      const py = below + row * ROW;
      parts.push(...keyOf(mark, left, py), text(left + 26, py, mark.name, { fill: "var(--st-ink)" }));
      left += space;
    }
    return { parts, height: listed.length ? (row + 1) * ROW : 0 };
  }

  const all = (spec, axis) => spec.marks.flatMap((m) => [...(m[axis] || []), ...(axis === "y" ? [...(m.spread || []).flat(), ...(m.to || [])] : [])]);

  function plotBox(spec, width, narrow, x) {
    const edge = narrow ? [] : named(spec).filter((m) => STROKES.includes(m.kind)).map((m) => wide(m.name) + 12);
    const height = spec.square ? Math.min(460, width) : Math.max(260, Math.min(400, width * 0.56));
    const ticks = st.scale(spec.y, all(spec, "y"), [height - 46, 26], 42).ticks.major.map((v, i) => wide(said(spec.y, v, i)));
    // The last tick's label is centred under it and may reach beyond the plot.
    const below = st.scale(spec.x, all(spec, "x"), [0, width], 62).ticks.major.map((v, i) => wide(said(spec.x, v, i)) / 2 + 2);
    const box = { left: Math.max(...ticks, 10) + 12, right: width - Math.max(14, ...edge, ...below), top: 28, bottom: height - 46, outer: width, height };
    // What is round is drawn round: as wide as high.
    const side = Math.min(box.right - box.left, box.bottom - box.top);
    return spec.square ? { ...box, right: box.left + side, bottom: box.top + side } : box;
  }

  // As stacklib.plots: marks without a series take one by the order of their names.
  function withSeries(spec) {
    const order = [...new Set(spec.marks.map((mark) => mark.name))];
    return { ...spec, marks: spec.marks.map((mark) => ({ ...mark, series: mark.series ?? order.indexOf(mark.name) })) };
  }

  // A tap on a dot that has a name says it under the figure; a mouse need only rest.
  document.addEventListener("click", ({ target }) => {
    for (const old of document.querySelectorAll(".st-dot-name")) old.remove();
    const dot = target.closest && target.closest("svg [data-name]");
    if (!dot) return;
    const said = document.createElement("p");
    said.className = "st-dot-name";
    said.role = "status";
    said.textContent = dot.dataset.name;
    dot.ownerSVGElement.after(said);
  });

  let drawn = 0;

  st.chart = (given, width) => {
    const spec = withSeries(given);
    const narrow = width < NARROW;
    const box = plotBox(spec, width, narrow);
    const x = scale(spec.x, all(spec, "x"), [box.left, box.right], 62);
    const y = scale(spec.y, all(spec, "y"), [box.bottom, box.top], 42);
    drawn += 1;
    const [hatch, clip] = [`st-hatch-${drawn}`, `st-clip-${drawn}`];
    // Cells have no end to stand at: their names are always below.
    const listed = narrow ? [...STROKES, ...POINTS, "cells"] : ["cells"];
    const below = legend(spec, box, box.height + SIZE, listed);
    const place = spots(box);
    const rules = ruleNames(spec, x, y, box, place);
    const names = narrow ? below.parts : [...ends(spec, x, y, box, place), ...below.parts];
    const marks = spec.marks.flatMap((mark) => MARKS[mark.kind](mark, x, y, box, hatch));
    return draw("svg", { viewBox: `0 0 ${width} ${box.height + below.height}`, role: "img", "aria-label": spec.title },
      draw("defs", {},
        draw("pattern", { id: hatch, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
          draw("line", { x1: 0, x2: 0, y1: 0, y2: 8, stroke: "var(--st-impossible)", "stroke-width": 2, "stroke-opacity": 0.5 })),
        draw("clipPath", { id: clip },
          draw("rect", { x: box.left - 7, y: box.top - 7, width: box.right - box.left + 14, height: box.bottom - box.top + 14 }))),
      ...axes(spec, x, y, box),
      draw("g", { "clip-path": `url(#${clip})` }, ...marks),
      ...rules, ...names);
  };
})();
