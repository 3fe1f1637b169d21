// Files to take away: data, table, pictures, and one page that opens without a server.

import { askPicture } from "./api.js";
import { byId, h } from "./dom.js";
import { setUpEmbedCode, showEmbedCode } from "./embed_code.js";
import { fullAnswer, pairOf, session, shown } from "./session.js";
import { state } from "./state.js";
import { csvOf, tableOf } from "./table.js";
import { chosen, CROSS_MEAN, describe, selectionOf, whole } from "./wants.js";

const PNG_SCALE = 2;

/** `attempt` runs what may fail and tells the reader if it does. */
export function setUpDownloads(matrixOf, attempt) {
  const kinds = { JSON: json, CSV: csv, SVG: svgFile, PNG: png, HTML: html };
  const menu = byId("downloads").parentElement;
  byId("downloads").append(...Object.entries(kinds).map(([name, make]) =>
    h("button", { type: "button", "data-kind": name.toLowerCase(), click: () => {
      menu.open = false;
      attempt(async () => { mustBeThere(); save(...await make(matrixOf)); });
    } }, name)));
  setUpEmbedCode();
  byId("downloads").append(h("button", { type: "button", "data-kind": "embed", click: () => {
    menu.open = false;
    attempt(async () => { mustBeThere(); showEmbedCode(); });
  } }, "Embed…"));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && close());
  document.addEventListener("pointerdown", (event) => menu.contains(event.target) || (menu.open = false));

  function close() {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
}

function mustBeThere() {
  if (!shown()) throw new Error("This sentence is still being looked into.");
}

function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function answerShown() {
  const { source, target } = session.translation;
  return { source, target, segment: await fullAnswer(shown(), state().family) };
}

const json = async () => ["attention.json", "application/json", [JSON.stringify(await answerShown(), null, 1)]];

/** With a byte order mark: spreadsheets otherwise misread every letter beyond ASCII. */
const csv = async (matrixOf) => ["attention.csv", "text/csv;charset=utf-8", ["\ufeff", csvOf(await matrixOf())]];

/** What the server is asked to draw: the counterpart of the view that is open. */
function pictureOf(now) {
  const pieces = { unit: now.unit === "words" ? "word" : "token", special_tokens: now.special === "hide" ? "drop_renormalize" : "keep" };
  if (now.view === "grid") return { view: "grid", ...selectionOf(whole(now.family)), special_tokens: pieces.special_tokens };
  if (now.view === "head") return { view: now.draw === "lines" ? "lines" : "head", ...selectionOf(chosen(now)), ...pieces };
  if (now.view === "steps") return { view: "head", ...selectionOf(CROSS_MEAN), special_tokens: "keep" };
  return { view: "alignment" };
}

/** Where a picture names layers and heads: its title, wherever that stands, and the margins of a grid. */
const TITLES = /aria-label="[^"]*"|^<title>[^<]*|font-size="16"[^>]*>[^<]*/gm;
const MARGINS = /(<text class="(?:head|layer)"[^>]*>)(\d+)(?=<)/g;

/** The API counts layers and heads from 0; the page, as people do, from 1. Parsing would trip over the page's own policy. */
function countedFromOne(drawn) {
  const next = (_, before, number) => `${before}${Number(number) + 1}`;
  return drawn.replace(MARGINS, next).replace(TITLES, (title) => title.replace(/\b((?:layer|head) )(\d+)\b/g, next));
}

const drawing = async () => countedFromOne(await askPicture({ ...pairOf(shown()), ...pictureOf(state()) }));

const svgFile = async () => ["attention.svg", "image/svg+xml", [await drawing()]];

async function png() {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await drawing())}`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width * PNG_SCALE, picture.height * PNG_SCALE);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return ["attention.png", "image/png", [await canvas.convertToBlob({ type: "image/png" })]];
}

const OFFLINE_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light}"
  + "svg{max-width:100%;height:auto}table{border-collapse:collapse;font-size:13px}th,td{padding:2px 6px;border:1px solid #ddd}";

const escaped = (text) => text.replace(/[&<>"]/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[mark]);

/** The server has a page of its own; this one has the numbers as a table besides, to be read aloud and copied. */
async function html(matrixOf) {
  const sentence = shown();
  const table = tableOf(await matrixOf(), `Weights, ${describe(state())}`);
  const data = JSON.stringify(await answerShown()).replaceAll("<", "\\u003c");
  const pair = [sentence.source, sentence.target].map(({ text, language }) =>
    `<p lang="${escaped(language)}" dir="auto">${escaped(text)}</p>`).join("");
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Attention</title>`
    + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`
    + `<style>${OFFLINE_STYLE}</style></head><body><h1>Attention</h1>${pair}<p>${escaped(byId("caption").textContent)}</p>`
    + `${await drawing()}${table.querySelector("table").outerHTML}`
    + `<script type="application/json" id="data">${data}</script></body></html>`;
  return ["attention.html", "text/html;charset=utf-8", [page]];
}
