// What the model's maker measured about its heads, as charts. Fetched only when somebody opens the section.

import { aboutAlignment, aboutBleu, aboutDistance, aboutImportance, aboutPruning, aboutRoles, FAMILY_NAMES, headName } from "./analysis_words.js";
import { figure, legendOf, linear, logarithmic } from "./chart_parts.js";
import { lineChart } from "./chart_line.js";
import { stripChart } from "./chart_strip.js";
import { choice, h, percent, sentenceCase } from "./dom.js";
import { headMap } from "./head_map.js";

const FAMILIES = ["encoder", "decoder", "cross"];
const RULES = { predicted: "when written", shifted: "when read back" };
const PARTS = [["heads", importance], ["without_one", bleu], ["pruning", pruning], ["distance", distance], ["alignment", alignment], ["heads", roles]];

/** The charts of whatever was measured; `go(head)` opens a head in the views. */
export function analysisCharts(analysis, go) {
  const made = PARTS.filter(([name]) => analysis[name]).map(([, make]) => make(analysis, go));
  return [introduction(analysis), h("div", { class: "charts" }, made)];
}

function introduction({ examples, pairs, bleu: score, interval, nll }) {
  const [sentences, loss] = [examples ?? pairs, nll && `, loss ${nll.toFixed(2)} nats a piece`];
  return h("p", { class: "hint" }, `Measured once on ${sentences} held-out translations, both directions together: BLEU ${score.toFixed(1)} ± ${interval.toFixed(1)}${loss}. `
    + "Muting a head means that its output counts as zero. These numbers describe this model, not your text.");
}

const badge = (head, go) => h("button", { type: "button", class: "chip head-badge", click: () => go(head) },
  headName(head), h("span", { class: "sr" }, `: look at layer ${head.layer + 1}, head ${head.head + 1}`));
const layersOf = (heads) => FAMILIES.flatMap((family) => [...new Set(heads.filter((each) => each.family === family).map(({ layer }) => layer))].map((layer) => ({ family, layer })));
const layerName = ({ family, layer }) => `${FAMILY_NAMES[family]}, layer ${layer + 1}`;

function importance(analysis, go) {
  const { heads } = analysis;
  const values = heads.map((each) => each.importance);
  const scale = logarithmic(Math.max(Math.min(...values), 1e-3), Math.max(...values) * 1.1);
  const rows = layersOf(heads).map((row) => ({ label: layerName(row),
    dots: heads.filter(({ family, layer }) => family === row.family && layer === row.layer).map((head) => ({
      value: head.importance, kind: FAMILIES.indexOf(row.family), go: () => go(head),
      text: `${sentenceCase(headName(head))}: the loss rises by ${head.importance.toFixed(3)} without it. Click to look at it.` })) }));
  const ranked = [...heads].sort((one, other) => other.importance - one.importance);
  return figure({ id: "chart-importance", sentence: aboutImportance(analysis),
    reading: "Each dot is a head; the further to the right, the more the loss rises when it alone is muted. A click opens the head.",
    plot: stripChart({ rows, scale, axis: "Rise of the loss without the head, nats a piece; equal steps to the right are equal factors", format: String }),
    table: { columns: ["Head", "Rise of the loss"], rows: ranked.map((head) => [badge(head, go), head.importance.toFixed(4)]) } });
}

function bleu(analysis, go) {
  const tried = [...analysis.without_one].sort((one, other) => one.bleu - other.bleu);
  const least = Math.min(...tried.map((each) => each.bleu - each.interval));
  const most = Math.max(analysis.bleu + analysis.interval, ...tried.map((each) => each.bleu + each.interval));
  const rows = tried.map((head) => ({ label: headName(head), dots: [{
    value: head.bleu, low: head.bleu - head.interval, high: head.bleu + head.interval, kind: FAMILIES.indexOf(head.family), go: () => go(head),
    text: `Without ${headName(head)}: BLEU ${head.bleu.toFixed(1)} ± ${head.interval.toFixed(1)}. Click to look at it.` }] }));
  return figure({ id: "chart-bleu", sentence: aboutBleu(analysis),
    reading: "BLEU of the translations with one head muted, for the heads whose muting raises the loss most and least. The bar is the 95 % interval.",
    plot: stripChart({ rows, scale: linear(Math.floor(least), Math.ceil(most)), axis: "BLEU without the head", format: String,
      reference: { value: analysis.bleu, text: `all heads, ${analysis.bleu.toFixed(1)}` } }),
    table: { columns: ["Muted head", "BLEU", "± (95 %)"], rows: tried.map((head) => [badge(head, go), head.bleu.toFixed(1), head.interval.toFixed(1)]) } });
}

