// All heads as badges, a row for each layer: role, and one number of the reader's choice. Every badge opens its head.

import { FAMILY_NAMES } from "./analysis_words.js";
import { choice, h } from "./dom.js";
import { colour, css, inkOn, onSchemeChange } from "./scale.js";

const NUMBERS = {
  confidence: ["confidence", "Confidence is the mean of a row's largest weight: 1 where a head always looks at one piece alone."],
  entropy: ["entropy", "Entropy, in nats, says how widely a head spreads its weight: 0 where it looks at one piece alone."],
  special: ["weight on marks", "Share of a head's weight on the language tag and the start and end of the sentence."],
};
const ROLES = { delimiter: "marks", previous: "before", next: "after" };

export function headMap({ heads, sentence, go }) {
  const holder = h("div", { class: "head-maps" });
  const reading = h("p", { class: "hint" });
  const chooser = choice("Number", "head-number", Object.entries(NUMBERS).map(([name, [text]]) => [name, text]), (name) => show(name));
  let shown = "";

  function show(name) {
    shown = name;
    chooser.set(name);
    const most = name === "entropy" ? Math.max(...heads.map((each) => each.entropy), 1e-6) : 1;
    reading.textContent = `${NUMBERS[name][1]} A word under it names what a head looks at nearly always. A click opens the head.`;
    holder.replaceChildren(...Object.keys(FAMILY_NAMES).filter((family) => heads.some((each) => each.family === family))
      .map((family) => familyTable(heads.filter((each) => each.family === family), name, most, go)));
  }

  show("confidence");
  onSchemeChange(() => show(shown));
  holder.addEventListener("keydown", walk);
  return h("figure", { class: "chart wide", id: "chart-roles", "aria-labelledby": "chart-roles-title" },
    h("figcaption", null, h("h3", { id: "chart-roles-title" }, sentence), reading), chooser.element, holder);
}

function familyTable(heads, name, most, go) {
  const layers = [...new Set(heads.map(({ layer }) => layer))];
  const rows = layers.map((layer, row) => h("tr", null, h("th", { scope: "row" }, layer + 1),
    heads.filter((each) => each.layer === layer).map((head, column) => h("td", null, badge(head, name, most, go, row + column === 0)))));
  const count = heads.filter(({ layer }) => layer === layers[0]).length;
  const columns = [...Array(count).keys()].map((head) => h("th", { scope: "col" }, head + 1));
  const { family } = heads[0];
  return h("div", { class: "table-scroll" }, h("table", { class: "head-map" },
    h("caption", null, FAMILY_NAMES[family], h("span", { class: "quiet" }, " layers down, heads across")),
    h("thead", null, h("tr", null, h("td"), columns)), h("tbody", null, rows)));
}

function badge(head, name, most, go, first) {
  const shade = colour(head[name] / most);
  const role = ROLES[head.role] ?? head.role;
  const made = h("button", { type: "button", class: "map-cell", tabindex: first ? "0" : "-1", click: () => go(head) },
    h("span", { class: "sr" }, `Layer ${head.layer + 1}, head ${head.head + 1}: ${NUMBERS[name][0]} `),
    head[name].toFixed(2), role ? [" ", h("small", null, role)] : null);
  made.style.backgroundColor = css(shade);
  made.style.color = inkOn(shade);
  return made;
}

/** Arrow keys walk over the badges of a table, which is one stop of the Tab key. */
function walk(event) {
  const cell = event.target.closest("td");
  if (!cell) return;
  const { rowIndex } = cell.parentElement;
  const rows = cell.closest("table").rows;
  const [down, across] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
  const next = down === undefined ? null : rows[rowIndex + down]?.cells[cell.cellIndex + across]?.querySelector("button");
  if (!next) return;
  event.preventDefault();
  cell.closest("table").querySelectorAll("button").forEach((button) => { button.tabIndex = button === next ? 0 : -1; });
  next.focus();
}
