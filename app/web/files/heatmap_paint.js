// Draws the visible part of a matrix on a canvas: one small picture of the cells, scaled up, then what goes on top.

import { at, rowPeaks } from "./matrix.js";
import { colour, inkOn, isDark } from "./scale.js";

const GAPS_FROM = 9;
const NUMBERS_FROM = 28;

/** The cells as a picture of one dot each; files are always light, as paper is. */
export function picture(matrix, scale, dark = isDark()) {
  const canvas = new OffscreenCanvas(Math.max(matrix.columns, 1), Math.max(matrix.rows, 1));
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const tops = rowTops(matrix, scale);
  for (let row = 0; row < matrix.rows; row++) {
    for (let column = 0; column < matrix.columns; column++) {
      const place = 4 * (row * matrix.columns + column);
      image.data.set(colour(at(matrix, row, column) / tops[row], dark), place);
      image.data[place + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** What counts as full colour in each row: 1, or the row's largest weight. */
export function rowTops(matrix, scale) {
  if (scale === "signed") {
    const most = matrix.values.reduce((top, value) => Math.max(top, Math.abs(value)), 0.02);
    return new Float32Array(matrix.rows).fill(most);
  }
  if (scale === "abs") return new Float32Array(matrix.rows).fill(1);
  return rowPeaks(matrix).map((peak, row) => (peak < 0 ? 1 : at(matrix, row, peak)));
}

/** Paints what is visible at (left, top) of a matrix whose cells are `size` wide and high. */
export function paint(canvas, { matrix, cells, tops, size, left, top, width, height, mirrored, page, ink }) {
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, wide, high);
  context.setTransform(ratio, 0, 0, ratio, -left * ratio, -top * ratio);
  context.imageSmoothingEnabled = false;
  const [across, down] = [matrix.columns * size, matrix.rows * size];
  context.save();
  if (mirrored) context.transform(-1, 0, 0, 1, across, 0);
  context.drawImage(cells, 0, 0, across, down);
  context.restore();
  const range = visible(matrix, { size, left, top, width, height });
  if (size >= GAPS_FROM) gaps(context, range, size, across, down, page);
  const column = (index) => (mirrored ? matrix.columns - 1 - index : index);
  peaks(context, matrix, range, size, column, ink);
  if (size >= NUMBERS_FROM) numbers(context, matrix, tops, range, size, column);
}

function visible(matrix, { size, left, top, width, height }) {
  return {
    firstRow: Math.max(Math.floor(top / size), 0),
    lastRow: Math.min(Math.ceil((top + height) / size), matrix.rows) - 1,
    firstColumn: Math.max(Math.floor(left / size), 0),
    lastColumn: Math.min(Math.ceil((left + width) / size), matrix.columns) - 1,
  };
}

function gaps(context, range, size, across, down, page) {
  context.fillStyle = page;
  for (let row = range.firstRow; row <= range.lastRow + 1; row++) context.fillRect(0, row * size - 1, across, 2);
  for (let column = range.firstColumn; column <= range.lastColumn + 1; column++) {
    context.fillRect(column * size - 1, 0, 2, down);
  }
}

/** An outline round each row's largest weight: colour alone would not be seen by everybody. */
function peaks(context, matrix, range, size, column, ink) {
  const inset = size >= GAPS_FROM ? 1.75 : 0.5;
  context.strokeStyle = ink;
  context.lineWidth = size >= GAPS_FROM ? 1.5 : 1;
  rowPeaks(matrix).forEach((peak, row) => {
    if (peak < 0 || row < range.firstRow || row > range.lastRow) return;
    context.strokeRect(column(peak) * size + inset, row * size + inset, size - 2 * inset, size - 2 * inset);
  });
}

function numbers(context, matrix, tops, range, size, column) {
  context.font = `${size >= 36 ? 11 : 10}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = range.firstRow; row <= range.lastRow; row++) {
    for (let index = 0; index < matrix.columns; index++) {
      const place = column(index);
      const value = at(matrix, row, index);
      if (place < range.firstColumn || place > range.lastColumn || Math.abs(value) < 0.005) continue;
      context.fillStyle = inkOn(colour(value / tops[row]));
      context.fillText(short(value), (place + 0.5) * size, (row + 0.5) * size + 0.5);
    }
  }
}

/** .07, 1: without the zero that every weight would begin with. */
const short = (value) => value.toFixed(2).replace("0.", ".").replace(/^1\.00$/, "1");

/** Paints a matrix as small as a thumbnail, its cells mixed or stretched as they must be. */
export function paintThumbnail(canvas, matrix, pixels) {
  const cells = picture(matrix, "abs");
  const ratio = devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(pixels.width * ratio), height: Math.round(pixels.height * ratio) });
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = matrix.columns > canvas.width;
  context.drawImage(cells, 0, 0, canvas.width, canvas.height);
}

