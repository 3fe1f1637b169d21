// The line of HTML that puts the map of the open view into another page.

import { byId } from "./dom.js";
import { pairOf, shown } from "./session.js";
import { state } from "./state.js";
import { chosen, CROSS_MEAN } from "./wants.js";

/** The address of /embed for what is shown; views without a map of their own lead to the mean. */
export function embedAddress() {
  const now = state();
  const { text, source, target, targetText } = pairOf(shown());
  const selection = now.view === "head" ? chosen(now) : CROSS_MEAN;
  const { unit, special, scale } = now;
  const draw = now.table ? "table" : now.draw;
  const fragment = new URLSearchParams({ text, source, target, translation: targetText, ...selection, unit, special, scale, draw });
  return `${new URL("embed", location.href)}#${fragment}`;
}

export function showEmbedCode() {
  const address = embedAddress();
  const box = byId("embed-code");
  box.value = `<iframe src="${address.replaceAll("&", "&amp;")}" width="100%" height="560" loading="lazy" title="Attention map"></iframe>`;
  byId("embed-see").href = address;
  byId("embed").showModal();
  box.select();
}

export function setUpEmbedCode() {
  byId("embed-close").addEventListener("click", () => byId("embed").close());
}
