// The muted heads, and the translation before and after.

import { choice, h, token } from "./dom.js";
import { mutedHeads, session, toggleMuted } from "./session.js";
import { change, state } from "./state.js";

export function createMuted() {
  const inside = choice("Look into", "inside", [["whole", "all heads"], ["muted", "muted"]], (value) => change({ inside: value }));
  const chips = h("p", { class: "chips" });
  const texts = h("dl", { class: "before-after" });
  const clear = h("button", { type: "button", class: "quiet-button", click: () => change({ muted: "", inside: "whole" }) }, "Unmute all");
  const element = h("section", { class: "muted-panel", "aria-label": "Muted heads", hidden: true },
    h("div", { class: "controls" }, chips, clear, inside.element), texts);

  function update() {
    const heads = mutedHeads();
    element.hidden = !heads.length;
    if (!heads.length) return;
    inside.set(state().inside);
    chips.replaceChildren("Muted: ", ...heads.map((head) =>
      h("button", { type: "button", class: "chip", click: () => toggleMuted(head) },
        `${head.family} ${head.layer + 1}·${head.head + 1}`, h("span", { "aria-hidden": "true" }, " ✕"), h("span", { class: "sr" }, ", unmute"))));
    texts.replaceChildren(...beforeAfter());
  }

  return { element, update };
}

function beforeAfter() {
  const { whole, muted } = session;
  if (!whole) return [];
  const language = whole.target.language;
  const row = (name, ...inside) => [h("dt", null, name), h("dd", null, ...inside)];
  if (!muted) return [...row("All heads", token(whole.target.text, language)), ...row("Muted", "Translating…")];
  if (whole.target.text === muted.target.text) return [...row("All heads", token(whole.target.text, language)), ...row("Muted", "The translation stays the same.")];
  const [before, after] = [whole.target, muted.target].map(({ words }) => words.map(({ text }) => text));
  const kept = common(before, after);
  return [...row("All heads", marked(whole.target, kept.map(([one]) => one), "del")), ...row("Muted", marked(muted.target, kept.map(([, other]) => other), "ins"))];
}

/** The text with the words that the other one does not have marked. */
function marked({ text, words, language }, kept, tag) {
  const same = new Set(kept);
  const parts = [];
  let end = 0;
  words.forEach(({ span }, index) => {
    parts.push(text.slice(end, span[0]));
    const word = text.slice(...span);
    parts.push(same.has(index) ? word : h(tag, null, word));
    [, end] = span;
  });
  return h("bdi", { lang: language, dir: "auto" }, ...parts, text.slice(end));
}

/** Index pairs of a longest common subsequence. */
export function common(one, other) {
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      lengths[i][j] = one[i] === other[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const found = [];
  for (let [i, j] = [0, 0]; i < one.length && j < other.length;) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return found;
}
