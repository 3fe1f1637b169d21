// A sentence as words that can be pointed at and walked through with the arrow keys.

import { direction, h, token } from "./dom.js";

/** `act(word, how)` hears about each word; `extra(word)` may add classes and a description. */
export function wordList(side, { name, act, extra = () => ({}) }) {
  const buttons = side.words.map((word, index) => {
    const { className = "", title = "" } = extra(index);
    return h("button", {
      type: "button", class: `word ${className}`, tabindex: index ? "-1" : "0", "aria-pressed": "false",
      "aria-label": title ? `${word.text}, ${title}` : null,
      pointerenter: (event) => event.pointerType !== "touch" && act(index, "hover"),
      focus: () => act(index, "focus"),
      click: () => act(index, "lock"),
    }, token(word.text, side.language));
  });
  const element = h("div", { class: "words", lang: side.language, dir: direction(side.language), role: "group", "aria-label": name,
    pointerleave: () => act(null, "leave") }, withSpaces(side, buttons));
  element.addEventListener("keydown", (event) => walk(event, buttons, direction(side.language)));
  return { element, buttons };
}

const PUNCTUATION = /^[\p{P}\p{S}]+$/u;
const ELIDED = /['’]$/u;

/** Words stand apart as they do in the text: not at all in Chinese, and no line begins with a full stop. */
function withSpaces({ text, words }, buttons) {
  const parts = [];
  buttons.forEach((button, index) => {
    const before = words[index - 1];
    const apart = before && words[index].span[0] > before.span[1];
    const glued = before && !apart && (PUNCTUATION.test(words[index].text) || ELIDED.test(before.text));
    if (glued) parts.at(-1).append(button);
    else parts.push(apart ? " " : "", h("span", { class: "glued" }, button));
  });
  return parts;
}

function walk(event, buttons, way) {
  const along = way === "rtl" ? -1 : 1;
  const step = { ArrowRight: along, ArrowLeft: -along }[event.key];
  const at = buttons.indexOf(document.activeElement);
  const to = event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : step ? at + step : -1;
  if (!buttons[to]) return;
  event.preventDefault();
  buttons.forEach((button, index) => { button.tabIndex = index === to ? 0 : -1; });
  buttons[to].focus();
}

/** Marks the words that `lit` maps to a score, the chosen one aside. */
export function light(buttons, chosen, lit) {
  buttons.forEach((button, index) => {
    const score = lit.get(index) ?? 0;
    button.classList.toggle("chosen", index === chosen);
    button.classList.toggle("lit", score > 0);
    button.style.setProperty("--score", score.toFixed(3));
    button.setAttribute("aria-pressed", String(index === chosen));
  });
}
