// One explained sentence: its pieces, words, links and, by family, its weights.

import { decodeMap } from "./decode.js";
import { merge, reduce, withoutColumns } from "./matrix.js";
import { chosen, nameOf } from "./wants.js";

const SPECIAL_NAMES = { eos: "end of sentence", bos: "start", tag: "language tag" };

/** A piece as people read it: the tokenizer's mark for a space becomes one that is seen as such. */
export const plain = (piece) => piece.replaceAll("▁", "·");

export class Explained {
  constructor(segment, languages, want) {
    this.languages = languages;
    this.answer = segment;
    this.source = { ...segment.source, language: languages.source };
    this.target = segment.target && { ...segment.target, language: languages.target };
    this.links = segment.alignment?.links ?? [];
    this.signals = segment.signals;
    this.maps = {};
    this.single = new Map();
    this.add(segment, want);
  }

  /** Adds the weights that another answer about the same pair has, `want` being what was asked for. */
  add(segment, want) {
    const map = segment.attention?.maps?.[want?.family];
    if (!map) return;
    const decoded = decodeMap(map);
    if (want.layer === "all") this.maps[want.family] = decoded;
    else this.single.set(nameOf(want), reduce(decoded, 0, 0));
  }

  /** Whether the weights are here, by themselves or among all of their family. */
  has(want) {
    const among = this.maps[want.family] && want.layer !== "rollout";
    return Boolean(among) || this.single.has(nameOf(want));
  }

  /** One matrix of pieces, as it was fetched or reduced from its family. */
  weights(want) {
    const fetched = this.single.get(nameOf(want));
    if (fetched) return fetched;
    const numberOr = (value) => (/^\d+$/.test(value) ? Number(value) : value);
    return reduce(this.maps[want.family], numberOr(want.layer), numberOr(want.head));
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
    return this.joined(list, this.tokens(list), unit);
  }

  /** Entries for some pieces of a list, with those of one word joined; `tokens` counts along the pieces given. */
  joined(list, pieces, unit) {
    const side = list === "source" ? this.source : this.target;
    const groups = [];
    pieces.forEach((each, index) => {
      const last = groups.at(-1);
      if (unit === "words" && each.word != null && last?.word === each.word) last.tokens.push(index);
      else groups.push(entry(each, index, side, unit));
    });
    return groups;
  }

  /** The matrix that a selection shows, with its axes. */
  matrix({ family, layer, head, unit, special }) {
    let matrix = this.weights(chosen({ family, layer, head }));
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
