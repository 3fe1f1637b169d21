// What was translated and explained so far. Sentences are explained one at a time, and weights fetched when looked at.

import { ask, explain } from "./api.js";
import { Explained } from "./explained.js";
import { onlyLatest } from "./latest.js";
import { change, state } from "./state.js";
import { CROSS_MEAN, nameOf, selectionOf, wantsOf, whole } from "./wants.js";

export const session = {
  info: null,
  directions: [],
  translation: null,
  segment: null,
  whole: null,
  muted: null,
  other: null,
};

const [translating, choosing, muting, comparing] = [onlyLatest(), onlyLatest(), onlyLatest(), onlyLatest()];

/** Nothing of the older text is shown or waited for any more. */
export function forget() {
  for (const each of [translating, choosing, muting, comparing]) each.stop();
  Object.assign(session, { translation: null, segment: null, whole: null, muted: null, other: null });
}

export async function start() {
  const [languages, info] = await Promise.all([ask("/languages"), ask("/info")]);
  session.directions = languages.directions;
  session.info = info;
}

/** Translates the text of the state; the sentences are then there, none of them explained. Null if a newer text came. */
export async function translate() {
  forget();
  const { text, source, target, beam } = state();
  const beamSize = Number(beam) || session.info.limits.default_beam_size;
  const alternatives = Math.min(3, beamSize - 1);
  const body = { text, source, target, beam_size: beamSize, alternatives, offset_unit: "utf16" };
  const answer = await translating.ask((signal) => ask("/translate", body, signal));
  if (!answer) return null;
  session.translation = answer.translations[0];
  session.usage = answer.usage;
  return session.translation;
}

export const explainable = () => (session.translation?.segments ?? []).filter((one) => one.finish_reason !== "copied");

/** What an answer about one sentence says of it; a mark that the server found at its beginning is copied. */
const translatedOf = ({ segments }) => segments.find((one) => one.finish_reason !== "copied") ?? segments[0];

async function explained(options, signal, want = CROSS_MEAN) {
  const { source, target } = session.translation;
  const asked = { selection: selectionOf(want), alignment: { pharaoh: false }, ...options };
  const answer = await explain({ text: session.segment.source.text, source, target, signal, ...asked });
  const made = new Explained(translatedOf(answer), { source, target }, want);
  made.options = options;
  return made;
}

/** Explains one sentence and tells whether it is still wanted; what was known about the one before is forgotten. */
export async function choose(index) {
  for (const each of [choosing, muting, comparing]) each.stop();
  const segments = explainable();
  session.segment = segments[Math.min(index, segments.length - 1)] ?? null;
  Object.assign(session, { whole: null, muted: null, other: null });
  if (!session.segment) return false;
  const targetText = session.segment.target.text;
  const [first] = wantsOf(state().view, state());
  const found = await choosing.ask((signal) => explained({ targetText }, signal, first));
  if (found) session.whole = found;
  return Boolean(found);
}

/** The explanation that the views show. */
export const shown = () => (state().inside === "muted" && session.muted ? session.muted : session.whole);

/** The pair of `sentence` in the words of the API, to be asked about again. */
export function pairOf({ source, target, languages, options }) {
  return { text: source.text, ...languages, targetText: target.text, headMask: options.headMask };
}

const underway = new WeakMap();

/** Makes sure that `sentence` has some weights; who asks for what is already under way waits for it. */
export async function need(sentence, want) {
  if (sentence.has(want)) return;
  if (!underway.has(sentence)) underway.set(sentence, new Map());
  const asked = underway.get(sentence);
  const name = nameOf(want);
  if (!asked.has(name)) {
    asked.set(name, explain({ ...pairOf(sentence), selection: selectionOf(want) })
      .then((answer) => {
        sentence.add(translatedOf(answer), want);
        if (!sentence.has(want)) throw new Error("The server gave no weights of this sentence.");
      }).finally(() => asked.delete(name)));
  }
  await asked.get(name);
}

/** All that is known about a sentence, with every head of a family: what a program would have got. */
export async function fullAnswer(sentence, family) {
  const answer = await explain({ ...pairOf(sentence), selection: selectionOf(whole(family)), alignment: { soft: true } });
  return translatedOf(answer);
}

/** Muted heads of the state: [{ family, layer, head }]. */
export function mutedHeads() {
  return state().muted.split(" ").filter(Boolean).map((name) => {
    const [family, layer, head] = name.split(".");
    return { name, family, layer: Number(layer), head: Number(head) };
  });
}

export function toggleMuted({ family, layer, head }) {
  const name = `${family}.${layer}.${head}`;
  const names = mutedHeads().map((each) => each.name);
  const next = names.includes(name) ? names.filter((each) => each !== name) : [...names, name];
  change({ muted: next.join(" "), ...(next.length ? {} : { inside: "whole" }) });
}

export const depth = (family) => session.info.model.architecture[family === "encoder" ? "encoder_layers" : "decoder_layers"];
export const headCount = () => session.info.model.architecture.heads;

function headMask() {
  const heads = mutedHeads();
  const mask = {};
  for (const family of new Set(heads.map((each) => each.family))) {
    mask[family] = Array.from({ length: depth(family) }, (_, layer) =>
      Array.from({ length: headCount() }, (_, head) =>
        heads.some((each) => each.family === family && each.layer === layer && each.head === head) ? 0 : 1));
  }
  return mask;
}

/** Translates the sentence again with the muted heads. */
export async function mute() {
  muting.stop();
  session.muted = null;
  if (!state().muted || !session.whole) return;
  const found = await muting.ask((signal) => explained({ headMask: headMask() }, signal));
  if (found) session.muted = found;
}

/** Explains another translation of the sentence, such as the reader's own; null takes the one there was away. */
export async function compareWith(targetText) {
  comparing.stop();
  session.other = null;
  if (targetText === null || !session.whole) return;
  const found = await comparing.ask((signal) => explained({ targetText }, signal));
  if (found) session.other = found;
}
