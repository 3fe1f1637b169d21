// Arithmetic on attention matrices. A matrix is { rows, columns, values, hidden }, its values row by row.

/** The mean, or the largest, of some layers and heads of a family. */
export function reduce({ shape, data }, layer, head) {
  const [layers, heads, rows, columns] = shape;
  const each = (chosen, count) => (Number.isInteger(chosen) ? [chosen] : [...Array(count).keys()]);
  const values = new Float32Array(rows * columns);
  const size = rows * columns;
  const chosenHeads = each(head, heads);
  const chosenLayers = each(layer, layers);
  const share = 1 / (chosenLayers.length * (head === "max" ? 1 : chosenHeads.length));
  const most = new Float32Array(size);
  for (const oneLayer of chosenLayers) {
    most.fill(0);
    for (const oneHead of chosenHeads) {
      const from = (oneLayer * heads + oneHead) * size;
      for (let cell = 0; cell < size; cell++) {
        if (head === "max") most[cell] = Math.max(most[cell], data[from + cell]);
        else values[cell] += share * data[from + cell];
      }
    }
    if (head === "max") for (let cell = 0; cell < size; cell++) values[cell] += share * most[cell];
  }
  return { rows, columns, values, hidden: null };
}

/** Pieces to words: the sum over a key's pieces, the mean over a query's, so that rows still sum to 1. */
export function merge(matrix, queryGroups, keyGroups) {
  const values = new Float32Array(queryGroups.length * keyGroups.length);
  queryGroups.forEach((queries, row) => keyGroups.forEach((keys, column) => {
    let sum = 0;
    for (const query of queries) for (const key of keys) sum += matrix.values[query * matrix.columns + key];
    values[row * keyGroups.length + column] = sum / queries.length;
  }));
  return { rows: queryGroups.length, columns: keyGroups.length, values, hidden: null };
}

/** Leaves columns out and scales each row back to 1; `hidden` says how much lay on what was left out. */
export function withoutColumns(matrix, kept) {
  const values = new Float32Array(matrix.rows * kept.length);
  const hidden = new Float32Array(matrix.rows);
  for (let row = 0; row < matrix.rows; row++) {
    let all = 0;
    for (let key = 0; key < matrix.columns; key++) all += matrix.values[row * matrix.columns + key];
    let mass = 0;
    for (const key of kept) mass += matrix.values[row * matrix.columns + key];
    hidden[row] = Math.max(all - mass, 0);
    const scale = mass > 1e-6 ? all / mass : 0;
    kept.forEach((key, column) => {
      values[row * kept.length + column] = scale * matrix.values[row * matrix.columns + key];
    });
  }
  return { rows: matrix.rows, columns: kept.length, values, hidden };
}

/** Keeps the largest weights of each row until they make up `share` of it; the others become 0. */
export function keepMass(matrix, share) {
  if (share >= 1) return matrix;
  const values = new Float32Array(matrix.values.length);
  for (let row = 0; row < matrix.rows; row++) {
    const order = rowOrder(matrix, row);
    const goal = share * rowSum(matrix, row);
    let kept = 0;
    for (const column of order) {
      if (kept >= goal) break;
      kept += values[row * matrix.columns + column] = at(matrix, row, column);
    }
  }
  return { ...matrix, values };
}

export const at = (matrix, row, column) => matrix.values[row * matrix.columns + column];

/** Columns of a row, the heaviest first. */
export function rowOrder(matrix, row) {
  return [...Array(matrix.columns).keys()].sort((one, other) => at(matrix, row, other) - at(matrix, row, one));
}

export function rowSum(matrix, row) {
  let sum = 0;
  for (let column = 0; column < matrix.columns; column++) sum += at(matrix, row, column);
  return sum;
}

export function columnSums(matrix) {
  const sums = new Float32Array(matrix.columns);
  matrix.values.forEach((value, cell) => { sums[cell % matrix.columns] += value; });
  return sums;
}

/** The column of each row's largest weight; -1 where the row is empty. */
export function rowPeaks(matrix) {
  return Array.from({ length: matrix.rows }, (_, row) => {
    let best = -1;
    for (let column = 0; column < matrix.columns; column++) {
      if (at(matrix, row, column) > (best < 0 ? 0 : at(matrix, row, best))) best = column;
    }
    return best;
  });
}
