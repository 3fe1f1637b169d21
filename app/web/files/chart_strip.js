// A strip chart: rows of dots along one axis. A dot may have a range and may lead somewhere.

import { h } from "./dom.js";
import { at } from "./chart_parts.js";

const LONG_LABEL = 16;

/**
 * `rows` are { label, dots: [{ value, low, high, kind, text, go }] }, `text` being what pointing at a dot tells;
 * `reference` is { value, text } of a line through all rows.
 */
export function stripChart({ rows, scale, axis, format, reference }) {
  const readout = h("p", { class: "chart-readout" }, "Point at a dot to read it.");
  const lines = scale.marks.map((mark) => at(h("i", { class: "gridline" }), "--at", scale.place(mark)));
  if (reference) lines.push(at(h("i", { class: "reference" }), "--at", scale.place(reference.value)));
  const tracks = rows.map(({ label, dots }) => [
    h("div", { class: "strip-label" }, label),
    h("div", { class: "strip-track" }, lines.map((line) => line.cloneNode()), dots.map((each) => dot(each, scale, readout)))]);
  const numbers = scale.marks.map((mark) => at(h("span", { class: "tick" }, format(mark)), "--at", scale.place(mark)));
  // Everything in it is in the table as well, in words; only that table is read aloud and walked through.
  const long = rows.some(({ label }) => label.length > LONG_LABEL) ? " long-labels" : "";
  const dense = rows.every(({ dots }) => dots.length === 1) ? " dense" : "";
  return h("div", { class: `plot strip-plot${long}${dense}`, "aria-hidden": "true" }, tracks,
    h("div", { class: "strip-label axis-label" }), h("div", { class: "strip-axis" }, numbers),
    h("div"), h("p", { class: "axis-name" }, axis, reference ? `; dashed: ${reference.text}` : ""), h("div"), readout);
}

function dot({ value, low, high, kind = 0, text, go }, scale, readout) {
  const tell = () => { readout.textContent = text; };
  const made = at(h("span", { class: `dot mark kind-${kind}${go ? " leads" : ""}`, pointerenter: tell, click: () => { tell(); go?.(); } }), "--at", scale.place(value));
  if (low == null) return made;
  const range = at(at(h("i", { class: "range" }), "--from", scale.place(low)), "--to", scale.place(high));
  return [range, made];
}
