// What is heard: lines with their speaker, sounds as small captions, points as popping tones.

import { has, word } from "./words.js";

const KEPT = 60;
const told = document.getElementById("told");
const tones = document.getElementById("tones");
let shownPoints = null;

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function add(item, quiet) {
  for (const earlier of told.querySelectorAll(".now")) earlier.classList.remove("now");
  item.classList.add("now");
  if (quiet) item.classList.add("old");
  told.append(item);
  while (told.children.length > KEPT) told.firstElementChild.remove();
  told.scrollTop = told.scrollHeight;
  return item;
}

// The newest line stays in sight when the panel becomes lower: a phone is turned, a fault is told.
new ResizeObserver(() => { told.scrollTop = told.scrollHeight; }).observe(told);

function voiceName(voice) {
  return word(has(`${voice}_voice`) ? `${voice}_voice` : voice);
}

export function say(row, quiet = false) {
  shownPoints = null;
  const item = element("li", "line");
  const voice = row.voice ?? "narrator";
  item.dataset.voice = voice;
  const last = [...told.querySelectorAll(".line")].pop();
  const name = element("span", "voice", voiceName(voice));
  if (last?.dataset.voice === voice && last === told.lastElementChild) item.classList.add("same");
  item.append(name, element("span", "text", row.text));
  add(item, quiet);
}

/** A sound: `row.name`; one point is one tone, calls of several are counted in pairs. */
export function sound(row, quiet = false) {
  if (row.name === "point") {
    point(quiet);
    return;
  }
  shownPoints = null;
  const item = element("li", `sound sound-${row.name}`);
  item.append(icon(row.name), element("span", "text", word(has(`s_${row.name}`) ? `s_${row.name}` : row.name)));
  add(item, quiet);
}

function point(quiet) {
  if (!shownPoints?.isConnected) {
    shownPoints = element("li", "sound points");
    shownPoints.append(element("span", "dots"), element("span", "text"));
    add(shownPoints, quiet);
  }
  const [dots, text] = shownPoints.children;
  dots.append(element("i", ""));
  const count = dots.children.length;
  text.textContent = count === 1 ? word("point") : word("points", { count });
  if (quiet) return;
  const tone = element("span", "tone", "+1");
  tone.addEventListener("animationend", () => tone.remove());
  tones.append(tone);
  setTimeout(() => tone.remove(), 2000);
}

/** A table of points, for the standings and the end. */
export function standings(title, points, winners, quiet) {
  shownPoints = null;
  const item = element("li", "standings");
  item.append(element("span", "voice", title));
  for (const [figure, count] of Object.entries(points)) {
    const entry = element("span", `count figure-${figure}`, `${word(figure)} ${count}`);
    if (winners.includes(figure)) entry.classList.add("winner");
    item.append(entry);
  }
  add(item, quiet);
}

export function note(text, quiet = false) {
  if (!quiet) add(element("li", "note", text), false);
}

/** Speech broke off: the present line ends with a dash. */
export function stop() {
  const line = told.querySelector(".line.now");
  if (line) line.classList.add("broken");
}

export function clear() {
  told.replaceChildren();
  shownPoints = null;
}
