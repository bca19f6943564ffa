// The page: messages from the volcano in, hands on the table out.
//
// Whoever wants to know that a cue begins now (sound, for one) listens for the document's "cue" event; its detail is
// the row, or { cue: "stop" }. Rows of a snapshot are past and are not announced.

import { connect } from "./connection.js";
import { controls } from "./controls.js";
import { draggable, holdable, oneHand, pause, post } from "./hands.js";
import * as hints from "./hint.js";
import { hint, setMode } from "./hint.js";
import * as island from "./island.js";
import * as sound from "./sound.js";
import * as speech from "./speech.js";
import { fieldName, getLanguage, setLanguage, word } from "./words.js";

const SHORTEST_HOLD_MS = 400; // a newcomer's click still becomes a touch that the sensors see settle
const LONGEST_CLICK_MS = 1500; // on a busy machine they see it later: a click lasts until something happens, but no longer
const BETWEEN_HOLDS_MS = 200; // the finger must be seen lifted before the next touch
const FIGURE_KEYS = { w: "white", r: "red", g: "green", b: "black" };
const TOUCH_KEYS = { 1: "one", 2: "two", 3: "three", e: "explore", f: "fire" };

const id = (name) => document.getElementById(name);
const figureButtons = [...document.querySelectorAll("button.figure")];
const touchButtons = [...document.querySelectorAll("button.touch")];

let room = { on: false, button: false, battery_low: false, figures: {}, hold: null, lights: { lit: [], blink: false } };
let selected = null;
let focused = island.fields.keys().next().value;
const wishes = new Map(); // figure -> field: placed here, but the hand has not come to it yet

// --- messages in

const connection = connect({
  lost: () => {
    document.body.classList.add("lost");
    if (hints.getMode() !== "connecting") id("connection").textContent = word("lost");
  },
  found: (again) => {
    document.body.classList.remove("lost");
    id("connection").textContent = again ? word("back") : "";
    if (again) setTimeout(() => { if (connection.alive()) id("connection").textContent = ""; }, 3000);
  },
  snapshot: (snapshot) => restore(snapshot),
  room: (table) => {
    const spoken = room.language;
    room = table;
    if (spoken && spoken !== room.language) follow();
    for (const [figure, field] of wishes) room.figures[figure] = field;
    if (!room.on) setMode("off");
    show();
  },
  row: (row) => hear(row, false),
  trouble: ({ text }) => hint(text, true),
});

/** The page's language if somebody chose one: in the address, or with the button in this browser. */
function wantedLanguage() {
  return new URLSearchParams(location.search).get("lang") ?? localStorage.getItem("language");
}

/** The unit speaks another language now: so does the page. */
function follow() {
  localStorage.removeItem("language");
  history.replaceState(null, "", location.pathname);
  setLanguage(room.language);
  words();
  hint();
}

function restore(snapshot) {
  const { rows, effects, ...table } = snapshot;
  room = table;
  setLanguage(wantedLanguage() ?? room.language);
  const told = id("told");
  told.setAttribute("aria-live", "off");
  speech.clear();
  island.clear();
  setMode("off", true);
  for (const row of rows) hear(row, true);
  if (!room.on) setMode("off", true);
  else if (hints.getMode() === "off") setMode("greeting", true);
  island.showLights(room.lights);
  island.markSpoken(room.on ? rows.findLast((row) => row.cue === "say")?.args : {});
  words();
  show();
  hint();
  sound.expect(effects);
  requestAnimationFrame(() => told.setAttribute("aria-live", "polite"));
}

/** One row; `past` rows come with a snapshot and are shown without animation or sound. */
function hear(row, past) {
  if (row.cue) {
    cue(row, past);
    if (!past) document.dispatchEvent(new CustomEvent("cue", { detail: row }));
    return;
  }
  island.event(row);
  switch (row.event) {
    case "game_over": speech.standings(word("final"), row.points, row.winners, past); break;
    case "standings": speech.standings(word("standings"), row.points, [], past); break;
    case "rejected": {
      const why = word(`why_${row.reason}`);
      if (why !== `why_${row.reason}`) speech.note(why, past);
      break;
    }
    case "creature_appeared": case "dragon_attacks":
      if (!past) shake();
      break;
    default:
  }
  hints.event(row, past);
  if (!past) happens();
  if (!past) island.nameFields(room.figures);
}

function cue(row, past) {
  switch (row.cue) {
    case "say":
      speech.say(row, past);
      if (row.line === "settings") setMode("settings_open", past);
      if (!past) island.markSpoken(row.args);
      break;
    case "sound":
      speech.sound(row, past);
      if (!past && ["rumble", "eruption", "awakening"].includes(row.name)) shake();
      break;
    case "symbols":
      room.lights = { lit: row.lit, blink: Boolean(row.blink) };
      if (!past) island.showLights(room.lights);
      break;
    case "stop":
      speech.stop();
      break;
    default:
  }
  if (!past) breathe(row);
}

