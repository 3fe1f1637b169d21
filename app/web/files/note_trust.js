// How far a note can be trusted: what the model's maker measured, in plain words.

import { percent } from "./dom.js";

/** The fault that a note is meant to find; an improbable word may have any of them as its cause. */
const FAULTS = {
  ignored_source: ["dropped", "words were left out on purpose"],
  unsourced_target: ["swapped", "words of another sentence were put in on purpose"],
  repetition: ["repeated", "something was said twice on purpose"],
  copy_through: ["untranslated", "words were left untranslated on purpose"],
  low_logprob: ["dropped", "words were left out on purpose"],
};

/** `{ short, long }` about a kind of note in a direction; null where nothing was measured. */
export function trust(measured, { source, target }, kind) {
  const tested = measured?.[`${source}-${target}`];
  const [fault, how] = FAULTS[kind] ?? [];
  const judged = tested?.signals?.[kind];
  const found = judged?.faults?.[fault];
  if (!found) return null;
  return {
    short: `right in ${percent(found.precision)} of cases in a test where half were faulty`,
    long: `Tested on ${tested.sentences} sentences that the model had not seen, each once as it was translated and once where ${how}. `
      + `This note came up for ${percent(found.given)} of the faulty translations and for ${percent(judged.false_alarms)} of the others. `
      + "Where faults are rarer than in the test, it is wrong more often.",
  };
}
