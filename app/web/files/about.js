// "About this model": closed until somebody asks, and only then are its charts fetched and drawn.

import { byId, h } from "./dom.js";
import { session } from "./session.js";
import { change, state } from "./state.js";

let drawn = false;

export function setUpAbout(go) {
  const section = byId("about");
  section.addEventListener("toggle", () => {
    change({ about: section.open ? "1" : "" });
    if (section.open) draw(go);
  });
  byId("about-open").addEventListener("click", openAbout);
  section.open = Boolean(state().about);
}

/** Opens the section, wherever on the page the reader is. */
export function openAbout() {
  byId("about").open = true;
  byId("about").querySelector("summary").focus({ preventScroll: true });
  byId("about").scrollIntoView({ block: "start" });
}

async function draw(go) {
  if (drawn) return;
  drawn = true;
  const { analysis } = session.info.model;
  const body = byId("about-body");
  if (!analysis?.heads) return body.replaceChildren(h("p", { class: "hint" }, "Nothing was measured about the heads of this model."), facts());
  const { analysisCharts } = await import("./analysis.js");
  return body.replaceChildren(facts(), ...analysisCharts(analysis, go));
}

function facts() {
  const { model, version } = session.info;
  const { encoder_layers: read, decoder_layers: write, heads, d_model: width } = model.architecture;
  return h("p", { class: "about-facts" }, h("strong", null, model.id), `, revision ${model.revision}, ${model.precision}. `,
    `Encoder with ${read} layers, decoder with ${write}, ${heads} heads each, width ${width}. Vitrail ${version}. `,
    h("a", { href: "/info" }, "All of it as JSON"));
}
