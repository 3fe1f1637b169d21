// Steps: the translation as it was written, piece by piece: what was fed, what came out, what else was considered.

import { direction, h, percent, token } from "./dom.js";
import { logProb, plain } from "./explained.js";
import { picture } from "./heatmap_paint.js";
import { at } from "./matrix.js";
import { change, state } from "./state.js";

const PACE = 900;

export function createSteps({ say }) {
  const slider = h("input", { type: "range", min: "1", "aria-label": "Step", input: () => go(Number(slider.value) - 1) });
  const place = h("span", { class: "step-place" });
  const play = h("button", { type: "button", class: "quiet-button", click: () => toggle() }, "Play");
  const button = (text, label, by) => h("button", { type: "button", class: "quiet-button", "aria-label": label, click: () => go(step() + by) }, text);
  const bar = h("div", { class: "step-bar" }, button("‹", "Step back", -1), place, button("›", "Step on", 1), slider, play);
  const body = h("div", { class: "step-body" });
  const element = h("div", { class: "view steps" }, bar, body,
    h("p", { class: "hint" }, "Each step feeds the decoder the piece before and asks for the next. Here the finished translation was fed, piece by piece (teacher forcing), so every step can be looked at again."));
  let sentence = null;
  let timer = 0;

  const step = () => Math.max(0, Math.min(Number(state().step), sentence.steps.length - 1));

  function go(to) {
    change({ step: Math.max(0, Math.min(to, sentence.steps.length - 1)) });
  }

  function toggle(on = !timer) {
    clearInterval(timer);
    timer = 0;
    if (on) {
      if (step() === sentence.steps.length - 1) go(0);
      timer = setInterval(() => {
        if (!element.isConnected || step() === sentence.steps.length - 1) return toggle(false);
        return go(step() + 1);
      }, PACE);
    }
    play.textContent = on ? "Pause" : "Play";
  }

  function update(next) {
    sentence = next;
    const now = step();
    slider.max = sentence.steps.length;
    slider.value = now + 1;
    slider.setAttribute("aria-valuetext", `step ${now + 1}, ${sentence.steps[now].piece}`);
    place.textContent = `Step ${now + 1} of ${sentence.steps.length}`;
    body.replaceChildren(...stepParts(sentence, now));
    if (!timer) say(spoken(sentence, now));
  }

  element.addEventListener("keydown", (event) => {
    if (event.target === slider) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) go(step() + by);
  });
  return { element, update, title: "Steps", leave: () => toggle(false) };
}

const fedPiece = (sentence, step) => (step ? sentence.steps[step - 1].piece : sentence.tokens("fed")[0].piece);

function spoken(sentence, step) {
  const { piece } = sentence.steps[step];
  return `Step ${step + 1}: after ${plain(fedPiece(sentence, step))} came ${plain(piece)}, likelihood ${percent(Math.exp(logProb(sentence.steps[step])))}`;
}

function stepParts(sentence, step) {
  const prediction = sentence.steps[step];
  const language = sentence.target.language;
  const cross = rowOf(sentence, "cross", step);
  const self = rowOf(sentence, "decoder", step);
  return [
    h("div", { class: "step-card step-main" },
      h("p", { class: "fed-predicted" },
        h("span", null, h("small", null, "fed"), chip(fedPiece(sentence, step), language)),
        h("span", { class: "arrow", "aria-hidden": "true" }, direction(language) === "rtl" ? "←" : "→"),
        h("span", null, h("small", null, "predicted"), chip(prediction.piece, language, "strong"))),
      h("h2", null, "What the model considered"), rivals(prediction, language),
      h("p", { class: "quiet" }, `Log-probability ${logProb(prediction).toFixed(2)}. Entropy ${prediction.entropy?.toFixed(2) ?? "unknown"} nats: ${undecided(prediction.entropy)}.`)),
    h("div", { class: "step-card" }, h("h2", null, "Where it looked in the source"), strip(cross)),
    h("div", { class: "step-card" }, h("h2", null, "Where it looked in what was written so far"),
      h("div", { class: "step-self" }, strip(self, step + 1), triangle(sentence, step))),
  ];
}

function undecided(entropy) {
  return entropy == null ? "" : entropy < 0.5 ? "decided" : entropy < 2 ? "a few choices" : "undecided";
}

function chip(piece, language, kind = "") {
  return h("span", { class: `chip ${kind}` }, token(plain(piece), language));
}

function rivals({ rivals: list = [], piece, ...rest }, language) {
  const shown = list.some((rival) => rival.piece === piece) ? list : [...list, { piece, ...rest }];
  const rows = shown.map((rival) => {
    const probability = Math.exp(logProb(rival));
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, h("i"));
    bar.firstChild.style.setProperty("--share", probability.toFixed(4));
    return h("li", { class: rival.piece === piece ? "taken" : null },
      h("span", { class: "rival" }, token(plain(rival.piece), language)), bar,
      h("span", { class: "number" }, probability < 0.001 ? "< 0.1 %" : `${(100 * probability).toFixed(1)} %`),
      rival.piece === piece ? h("span", { class: "sr" }, "taken") : null);
  });
  return h("ol", { class: "rivals" }, rows);
}

function rowOf(sentence, family, row) {
  const matrix = sentence.matrix({ family, layer: "mean", head: "mean", unit: "pieces", special: "keep" });
  return { keys: matrix.keys, weights: matrix.keys.map((_, column) => at(matrix, row, column)) };
}

/** Pieces with a bar under each: how much of the row's weight it got. */
function strip({ keys, weights }, count = keys.length) {
  const most = Math.max(...weights, 1e-6);
  const entries = keys.slice(0, count).map((key, index) => {
    const made = h("li", { class: `${key.special ? "special" : ""}${weights[index] === most ? " peak" : ""}` },
      h("span", { class: "column", "aria-hidden": "true" }, h("i")), token(key.label, key.language),
      h("span", { class: "number" }, weights[index] < 0.005 ? "·" : weights[index].toFixed(2).replace("0.", ".")));
    made.querySelector("i").style.setProperty("--share", (weights[index] / most).toFixed(4));
    return made;
  });
  return h("ol", { class: "strip", dir: direction(keys.find((key) => key.language)?.language) }, entries);
}

/** The decoder's own attention as it grows: rows not yet written are empty. */
function triangle(sentence, step) {
  const matrix = sentence.matrix({ family: "decoder", layer: "mean", head: "mean", unit: "pieces", special: "keep" });
  const grown = { ...matrix, values: matrix.values.map((value, cell) => (cell < (step + 1) * matrix.columns ? value : 0)) };
  const canvas = h("canvas", { class: "triangle", role: "img", width: 10 * matrix.columns, height: 10 * matrix.rows,
    "aria-label": "Self-attention so far: a triangle that grows by a row with each step" });
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(picture(grown, "row"), 0, 0, canvas.width, canvas.height);
  return canvas;
}
