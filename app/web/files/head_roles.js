// What a head does in one sentence: numbers to sort heads by, and a name where one thing clearly stands out.

import { at, rowPeaks } from "./matrix.js";

const CLEAR = 0.6;
const BROAD = 0.75;
const SHARP = 0.72;

/** Mean entropy of the rows, as a share of what a row of that length could have. */
export function spread(matrix) {
  let sum = 0;
  for (let row = 0; row < matrix.rows; row++) {
    for (let column = 0; column < matrix.columns; column++) {
      const value = at(matrix, row, column);
      if (value > 0) sum -= value * Math.log(value);
    }
  }
  return sum / matrix.rows / Math.log(Math.max(matrix.columns, 2));
}

/** Mean of the largest weight of each row. */
export function confidence(matrix) {
  return rowPeaks(matrix).reduce((sum, peak, row) => sum + (peak < 0 ? 0 : at(matrix, row, peak)), 0) / matrix.rows;
}

function massWhere(matrix, wanted, counts = () => true) {
  let [sum, rows] = [0, 0];
  for (let row = 0; row < matrix.rows; row++) {
    if (!counts(row)) continue;
    rows++;
    for (let column = 0; column < matrix.columns; column++) if (wanted(row, column)) sum += at(matrix, row, column);
  }
  return rows ? sum / rows : 0;
}

/** A short name for what the head mostly looks at, such as "previous"; empty where nothing stands out. */
export function role(matrix, family, specials) {
  const found = [["marks", massWhere(matrix, (_, column) => specials[column])]];
  if (family !== "cross") {
    found.push(
      ["previous", massWhere(matrix, (row, column) => column === row - 1, (row) => row > 0)],
      ["itself", massWhere(matrix, (row, column) => column === row, (row) => row > 0)],
      ["next", massWhere(matrix, (row, column) => column === row + 1, (row) => row < matrix.rows - 1)],
    );
  }
  const [name, mass] = found.reduce((best, each) => (each[1] > best[1] ? each : best));
  if (mass >= CLEAR) return name;
  return spread(matrix) > BROAD ? "broad" : confidence(matrix) > SHARP ? "focused" : "";
}

/** Mean Jensen-Shannon distance of two heads over the same pieces, from 0 (alike) to 1. */
export function distance(one, other) {
  let sum = 0;
  for (let cell = 0; cell < one.values.length; cell++) {
    const [p, q] = [one.values[cell], other.values[cell]];
    const middle = (p + q) / 2;
    if (p > 0) sum += p * Math.log2(p / middle) / 2;
    if (q > 0) sum += q * Math.log2(q / middle) / 2;
  }
  return Math.sqrt(Math.max(sum / one.rows, 0));
}
