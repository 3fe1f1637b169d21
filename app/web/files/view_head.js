// Head: one matrix, of a single head or the mean of many, as a heat map, as lines, or as a table.

import { check, choice, h, percent, select, setChoices } from "./dom.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { keepMass } from "./matrix.js";
import { cellOf, elementsOf, rowBars, sentenceOf } from "./readout.js";
import { depth, headCount, mutedHeads, toggleMuted } from "./session.js";
import { change, state } from "./state.js";
import { tableOf } from "./table.js";
import { chosen, describe } from "./wants.js";

export const FAMILIES = [["cross", "Cross: translation on source"], ["encoder", "Encoder: source on source"], ["decoder", "Decoder: translation on itself"]];
const EXPLAIN = {
  cross: "Rows: words of the translation, at the moment after each was written. Columns: the source.",
  encoder: "Rows and columns: the source. Each row shows what a word of the source looks at while it is read.",
  decoder: "Rows and columns: the translation. A row sees only what was written before it, hence the triangle.",
};

const EXPLAIN_LINES = {
  cross: "Above: the source. Below: words of the translation, at the moment after each was written.",
  encoder: "Above and below: the source. A line shows what a word below looks at while it is read.",
  decoder: "Above and below: the translation. A line shows what a word below looks at, of what was written before it.",
};

export function createHead({ say }) {
  const controls = createControls();
  const hint = h("p", { class: "hint" });
  const readout = h("p", { class: "readout" });
  const bars = h("ol", { class: "rivals" });
  const legend = scaleLegend();
  const stage = h("div", { class: "stage" });
  const body = h("div", { class: "head-body" }, stage, h("div", { class: "head-side" }, readout, bars));
  const empty = () => (state().draw === "lines" ? "Point at a word to see its lines alone."
    : "Point at a cell to read its weight. Click to keep it.");
  let matrix = null;

  function onPoint(row, column, how) {
    if (row === null) return clear();
    bars.replaceChildren(...rowBars(matrix, row, column));
    readout.replaceChildren(...elementsOf(matrix, row, column), how === "lock" ? h("span", { class: "quiet" }, "kept: Esc lets go") : "");
    if (how === "lock") say(`Kept. ${sentenceOf(matrix, row)}`);
    else if (how !== "hover") say(sentenceOf(matrix, row));
  }

  function clear() {
    readout.replaceChildren(empty());
    bars.replaceChildren();
  }

  const heat = new Heatmap({ name: "Attention weights", describe: (row, column) => cellOf(matrix, row, column), onPoint });
  const lines = new Lines({ onPoint });
  const element = h("div", { class: "view head" }, controls.element, hint, body, legend);

  function update(sentence) {
    const now = state();
    controls.update(sentence);
    const found = sentence.matrix(now);
    matrix = { ...found, ...keepMass(found, Number(now.mass) / 100) };
    controls.hidden(hiddenShare(matrix));
    hint.textContent = (now.draw === "lines" && !now.table ? EXPLAIN_LINES : EXPLAIN)[now.family] + more(chosen(now));
    heat.locked = false;
    clear();
    body.classList.toggle("alone", Boolean(now.table));
    const shown = now.table ? tableOf(matrix, `Weights, ${describe(now)}`) : now.draw === "lines" ? lines.element : heat.element;
    if (now.table || stage.firstChild !== shown) stage.replaceChildren(shown);
    if (shown === heat.element) heat.show(matrix, now.scale);
    if (shown === lines.element) lines.show(matrix);
    element.classList.toggle("absolute", now.scale === "abs");
    legend.hidden = shown !== heat.element;
    controls.scaled(shown === heat.element);
  }

  return { element, update, title: "Head", matrix: () => matrix, heat };
}

function more({ layer, head }) {
  if (layer === "rollout") return " Rollout multiplies the layers, each averaged with what passes around it: where each word's content came from in the end, if attention alone carried it.";
  return head === "max" ? " The largest of all heads: rows no longer sum to 1." : "";
}

