// A word to the newcomer: what there is to do now, or for some seconds what just went wrong.

import { word } from "./words.js";

const PASSING_MS = 6000;
const MODES = {
  powered_on: "greeting", battery_low: "weak", ready: "ready", intro_started: "intro", intro_finished: "ready",
  game_started: "game", resumed: "game", game_over: "over",
};
const line = document.getElementById("hint");
let mode = "connecting"; // connecting, off, settings_open, asked, or one of the above
let before = "ready"; // the mode that a question interrupts
let back = 0;

/** A passing word, or without one what there is to do. */
export function hint(text = "", urgent = false) {
  clearTimeout(back);
  line.textContent = text || word(`hint_${mode}`);
  line.classList.toggle("urgent", urgent);
  if (text) back = setTimeout(hint, PASSING_MS);
}

export function getMode() {
  return mode;
}

export function setMode(next, past = false) {
  if (mode === next) return;
  mode = next;
  if (!past) hint();
}

/** One event row: it may change what there is to do. */
export function event(row, past) {
  if (row.event === "who_asked") {
    if (mode !== "asked") before = mode;
    setMode("asked", past);
  } else if (row.event in MODES) setMode(MODES[row.event], past);
  else if (mode === "asked" && row.event !== "repeated") setMode(before, past);
  if (row.event === "story" && !past) hint(word("hint_story"));
}
