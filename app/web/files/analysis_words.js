// One sentence for each chart: what a person sees in it, worked out from the numbers of the model being served.

import { percent, sentenceCase } from "./dom.js";

const WHOSE = { encoder: "the encoder", decoder: "the decoder", cross: "attention to the source" };
export const FAMILY_NAMES = { encoder: "Encoder", decoder: "Decoder", cross: "Cross" };
const SMALLEST_CHANGE = 0.02;
const ROLE_NAMES = { previous: "the piece before", next: "the piece after", itself: "the piece itself", delimiter: "marks" };

export const headName = ({ family, layer, head }) => `${FAMILY_NAMES[family].toLowerCase()} ${layer + 1}·${head + 1}`;
const spelled = ({ family, layer, head }) => `head ${head + 1} in layer ${layer + 1} of ${WHOSE[family]}`;

export function aboutImportance({ heads, without_one: tried = [], bleu }) {
  const top = heads.reduce((most, each) => (each.importance > most.importance ? each : most));
  const known = tried.find((each) => ["family", "layer", "head"].every((name) => each[name] === top[name]));
  const fall = known ? ` and BLEU falls from ${bleu.toFixed(1)} to ${known.bleu.toFixed(1)}` : "";
  return `No head matters as much as ${spelled(top)}: without it the loss rises by ${top.importance.toFixed(2)}${fall}.`;
}

export function aboutBleu({ without_one: tried, bleu }) {
  const costs = tried.map((each) => bleu - each.bleu);
  const [most, least] = [Math.max(...costs), Math.min(...costs)];
  const costly = costs.filter((cost) => cost > 1).length;
  return `One muted head costs up to ${most.toFixed(1)} BLEU, another ${least < 0.05 ? "nothing" : `only ${least.toFixed(1)}`}: `
    + `of the ${tried.length} heads tried, ${costly} ${costly === 1 ? "is" : "are"} missed by more than one point.`;
}

export function aboutPruning({ pruning, bleu }) {
  const halves = Object.entries(pruning).map(([family, points]) => {
    const all = Math.max(...points.map(({ kept }) => kept));
    const half = points.reduce((best, each) => (Math.abs(each.kept / all - 0.5) < Math.abs(best.kept / all - 0.5) ? each : best));
    return { family, bleu: half.bleu };
  }).sort((one, other) => one.bleu - other.bleu);
  const [worst, best] = [halves[0], halves.at(-1)];
  return `${sentenceCase(WHOSE[worst.family])} can spare the fewest heads: with half of its heads BLEU falls from ${bleu.toFixed(1)} to ${worst.bleu.toFixed(1)}, `
    + `with half of those of ${WHOSE[best.family]} to ${best.bleu.toFixed(1)}.`;
}

export function aboutDistance({ distance }) {
  const parts = Object.entries(distance).filter(([, layers]) => layers.length > 1).map(([family, layers]) => {
    const [first, last] = [layers[0], layers.at(-1)];
    const way = last > first + SMALLEST_CHANGE ? "grow apart" : last < first - SMALLEST_CHANGE ? "become more alike" : "stay as different as they were";
    return `heads of ${WHOSE[family]} ${way} (${first.toFixed(2)} to ${last.toFixed(2)})`;
  });
  if (!parts.length) return "How different the heads of a layer are from each other.";
  return `From the first layer to the last, ${parts.join(", ")}.`;
}

/** `rows` are { layer, way, together, heads, used }, one for each layer and way of reading. */
export function aboutAlignment({ rows, direction }) {
  const used = rows.find((row) => row.used);
  const best = rows.reduce((most, row) => (Math.max(...row.heads) > Math.max(...most.heads) ? row : most));
  const top = Math.max(...best.heads);
  return `${direction}: layer ${used.layer + 1}, from which the word links are read, finds ${percent(used.together)} of names and numbers `
    + `with all its heads together; the best head by itself (layer ${best.layer + 1}, head ${best.heads.indexOf(top) + 1}, ${best.way}) finds ${percent(top)}.`;
}

export function aboutRoles({ heads }) {
  const counts = new Map();
  for (const { role } of heads) if (role) counts.set(role, (counts.get(role) ?? 0) + 1);
  if (!counts.size) return `None of the ${heads.length} heads does one thing all the time.`;
  const parts = [...counts].sort((one, other) => other[1] - one[1])
    .map(([role, count]) => `${count} ${count === 1 ? "looks" : "look"} at ${ROLE_NAMES[role] ?? role}`);
  const plain = [...counts.values()].reduce((sum, each) => sum + each, 0);
  return `${plain} of ${heads.length} heads do one thing nearly all the time: ${parts.join(", ")}. The others change with the sentence.`;
}
