// A heat map with labels, one cell of which can be pointed at, walked to with the keyboard, and locked.

import { direction, h, perFrame, token } from "./dom.js";
import { paint, picture, rowTops } from "./heatmap_paint.js";
import { columnSums } from "./matrix.js";
import { onSchemeChange } from "./scale.js";

const LEAST_CELL = 16;
const MOST_CELL = 54;
const MOST_LABEL = 132;

export class Heatmap {
  /** `describe(row, column)` words a cell; `onPoint(row, column, how)` hears where the reader is. */
  constructor({ name, describe, onPoint }) {
    this.describe = describe;
    this.onPoint = onPoint;
    this.at = { row: 0, column: 0 };
    this.locked = false;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.columnLabels = h("div", { class: "heat-columns", "aria-hidden": "true" });
    this.rowLabels = h("div", { class: "heat-rows", "aria-hidden": "true" });
    this.cell = h("div", { class: "heat-cell", role: "gridcell", tabindex: "0" });
    this.rowElement = h("div", { role: "row", class: "heat-row" }, this.cell);
    this.field = h("div", { class: "heat-field" }, this.canvas, this.rowElement);
    this.corner = h("div", { class: "heat-corner", "aria-hidden": "true" });
    this.element = h("div", { class: "heat", role: "grid", "aria-label": name },
      this.corner, this.columnLabels, this.rowLabels, this.field);
    this.repaint = perFrame(() => this.paint());
    this.listen();
  }

  listen() {
    this.element.addEventListener("scroll", this.repaint, { passive: true });
    new ResizeObserver(() => this.layout()).observe(this.element);
    onSchemeChange(() => this.matrix && this.show(this.matrix, this.scale));
    this.field.addEventListener("pointermove", (event) => this.hover(event));
    // A finger that is lifted leaves as well, but what it pointed at is still being read.
    this.field.addEventListener("pointerleave", ({ pointerType }) => this.locked || pointerType === "touch" || this.point(null));
    this.field.addEventListener("click", (event) => this.press(event));
    this.cell.addEventListener("focus", () => this.point(this.at, "focus"));
    this.cell.addEventListener("keydown", (event) => this.key(event));
  }

  show(matrix, scale) {
    this.matrix = matrix;
    this.scale = scale;
    this.cells = picture(matrix, scale);
    this.tops = rowTops(matrix, scale);
    this.mirrored = direction(matrix.keys.find((key) => key.language)?.language) === "rtl";
    const rowsRight = direction(matrix.queries.find((query) => query.language)?.language) === "rtl";
    this.element.classList.toggle("rows-right", rowsRight);
    this.element.setAttribute("aria-rowcount", matrix.rows);
    this.element.setAttribute("aria-colcount", matrix.columns);
    this.at = { row: Math.min(this.at.row, matrix.rows - 1), column: Math.min(this.at.column, matrix.columns - 1) };
    this.labels();
    this.layout();
    this.place(this.at);
  }

  labels() {
    const sums = this.scale === "signed" ? null : columnSums(this.matrix);
    const most = sums && Math.max(...sums, 1e-6);
    const columns = this.matrix.keys.map((key, index) => {
      const bar = sums && h("i", { class: "heat-sum" });
      bar?.style.setProperty("--share", sums[index] / most);
      return h("span", { class: key.special ? "special" : null }, label(key), bar);
    });
    this.columnLabels.replaceChildren(...(this.mirrored ? columns.reverse() : columns));
    this.rowLabels.replaceChildren(...this.matrix.queries.map((query) =>
      h("span", { class: query.special ? "special" : null }, label(query))));
  }

  /** Cells as large as the room allows, but never too small to be pointed at. */
  layout() {
    if (!this.matrix || !this.element.clientWidth) return;
    const longest = (entries) => Math.max(...entries.map(({ label }) => textWidth(label)));
    const side = Math.min(longest(this.matrix.queries) + 18, MOST_LABEL, this.element.clientWidth * 0.34);
    const upright = Math.min(longest(this.matrix.keys) + 26, MOST_LABEL);
    const room = (this.element.clientWidth - side - 4) / this.matrix.columns;
    this.size = Math.max(LEAST_CELL, Math.min(MOST_CELL, Math.floor(room)));
    for (const [name, value] of Object.entries({ cell: this.size, side, upright,
      across: this.size * this.matrix.columns, down: this.size * this.matrix.rows })) {
      this.element.style.setProperty(`--${name}`, `${value}px`);
    }
    this.side = side;
    this.upright = upright;
    this.place(this.at);
    this.paint();
  }

