// Axes of a live figure: ranges, ticks, tick labels; as stacklib.plots draws them.
"use strict";
window.st = window.st || {};

(() => {
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = (n) => String(n).replace("-", "⁻").replace(/\d/g, (d) => SUPERSCRIPTS[d]);

  function label(value) {
    if (value === 0) return "0";
    const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    const plain = Number(value.toPrecision(3));
    if (power >= -3 && power < 5) return plain.toLocaleString("en", { maximumFractionDigits: 6 });
    const lead = Number((value / 10 ** power).toPrecision(3));
    return (lead === 1 ? "" : `${lead}×`) + "10" + raised(power);
  }

  function logTicks([low, high], room) {
    const [first, last] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
    const decades = Math.log10(high / low);
    const every = Math.max(1, Math.ceil(decades / Math.max(room, 1)));
    const leads = decades * 3 <= room ? [1, 2, 5] : [1];
    const [major, minor] = [[], []];
    for (let power = first; power <= last; power += 1) {
      for (let lead = 1; lead < 10; lead += 1) {
        const value = lead * 10 ** power;
        if (value < low * 0.999 || value > high * 1.001) continue;
        (leads.includes(lead) && (power - first) % every === 0 ? major : minor).push(value);
      }
    }
    return { major, minor: decades > 6 ? [] : minor };
  }

  function linearTicks([low, high], room) {
    const raw = (high - low) / Math.max(room, 2);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((lead) => lead * power).find((size) => size >= raw);
    const major = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i += 1) major.push(i * step);
    return { major, minor: [] };
  }

  function range(values, log) {
    const good = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
    if (!good.length) return [1, 10];
    const [low, high] = [Math.min(...good), Math.max(...good)];
    if (log) return low === high ? [low / 3, high * 3] : [low / 1.15, high * 1.15];
    return [Math.min(0, low), high > 0 ? high * 1.06 : 1];
  }

  // Axis -> {at(value) -> px, ticks}; `pixels` are those of the low and high end.
  function scale(axis, values, pixels, spacing) {
    const log = axis.scale === "log";
    const [low, high] = axis.limits || range(values, log);
    const room = Math.abs(pixels[1] - pixels[0]) / spacing;
    const given = axis.ticks && { major: axis.ticks, minor: [] };
    const shape = log ? Math.log10 : (v) => v;
    const part = (v) => (shape(v) - shape(low)) / (shape(high) - shape(low));
    return {
      low, high,
      at: (v) => pixels[0] + part(v) * (pixels[1] - pixels[0]),
      ticks: given || (log ? logTicks : linearTicks)([Math.min(low, high), Math.max(low, high)], room),
    };
  }

  st.scale = scale;
  st.tickText = label;
})();
