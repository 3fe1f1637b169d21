// The server's answers.

/** A refusal of the server, with the fields of its error. */
export class Refusal extends Error {}

export async function ask(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = answer.error ?? { message: `The server answered ${response.status}.` };
  throw Object.assign(new Refusal(error.message), error);
}

/** Everything about one sentence but the maps of families that were not asked for. */
export function explain({ text, source, target, targetText, families, headMask }) {
  return ask("/attention", {
    text, source, target, families,
    encoding: "base64", dtype: "float16", offset_unit: "utf16", alignment: { soft: true },
    ...(targetText != null && { target_text: targetText }),
    ...(headMask && { head_mask: headMask }),
  });
}
