// Compare: two translations of one sentence, side by side, with what each leaves of the source.

import { direction, h, percent, select, setChoices, token, weight } from "./dom.js";
import { Heatmap } from "./heatmap.js";
import { cellOf, elementsOf } from "./readout.js";
import { session } from "./session.js";
import { change, state } from "./state.js";
import { light, wordList } from "./words.js";

export function createCompare({ say, compare }) {
  const kind = select("Compare with", [], (value) => change({ other: value }));
  const edit = h("textarea", { rows: "2", "aria-label": "Your translation", spellcheck: "true" });
  const form = h("form", { class: "edit", submit: (event) => { event.preventDefault(); change({ edit: edit.value }); compare(); } },
    edit, h("button", { type: "submit" }, "Compare"));
  const panes = h("div", { class: "compare-panes" });
  const readout = h("p", { class: "readout" });
  const more = h("div");
  const element = h("div", { class: "view compare" }, h("div", { class: "controls" }, kind.element), form, panes, readout, more);
  let lists = [];
  let before = [];

  function choose(source, how) {
    for (const { source: words, target, sentence } of lists) {
      light(words.buttons, source, new Map());
      const found = source === null ? [] : sentence.partners("source", source);
      light(target.buttons, null, new Map(found.map((each) => [each.word, each.score])));
    }
    if (source === null) readout.textContent = "Point at a source word on either side to see its words on both.";
    else describe(source, how);
  }

  function describe(source, how) {
    const parts = lists.map(({ sentence, name }) => {
      const found = sentence.partners("source", source).map((each) => `${sentence.target.words[each.word].text} ${weight(each.score)}`);
      return h("span", { class: "pair" }, h("b", null, name), " ", token(found.join(", ") || "no word", sentence.target.language));
    });
    readout.replaceChildren(h("strong", null, token(lists[0].sentence.source.words[source].text, lists[0].sentence.source.language)), " → ", ...parts);
    if (how !== "hover") say(readout.textContent);
  }

  function byTarget(list, word, how) {
    const [partner] = word === null ? [] : list.sentence.partners("target", word);
    choose(partner ? partner.word : null, how);
    if (word !== null) list.target.buttons[word].classList.add("chosen");
  }

  function pane(sentence, name) {
    const list = { sentence, name };
    list.source = wordList(sentence.source, { name: `${name}: source`, act: choose });
    list.target = wordList(sentence.target, { name: `${name}: translation`, act: (word, how) => byTarget(list, word, how) });
    const mean = sentence.meanLogProb;
    const element = h("section", { class: "compare-pane" }, h("h2", null, name),
      list.source.element, list.target.element,
      h("p", { class: "quiet" }, `Mean log-probability ${mean.toFixed(2)} (${percent(Math.exp(mean))} a piece), ${sentence.steps.length} pieces.`));
    return { ...list, element };
  }

  function update(first) {
    const now = state();
    setChoices(kind.list, otherChoices());
    kind.list.value = [...kind.list.options].some(({ value }) => value === now.other) ? now.other : "edit";
    form.hidden = kind.list.value !== "edit";
    edit.lang = first.target.language;
    edit.dir = "auto";
    if (document.activeElement !== edit) edit.value = now.edit || first.target.text;
    const second = kind.list.value === "muted" ? session.muted : session.other;
    if (first === before[0] && second === before[1]) return;
    before = [first, second];
    lists = [pane(first, "A: the model's"), ...(second ? [pane(second, `B: ${nameOf(kind.list.value)}`)] : [])];
    panes.replaceChildren(...lists.map((list) => list.element), ...(second ? [] : [invitation()]));
    syncScroll(lists.map((list) => list.element));
    choose(null);
    more.replaceChildren(...(second ? [coverage(first, second), difference(first, second, say)] : []).filter(Boolean));
  }

  return { element, update, title: "Compare" };
}

/** The text to compare with, null where the choice needs none. */
export function otherText() {
  const { other, edit } = state();
  const alternative = session.segment?.alternatives[Number(other.replace("beam", "")) - 2];
  if (other.startsWith("beam") && alternative) return alternative.text;
  return other === "muted" ? null : edit || null;
}

function otherChoices() {
  const alternatives = session.segment?.alternatives ?? [];
  return [["edit", "a translation of yours"],
    ...alternatives.map((each, index) => [`beam${index + 2}`, `the model's choice no. ${index + 2}: ${each.text.slice(0, 60)}`]),
    ...(session.muted ? [["muted", "the translation with muted heads"]] : [])];
}

/** A change in two decimals; what rounds to nothing has no sign. */
const signed = (change) => `${Math.abs(change) < 0.005 ? "" : change > 0 ? "+" : "−"}${weight(Math.abs(change))}`;

const nameOf = (kind) => (kind === "edit" ? "yours" : kind === "muted" ? "with muted heads" : `choice no. ${kind.replace("beam", "")}`);

const invitation = () => h("section", { class: "compare-pane invitation" }, h("h2", null, "B"),
  h("p", null, "Change the translation above and press Compare, or choose another one from the list."));

function syncScroll(elements) {
  for (const element of elements) {
    element.addEventListener("scroll", () => elements.forEach((other) => { other.scrollTop = element.scrollTop; }), { passive: true });
  }
}

/** How much weight each source word got from either translation. */
function coverage(first, second) {
  const [one, two] = [first.coverage, second.coverage];
  const most = Math.max(...one, ...two, 1e-6);
  const bar = (value) => {
    const made = h("span", { class: "bar" }, h("i"));
    made.firstChild.style.setProperty("--share", (value / most).toFixed(4));
    return h("td", null, made, h("span", { class: "number" }, weight(value)));
  };
  const rows = first.source.words.map((word, index) => {
    const change = two[index] - one[index];
    return h("tr", { class: Math.abs(change) > 0.3 ? "differs" : null }, h("th", { scope: "row" }, token(word.text, first.source.language)),
      bar(one[index]), bar(two[index]), h("td", { class: "number" }, signed(change)));
  });
  return h("section", null, h("h2", null, "Weight that each source word gets from the whole translation"),
    h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Coverage of the source words" },
      h("table", { class: "coverage", dir: direction(first.source.language) },
        h("thead", null, h("tr", null, ["Word", "A", "B", "Difference"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", null, rows))));
}

/** Differences of maps mean something only where both have the same pieces. */
function difference(first, second, say) {
  const pieces = (sentence) => sentence.steps.map((step) => step.piece).join(" ");
  if (pieces(first) !== pieces(second)) {
    return h("p", { class: "hint" }, "The two have different pieces, so their maps cannot be subtracted; the table above can be compared.");
  }
  const selection = { ...state(), family: "cross", layer: "mean", head: "mean" };
  const [one, two] = [first.matrix(selection), second.matrix(selection)];
  const matrix = { ...two, hidden: null, values: two.values.map((value, cell) => value - one.values[cell]) };
  const readout = h("p", { class: "readout" }, "B minus A: blue cells gained weight, brown ones lost it.");
  const heat = new Heatmap({ name: "Difference of the mean cross-attention, B minus A",
    describe: (row, column) => cellOf(matrix, row, column),
    onPoint: (row, column, how) => {
      if (row === null) return;
      readout.replaceChildren(...elementsOf(matrix, row, column));
      if (how !== "hover") say(cellOf(matrix, row, column));
    } });
  heat.show(matrix, "signed");
  return h("section", null, h("h2", null, "Difference of the maps"), h("div", { class: "stage" }, heat.element), readout);
}
