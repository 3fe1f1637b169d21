// What all charts share: a sentence above, an axis with round numbers, a table below that says the same.

import { h } from "./dom.js";

/** Round numbers from the least to the most, about `count` of them. */
export function ticks(least, most, count = 5) {
  const rough = (most - least || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)));
}

/** A scale from numbers to shares of the axis' length. */
export function linear(least, most) {
  const marks = ticks(least, most);
  return { least, most, marks, place: (value) => (value - least) / (most - least || 1) };
}

/** Equal factors are equal distances; what is not above `least` stands at the edge. */
export function logarithmic(least, most) {
  const marks = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++) {
    for (const factor of [1, 3]) {
      const mark = Number((factor * 10 ** power).toPrecision(1));
      if (mark >= least * 0.999 && mark <= most) marks.push(mark);
    }
  }
  const place = (value) => Math.log(Math.max(value, least) / least) / Math.log(most / least);
  return { least, most, marks, place };
}

/** Sets where something stands along an axis, in percent of its length. */
export function at(element, name, share) {
  element.style.setProperty(name, `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`);
  return element;
}

/**
 * A chart with its sentence and its table.
 * `table` is { columns, rows }, cells being text, numbers or elements; the first of each row names it.
 */
export function figure({ id, sentence, reading, plot, legend, table, controls }) {
  const title = h("h3", { id: `${id}-title` }, sentence);
  return h("figure", { class: "chart", id, "aria-labelledby": `${id}-title` },
    h("figcaption", null, title, h("p", { class: "hint" }, reading)), controls, legend, plot,
    h("details", { class: "chart-table" }, h("summary", null, "The numbers as a table"), tableOf(table, sentence)));
}

function tableOf({ columns, rows }, caption) {
  const head = h("tr", null, columns.map((name) => h("th", { scope: "col" }, name)));
  const body = rows.map(([name, ...cells]) => h("tr", null, h("th", { scope: "row" }, name), cells.map((cell) => h("td", null, cell))));
  return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `Table: ${caption}` },
    h("table", null, h("caption", { class: "sr" }, caption), h("thead", null, head), h("tbody", null, body)));
}

/** Names of the marks that tell series apart, for people who do not see colours as well. */
export function legendOf(names) {
  return h("p", { class: "legend chart-legend" }, names.map((name, index) =>
    h("span", null, h("i", { class: `mark kind-${index}`, "aria-hidden": "true" }), name)));
}
