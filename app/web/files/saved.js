// A saved answer of /attention as one matrix. It has been reduced already, and by other wishes: what it lacks is refused by name.

import { decodeHidden, decodeMap } from "./decode.js";
import { Explained } from "./explained.js";
import { merge, reduce, withoutColumns } from "./matrix.js";
import { inWords } from "./wants.js";

const SCHEMA = "attention/1";
const WORKED_OUT = { layer: ["mean"], head: ["mean", "max"] };
/** Hidden masses are rounded to four decimals: a row that has weights is not taken for empty. */
const LEAST_MASS = 1e-4;

/**
 * What <attention-map> shows of `file`, which is the page's own download or an answer of the API.
 * `wish` has the attributes that were set; for the others the file itself decides.
 */
export function readSaved(file, wish) {
  const segment = segmentOf(file, wish.sentence);
  const { maps, ...made } = segment.attention ?? refuse("attention", null, "nothing was asked for that could be drawn");
  const family = wish.family ?? (maps.cross ? "cross" : Object.keys(maps)[0]);
  if (!Object.hasOwn(maps, family)) refuse("maps", Object.keys(maps), `it has no weights of the family "${family}"`);
  const map = maps[family];
  checkWhole(map);
  const layers = along("layer", wish.layer, made.aggregate.layers, map.layers);
  const heads = along("head", wish.head, made.aggregate.heads, map.heads);
  checkWishes(wish, made, layers, heads);
  const languages = { source: file.source ?? wish.source, target: file.target ?? wish.target };
  const sentence = new Explained(segment, languages);
  const { source, target } = sentence;
  return { source, target, matrix: matrixOf(sentence, map, wish, made, { layers, heads }),
    caption: inWords(family, named(layers, depthOf(file, family)), named(heads, file.model?.heads)) };
}

function refuse(field, value, why) {
  throw new Error(`The file's ${field} is ${JSON.stringify(value)}: ${why}.`);
}

function segmentOf(file, sentence) {
  if ((file?.schema ?? SCHEMA) !== SCHEMA) refuse("schema", file.schema, `only "${SCHEMA}" can be drawn`);
  const segments = file?.segment ? [file.segment] : file?.segments;
  if (!Array.isArray(segments)) throw new Error("The file is no answer of /attention: it has no segments.");
  const translated = segments.filter((one) => one.finish_reason !== "copied");
  if (!translated.length) throw new Error("Nothing was translated, so there is nothing to look into.");
  return translated[Number(sentence ?? 0)] ?? refuse("number of translated segments", translated.length, `there is no sentence "${sentence}", counted from 0`);
}

/** Weights and names for every one of them. */
function checkWhole(map) {
  if (map.encoding === "npz") refuse("encoding", "npz", "its weights are in the archive, not here");
  if (!map.query_units || !map.key_units) refuse("query_units", null, "a thumbnail, made with a resolution, has no words to its cells");
}

/** Which of the file's layers or heads are shown: { at, reduction, of }, `at` null where all of them are reduced here. */
function along(axis, wish, reduction, present) {
  if (reduction !== "none") {
    const only = present.length === 1 && reduction !== "rollout" && wish === String(present[0]);
    if (wish && wish !== reduction && !only) refuse(`aggregate.${axis}s`, reduction, `the ${axis} "${wish}" cannot be told from that`);
    return { at: 0, reduction, of: present };
  }
  const wished = wish ?? (present.length === 1 ? String(present[0]) : "mean");
  if (WORKED_OUT[axis].includes(wished)) return { at: null, reduction: wished, of: present };
  const at = present.map(String).indexOf(wished);
  if (at < 0) refuse(`${axis}s`, present, `the ${axis} "${wished}" is not among them`);
  return { at, reduction, of: [present[at]] };
}

function checkWishes(wish, made, layers, heads) {
  const largest = heads.reduction === "max" && heads.of.length > 1;
  if (wish.unit === "pieces" && made.unit === "word") refuse("unit", made.unit, "its words cannot be taken apart into pieces");
  if (made.special_tokens === "keep") {
    if (largest && heads.at === null && layers.at === 0 && layers.reduction === "mean" && layers.of.length > 1) {
      refuse("aggregate.layers", "mean", "the largest of the heads cannot be told from a mean");
    }
    return;
  }
  if (wish.special === "keep") refuse("special_tokens", made.special_tokens, "marks are not in it and cannot be shown");
  if (largest) refuse("special_tokens", made.special_tokens, "the largest of the heads can only be drawn with all keys");
}

function matrixOf(sentence, map, wish, made, { layers, heads }) {
  const whole = made.special_tokens === "keep";
  const stored = decodeMap(map);
  const count = map.shape.reduce((product, length) => product * length, 1);
  if (stored.data.length !== count) refuse("shape", map.shape, `it has ${stored.data.length} weights, not ${count}`);
  const decoded = whole ? stored : withHidden(stored, decodeHidden(map), made.special_tokens === "drop_renormalize");
  const unit = wish.unit === "pieces" ? "pieces" : "words";
  const queries = axisOf(sentence, map.query, map.query_units, unit);
  const keys = axisOf(sentence, map.key, map.key_units, unit);
  const shown = whole ? keys : [...keys, { tokens: [map.key_units.length], special: true }];
  const reduced = reduce(decoded, layers.at ?? layers.reduction, heads.at ?? heads.reduction);
  const matrix = merge(reduced, queries.map(({ tokens }) => tokens), shown.map(({ tokens }) => tokens));
  if (wish.special === "keep") return { ...matrix, queries, keys };
  const kept = shown.flatMap((key, index) => (key.special ? [] : [index]));
  return { ...withoutColumns(matrix, kept), queries, keys: kept.map((index) => shown[index]) };
}

/** An axis of the map: what the file calls each of its cells, those of one word joined where words are wanted. */
function axisOf(sentence, name, units, unit) {
  const list = name === "source.tokens" ? "source" : "fed";
  const pieces = sentence.tokens(list);
  return sentence.joined(list, units.map(([first]) => pieces[first]), unit);
}

/** With a column more for what lay on dropped keys: layers, heads and words are then joined as if none had been dropped. */
function withHidden({ shape, data }, hidden, renormalised) {
  const [layers, heads, rows, columns] = shape;
  const wide = new Float32Array(hidden.length * (columns + 1));
  hidden.forEach((mass, row) => {
    const scale = renormalised ? Math.max(1 - mass, LEAST_MASS) : 1;
    for (let column = 0; column < columns; column++) wide[row * (columns + 1) + column] = scale * (data[row * columns + column] || 0);
    wide[row * (columns + 1) + columns] = mass;
  });
  return { shape: [layers, heads, rows, columns + 1], data: wide };
}

/** How many layers the model has for a family; the page's own downloads do not say, but have them all. */
const depthOf = (file, family) => file.model?.layers[family === "encoder" ? "encoder" : "decoder"];

/** Layers or heads need not be listed where they are all that there are. */
function named({ reduction, of }, count = of.length) {
  return of.length === count && of.length > 1 ? { reduction } : { reduction, of };
}
