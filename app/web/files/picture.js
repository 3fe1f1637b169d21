// Maps as SVG: cells are one small embedded picture, labels are text in the reader's own fonts.

import { direction } from "./dom.js";
import { picture } from "./heatmap_paint.js";
import { textWidth } from "./heatmap.js";

const CELL = 24;
const PAD = 12;

export const escaped = (text) => text.replace(/[&<>"]/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[mark]);

async function dataUrl(canvas) {
  const blob = await canvas.convertToBlob({ type: "image/png" });
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
}

const frame = (width, height, title, inside) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" role="img"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>${inside}</svg>`;

const image = (href, x, y, width, height) =>
  `<image href="${href}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" style="image-rendering:pixelated"/>`;

/** One matrix with its labels. */
export async function matrixSvg(matrix, scale, title) {
  const longest = (entries) => Math.max(...entries.map(({ label }) => textWidth(label)));
  const [side, upright] = [longest(matrix.queries) + 2 * PAD, longest(matrix.keys) + 2 * PAD];
  const mirrored = direction(matrix.keys.find((key) => key.language)?.language) === "rtl";
  const [across, down] = [matrix.columns * CELL, matrix.rows * CELL];
  const cells = image(await dataUrl(picture(matrix, scale, false)), 0, 0, across, down);
  const columns = matrix.keys.map(({ label }, index) => {
    const place = side + ((mirrored ? matrix.columns - 1 - index : index) + 0.5) * CELL;
    return `<text transform="translate(${place + 4} ${upright - 6}) rotate(-90)">${escaped(label)}</text>`;
  });
  const rows = matrix.queries.map(({ label }, index) =>
    `<text x="${side - 8}" y="${upright + (index + 0.5) * CELL + 4.5}" text-anchor="end" direction="ltr">${escaped(label)}</text>`);
  const placed = mirrored ? `translate(${side + across} ${upright}) scale(-1 1)` : `translate(${side} ${upright})`;
  const note = `<text x="${PAD}" y="${upright + down + 26}" font-size="11" fill="#555b6e">${escaped(title)}</text>`;
  return frame(side + across + PAD, upright + down + 40, title, `<g transform="${placed}">${cells}</g>${columns.join("")}${rows.join("")}${note}`);
}

/** All heads of a family: layers are rows. */
export async function gridSvg(sentence, { family, special }) {
  const [layers, heads] = sentence.maps[family].shape;
  const [wide, high] = [120, 90];
  const parts = [];
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      const matrix = sentence.matrix({ family, layer: String(layer), head: String(head), unit: "pieces", special });
      const [x, y] = [PAD + head * (wide + PAD), PAD + layer * (high + 32)];
      parts.push(image(await dataUrl(picture(matrix, "abs", false)), x, y, wide, high),
        `<text x="${x}" y="${y + high + 16}" font-size="11">layer ${layer + 1}, head ${head + 1}</text>`);
    }
  }
  const title = `All heads of the ${family} attention`;
  return frame(PAD + heads * (wide + PAD), PAD + layers * (high + 32), title, parts.join(""));
}
