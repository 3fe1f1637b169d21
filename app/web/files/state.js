// What the page shows, kept in the URL's fragment: it can be shared and never reaches the server or its logs.

const DEFAULTS = {
  view: "read", source: "", target: "", beam: "", text: "", segment: "0",
  family: "cross", layer: "mean", head: "mean", unit: "words", special: "hide", mass: "100",
  scale: "row", draw: "matrix", table: "", muted: "", inside: "whole", step: "0", sort: "position",
  other: "edit", edit: "", lock: "", about: "",
};

let current = { ...DEFAULTS, ...read() };
const listeners = new Set();

function read() {
  const found = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries([...found].filter(([name]) => name in DEFAULTS));
}

function write() {
  const changed = Object.entries(current).filter(([name, value]) => value !== DEFAULTS[name]);
  const hash = new URLSearchParams(changed).toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
}

export const state = () => current;

/** Changes some of the state and tells everybody who listens. */
export function change(patch) {
  const next = Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, String(value)]));
  if (Object.entries(next).every(([name, value]) => current[name] === value)) return;
  current = { ...current, ...next };
  write();
  listeners.forEach((listener) => listener(next));
}

export const onChange = (listener) => listeners.add(listener);

addEventListener("hashchange", () => {
  const next = { ...DEFAULTS, ...read() };
  const different = Object.entries(next).filter(([name, value]) => current[name] !== value);
  current = next;
  if (different.length) listeners.forEach((listener) => listener(Object.fromEntries(different)));
});
