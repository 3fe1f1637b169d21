// A row of a matrix in words: where the weight went, largest first.

import { h, token, weight } from "./dom.js";
import { at, rowOrder } from "./matrix.js";

const MOST = 4;

function partners(matrix, row) {
  return rowOrder(matrix, row).slice(0, MOST).filter((column) => at(matrix, row, column) >= 0.005);
}

/** The whole row as one sentence, for a screen reader. */
export function sentenceOf(matrix, row) {
  const list = partners(matrix, row).map((column) => `${matrix.keys[column].label} ${weight(at(matrix, row, column))}`);
  return `${matrix.queries[row].label}: ${list.join(", ") || "no weight"}`;
}

/** One cell, for a screen reader: the row's word, the column's, the weight. */
export function cellOf(matrix, row, column) {
  return `${matrix.queries[row].label} at ${matrix.keys[column].label}: ${weight(at(matrix, row, column))}`;
}

/** The same as elements; the cell pointed at comes first. */
export function elementsOf(matrix, row, column) {
  const query = matrix.queries[row];
  const pair = (each, chosen) => h("span", { class: chosen ? "pair chosen" : "pair" },
    token(matrix.keys[each].label, matrix.keys[each].language), ` ${weight(at(matrix, row, each))}`);
  return [
    h("strong", null, token(query.label, query.language)), " → ",
    column === null ? "" : pair(column, true),
    matrix.hidden && matrix.hidden[row] >= 0.005
      ? h("span", { class: "quiet" }, `hidden ${weight(matrix.hidden[row])}`) : "",
  ];
}

/** The heaviest columns of a row as bars. */
export function rowBars(matrix, row, column) {
  return rowOrder(matrix, row).slice(0, 9).filter((each) => at(matrix, row, each) >= 0.005).map((each) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, h("i"));
    bar.firstChild.style.setProperty("--share", Math.min(at(matrix, row, each), 1).toFixed(4));
    const { label, language } = matrix.keys[each];
    return h("li", { class: each === column ? "taken" : null }, h("span", { class: "rival" }, token(label, language)), bar,
      h("span", { class: "number" }, weight(at(matrix, row, each))));
  });
}
