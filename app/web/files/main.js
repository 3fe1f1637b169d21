// The page: text in, translation out, and below it five ways to look inside.

import { setUpAbout } from "./about.js";
import { byId, direction, h, languageName, setChoices } from "./dom.js";
import { setUpDownloads } from "./downloads.js";
import { keepMass } from "./matrix.js";
import { setUpKeys, VIEWS } from "./keys.js";
import { createMuted } from "./muted.js";
import { choose, compareWith, explainable, forget, mute, need, session, shown, start, translate } from "./session.js";
import { change, onChange, state } from "./state.js";
import { createCompare, otherText } from "./view_compare.js";
import { createGrid } from "./view_grid.js";
import { createHead } from "./view_head.js";
import { createRead } from "./view_read.js";
import { createSteps } from "./view_steps.js";
import { chosen, wantsOf } from "./wants.js";

const tools = { say, compare: () => attempt(compare) };
const views = {
  read: createRead(tools), head: createHead(tools), grid: createGrid(tools), steps: createSteps(tools), compare: createCompare(tools),
};
const muted = createMuted();

let speaking = 0;
/** Tells a screen reader, once the reader has stopped moving. */
function say(message) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { byId("spoken").textContent = message; }, 150);
}

function status(message, isFault = false) {
  byId("status").textContent = message;
  byId("status").classList.toggle("fault", isFault);
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    status(error.message, true);
    return null;
  }
}

let runs = 0;
/** Translates what the state says. Who asks again meanwhile gets the newer answer: the older one is given up. */
async function run() {
  const mine = ++runs;
  const began = performance.now();
  busy(true);
  status("Translating…");
  await attempt(async () => {
    const translation = await translate();
    if (!translation) return;
    showTranslation(translation);
    const { source_pieces: read, target_pieces: written } = session.usage;
    status(`${Math.round(performance.now() - began)} ms, ${read} pieces read, ${written} written.`
      + (explainable().length ? "" : " Nothing had to be translated, so there is nothing to look into."));
    await load();
  });
  if (mine === runs && !session.translation) showTranslation({ text: "", target: state().target });
}

/** While a text is translated, what stands here is of the text before: it can be read, but no more be looked into. */
function busy(isBusy) {
  byId("translation").setAttribute("aria-busy", String(isBusy));
  byId("look").inert = isBusy;
}

function showTranslation({ text, target }) {
  const pane = byId("translation");
  pane.textContent = text;
  pane.lang = target;
  pane.dir = direction(target);
  const sentences = explainable();
  byId("sentence-field").hidden = sentences.length < 2;
  setChoices(byId("sentence"), sentences.map((one, index) => [index, `${index + 1} of ${sentences.length}: ${one.source.text.slice(0, 90)}`]));
  byId("look").hidden = sentences.length === 0;
  busy(false);
}

async function load() {
  const last = explainable().length - 1;
  const wanted = Math.max(0, Math.min(Number(state().segment) || 0, last));
  byId("sentence").value = wanted;
  showNotes(explainable()[wanted]);
  byId("view").setAttribute("aria-busy", "true");
  if (!await choose(wanted).catch(refuse)) return;
  if (state().muted) await attempt(mute);
  await render();
  if (state().view === "compare" && otherText()) await compare();
}

/** Words in capitals whose pieces are not, and one piece where many are expected, would puzzle who is not told. */
function showNotes(sentence) {
  const [recased, kept] = [byId("recased"), byId("kept")];
  const parts = sentence?.kept ?? [];
  recased.hidden = !sentence?.recased;
  kept.hidden = !parts.length;
  kept.textContent = `Kept as it is, one piece to the model: ${parts.join(" · ")}`;
  const shown = [recased, kept].filter((note) => !note.hidden);
  if (shown.length) say(shown.map((note) => note.textContent).join(" "));
}

async function compare() {
  await compareWith(otherText());
  await render();
}

/** What a view shows: Compare has two explanations of one sentence. */
const sentencesOf = (view) => (view === "compare" ? [session.whole, state().other === "muted" ? session.muted : session.other] : [shown()]).filter(Boolean);

const viewNow = () => (VIEWS.includes(state().view) ? state().view : "read");

/** Fetches what a view draws; the reader may have gone on to another head meanwhile, so what is wanted is asked anew. */
async function fetchFor(view) {
  const missing = () => sentencesOf(view).flatMap((sentence) => wantsOf(view, state()).map((want) => ({ sentence, want })))
    .find(({ sentence, want }) => !sentence.has(want));
  for (let next = missing(); next && view === viewNow(); next = missing()) {
    byId("view").setAttribute("aria-busy", "true");
    await need(next.sentence, next.want);
  }
}

/** Where weights cannot be had, the view says so: what stood there belongs to another sentence, view or head. */
function refuse(error) {
  keepingFocus(() => byId("view").replaceChildren(h("p", { class: "view hint" }, error.message)));
  byId("view").setAttribute("aria-busy", "false");
  throw error;
}

