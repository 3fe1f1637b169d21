// The page: sends a text, shows its translation and one cross-attention map at a time.

const element = (id) => document.getElementById(id);
const names = new Intl.DisplayNames(["en"], { type: "language" });
const MEAN = "mean";
let segments = [];
let served;

function option(value, text) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = text;
  return made;
}

function say(message, isFault = false) {
  element("status").textContent = message;
  element("status").classList.toggle("fault", isFault);
}

async function ask(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(answer.error.message), answer.error);
  }
  return answer;
}

async function start() {
  const [languages, info] = await Promise.all([ask("/languages"), ask("/info")]);
  served = info;
  for (const { source, target } of languages.directions) {
    element("direction").append(option(`${source} ${target}`, `${names.of(source)} → ${names.of(target)}`));
  }
  for (let beam = 1; beam <= Math.min(info.limits.max_beam_size, 8); beam++) {
    element("beam").append(option(beam, beam === 1 ? "1 (greedy)" : beam));
  }
  say(`${info.model.id}, ${info.model.precision}, ${info.model.provider.replace("ExecutionProvider", "")}`);
}

async function translate(event) {
  event.preventDefault();
  const button = event.target.querySelector("button");
  if (button.disabled) return;
  const [source, target] = element("direction").value.split(" ");
  const beam = element("beam").value;
  const request = { text: element("text").value, source, target, ...(beam && { beam_size: Number(beam) }) };
  button.disabled = true;
  say("Translating…");
  const began = performance.now();
  try {
    const { answer, note } = await withAttention(request);
    const [translation] = answer.translations;
    element("translation").textContent = translation.text;
    element("translation").lang = target;
    const { source_pieces: read, target_pieces: written } = answer.usage;
    say(`${Math.round(performance.now() - began)} ms, ${read} pieces read, ${written} written. ${note}`);
    showSentences(translation.segments);
  } catch (error) {
    say(error.message, true);
  } finally {
    button.disabled = false;
  }
}

/** Asks for as many layers as should fit in an answer; if that was too much, once more for what does fit. */
async function withAttention(request) {
  const all = [{ families: ["cross"] }, ""];
  const last = [{ families: ["cross"], layers: [-1] }, "The text is long: only the last layer is shown."];
  const none = [null, "The text is too long for a picture of its attention."];
  const attempt = async ([attention, note]) => ({ answer: await ask("/translate", { ...request, attention }), note });
  const first = expectedValues(request.text) <= served.limits.max_attention_values ? all : last;
  try {
    return await attempt(first);
  } catch (error) {
    if (error.field !== "attention") throw error;
    const lastFits = error.value / served.model.architecture.decoder_layers <= error.limit;
    return attempt(first === all && lastFits ? last : none);
  }
}

/** About how many weights all layers have for a text: a piece is some three letters, plus tag and end. */
function expectedValues(text) {
  const { decoder_layers: layers, heads } = served.model.architecture;
  const areas = text.split(/(?<=[.!?…])\s+|\n+/).map((sentence) => (sentence.length / 3 + 2) ** 2);
  return layers * heads * areas.reduce((sum, area) => sum + area, 0);
}

function showSentences(found) {
  segments = found.filter((segment) => segment.attention);
  element("sentence").replaceChildren(
    ...segments.map((segment, index) => option(index, segment.source.text.slice(0, 80))),
  );
  element("look").hidden = segments.length === 0;
  if (segments.length) showChoices();
}

function showChoices() {
  const { layers, heads } = segments[0].attention.cross;
  for (const [id, label, numbers] of [["layer", "Layer", layers], ["head", "Head", heads]]) {
    const select = element(id);
    const before = select.value || MEAN;
    const each = numbers.map((number, index) => option(index, `${label} ${number + 1}`));
    select.replaceChildren(option(MEAN, `Mean of ${numbers.length}`), ...each);
    select.value = [...select.options].some(({ value }) => value === before) ? before : MEAN;
  }
  showMap();
}

/** One matrix [query][key]: the mean over the chosen layers and heads. */
function chosenWeights({ shape, values }) {
  const pick = (id, count) => {
    const chosen = element(id).value;
    return chosen === MEAN ? [...Array(count).keys()] : [Number(chosen)];
  };
  const [layers, heads] = [pick("layer", shape[0]), pick("head", shape[1])];
  const maps = layers.flatMap((layer) => heads.map((head) => values[layer][head]));
  return maps[0].map((row, query) =>
    row.map((_, key) => maps.reduce((sum, map) => sum + map[query][key], 0) / maps.length),
  );
}

function showMap() {
  const { cross } = segments[Number(element("sentence").value) || 0].attention;
  const weights = chosenWeights(cross);
  const most = Math.max(...weights.flat(), 1e-9);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  head.append(header("", "col"), ...cross.key.map((piece) => header(piece, "col")));
  const body = table.createTBody();
  weights.forEach((row, query) => {
    const line = body.insertRow();
    line.append(header(cross.query[query], "row"), ...row.map((weight, key) => cell(cross, query, key, weight, most)));
  });
  element("map").replaceChildren(table);
  element("legend-most").textContent = most.toFixed(2);
}

/** The mark that begins a word, lighter than the tokenizer writes it. */
function label(piece) {
  return piece.replaceAll("▁", "·");
}

function header(piece, scope) {
  const made = document.createElement("th");
  const text = document.createElement("span");
  made.scope = scope;
  text.textContent = label(piece);
  made.append(text);
  return made;
}

function cell(cross, query, key, weight, most) {
  const made = document.createElement("td");
  made.style.setProperty("--weight", (weight / most).toFixed(4));
  const reading = `${label(cross.query[query])} looks at ${label(cross.key[key])}: ${weight.toFixed(3)}`;
  made.setAttribute("aria-label", weight.toFixed(3));
  made.addEventListener("pointerenter", () => read(reading));
  made.addEventListener("click", () => read(reading));
  return made;
}

function read(reading) {
  element("readout").textContent = reading;
}

element("form").addEventListener("submit", translate);
for (const id of ["sentence", "layer", "head"]) element(id).addEventListener("change", showMap);
element("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element("form").requestSubmit();
});
start().catch((error) => say(error.message, true));
