// Grid: every head of a family as a small picture. Click opens it, muting one translates the sentence again without it.

import { openAbout } from "./about.js";
import { check, choice, h, percent, select } from "./dom.js";
import { confidence, distance, role, spread } from "./head_roles.js";
import { paintThumbnail } from "./heatmap_paint.js";
import { onSchemeChange } from "./scale.js";
import { mutedHeads, session, toggleMuted } from "./session.js";
import { change, state } from "./state.js";
import { FAMILIES } from "./view_head.js";

const SORTS = [["position", "position"], ["focus", "focus, sharpest first"], ["entropy", "entropy, broadest first"],
  ["similarity", "similarity to the mean"], ["importance", "importance, if measured"]];

export function createGrid({ say }) {
  const family = select("Family", FAMILIES, (value) => change({ family: value, layer: "mean" }));
  const sort = select("Order", SORTS, (value) => change({ sort: value }));
  const special = check("hide marks", (on) => change({ special: on ? "hide" : "keep" }));
  const doing = choice("A click", "doing", [["open", "opens"], ["mute", "mutes"]], (value) => { mode = value; });
  const grid = h("div", { class: "grid", role: "group", "aria-label": "All heads" });
  const readout = h("p", { class: "readout" });
  const hint = h("p", { class: "hint" }, "Names under the pictures say what a head mostly does in this sentence. Press x on a head to mute it. ",
    h("button", { type: "button", class: "link", click: openAbout }, "What was measured about them"));
  const element = h("div", { class: "view grid-view" },
    h("div", { class: "controls" }, family.element, sort.element, doing.element, h("div", { class: "checks" }, special.element)),
    hint, grid, readout);
  let mode = "open";
  let heads = [];
  let sentence = null;
  let drawn = "";
  doing.set(mode);

  function update(next) {
    const now = state();
    family.list.value = now.family;
    sort.list.value = now.sort;
    sort.list.querySelector("[value=importance]").disabled = !importance(now.family);
    special.box.checked = now.special === "hide";
    const wanted = `${now.family} ${now.special}`;
    if (next !== sentence || drawn !== wanted) {
      heads = measure(next, now);
      sentence = next;
      drawn = wanted;
    }
    build(now);
  }

  function build(now) {
    const muted = new Set(mutedHeads().map(({ name }) => name));
    const focused = document.activeElement?.dataset?.head;
    const rows = now.sort === "position";
    grid.classList.toggle("by-layer", rows);
    grid.style.setProperty("--heads", heads.filter(({ layer }) => layer === 0).length);
    const ordered = inOrder(heads, now);
    const tiles = ordered.map((head, index) => tile(head, muted.has(head.name), index));
    grid.replaceChildren(...(rows ? withLayers(ordered, tiles) : tiles));
    grid.querySelector(`[data-head="${focused}"]`)?.focus();
    readout.textContent = "Point at a head to read about it.";
  }

  function tile(head, isMuted, index) {
    const canvas = h("canvas", { "aria-hidden": "true" });
    paintThumbnail(canvas, head.matrix, { width: 96, height: 72 });
    return h("button", { type: "button", class: isMuted ? "tile muted" : "tile", tabindex: index ? "-1" : "0",
      "data-head": head.name,
      click: () => act(head, mode), pointerenter: () => read(head), focus: () => read(head),
      keydown: (event) => key(event, head) },
    canvas, h("span", { class: "tile-name" }, `${head.layer + 1}·${head.head + 1}`, h("span", { class: "sr" }, ` layer ${head.layer + 1}, head ${head.head + 1} `)), h("span", { class: "badge" }, isMuted ? "muted" : head.role));
  }

  function act(head, what) {
    if (what === "mute") toggleMuted(head);
    else change({ view: "head", layer: head.layer, head: head.head });
  }

  function read(head) {
    readout.textContent = `Layer ${head.layer + 1}, head ${head.head + 1}: mean of the largest weights ${head.focus.toFixed(2)}, `
      + `entropy ${percent(head.spread)} of the most possible, ${head.role || "nothing stands out"}.`;
  }

  function key(event, head) {
    if (event.key === "x") {
      event.stopPropagation();
      say(`${mutedHeads().some(({ name }) => name === head.name) ? "Speaks again" : "Muted"}: layer ${head.layer + 1}, head ${head.head + 1}`);
      return toggleMuted(head);
    }
    const buttons = [...grid.querySelectorAll(".tile")];
    const at = buttons.indexOf(event.currentTarget);
    const across = Math.max(1, buttons.filter(({ offsetTop }) => offsetTop === buttons[0].offsetTop).length);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across, Home: 0, End: buttons.length - 1 }[event.key];
    if (!buttons[to]) return undefined;
    event.preventDefault();
    buttons.forEach((button, index) => { button.tabIndex = index === to ? 0 : -1; });
    return buttons[to].focus();
  }

  onSchemeChange(() => sentence && element.isConnected && build(state()));
  return { element, update, title: "Grid" };
}

function measure(sentence, { family, special }) {
  const [layers, heads] = sentence.maps[family].shape;
  const all = [];
  const raw = (layer, head, how) => sentence.matrix({ family, layer: String(layer), head: String(head), unit: "pieces", special: how });
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      const kept = raw(layer, head, "keep");
      const matrix = special === "hide" ? raw(layer, head, "hide") : kept;
      const specials = kept.keys.map((key) => key.special);
      all.push({ family, layer, head, name: `${family}.${layer}.${head}`, matrix,
        role: role(kept, family, specials), focus: confidence(matrix), spread: spread(matrix) });
    }
  }
  const mean = raw("mean", "mean", special);
  for (const head of all) head.distance = distance(head.matrix, mean);
  return all;
}

/** Importance of heads as the model's analysis measured it; none where no analysis comes with the model. */
function importance(family) {
  const found = session.info.model.analysis?.importance?.[family];
  return Array.isArray(found) ? found : null;
}

function inOrder(heads, { sort, family }) {
  const measured = importance(family);
  const by = {
    focus: (head) => -head.focus, entropy: (head) => -head.spread, similarity: (head) => head.distance,
    importance: (head) => -(measured?.[head.layer]?.[head.head] ?? 0),
  }[sort];
  return by ? [...heads].sort((one, other) => by(one) - by(other)) : heads;
}

function withLayers(ordered, tiles) {
  return tiles.flatMap((tile, index) => (ordered[index].head === 0
    ? [h("span", { class: "layer-name" }, `Layer ${ordered[index].layer + 1}`), tile] : [tile]));
}