const hiddenShare = ({ hidden }) => (hidden ? hidden.reduce((sum, one) => sum + one, 0) / hidden.length : null);

function scaleLegend() {
  return h("p", { class: "legend heat-legend" }, h("span", null, "0"), h("i", { "aria-hidden": "true" }),
    h("span", { class: "legend-top" }), h("span", null, "outlined: the largest of a row"),
    h("span", null, "bars: how much a column gets from all rows"));
}

function createControls() {
  const family = select("Family", FAMILIES, (value) => change({ family: value, layer: "mean" }));
  const layer = select("Layer", [], (value) => change({ layer: value }));
  const head = select("Head", [], (value) => change({ head: value }));
  const unit = check("words", (on) => change({ unit: on ? "words" : "pieces" }));
  const special = check("hide marks", (on) => change({ special: on ? "hide" : "keep" }));
  special.element.title = "Marks are the language tag and the start and end of the sentence. Heads put weight there that they have no other use for.";
  const draw = choice("Draw as", "draw", [["matrix", "matrix"], ["lines", "lines"], ["table", "table"]],
    (value) => change(value === "table" ? { table: "1" } : { table: "", draw: value }));
  const scale = choice("Scale", "scale", [["row", "row's largest"], ["abs", "0 to 1"]], (value) => change({ scale: value }));
  const mass = massSlider();
  const mute = h("button", { type: "button", class: "quiet-button", click: () => toggleMuted(selected()) }, "Mute this head");
  const selected = () => ({ family: state().family, layer: Number(state().layer), head: Number(state().head) });
  const element = h("div", { class: "controls" }, family.element, layer.element, head.element,
    draw.element, scale.element, mass.element, h("div", { class: "checks" }, unit.element, special.element), mute);

  function update() {
    const now = state();
    const count = depth(now.family);
    const through = now.family === "encoder" ? [["rollout", "rollout, through all"]] : [];
    setChoices(layer.list, [["mean", `mean of ${count}`], ...through, ...numbered(count)]);
    setChoices(head.list, [["mean", `mean of ${headCount()}`], ["max", `largest of ${headCount()}`], ...numbered(headCount())]);
    family.list.value = now.family;
    const { layer: shownLayer, head: shownHead } = chosen(now);
    layer.list.value = shownLayer;
    head.list.value = shownHead;
    head.list.disabled = shownLayer === "rollout";
    unit.box.checked = now.unit === "words";
    special.box.checked = now.special === "hide";
    draw.set(now.table ? "table" : now.draw);
    scale.set(now.scale);
    mass.set(now.mass);
    const single = /^\d+$/.test(now.layer) && /^\d+$/.test(now.head);
    const isMuted = mutedHeads().some(({ name }) => name === `${now.family}.${now.layer}.${now.head}`);
    mute.disabled = !single;
    mute.title = single ? "" : "Choose one layer and one head first";
    mute.textContent = isMuted ? "Let this head speak" : "Mute this head";
    mute.setAttribute("aria-pressed", String(isMuted));
  }

  const hidden = (share) => {
    special.text.textContent = share === null ? "hide marks" : `hide marks (${percent(share)} hidden)`;
  };
  const scaled = (used) => { scale.element.hidden = !used; };
  return { element, update, hidden, scaled };
}

const numbered = (count) => [...Array(count).keys()].map((index) => [index, index + 1]);

/** Keeps the largest weights of each row until they make up so much of it. */
function massSlider() {
  const output = h("output", null, "100 %");
  const input = h("input", { type: "range", min: "10", max: "100", step: "5", "aria-label": "Share of each row's weight to keep",
    input: () => change({ mass: input.value }) });
  const element = h("label", { class: "field mass" }, h("span", null, "Keep of each row ", output), input);
  return { element, set: (value) => { input.value = value; output.textContent = `${value} %`; } };
}
