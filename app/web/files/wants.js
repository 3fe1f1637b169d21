// Which weights a view draws. Only these are asked for: all heads of a long sentence are megabytes that Grid alone shows.

/** A want is { family, layer, head }; layer and head are numbers, a reduction by name, or "all" for every one of them. */
export const CROSS_MEAN = { family: "cross", layer: "mean", head: "mean" };
const DECODER_MEAN = { family: "decoder", layer: "mean", head: "mean" };

export const nameOf = ({ family, layer, head }) => `${family} ${layer} ${head}`;
export const whole = (family) => ({ family, layer: "all", head: "all" });

/** The selection of the state as it can be shown: only the encoder's layers multiply, and only the mean of its heads. */
export function chosen({ family, layer, head }) {
  if (layer !== "rollout") return { family, layer, head };
  return { family, layer: family === "encoder" ? "rollout" : "mean", head: "mean" };
}

export function wantsOf(view, now) {
  if (view === "head") return [chosen(now)];
  if (view === "grid") return [whole(now.family)];
  if (view === "steps") return [CROSS_MEAN, DECODER_MEAN];
  return view === "compare" ? [CROSS_MEAN] : [];
}

/** The same in the words of the API. */
export function selectionOf({ family, layer, head }) {
  const some = (which) => (/^\d+$/.test(which) ? [Number(which)] : "all");
  const reduction = (which) => (some(which) === "all" && which !== "all" ? which : "none");
  return { families: [family], layers: some(layer), heads: some(head), aggregate: { layers: reduction(layer), heads: reduction(head) } };
}

/** What a selection shows, in words. */
export function describe(selection) {
  const { family, layer, head } = chosen(selection);
  if (layer === "rollout") return inWords(family, { reduction: "rollout" });
  const part = (value) => (/^\d+$/.test(value) ? { reduction: "none", of: [Number(value)] } : { reduction: value });
  return inWords(family, part(layer), part(head));
}

/** The same for layers and heads { reduction, of }; without `of` they are all that there are. */
export function inWords(family, layers, heads) {
  const list = (name, { of }) => (of ? `${name}s ${of.map((index) => index + 1).join(", ")}` : `${name}s`);
  const part = (name, one) => (one.of?.length === 1 ? `${name} ${one.of[0] + 1}` : `${one.reduction === "max" ? "largest" : "mean"} of ${list(name, one)}`);
  if (layers.reduction === "rollout") return `${family}, through ${layers.of ? "" : "all "}${list("layer", layers)} (rollout)`;
  return `${family}, ${part("layer", layers)}, ${part("head", heads)}`;
}