async function render() {
  const view = viewNow();
  showTab(view);
  keepingFocus(muted.update);
  const sentenceNow = () => (view === "compare" ? session.whole : shown());
  const sentence = sentenceNow();
  const isLookedAt = () => sentence === sentenceNow() && view === viewNow();
  if (!sentence?.target) return;
  await fetchFor(view).catch((error) => isLookedAt() && refuse(error));
  if (!isLookedAt()) return;
  keepingFocus(() => {
    if (byId("view").firstChild !== views[view].element) byId("view").replaceChildren(views[view].element);
    views[view].update(sentence);
  });
  byId("view").setAttribute("aria-busy", "false");
}

/** Where what had the focus goes away, the view gets it: who opened a head from Grid with a key is still in the viewer. */
function keepingFocus(draw) {
  const inside = byId("look").contains(document.activeElement);
  draw();
  if (inside && !byId("look").contains(document.activeElement)) byId("view").focus({ preventScroll: true });
}

function showTab(view) {
  for (const name of VIEWS) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === view));
    tab.tabIndex = name === view ? 0 : -1;
    if (name !== view) views[name].leave?.();
  }
  byId("view").setAttribute("aria-labelledby", `tab-${view}`);
}

function setUpTabs() {
  byId("tabs").append(...VIEWS.map((name, index) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "view", click: () => change({ view: name }),
    keydown: (event) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: VIEWS.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = VIEWS[(to + VIEWS.length) % VIEWS.length];
      change({ view: next });
      byId(`tab-${next}`).focus();
    },
  }, views[name].title)));
}

/** Whether the address asks for something else than the form says: a link or a person has changed it. */
function followAddress(patch) {
  const { text, source, target, beam } = state();
  const wanted = {
    ..."text" in patch && { text },
    ...("source" in patch || "target" in patch) && { direction: `${source} ${target}` },
    ..."beam" in patch && { beam },
  };
  const different = Object.entries(wanted).filter(([id, value]) => byId(id).value !== value);
  for (const [id, value] of different) byId(id).value = value;
  showLanguage();
  return different.length > 0 && Boolean(text);
}

async function changed(patch) {
  if ("about" in patch) byId("about").open = Boolean(patch.about);
  if (followAddress(patch)) {
    forget();
    await run();
  } else if ("segment" in patch && session.translation) await attempt(load);
  else if ("muted" in patch) {
    session.muted = null;
    await attempt(render);
    await attempt(mute);
    await attempt(render);
  } else if ("other" in patch) await attempt(compare);
  else if (!("about" in patch)) await attempt(render);
}

function setUpForm() {
  const { directions, info } = session;
  setChoices(byId("direction"), directions.map(({ source, target }) => [`${source} ${target}`, `${languageName(source)} → ${languageName(target)}`]));
  const most = Math.min(info.limits.max_beam_size, 8);
  setChoices(byId("beam"), [["", "default"], ...[...Array(most).keys()].map((index) => [index + 1, index ? index + 1 : "1 (greedy)"])]);
  const now = state();
  const known = directions.find((one) => one.source === now.source && one.target === now.target) ?? directions[0];
  byId("direction").value = `${known.source} ${known.target}`;
  byId("beam").value = now.beam;
  if (now.text) {
    byId("text").value = now.text;
    change({ source: known.source, target: known.target });
  }
  showLanguage();
}

function showLanguage() {
  const [source] = byId("direction").value.split(" ");
  Object.assign(byId("text"), { lang: source, dir: "auto" });
}

/** What the form says becomes the state; another text begins with its first sentence. */
function submit(event) {
  event.preventDefault();
  const [source, target] = byId("direction").value.split(" ");
  const text = byId("text").value;
  const fresh = text !== state().text || source !== state().source;
  forget();
  change({ source, target, text, beam: byId("beam").value, ...(fresh && { segment: 0, step: 0, edit: "", inside: "whole" }) });
  run();
}

async function open() {
  await start();
  setUpForm();
  setUpTabs();
  setUpKeys();
  setUpDownloads(matrixShown, attempt);
  setUpAbout(openHead);
  byId("muted").append(muted.element);
  byId("form").addEventListener("submit", submit);
  byId("direction").addEventListener("change", showLanguage);
  byId("sentence").addEventListener("change", (event) => change({ segment: event.target.value, step: 0, edit: "" }));
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
  });
  onChange(changed);
  byId("translate").disabled = false;
  const { model } = session.info;
  status(`${model.id}, ${model.precision}, ${model.provider.replace("ExecutionProvider", "")}`);
  if (state().text) await run();
}

/** Opens a head that was measured; without a translation there is nothing yet to show it with. */
function openHead({ family, layer, head }) {
  change({ view: "head", family, layer, head, draw: "matrix", table: "" });
  const look = byId("look");
  if (look.hidden) {
    status("Translate something first, then this head can be looked at.");
    byId("text").focus();
  } else {
    byId("tab-head").focus({ preventScroll: true });
    look.scrollIntoView({ block: "start" });
  }
}

/** What a download is of: the selection that Head shows, or would show. */
async function matrixShown() {
  const now = state();
  const sentence = shown();
  await need(sentence, chosen(now));
  const found = sentence.matrix(now);
  return { ...found, ...keepMass(found, Number(now.mass) / 100) };
}

attempt(open);