  paint() {
    if (!this.matrix || !this.size) return;
    const styles = getComputedStyle(this.element);
    const width = Math.min(this.element.clientWidth - this.side, this.size * this.matrix.columns);
    const height = Math.min(this.element.clientHeight - this.upright, this.size * this.matrix.rows);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    paint(this.canvas, {
      matrix: this.matrix, cells: this.cells, tops: this.tops, size: this.size, mirrored: this.mirrored,
      left: this.element.scrollLeft, top: this.element.scrollTop, width, height,
      page: getComputedStyle(this.corner).backgroundColor, ink: styles.color,
    });
  }

  hover(event) {
    if (this.locked || event.pointerType === "touch") return;
    this.point(this.cellUnder(event), "hover");
  }

  /** A mouse locks at once; a finger first looks and locks with a second tap. */
  press(event) {
    const under = this.cellUnder(event);
    const same = under.row === this.at.row && under.column === this.at.column;
    if (event.pointerType === "touch" && !(same && this.pointed)) {
      this.locked = false;
      this.point(under, "touch");
    } else {
      this.lock(!(this.locked && same), under);
    }
    this.cell.focus({ preventScroll: true });
  }

  cellUnder(event) {
    const box = this.field.getBoundingClientRect();
    const clamp = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value / this.size)));
    return {
      row: clamp(event.clientY - box.top, this.matrix.rows),
      column: this.seen(clamp(event.clientX - box.left, this.matrix.columns)),
    };
  }

  seen(column) {
    return this.mirrored ? this.matrix.columns - 1 - column : column;
  }

  lock(locked, where = this.at) {
    this.locked = locked;
    this.point(where, locked ? "lock" : "focus");
  }

  point(where, how) {
    this.pointed = Boolean(where);
    if (where) this.place(where);
    this.element.classList.toggle("pointed", this.pointed);
    this.element.classList.toggle("locked", this.locked);
    this.onPoint(where ? this.at.row : null, where ? this.at.column : null, how);
  }

  place({ row, column }) {
    if (!this.matrix?.rows) return;
    for (const [list, before, after] of [[this.rowLabels, this.at.row, row],
      [this.columnLabels, this.seen(this.at.column), this.seen(column)]]) {
      list.children[before]?.classList.remove("here");
      list.children[after]?.classList.add("here");
    }
    this.at = { row, column };
    this.cell.style.transform = `translate(${this.seen(column) * this.size}px, ${row * this.size}px)`;
    this.rowElement.setAttribute("aria-rowindex", row + 1);
    this.cell.setAttribute("aria-colindex", column + 1);
    this.cell.setAttribute("aria-label", this.describe(row, column));
    this.cell.setAttribute("aria-selected", String(this.locked));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = this.at;
    const along = this.mirrored ? -1 : 1;
    const [lastRow, lastColumn] = [this.matrix.rows - 1, this.matrix.columns - 1];
    const moves = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - along], ArrowRight: [row, column + along],
      Home: [row, 0], End: [row, lastColumn],
    };
    if (event.key === "Enter" || event.key === " ") this.lock(!this.locked);
    else if (event.key === "Escape" && (this.locked || this.pointed)) this.lock(false);
    else if (moves[event.key]) this.walk(moves[event.key].map((to, axis) => Math.max(0, Math.min(axis ? lastColumn : lastRow, to))));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  walk([row, column]) {
    this.locked = false;
    this.point({ row, column }, "focus");
    this.reveal();
  }

  /** Scrolls so that the cell is not under the labels, which stay in place. */
  reveal() {
    const { element, size } = this;
    const [x, y] = [this.seen(this.at.column) * size, this.at.row * size];
    const [width, height] = [element.clientWidth - this.side, element.clientHeight - this.upright];
    const into = (place, from, room) => Math.max(Math.min(from, place), place + size - room);
    element.scrollTo({ left: into(x, element.scrollLeft, width), top: into(y, element.scrollTop, height) });
  }
}

function label({ label: text, language }) {
  const made = token(text, language);
  if (/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+$/u.test(text)) made.className = "upright";
  return made;
}

let measure;
/** Width of a label in the font of labels. */
export function textWidth(text) {
  if (!measure) {
    measure = new OffscreenCanvas(1, 1).getContext("2d");
    measure.font = "13px system-ui, sans-serif";
  }
  return measure.measureText(text).width;
}
