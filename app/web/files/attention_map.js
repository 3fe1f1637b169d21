// <attention-map>: one map in any page, from a saved file or fresh from the server.

import { explain } from "./api.js";
import { h, sentenceCase, token } from "./dom.js";
import { Explained } from "./explained.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { cellOf, elementsOf, sentenceOf } from "./readout.js";
import { tableOf } from "./table.js";
import { chosen, describe, selectionOf, whole } from "./wants.js";

const STYLES = ["colours.css", "map.css", "attention_map.css"];
const DEFAULTS = { family: "cross", layer: "mean", head: "mean", unit: "words", special: "hide", scale: "row", draw: "matrix" };
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
      const sentence = await (this.hasAttribute("src") ? this.saved() : this.live());
      await this.styled;
      if (turn === this.turn) this.show(sentence);
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
    return new Explained(this.pick(answer.segments), { source, target }, want);
  }

  /** A file of the page's Download menu, or an answer of `POST /attention`. */
  async saved() {
    const response = await fetch(new URL(this.getAttribute("src"), document.baseURI));
    if (!response.ok) throw new Error(`${this.getAttribute("src")} cannot be read (${response.status}).`);
    const file = await response.json();
    const segment = file.segment ?? this.pick(file.segments ?? []);
    const languages = { source: file.source ?? this.getAttribute("source"), target: file.target ?? this.getAttribute("target") };
    const want = chosen(this.selection);
    const map = segment?.attention?.maps?.[want.family];
    if (!map) throw new Error(`The file has no weights of the ${want.family} family.`);
    return new Explained(segment, languages, map.shape[0] * map.shape[1] > 1 ? whole(want.family) : want);
  }

  pick(segments) {
    const found = segments.filter((one) => one.finish_reason !== "copied")[Number(this.getAttribute("sentence") ?? 0)];
    if (!found) throw new Error("Nothing was translated, so there is nothing to look into.");
    return found;
  }

  show(sentence) {
    const { source, target } = sentence;
    const { draw, scale } = this.selection;
    if (!sentence.has(chosen(this.selection))) throw new Error("The file has no such layer or head.");
    this.matrix = sentence.matrix(this.selection);
    this.pair.replaceChildren(token(source.text, source.language), h("span", { "aria-hidden": "true" }, " → "), token(target.text, target.language));
    const shown = draw === "table" ? tableOf(this.matrix, `Weights, ${describe(this.selection)}`) : draw === "lines" ? this.lines.element : this.heat.element;
    this.stage.replaceChildren(shown);
    this.caption.replaceChildren(h("b", null, `${sentenceCase(describe(this.selection))}.`), ` ${CAPTION}`);
    this.readout.hidden = draw === "table";
    if (shown === this.heat.element) this.heat.show(this.matrix, scale);
    if (shown === this.lines.element) this.lines.show(this.matrix);
    this.point(null);
    this.dispatchEvent(new Event("load"));
  }

  fail(error) {
    this.pair.replaceChildren();
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