let breath = 0;
/** The lava glows while the volcano speaks. */
function breathe(row) {
  clearTimeout(breath);
  const ms = row.ms ?? (row.cue === "say" ? 65 * row.text.length : row.cue === "sound" ? 1500 : 0);
  if (row.cue === "symbols") return;
  document.body.classList.toggle("speaking", ms > 0);
  breath = setTimeout(() => document.body.classList.remove("speaking"), ms);
}

function shake() {
  const board = id("board");
  board.classList.remove("shaking");
  requestAnimationFrame(() => board.classList.add("shaking"));
}
id("board").addEventListener("animationend", () => id("board").classList.remove("shaking"));

// --- what is shown

function words() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = word(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", word(node.dataset.label));
  for (const node of document.querySelectorAll("[data-title]")) node.title = word(node.dataset.title);
  for (const button of touchButtons) button.querySelector(".name").textContent = word(button.dataset.touch);
  document.title = word("title");
  document.querySelector("h1").textContent = word("title");
  id("language").textContent = word("other");
  id("language").title = word("other_title");
  sound.show();
  island.fields.forEach((group) => group.setAttribute("role", "button"));
  id("island").setAttribute("aria-label", word("board"));
}

function show() {
  document.body.classList.toggle("off", !room.on);
  document.body.classList.toggle("choosing", Boolean(selected));
  document.body.classList.toggle("service", Boolean(room.service));
  showFaults();
  id("switch").setAttribute("aria-checked", String(room.on));
  id("button").classList.toggle("pressed", room.button);
  id("battery").setAttribute("aria-pressed", String(room.battery_low));
  for (const button of figureButtons) {
    const { figure } = button.dataset;
    const field = room.figures[figure];
    const where = field ? fieldName(island.fields.get(field)) : word("beside");
    button.querySelector(".name").textContent = word(figure);
    button.querySelector(".where").textContent = where;
    button.setAttribute("aria-label", `${word(figure)}, ${where}`);
    button.setAttribute("aria-pressed", String(figure === selected));
    button.classList.toggle("gone", Boolean(field));
  }
  for (const button of touchButtons) button.classList.toggle("pressed", room.hold?.touch === button.dataset.touch);
  if (!room.on) {
    island.showLights({ lit: [] });
    island.markSpoken();
  }
  sound.follow(room);
  island.showFigures(room.figures, selected, room.hold);
  island.nameFields(room.figures);
  for (const [field, group] of island.fields) group.setAttribute("tabindex", field === focused ? "0" : "-1");
}

let shownFaults = "";
/** What does not work on a real board: the part and what to check, and small the line of the log. */
function showFaults() {
  const faults = room.service ? room.faults : [];
  const shown = JSON.stringify([getLanguage(), room.service, faults]);
  if (shown === shownFaults) return; // a screen reader hears it once
  shownFaults = shown;
  const items = faults.map(({ part, told, text }) => {
    const line = Object.assign(document.createElement("small"), { textContent: text, lang: "en" });
    return entry(`${told[getLanguage()]} ${word(`check_${part}`)}`, line);
  });
  id("faults").replaceChildren(...(room.service && !items.length ? [entry(word("all_well"))] : items));
}

function entry(...content) {
  const item = document.createElement("li");
  item.append(...content);
  return item;
}

// --- hands out

async function send(command) {
  try {
    const problem = await post(command);
    if (problem) hint(problem, true);
    return !problem;
  } catch {
    connection.lost();
    return false;
  }
}

const hand = oneHand();

function select(figure) {
  selected = figure;
  show();
  const field = room.figures[figure];
  const values = { figure: word(figure), field: field ? fieldName(island.fields.get(field)) : "" };
  hint(word(field ? "hint_placed" : "hint_chosen", values));
}

function place(figure, field) {
  room.figures[figure] = field;
  selected = figure;
  show();
  if (field) hint(word("hint_placed", { figure: word(figure), field: fieldName(island.fields.get(field)) }));
  wishes.set(figure, field);
  hand(async () => {
    await send({ do: "place", figure, field });
    if (wishes.get(figure) === field) wishes.delete(figure);
  });
}

function chooseField(field) {
  focused = field;
  const here = Object.keys(room.figures).filter((figure) => room.figures[figure] === field);
  if (selected && room.figures[selected] !== field) place(selected, field);
  else if (here.length) select(here[(here.indexOf(selected) + 1) % here.length]);
  else hint(word("hint_choose"), true);
}

let happens = () => {};
/** Kept when the volcano tells the next event. */
function nextEvent() {
  return new Promise((done) => { happens = done; });
}