function pruning(analysis) {
  const families = FAMILIES.filter((family) => analysis.pruning[family]);
  const points = families.flatMap((family) => {
    const all = Math.max(...analysis.pruning[family].map(({ kept }) => kept));
    return analysis.pruning[family].map((each) => ({ ...each, family, all, share: each.kept / all }));
  });
  const series = families.map((family) => ({ points: points.filter((each) => each.family === family).map((each) => ({
    x: each.share, y: each.bleu, low: each.bleu - each.interval, high: each.bleu + each.interval,
    text: `${FAMILY_NAMES[family]}: with ${each.kept} of ${each.all} heads BLEU ${each.bleu.toFixed(1)} ± ${each.interval.toFixed(1)}` })) }));
  return figure({ id: "chart-pruning", sentence: aboutPruning(analysis),
    reading: "In one family of heads at a time the least important are muted first; nothing is trained again afterwards.",
    legend: legendOf(families.map((family) => FAMILY_NAMES[family])),
    plot: lineChart({ series, across: linear(0, 1), up: linear(0, Math.max(...points.map((each) => each.bleu + each.interval)) * 1.02),
      xAxis: "Heads kept of the family", yAxis: "BLEU", xFormat: percent, yFormat: String }),
    table: { columns: ["Family", "Heads kept", "of", "BLEU", "± (95 %)"],
      rows: points.map((each) => [FAMILY_NAMES[each.family], each.kept, each.all, each.bleu.toFixed(1), each.interval.toFixed(1)]) } });
}

function distance(analysis) {
  const families = FAMILIES.filter((family) => analysis.distance[family]);
  const all = families.flatMap((family) => analysis.distance[family].map((value, layer) => ({ family, layer, value })));
  const deepest = Math.max(...all.map(({ layer }) => layer), 1);
  const series = families.map((family) => ({ points: all.filter((each) => each.family === family).map(({ layer, value }) => ({
    x: layer + 1, y: value, text: `${FAMILY_NAMES[family]}, layer ${layer + 1}: ${value.toFixed(3)}` })) }));
  const across = { ...linear(0.7, deepest + 1.3), marks: [...Array(deepest + 1).keys()].map((layer) => layer + 1) };
  return figure({ id: "chart-distance", sentence: aboutDistance(analysis),
    reading: "How different the heads of a layer are from each other: the mean Jensen-Shannon divergence of all pairs of heads, 0 where they are copies, at most 0.69.",
    legend: legendOf(families.map((family) => FAMILY_NAMES[family])),
    plot: lineChart({ series, across, up: linear(0, Math.max(...all.map(({ value }) => value)) * 1.1), xAxis: "Layer", yAxis: "Mean distance, nats",
      xFormat: String, yFormat: (value) => String(value) }),
    table: { columns: ["Family", "Layer", "Mean distance"], rows: all.map(({ family, layer, value }) => [FAMILY_NAMES[family], layer + 1, value.toFixed(3)]) } });
}

function alignment(analysis, go) {
  const { rules, alignment_layer: layer, alignment_rule: rule } = analysis.alignment;
  const holder = h("div", { class: "wide" });
  const directions = Object.keys(rules[rule]);
  const chooser = choice("Direction", "aligned-direction", directions.map((name) => [name, name.replace("-", "\u00a0→\u00a0")]), (name) => show(name));
  const show = (name) => {
    chooser.set(name);
    holder.replaceChildren(alignmentOf(rules, name, { layer, rule }, directions.length > 1 ? chooser.element : null, go));
    holder.querySelector("input:checked")?.focus({ preventScroll: true });
  };
  show(directions[0]);
  return holder;
}

function alignmentOf(rules, direction, { layer, rule }, controls, go) {
  const all = Object.entries(rules).flatMap(([name, measured]) => measured[direction].layers.map((together, at) => ({
    name, way: RULES[name] ?? name, layer: at, together, heads: measured[direction].heads[at], used: name === rule && at === layer })));
  const rows = all.map((row) => ({ label: `Layer ${row.layer + 1}, ${row.way}${row.used ? " (used)" : ""}`, dots: [
    ...row.heads.map((value, head) => ({ value, kind: 0, go: () => go({ family: "cross", layer: row.layer, head }),
      text: `Layer ${row.layer + 1}, head ${head + 1}, ${row.way}: ${percent(value)}. Click to look at it.` })),
    { value: row.together, kind: 1, text: `All heads of layer ${row.layer + 1} together, ${row.way}: ${percent(row.together)}` }] }));
  const used = rules[rule][direction];
  return figure({ id: "chart-alignment", sentence: aboutAlignment({ rows: all, direction: direction.replace("-", " → ") }), controls,
    reading: `Share of ${used.anchors} names, numbers and other words alike on both sides on which a piece of the translation puts most of its weight, `
      + "taken from the step that wrote the piece, or from the next one, which reads it back.",
    legend: legendOf(["one head", "all heads of the layer, averaged"]),
    plot: stripChart({ rows, scale: linear(0, 1), axis: "Found", format: percent }),
    table: { columns: ["Layer", "Step", "All heads", ...all[0].heads.map((_, head) => `Head ${head + 1}`)],
      rows: all.map((row) => [`${row.layer + 1}`, row.way, percent(row.together), ...row.heads.map(percent)]) } });
}

function roles(analysis, go) {
  return headMap({ heads: analysis.heads, sentence: aboutRoles(analysis), go });
}
