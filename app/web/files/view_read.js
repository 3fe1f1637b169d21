// Read: which words go with which, what may deserve a second look. For people who translate; no layers, no heads.

import { h, percent, token, weight } from "./dom.js";
import { trust } from "./note_trust.js";
import { session } from "./session.js";
import { light, wordList } from "./words.js";

const UNSURE = Math.log(0.35);
const DOUBTFUL = Math.log(0.12);
const KINDS = {
  ignored_source: ["Weakly covered", "Little of the translation's weight went to this word. It may be missing, or small words around it carry it."],
  unsourced_target: ["Without a source", "This word looks at no source word in particular. It may have been added, or grammar asks for it."],
  repetition: ["Said twice", "The translation repeats itself where the source does not."],
  copy_through: ["Left as it was", "Several words in a row stand in the translation just as in the source."],
  changed_number: ["Digits differ", "This number does not stand on the other side. It is wrong there, missing, or written out."],
  changed_code: ["Not copied", "This address, placeholder, tag or piece of code does not stand on the other side just so."],
  low_logprob: ["Unlikely", "The model thought this word improbable here. This is the plainest sign of trouble."],
};

export function createRead({ say }) {
  const panes = h("div", { class: "read-panes" });
  const readout = h("p", { class: "readout" });
  const notes = h("section", { class: "notes", "aria-label": "Notes" });
  const element = h("div", { class: "view read" }, h("div", { class: "read-main" }, panes, readout, legend()), notes);
  let sentence = null;
  let sides = {};
  let locked = null;

  function act(side, word, how) {
    if (how === "lock") locked = locked?.side === side && locked.word === word ? null : { side, word };
    else if (locked && how !== "focus") return;
    else if (locked) locked = null;
    show(locked?.side ?? side, locked?.word ?? word, how);
  }

  function show(side, word, how) {
    const there = side === "source" ? "target" : "source";
    const partners = word === null ? [] : sentence.partners(side, word);
    light(sides[side].buttons, word, new Map());
    light(sides[there].buttons, null, new Map(partners.map((each) => [each.word, each.score])));
    panes.classList.toggle("choosing", word !== null);
    if (word === null) readout.replaceChildren("Point at a word, or step through them with the arrow keys, to see what it goes with.");
    else describe(side, there, word, partners, how);
  }

  function describe(side, there, word, partners, how) {
    const here = sentence[side];
    const probability = side === "target" && `likelihood ${percent(Math.exp(sentence.wordLogProb(word)))}`;
    const list = partners.map((each) =>
      h("span", { class: "pair" }, token(sentence[there].words[each.word].text, sentence[there].language), ` ${weight(each.score)}`));
    readout.replaceChildren(
      h("strong", null, token(here.words[word].text, here.language)), " ↔ ",
      ...(list.length ? list : ["no word"]),
      probability ? h("span", { class: "quiet" }, probability) : "",
      locked ? h("span", { class: "quiet" }, "kept: Esc lets go") : "",
    );
    if (how !== "hover") say(readout.textContent);
  }

  function shading(word) {
    const logProb = sentence.wordLogProb(word);
    const className = logProb < DOUBTFUL ? "doubtful" : logProb < UNSURE ? "unsure" : "";
    return { className, title: `likelihood ${percent(Math.exp(logProb))}` };
  }

  function update(next) {
    if (next === sentence) return;
    sentence = next;
    locked = null;
    sides = {
      source: wordList(sentence.source, { name: "Source", act: (word, how) => act("source", word, how) }),
      target: wordList(sentence.target, { name: "Translation", act: (word, how) => act("target", word, how), extra: shading }),
    };
    panes.replaceChildren(sides.source.element, sides.target.element);
    show("source", null);
    notes.replaceChildren(h("h2", null, "Notes"), ...noteList(sentence, (side, word) => act(side, word, "lock")));
  }

  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !locked) return;
    locked = null;
    show("source", null);
  });
  return { element, update, title: "Read" };
}

function legend() {
  return h("p", { class: "legend" }, h("span", { class: "word unsure" }, "dashes"), " likelihood below 35 %  ",
    h("span", { class: "word doubtful" }, "double"), " below 12 %");
}

function noteList(sentence, go) {
  const found = withoutOverlaps(sentence.signals?.found ?? []);
  const mean = h("p", { class: "quiet" }, "Mean log-probability of a piece: ",
    h("strong", null, sentence.meanLogProb.toFixed(2)), `, as if each had been chosen with ${percent(Math.exp(sentence.meanLogProb))}.`);
  if (!found.length) return [h("p", null, "Nothing stands out in this sentence."), mean];
  return [h("ul", null, found.map((signal) => note(sentence, signal, go))), mean];
}

/** "la gare la gare" says twice both "la gare" and "gare la": one note is enough. */
function withoutOverlaps(found) {
  return found.filter((signal, index) => !found.slice(0, index).some((other) =>
    other.kind === signal.kind && other.side === signal.side && other.words[1] >= signal.words[0] && other.words[0] <= signal.words[1]));
}

const COUNTED = new Set(["repetition", "copy_through", "changed_number", "changed_code"]);

function note(sentence, signal, go) {
  const [title, why] = KINDS[signal.kind] ?? [signal.kind, ""];
  const side = sentence[signal.side];
  const [first, last] = signal.words;
  const tested = trust(session.info.model.signals, sentence.languages, signal.kind);
  const text = side.text.slice(side.words[first].span[0], side.words[last].span[1]);
  return h("li", null,
    h("button", { type: "button", class: "link", click: () => go(signal.side, first) }, token(text, side.language)),
    ` ${title.toLowerCase()}`,
    COUNTED.has(signal.kind) ? "" : h("span", { class: "quiet" }, ` ${signal.value.toFixed(3)}, noted below ${Number(signal.threshold.toFixed(3))}`),
    tested && h("span", { class: "trust" }, tested.short),
    h("details", null, h("summary", null, "why?"), h("p", null, why), tested && h("p", null, tested.long)));
}
