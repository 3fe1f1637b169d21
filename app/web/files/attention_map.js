// <attention-map>: one map in any page, from a saved file or fresh from the server.

import { explain } from "./api.js";
import { h, sentenceCase, token } from "./dom.js";
import { Explained } from "./explained.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { cellOf, elementsOf, sentenceOf } from "./readout.js";
import { readSaved } from "./saved.js";
import { tableOf } from "./table.js";
import { chosen, describe, selectionOf } from "./wants.js";

const STYLES = ["colours.css", "map.css", "attention_map.css"];
const DEFAULTS = { family: "cross", layer: "mean", head: "mean", unit: "words", special: "hide", scale: "row", draw: "matrix" };
const WISHES = ["family", "layer", "head", "unit", "special", "sentence", "source", "target"];
const AFTER = "Rows: words of the translation, at the moment after each was written. ";
const CAPTION = "Attention shows where weight was placed when each piece was predicted. It is not a reason and not a quality score.";

class AttentionMap extends HTMLElement {
  static observedAttributes = ["src", "text", "source", "target", "translation", "sentence", ...Object.keys(DEFAULTS)];

  connectedCallback() {
    if (!this.shadowRoot) this.build();
    this.attributeChangedCallback();
  }

  build() {
    const links = STYLES.map((name) => h("link", { rel: "stylesheet", href: new URL(name, import.meta.url) }));
    this.styled = Promise.all(links.map((link) => new Promise((done) => { link.onload = link.onerror = done; })));
    this.pair = h("p", { class: "map-pair" });
    this.stage = h("div", { class: "stage" });
    this.readout = h("p", { class: "readout" });
    this.spoken = h("p", { class: "sr", "aria-live": "polite" });
    this.caption = h("figcaption");
    const onPoint = (row, column, how) => this.point(row, column, how);
    this.heat = new Heatmap({ name: "Attention weights", describe: (row, column) => cellOf(this.matrix, row, column), onPoint });
    this.lines = new Lines({ onPoint });
    this.attachShadow({ mode: "open" }).append(...links, h("figure", null, this.pair, this.stage, this.readout, this.caption, this.spoken));
  }

  /** Attributes are often set one after another: one load answers for all of them. */
  attributeChangedCallback() {
    if (!this.isConnected || this.loading) return;
    this.loading = true;
    queueMicrotask(() => {
      this.loading = false;
      this.load();
    });
  }

  get selection() {
    return Object.fromEntries(Object.entries(DEFAULTS).map(([name, usual]) => [name, this.getAttribute(name) || usual]));
  }

  async load() {
    const turn = this.turn = (this.turn ?? 0) + 1;
    this.setAttribute("aria-busy", "true");
    try {
      const found = await (this.hasAttribute("src") ? this.saved() : this.live());
      await this.styled;
      if (turn === this.turn) this.show(found);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
    if (turn === this.turn) this.removeAttribute("aria-busy");
  }

  async live() {
    const [text, source, target, translation] = ["text", "source", "target", "translation"].map((name) => this.getAttribute(name));
    if (!text) throw new Error("There is no text to show.");
    const want = chosen(this.selection);
    const answer = await explain({ text, source, target, targetText: translation || null, selection: selectionOf(want) });
    const segment = answer.segments.filter((one) => one.finish_reason !== "copied")[Number(this.getAttribute("sentence") ?? 0)];
    if (!segment) throw new Error("Nothing was translated, so there is nothing to look into.");
    const sentence = new Explained(segment, { source, target }, want);
    return { source: sentence.source, target: sentence.target, matrix: sentence.matrix(this.selection), caption: describe(this.selection) };
  }

  /** A file of the page's Download menu, or an answer of `POST /attention`. What no attribute asks for is as the file has it. */
  async saved() {
    const src = this.getAttribute("src");
    const response = await fetch(new URL(src, document.baseURI)).catch(() => {
      throw new Error(`${src} cannot be read: it cannot be reached, or a Content-Security-Policy forbids it.`);
    });
    if (!response.ok) throw new Error(`${src} cannot be read (${response.status}).`);
    const file = await response.json().catch(() => { throw new Error(`${src} is no JSON.`); });
    return readSaved(file, Object.fromEntries(WISHES.map((name) => [name, this.getAttribute(name) || null])));
  }

  show({ source, target, matrix, caption }) {
    const { draw, scale } = this.selection;
    this.matrix = matrix;
    this.pair.replaceChildren(token(source.text, source.language),
      ...(target ? [h("span", { "aria-hidden": "true" }, " → "), token(target.text, target.language)] : []));
    const shown = draw === "table" ? tableOf(matrix, `Weights, ${caption}`) : draw === "lines" ? this.lines.element : this.heat.element;
    this.stage.replaceChildren(shown);
    this.caption.replaceChildren(h("b", null, `${sentenceCase(caption)}.`), ` ${/cross/i.test(caption) ? AFTER : ""}${CAPTION}`);
    this.readout.hidden = draw === "table";
    if (shown === this.heat.element) this.heat.show(matrix, scale);
    if (shown === this.lines.element) this.lines.show(matrix);
    this.point(null);
    this.dispatchEvent(new Event("load"));
  }

  fail(error) {
    this.pair.replaceChildren();
    this.caption.replaceChildren();
    this.stage.replaceChildren(h("p", { role: "alert" }, error.message));
    this.readout.hidden = true;
    this.dispatchEvent(new Event("error"));
  }

  point(row, column, how) {
    if (row === null) return this.readout.replaceChildren("Point at the map, or walk over it with the arrow keys, to read it.");
    if (how !== "hover") this.spoken.textContent = sentenceOf(this.matrix, row);
    return this.readout.replaceChildren(...elementsOf(this.matrix, row, column));
  }
}

customElements.define("attention-map", AttentionMap);
