// Files to take away: data, table, pictures, and one page that opens without a server.

import { byId, h } from "./dom.js";
import { escaped, gridSvg, matrixSvg } from "./picture.js";
import { session, shown } from "./session.js";
import { state } from "./state.js";
import { csvOf, tableOf } from "./table.js";
import { describe } from "./view_head.js";

const PNG_SCALE = 2;

export function setUpDownloads(matrixOf) {
  const kinds = { JSON: json, CSV: csv, SVG: svgFile, PNG: png, HTML: html };
  const menu = byId("downloads").parentElement;
  byId("downloads").append(...Object.entries(kinds).map(([name, make]) =>
    h("button", { type: "button", "data-kind": name.toLowerCase(), click: async () => {
      menu.open = false;
      save(...await make(matrixOf()));
    } }, name)));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && close());
  document.addEventListener("pointerdown", (event) => menu.contains(event.target) || (menu.open = false));

  function close() {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
}

function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function json() {
  const { source, target } = session.translation;
  const kept = { source, target, segment: shown().answer };
  return ["attention.json", "application/json", [JSON.stringify(kept, null, 1)]];
}

/** With a byte order mark: spreadsheets otherwise misread every letter beyond ASCII. */
const csv = (matrix) => ["attention.csv", "text/csv;charset=utf-8", ["\ufeff", csvOf(matrix)]];

function drawing(matrix) {
  const now = state();
  return now.view === "grid" ? gridSvg(shown(), now) : matrixSvg(matrix, now.scale, `Attention weights: ${describe(now)}`);
}

const svgFile = async (matrix) => ["attention.svg", "image/svg+xml", [await drawing(matrix)]];

async function png(matrix) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await drawing(matrix))}`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width * PNG_SCALE, picture.height * PNG_SCALE);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return ["attention.png", "image/png", [await canvas.convertToBlob({ type: "image/png" })]];
}

const OFFLINE_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light}"
  + "svg{max-width:100%;height:auto}table{border-collapse:collapse;font-size:13px}th,td{padding:2px 6px;border:1px solid #ddd}";

async function html(matrix) {
  const sentence = shown();
  const table = tableOf(matrix, `Weights, ${describe(state())}`);
  const data = JSON.stringify(sentence.answer).replaceAll("<", "\\u003c");
  const pair = [sentence.source, sentence.target].map(({ text, language }) =>
    `<p lang="${escaped(language)}" dir="auto">${escaped(text)}</p>`).join("");
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Attention</title>`
    + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`
    + `<style>${OFFLINE_STYLE}</style></head><body><h1>Attention</h1>${pair}<p>${escaped(byId("caption").textContent)}</p>`
    + `${await drawing(matrix)}${table.querySelector("table").outerHTML}`
    + `<script type="application/json" id="data">${data}</script></body></html>`;
  return ["attention.html", "text/html;charset=utf-8", [page]];
}
