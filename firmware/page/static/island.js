// What is seen on the board: figures, lights, and the pieces that a game lays on the fields, told by the events.

import { fieldName, word } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const FIGURES = ["white", "red", "green", "black"];
const ASIDE = 15; // a figure stands beside what lies on the field, so that both are seen
const svg = document.getElementById("island");
const tokens = document.getElementById("tokens");
const pawns = document.getElementById("pawns");
export const fields = new Map([...svg.querySelectorAll(".field")].map((group) => [group.dataset.field, group]));

let sites = new Map(); // field -> { name, relic, rests }
let creatures = new Map(); // creature -> field
let statues = new Map(); // field -> { laid, awake }

function draft(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function use(name, size, x = 0, y = 0) {
  return draft("use", { href: `#icon-${name}`, x: x - size / 2, y: y - size / 2, width: size, height: size });
}

const positions = new Map([...fields].map(([field, group]) => {
  const { e, f } = group.transform.baseVal.getItem(0).matrix;
  return [field, [e, f]];
}));

export function position(field) {
  return positions.get(field);
}

// --- figures

const pawnOf = new Map();
for (const figure of FIGURES) {
  const pawn = draft("g", { class: `pawn figure-${figure}`, "data-figure": figure },
    draft("circle", { class: "hand", r: 30, cy: -8 }),
    draft("use", { href: "#icon-pawn", x: -20, y: -46, width: 40, height: 56 }));
  pawnOf.set(figure, pawn);
  pawns.append(pawn);
}

/** Stand the figures; several on one field stand side by side, lower ones in front. */
export function showFigures(places, selected, hold) {
  const crowds = new Map();
  for (const figure of FIGURES) {
    const field = places[figure];
    if (field) crowds.set(field, [...(crowds.get(field) ?? []), figure]);
  }
  for (const [figure, pawn] of pawnOf) {
    const field = places[figure];
    pawn.classList.toggle("away", !field);
    pawn.classList.toggle("selected", figure === selected);
    pawn.classList.toggle("held", hold?.figure === figure);
    if (!field) continue;
    const crowd = crowds.get(field);
    const index = crowd.indexOf(figure);
    const [x, y] = position(field);
    const across = ASIDE + index * 21 - (crowd.length > 2 ? (crowd.length - 2) * 14 : 0);
    pawn.style.transform = `translate(${x + across}px, ${y + 4 + (index % 2) * 5}px)`;
  }
  const order = [...pawnOf.values()].sort((one, other) => height(one) - height(other));
  if (order.some((pawn, index) => pawns.children[index] !== pawn)) pawns.append(...order);
}

function height(pawn) {
  return Number(/, (-?[\d.]+)px/.exec(pawn.style.transform)?.[1] ?? 0);
}

// --- lights

export function showLights({ lit, blink }) {
  for (const light of svg.querySelectorAll(".light")) {
    const on = lit.includes(light.dataset.symbol);
    light.classList.toggle("lit", on);
    light.classList.toggle("blink", on && Boolean(blink));
  }
}

// --- pieces

/** One event row: what appears, moves or leaves. */
export function event(row) {
  const { field, creature } = row;
  switch (row.event) {
    case "intro_started":
    case "game_started":
      clear();
      return;
    case "discovered":
      sites.set(field, { name: row.site });
      break;
    case "guardian_appeared":
      sites.set(field, { name: "guardian", relic: row.relic });
      break;
    case "guardian_asks":
    case "tablet_offered":
      sites.set(field, { name: "guardian", relic: row.relic, rests: row.event === "tablet_offered" });
      break;
    case "guardian_rests":
      sites.set(field, { ...sites.get(field), name: "guardian", rests: true });
      break;
    case "statue_asks":
    case "tablets_laid":
      statues.set(field, { laid: 7 - row.missing });
      break;
    case "statue_awakened":
    case "statue_greets":
      statues.set(field, { laid: 7, awake: true });
      break;
    case "creature_appeared":
    case "creature_met":
      creatures.set(creature, field);
      break;
    case "dragon_attacks":
      creatures.set("dragon", field);
      break;
    case "fought":
      if (row.outcome === "vanishes") creatures.delete(creature);
      if (row.outcome === "moves") creatures.set(creature, row.to);
      break;
    case "creature_places":
      creatures = new Map(Object.entries(row.creatures));
      break;
    default:
      return;
  }
  draw();
}

export function clear() {
  sites = new Map();
  creatures = new Map();
  statues = new Map();
  draw();
}

function draw() {
  const wanted = new Map();
  const want = (key, field, mark, make) => {
    if (fields.has(field)) wanted.set(key, { mark: JSON.stringify(mark), make });
  };
  for (const [field, site] of sites) want(`site ${field}`, field, site, () => siteToken(field, site));
  for (const [field, statue] of statues) want(`statue ${field}`, field, statue, () => statueToken(field, statue));
  for (const [creature, field] of creatures) want(creature, field, field, () => creatureToken(creature, field));
  for (const token of [...tokens.children]) {
    if (wanted.get(token.dataset.key)?.mark === token.dataset.mark) wanted.delete(token.dataset.key);
    else token.remove();
  }
  for (const [key, { mark, make }] of wanted) {
    const token = make();
    token.dataset.key = key;
    token.dataset.mark = mark;
    tokens.append(token);
  }
}

function standing(field, name, ...children) {
  const [x, y] = position(field);
  return draft("g", { class: name, transform: `translate(${x} ${y})` }, draft("g", { class: "piece" }, ...children));
}

function siteToken(field, { name, relic, rests }) {
  if (name === "guardian") {
    return standing(field, `token guardian${rests ? " rests" : ""}`, use("guardian", 46), use(relic ?? "rock", 20, 0, -1));
  }
  return standing(field, `token site site-${name}`, draft("circle", { r: 20 }), use(name, 27));
}

function statueToken(field, { laid, awake }) {
  const dots = Array.from({ length: 7 }, (_, index) => {
    const angle = ((index - 3) * 24 + 180) * Math.PI / 180;
    return draft("rect", { class: index < laid ? "tablet laid" : "tablet", x: -4, y: -3, width: 8, height: 6, rx: 1.5,
      transform: `translate(${34 * Math.sin(angle)} ${-34 * Math.cos(angle) + 2})` });
  });
  const glow = awake ? [draft("circle", { class: "awake", r: 44, fill: "url(#halo)" })] : [];
  return standing(field, `token statue${awake ? " awake" : ""}`, ...glow, ...dots);
}

function creatureToken(creature, field) {
  return standing(field, `token creature creature-${creature}`,
    draft("circle", { class: "ember", r: 34, fill: "url(#lava)", cx: -20, cy: -21 }),
    draft("circle", { r: 17, cx: -20, cy: -21 }), use(creature, 25, -20, -21));
}

// --- fields as places to choose

/** Names for screen readers and tooltips; what lies and stands on a field belongs to its name. */
export function nameFields(places) {
  for (const [field, group] of fields) {
    const parts = [fieldName(group)];
    if (group.dataset.boat === "yes") parts.push(word("boat"));
    const site = sites.get(field);
    if (site) parts.push(word(`site_${site.name}`));
    for (const [creature, where] of creatures) if (where === field) parts.push(word(creature));
    for (const figure of FIGURES) if (places[figure] === field) parts.push(word("stands", { figure: word(figure) }));
    const name = parts.join(", ");
    if (group.getAttribute("aria-label") !== name) group.setAttribute("aria-label", name);
  }
}

/** The nearest field from `field` in the direction of an arrow key. */
export function neighbour(field, key) {
  const [dx, dy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[key];
  const [x, y] = position(field);
  let best = field;
  let least = Infinity;
  for (const other of fields.keys()) {
    const [ox, oy] = position(other);
    const ahead = (ox - x) * dx + (oy - y) * dy;
    const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (ahead > 5 && ahead + 2 * aside < least && aside < 1.6 * ahead) {
      least = ahead + 2 * aside;
      best = other;
    }
  }
  return best;
}

/** The field of which the present line speaks glows gently, and the figure that it sends there. */
export function markSpoken({ field, figure } = {}) {
  for (const [name, group] of fields) group.classList.toggle("spoken", name === field);
  for (const button of document.querySelectorAll("button.figure")) {
    button.classList.toggle("spoken", fields.has(field) && button.dataset.figure === figure);
  }
}