/**
 * Grip the selected figure and touch, until the returned function is called (and a moment longer after a click). On a
 * real board nobody's hand is there: a contact is told as a whole.
 */
function touch(name) {
  if (!room.on) return refuse("hint_first_on", {}, id("switch"));
  if (!selected) return refuse("hint_choose", {}, id("figures"));
  if (!room.figures[selected]) return refuse("hint_aside", { figure: word(selected) }, id("board"));
  const figure = selected;
  if (room.service) {
    hand(() => send({ do: "contact", figure, field: room.figures[figure], touch: name }));
    return null;
  }
  let lift;
  const lifted = new Promise((done) => { lift = done; });
  hand(async () => {
    const felt = nextEvent();
    if (!(await send({ do: "hold", figure, touch: name }))) return;
    const began = performance.now();
    await lifted;
    await pause(began + SHORTEST_HOLD_MS - performance.now());
    await Promise.race([felt, pause(began + LONGEST_CLICK_MS - performance.now())]);
    await send({ do: "release" });
    await pause(BETWEEN_HOLDS_MS);
  });
  return lift;
}

function refuse(key, values, where) {
  hint(word(key, values), true);
  where.classList.remove("look");
  requestAnimationFrame(() => where.classList.add("look"));
  return null;
}
document.addEventListener("animationend", ({ target }) => target.classList.remove("look"));

const touches = new Map(touchButtons.map((button) => [
  button.dataset.touch,
  holdable(button, () => touch(button.dataset.touch)),
]));
const push = controls(send, () => room);

id("language").addEventListener("click", () => {
  setLanguage(getLanguage() === "de" ? "en" : "de");
  localStorage.setItem("language", getLanguage());
  history.replaceState(null, "", location.pathname);
  words();
  show();
  hint();
});

// --- figures: click, or drag to a field or off the board

const drag = {
  carried: (figure) => {
    selected = figure;
    show();
  },
  dropped: (figure, under) => {
    const field = under?.closest(".field")?.dataset.field ?? room.figures[under?.closest(".pawn")?.dataset.figure];
    if (field && field !== room.figures[figure]) place(figure, field);
    else if (under?.closest("#figures") && room.figures[figure]) place(figure, null);
  },
};

for (const button of figureButtons) {
  draggable(button, () => button.dataset.figure, { ...drag, clicked: select });
  button.addEventListener("click", (click) => {
    if (click.detail === 0) select(button.dataset.figure);
  });
}
draggable(id("pawns"), (down) => down.target.closest(".pawn")?.dataset.figure, {
  ...drag,
  clicked: (figure) => {
    if (selected && selected !== figure) chooseField(room.figures[figure]);
    else select(figure);
  },
});

for (const [field, group] of island.fields) {
  group.addEventListener("click", () => chooseField(field));
  group.addEventListener("focus", () => {
    focused = field;
  });
  group.addEventListener("keydown", (down) => {
    if (down.key.startsWith("Arrow")) {
      down.preventDefault();
      down.stopPropagation();
      focused = island.neighbour(field, down.key);
      show();
      island.fields.get(focused).focus();
    } else if (down.key === "Enter" || down.key === " ") {
      down.preventDefault();
      chooseField(field);
    }
  });
  group.addEventListener("pointerenter", () => { id("place").textContent = group.getAttribute("aria-label"); });
  group.addEventListener("pointerleave", () => { id("place").textContent = ""; });
}

// --- keys: w r g b figures; 1 2 3 E F and Shift+R Touch fields; Shift+B the button; Delete beside the board; M mute

let held = null;
document.addEventListener("keydown", (down) => {
  if (down.ctrlKey || down.metaKey || down.altKey || down.repeat) return;
  const key = down.key.toLowerCase();
  const named = down.shiftKey ? { r: touches.get("rock"), b: push }[key] : touches.get(TOUCH_KEYS[key]);
  if (named) {
    held?.thing.finish();
    held = { key, thing: named };
    named.start();
  } else if (!down.shiftKey && FIGURE_KEYS[key]) select(FIGURE_KEYS[key]);
  else if (key === "m") sound.mute();
  else if (key === "delete" && selected && room.figures[selected]) place(selected, null);
  else if (down.key.startsWith("Arrow") && down.target === document.body) {
    down.preventDefault();
    island.fields.get(focused).focus();
  }
});
document.addEventListener("keyup", (up) => {
  if (held && up.key.toLowerCase() === held.key) {
    held.thing.finish();
    held = null;
  }
});
window.addEventListener("blur", () => {
  held?.thing.finish();
  held = null;
});

setLanguage(wantedLanguage() ?? navigator.language.slice(0, 2));
words();
show();
hint();
