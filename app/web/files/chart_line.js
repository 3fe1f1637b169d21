// A line chart: a few series over the same axis, each with marks of its own shape and, where known, ranges.

import { h, svg } from "./dom.js";
import { at } from "./chart_parts.js";

/** `series` are [{ points: [{ x, y, low, high, text }] }], in the order of the legend. */
export function lineChart({ series, across, up, xAxis, yAxis, xFormat, yFormat }) {
  const readout = h("p", { class: "chart-readout" }, "Point at a mark to read it.");
  const spot = ({ x, y }) => [across.place(x), up.place(y)];
  const paths = series.map(({ points }, kind) => svg("polyline", { class: `series kind-${kind}`, "vector-effect": "non-scaling-stroke",
    points: points.map(spot).map(([x, y]) => `${(100 * x).toFixed(2)},${(100 - 100 * y).toFixed(2)}`).join(" ") }));
  const ranges = series.flatMap(({ points }, kind) => points.filter(({ low }) => low != null).map(({ x, low, high }) => {
    const range = at(h("i", { class: `whisker kind-${kind}` }), "--at", across.place(x));
    return at(at(range, "--from", up.place(low)), "--to", up.place(high));
  }));
  const marks = series.flatMap(({ points }, kind) => points.map((point) => {
    const [x, y] = spot(point);
    const made = h("span", { class: `dot mark kind-${kind}`, pointerenter: () => { readout.textContent = point.text; }, click: () => { readout.textContent = point.text; } });
    return at(at(made, "--at", x), "--up", y);
  }));
  const levels = up.marks.map((mark) => at(h("span", { class: "tick level" }, yFormat(mark)), "--up", up.place(mark)));
  const gridlines = up.marks.map((mark) => at(h("i", { class: "gridline level" }), "--up", up.place(mark)));
  const columns = across.marks.map((mark) => at(h("span", { class: "tick" }, xFormat(mark)), "--at", across.place(mark)));
  const field = h("div", { class: "line-field" }, gridlines,
    svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, paths), ranges, marks);
  return h("div", { class: "plot line-plot", "aria-hidden": "true" },
    h("p", { class: "axis-name upright" }, yAxis), h("div", { class: "levels" }, levels), field,
    h("div", { class: "strip-axis" }, columns), h("p", { class: "axis-name" }, xAxis), readout);
}
