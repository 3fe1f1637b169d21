// The matrix as lines between two lists of words: side by side on a wide page, one above the other where words are long.

import { direction, h, svg, token } from "./dom.js";
import { at, rowOrder } from "./matrix.js";
import { textWidth } from "./heatmap.js";

const MOST_LINES = 400;
const GAP = 10;
const DEPTH = 170;
const ROW = 30;

export class Lines {
  constructor({ describe, onPoint }) {
    this.describe = describe;
    this.onPoint = onPoint;
    this.drawing = svg("svg", { "aria-hidden": "true" });
    this.field = h("div", { class: "lines-field" });
    this.element = h("div", { class: "lines", role: "group", "aria-label": "Words joined by lines" }, this.field);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("pointerleave", () => this.choose(null));
    new ResizeObserver(() => this.matrix && this.layout()).observe(this.element);
  }

  show(matrix) {
    this.matrix = matrix;
    this.row = null;
    this.width = 0;
    this.layout();
  }

  layout() {
    const width = this.element.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    const lengths = [this.matrix.keys, this.matrix.queries].map((list) => placesAlong(list));
    const needed = Math.max(...lengths.map(({ length }) => length));
    this.across = needed <= Math.max(width, 760) && width >= 560;
    this.element.classList.toggle("across", this.across);
    this.spots = this.across ? lengths.map(({ places, length }) => centred(places, length, Math.max(needed, width))) : this.columns();
    const high = this.across ? DEPTH + 2 * ROW : ROW * Math.max(this.matrix.rows, this.matrix.columns);
    this.box = { width: this.across ? Math.max(needed, width) : width, high };
    this.field.style.width = `${this.box.width}px`;
    this.field.style.height = `${high}px`;
    this.nodes = [this.matrix.keys, this.matrix.queries].map((list, side) => list.map((each, index) => this.node(each, side, index)));
    this.field.replaceChildren(this.drawing, ...this.nodes.flat());
    this.drawing.setAttribute("viewBox", `0 0 ${this.box.width} ${high}`);
    this.draw();
  }

  columns() {
    return [this.matrix.keys, this.matrix.queries].map((list) => list.map((_, index) => ({ middle: ROW * (index + 0.5) })));
  }

  node(each, side, index) {
    const acts = side === 1;
    const made = h(acts ? "button" : "span", { class: `node side-${side}${each.special ? " special" : ""}`,
      ...(acts && { type: "button", tabindex: index ? "-1" : "0",
        pointerenter: () => this.choose(index), focus: () => this.choose(index), click: () => this.choose(index) }) },
      token(each.label, each.language));
    const { middle } = this.spots[side][this.mirror(side, index)];
    made.style.setProperty(this.across ? "left" : "top", `${middle}px`);
    return made;
  }

  /** Lists of languages written from the right begin on the right. */
  mirror(side, index) {
    const list = side ? this.matrix.queries : this.matrix.keys;
    const rightToLeft = this.across && direction(list.find((each) => each.language)?.language) === "rtl";
    return rightToLeft ? list.length - 1 - index : index;
  }

  choose(row) {
    this.row = row;
    this.draw();
    this.onPoint(row, row === null ? null : rowOrder(this.matrix, row)[0], "hover");
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = this.nodes[1];
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, (this.row ?? 0) + step))];
    buttons.forEach((button) => { button.tabIndex = button === next ? 0 : -1; });
    next.focus();
  }

  draw() {
    const chosen = this.row === null ? this.heaviest() : this.ofRow(this.row);
    this.drawing.replaceChildren(...chosen.map(({ row, column, value }) => this.line(row, column, value)));
    const lit = new Map(this.row === null ? [] : chosen.map(({ column, value }) => [column, value]));
    this.nodes[0].forEach((node, column) => node.classList.toggle("lit", (lit.get(column) ?? 0) > 0.05));
    this.nodes[1].forEach((node, row) => node.classList.toggle("lit", row === this.row));
    this.field.classList.toggle("chosen", this.row !== null);
  }

  ofRow(row) {
    return Array.from({ length: this.matrix.columns }, (_, column) => ({ row, column, value: at(this.matrix, row, column) }))
      .filter(({ value }) => value > 0.003);
  }

  heaviest() {
    const found = [];
    for (let row = 0; row < this.matrix.rows; row++) found.push(...this.ofRow(row).filter(({ value }) => value > 0.04));
    return found.sort((one, other) => other.value - one.value).slice(0, MOST_LINES);
  }

  line(row, column, value) {
    const [from, to] = [this.spots[0][this.mirror(0, column)].middle, this.spots[1][this.mirror(1, row)].middle];
    const [near, far] = this.across ? [ROW, ROW + DEPTH] : [this.box.width * 0.38, this.box.width * 0.62];
    const middle = (near + far) / 2;
    const path = this.across
      ? `M${from} ${near}C${from} ${middle} ${to} ${middle} ${to} ${far}`
      : `M${near} ${from}C${middle} ${from} ${middle} ${to} ${far} ${to}`;
    const share = Math.sqrt(Math.min(value, 1));
    return svg("path", { d: path, "stroke-width": (0.6 + 4 * share).toFixed(2), "stroke-opacity": (0.08 + 0.85 * share).toFixed(2) });
  }
}

function placesAlong(list) {
  let length = 0;
  const places = list.map(({ label }) => {
    const width = textWidth(label) + 14;
    const middle = length + width / 2;
    length += width + GAP;
    return middle;
  });
  return { places, length };
}

function centred(places, length, width) {
  return places.map((middle) => ({ middle: middle + (width - length) / 2 }));
}
