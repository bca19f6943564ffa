// What is heard in the browser: the clips of the cues, each begun where the one before ends, as loud as the unit's volume.
//
// The unit keeps the time: it tells a cue when the one before has been heard to its end. Messages come a little early or
// late, so everything is heard LEAD_S later than it is told; a cue that comes within that time joins without a gap.

import { word } from "./words.js";

const LEAD_S = 0.12;
const FADE_S = 0.08; // short enough for an interruption, long enough not to click
const LATE_S = 0.25; // further behind the unit than this, a clip is cut or joined in its middle
const SWITCH_S = 0.01; // fast, but no click: the power is cut
const STEP_DB = 6; // between two of the five volume steps
const STEPS = 5;
const KEPT_S = 120; // decoded sound kept, about 25 MB
const PATIENCE_MS = 5000; // for a clip to come
const REFUSED_MS = 600; // after this a context that does not run will not run by itself
const GESTURES = ["pointerdown", "pointerup", "keydown", "click"];

const toggle = document.getElementById("sound");
let table = { on: false, sound: "unknown", volume: STEPS }; // until the volcano has told
let muted = localStorage.getItem("muted") === "yes";
let refused = false; // the browser wants a gesture first
let context = null;
let master = null;
let present = null; // the cue told last: { clip, toldAt }, until it is scheduled
let order = Promise.resolve(); // clips are scheduled in the order of their cues, whichever is loaded first
let silences = 0; // so far: a clip that was still loading at one of them is not heard
let ends = 0; // when all that is scheduled will have been heard, on the context's clock
const sounding = new Set(); // { source, gain }
const kept = new Map(); // address -> promise of an AudioBuffer, or of null; the least used first
const noted = new Set(); // addresses that could not be had

// --- clips

/** A clip, decoded; null, and a word to the console the first time, if it cannot be had. */
function load(address) {
  const loading = kept.get(address) ?? fetchClip(address);
  kept.delete(address);
  kept.set(address, loading);
  return loading;
}

async function fetchClip(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const buffer = await context.decodeAudioData(await answer.arrayBuffer());
    forgetSome(buffer.duration);
    return buffer;
  } catch (error) {
    if (!noted.has(address)) console.info(`${address} cannot be heard (${error.message}); what it says is on the page`);
    noted.add(address);
    kept.delete(address); // it may come the next time
    return null;
  }
}

let keptSeconds = 0;
async function forgetSome(added) {
  keptSeconds += added;
  for (const [address, loading] of kept) {
    if (keptSeconds <= KEPT_S) return;
    const buffer = await loading;
    if (buffer && kept.delete(address)) keptSeconds -= buffer.duration;
  }
}

// --- cues

document.addEventListener("cue", ({ detail: row }) => {
  if (row.cue === "stop") silence(FADE_S);
  if (!row.clip || !table.on) return;
  present = { clip: row.clip, toldAt: performance.now() };
  if (context) {
    begin(present);
    for (const address of row.next) load(address);
  }
  if (context?.state !== "running") setTimeout(notice, REFUSED_MS);
});

function begin(cue) {
  const [loading, before] = [load(cue.clip), silences];
  order = order.then(() => loading).then((buffer) => {
    if (before !== silences || context.state !== "running" || cue.scheduled) return;
    cue.scheduled = true;
    if (cue === present) present = null;
    if (buffer) schedule(cue, buffer);
  });
}

function schedule(cue, buffer) {
  const now = context.currentTime;
  const due = now - (performance.now() - cue.toldAt) / 1000 + LEAD_S;
  if (ends - due > LATE_S) fade(FADE_S);
  const at = ends > now ? ends : due; // what still sounds is joined
  const missed = now - at > LATE_S ? now - at : 0;
  if (missed >= buffer.duration) return;
  const source = new AudioBufferSourceNode(context, { buffer });
  const gain = new GainNode(context);
  const voice = { source, gain };
  source.connect(gain).connect(master);
  source.onended = () => sounding.delete(voice);
  sounding.add(voice);
  const start = Math.max(at, now);
  source.start(start, missed);
  ends = start + buffer.duration - missed;
}

/** What sounds fades out; what waits is dropped. */
function silence(seconds) {
  silences += 1;
  order = Promise.resolve();
  present = null;
  fade(seconds);
}

function fade(seconds) {
  for (const { source, gain } of sounding) {
    const now = context.currentTime;
    gain.gain.setValueAtTime(1, now);
    gain.gain.linearRampToValueAtTime(0, now + seconds);
    source.stop(now + seconds);
  }
  sounding.clear();
  ends = 0;
}

// --- the browser's leave, the volume, the toggle

function awake() {
  if (table.sound !== "browser" || context?.state === "running") return;
  if (navigator.userActivation && !navigator.userActivation.isActive) return;
  if (!context) {
    context = new AudioContext();
    master = new GainNode(context, { gain: loudness() });
    master.connect(context.destination);
    context.onstatechange = () => {
      if (context.state !== "running") return;
      if (present) begin(present);
      refused = false;
      show();
    };
    for (const address of effects) load(address);
  }
  context.resume();
}
for (const gesture of GESTURES) document.addEventListener(gesture, awake, true);

let effects = [];
/** Sounds that will be wanted soon. */
export function expect(addresses) {
  effects = addresses;
  if (context) for (const address of effects) load(address);
}

/** The room's table: whether the volcano is on, its volume, and whether it is heard here at all. */
export function follow(room) {
  const { on, sound, volume, service } = room;
  table = { on, sound, volume, service };
  if (!on) {
    silence(SWITCH_S);
    refused = false;
  }
  level();
  show();
}

function loudness() {
  return muted ? 0 : 10 ** ((table.volume - STEPS) * STEP_DB / 20);
}

function level() {
  if (context) master.gain.setTargetAtTime(loudness(), context.currentTime, SWITCH_S / 3);
}

export function mute() {
  if (table.sound !== "browser" || (refused && !muted)) return;
  muted = !muted;
  localStorage.setItem("muted", muted ? "yes" : "no");
  level();
  show();
}

let asked = false; // the press began as an answer to "tap for sound"
for (const begins of ["pointerdown", "keydown"]) toggle.addEventListener(begins, () => { asked = refused && !muted; });
toggle.addEventListener("click", () => {
  if (!asked) mute();
  asked = false;
});

function notice() {
  refused = table.on && context?.state !== "running";
  show();
}

/** The toggle in the page's language; before the volcano has told there is none. */
export function show() {
  if (table.sound === "unknown") return;
  const state = { browser: muted ? "off" : "on", here: table.service ? "board" : "here" }[table.sound] ?? "none";
  toggle.dataset.state = refused && !muted ? "refused" : state;
  toggle.querySelector("span").textContent = word(`sound_${toggle.dataset.state}`);
  toggle.title = word(`sound_${toggle.dataset.state}_title`);
  toggle.disabled = table.sound !== "browser";
}
