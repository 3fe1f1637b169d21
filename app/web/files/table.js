// The matrix as a table that can be read aloud and copied, and as comma-separated values.

import { h, token } from "./dom.js";
import { at } from "./matrix.js";

export function tableOf(matrix, caption) {
  const corner = h("td");
  const columns = matrix.keys.map((key) => h("th", { scope: "col" }, token(key.label, key.language)));
  const rows = matrix.queries.map((query, row) => h("tr", null,
    h("th", { scope: "row" }, token(query.label, query.language)),
    matrix.keys.map((_, column) => h("td", null, at(matrix, row, column).toFixed(3)))));
  return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", null, h("caption", null, caption), h("thead", null, h("tr", null, corner, columns)), h("tbody", null, rows)));
}

/** A cell of comma-separated values; a leading sign is kept from being read as a formula. */
function field(text) {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(matrix) {
  const lines = [["", ...matrix.keys.map(({ label }) => field(label))]];
  matrix.queries.forEach((query, row) => {
    lines.push([field(query.label), ...matrix.keys.map((_, column) => at(matrix, row, column).toFixed(4))]);
  });
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}
