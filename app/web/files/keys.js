// The keyboard map. Single letters work in the viewer alone, and not while somebody writes: who speaks to a
// computer, or touches a key by chance, changes nothing elsewhere on the page.

import { byId } from "./dom.js";
import { depth, headCount } from "./session.js";
import { change, state } from "./state.js";

export const VIEWS = ["read", "head", "grid", "steps", "compare"];

function turn(name, by, count) {
  const now = state()[name];
  const at = /^\d+$/.test(now) ? Number(now) : by > 0 ? -1 : count;
  change({ [name]: Math.max(0, Math.min(count - 1, at + by)) });
}

const KEYS = {
  "?": () => byId("help").showModal(),
  m: () => change({ layer: "mean", head: "mean" }),
  s: () => change({ special: state().special === "hide" ? "keep" : "hide" }),
  w: () => change({ unit: state().unit === "words" ? "pieces" : "words" }),
  "[": () => turn("head", -1, headCount()),
  "]": () => turn("head", 1, headCount()),
  PageUp: () => turn("layer", -1, depth(state().family)),
  PageDown: () => turn("layer", 1, depth(state().family)),
};

export function setUpKeys() {
  byId("look").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    const paging = event.key.startsWith("Page");
    if (paging && !(state().view === "head" && byId("view").contains(event.target))) return;
    const view = VIEWS[Number(event.key) - 1];
    if (view) change({ view });
    else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
    else return;
    event.preventDefault();
  });
  byId("help-open").addEventListener("click", KEYS["?"]);
  byId("help-close").addEventListener("click", () => byId("help").close());
}
