// One explained sentence: its pieces, words, links and, by family, its weights.

import { decodeMap } from "./decode.js";
import { merge, reduce, withoutColumns } from "./matrix.js";

const SPECIAL_NAMES = { eos: "end of sentence", bos: "start", tag: "language tag" };

/** A piece as people read it: the tokenizer's mark for a space becomes one that is seen as such. */
export const plain = (piece) => piece.replaceAll("▁", "·");

export class Explained {
  constructor(segment, languages) {
    this.languages = languages;
    this.answer = segment;
    this.source = { ...segment.source, language: languages.source };
    this.target = segment.target && { ...segment.target, language: languages.target };
    this.links = segment.alignment?.links ?? [];
    this.signals = segment.signals;
    this.maps = {};
    this.add(segment);
  }

  /** Adds the families that another answer about the same pair has. */
  add(segment) {
    for (const [family, map] of Object.entries(segment.attention?.maps ?? {})) this.maps[family] = decodeMap(map);
  }

  get steps() {
    return this.target?.predicted ?? [];
  }

  /** Pieces of an axis, each with its word's index and whether it is special. */
  tokens(list) {
    if (list === "source") return this.source.tokens;
    const fed = this.target.fed.map((entry) => (typeof entry === "string" ? entry : entry.piece));
    return fed.map((piece, row) => {
      const before = row ? this.steps[row - 1] : { word: null, special: "bos" };
      return { ...before, piece };
    });
  }

  /** What a family's axis shows: entries { label, tokens, special, language }. */
  axis(family, which, unit) {
    const list = family === "encoder" || (family === "cross" && which === "key") ? "source" : "fed";
    const side = list === "source" ? this.source : this.target;
    const groups = [];
    this.tokens(list).forEach((each, index) => {
      const last = groups.at(-1);
      if (unit === "words" && each.word != null && last?.word === each.word) last.tokens.push(index);
      else groups.push(entry(each, index, side, unit));
    });
    return groups;
  }

  /** The matrix that a selection shows, with its axes. */
  matrix({ family, layer, head, unit, special }) {
    const numberOr = (value) => (/^\d+$/.test(value) ? Number(value) : value);
    let matrix = reduce(this.maps[family], numberOr(layer), numberOr(head));
    const queries = this.axis(family, "query", unit);
    let keys = this.axis(family, "key", unit);
    if (unit === "words") {
      matrix = merge(matrix, queries.map((each) => each.tokens), keys.map((each) => each.tokens));
    }
    if (special === "hide") {
      const kept = keys.flatMap((key, index) => (key.special ? [] : [index]));
      matrix = withoutColumns(matrix, kept);
      keys = kept.map((index) => keys[index]);
    }
    return { ...matrix, queries, keys };
  }

  /** Weights from the words of one side to those of the other, as the alignment found them, strongest first. */
  partners(side, word) {
    const [here, there] = side === "source" ? ["source", "target"] : ["target", "source"];
    return this.links
      .filter((link) => link[here] === word)
      .map((link) => ({ word: link[there], score: link.score }))
      .sort((one, other) => other.score - one.score);
  }

  /** Mean log-probability of a target word's pieces. */
  wordLogProb(word) {
    const { tokens } = this.target.words[word];
    return tokens.reduce((sum, index) => sum + logProb(this.steps[index]), 0) / tokens.length;
  }

  get meanLogProb() {
    return this.steps.reduce((sum, step) => sum + logProb(step), 0) / Math.max(this.steps.length, 1);
  }

  /** For each source word the weight that all words of the translation put on it. */
  get coverage() {
    return this.signals?.source_mass ?? this.source.words.map((_, word) =>
      this.links.reduce((sum, link) => sum + (link.source === word ? link.score : 0), 0));
  }
}

function entry(each, index, side, unit) {
  const word = unit === "words" && each.word != null ? side.words[each.word].text : null;
  const label = each.special ? SPECIAL_NAMES[each.special] ?? each.piece : word ?? plain(each.piece);
  return { label, tokens: [index], word: each.word, special: Boolean(each.special), language: each.special ? "" : side.language };
}

export const logProb = (step) => step.logprob ?? step.log_prob ?? 0;
