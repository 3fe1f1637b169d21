// Small helpers to make elements; nothing here knows what the page is about.

const SVG = "http://www.w3.org/2000/svg";
const RIGHT_TO_LEFT = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"]);

export const byId = (id) => document.getElementById(id);

/** An element: properties that are functions are listeners, the others attributes; false and null are left out. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same in SVG. */
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(made, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return made;
}

/** A labelled drop-down list; `choices` are [value, text]. */
export function select(label, choices, onChange, properties) {
  const list = h("select", { ...properties, change: () => onChange(list.value) });
  setChoices(list, choices);
  return { element: h("label", { class: "field" }, h("span", null, label), list), list };
}

export function setChoices(list, choices) {
  const same = list.options.length === choices.length
    && choices.every(([value, text], index) => list.options[index].value === String(value) && list.options[index].text === text);
  if (!same) list.replaceChildren(...choices.map(([value, text]) => h("option", { value }, text)));
}

/** A few exclusive choices side by side: native radio buttons, so that arrow keys work as everywhere. */
export function choice(legend, name, choices, onChange) {
  const inputs = choices.map(([value]) => h("input", { type: "radio", name, value, change: () => onChange(value) }));
  const labels = choices.map(([, text], index) => h("label", null, inputs[index], h("span", null, text)));
  const element = h("fieldset", { class: "choice" }, h("legend", null, legend), h("div", null, labels));
  return { element, set: (value) => inputs.forEach((input) => { input.checked = input.value === value; }) };
}

/** A check box with its label. */
export function check(label, onChange) {
  const box = h("input", { type: "checkbox", change: () => onChange(box.checked) });
  const text = h("span", null, label);
  return { element: h("label", { class: "check" }, box, text), box, text };
}

export const direction = (language) => (RIGHT_TO_LEFT.has(String(language).split(/[-_]/)[0]) ? "rtl" : "ltr");

const names = new Intl.DisplayNames(["en"], { type: "language" });

/** A language in English; a code that says nothing to the browser stands for itself. */
export function languageName(code) {
  try {
    return names.of(code.replaceAll("_", "-"));
  } catch {
    return code;
  }
}

/** A token in its own language, isolated from what stands around it. */
export function token(text, language) {
  return h("bdi", { lang: language || null, dir: "auto" }, text);
}

/** Calls `work` at most once per frame. */
export function perFrame(work) {
  let waiting = 0;
  return () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      work();
    });
  };
}

export const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const percent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(share * 100)} %`);
export const weight = (value) => value.toFixed(2);
