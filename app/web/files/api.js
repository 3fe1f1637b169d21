// The server's answers.

/** A refusal of the server, with the fields of its error. */
export class Refusal extends Error {}

/** Where these files come from, which need not be where the page does that uses them. */
const SERVER = new URL("..", import.meta.url);

async function request(path, body, accept, signal) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json", Accept: accept }, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, SERVER), { ...options, signal });
  if (response.ok) return response;
  const { error = { message: `The server answered ${response.status}.` } } = await response.json().catch(() => ({}));
  throw Object.assign(new Refusal(error.message), error);
}

/** The server stops working on what `signal` aborts. */
export async function ask(path, body, signal) {
  return (await request(path, body, "application/json", signal)).json();
}

const pair = ({ text, source, target, targetText, headMask }) => ({
  text, source, target,
  ...(targetText != null && { target_text: targetText }),
  ...(headMask && { head_mask: headMask }),
});

/** Everything about one sentence, with the weights that `selection` names. */
export function explain({ selection, alignment = null, signal, ...rest }) {
  const body = { ...pair(rest), ...selection, alignment, encoding: "base64", dtype: "float16", offset_unit: "utf16" };
  return ask("/attention", body, signal);
}

/** The same as a picture, in SVG. */
export async function askPicture({ text, source, target, targetText, headMask, ...drawn }) {
  const response = await request("/attention/render", { ...pair({ text, source, target, targetText, headMask }), ...drawn }, "image/svg+xml");
  return response.text();
}
