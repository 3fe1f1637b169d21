// /embed: one map by itself, described by the fragment as the page's own state is, to be put into another page.

import "./attention_map.js";

const SAME = ["src", "text", "source", "target", "translation", "family", "layer", "head", "unit", "special", "scale", "draw"];
const map = document.querySelector("attention-map");
const open = document.getElementById("open");

function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const attributes = Object.fromEntries(SAME.map((name) => [name, asked.get(name)]));
  attributes.sentence = asked.get("segment");
  if (asked.get("table")) attributes.draw = "table";
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) map.removeAttribute(name);
    else map.setAttribute(name, value);
  }
  open.hidden = Boolean(attributes.src);
  if (!asked.has("view")) asked.set("view", "head");
  open.href = `/#${asked}`;
}

addEventListener("hashchange", read);
read();
