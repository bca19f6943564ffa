// Hands on things: held, dragged, one action after the other, and sent to the volcano.

import { has, word } from "./words.js";

const DRAG_FROM_PX = 7; // less is a click of an unsteady hand

/** Send a command. The problem in one line, in the page's language if it knows it; throws if nobody answers. */
export async function post(command) {
  const answer = await fetch("/do", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(command),
  });
  if (answer.ok) return "";
  const text = await answer.text();
  if (!answer.headers.get("content-type")?.startsWith("application/json")) return text;
  const refusal = JSON.parse(text);
  return has(refusal.word) ? word(refusal.word) : refusal.error;
}

export const pause = (ms) => new Promise((done) => { setTimeout(done, Math.max(0, ms)); });

/** Actions of one hand follow each other; each waits for the one before. */
export function oneHand() {
  let last = Promise.resolve();
  return (action) => { last = last.then(action, action); };
}

/**
 * A thing that is held: by pointer, by Enter or Space, or clicked by a screen reader. `begin` starts the hold and
 * returns what ends it, or null.
 */
export function holdable(node, begin) {
  let end = null;
  const start = () => {
    end?.();
    end = begin();
  };
  const finish = () => {
    end?.();
    end = null;
  };
  node.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    node.setPointerCapture(down.pointerId);
    start();
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) node.addEventListener(name, finish);
  node.addEventListener("contextmenu", (menu) => menu.preventDefault());
  node.addEventListener("keydown", (down) => {
    if (down.key !== "Enter" && down.key !== " ") return;
    down.preventDefault();
    if (!down.repeat) start();
  });
  node.addEventListener("keyup", (up) => {
    if (up.key !== "Enter" && up.key !== " ") return;
    up.preventDefault();
    finish();
  });
  node.addEventListener("click", (click) => {
    if (click.detail !== 0 || click.pointerType) return;
    start();
    finish();
  });
  return { start, finish };
}

/**
 * Figures that are clicked or dragged from `node`: `figureOf(event)` tells which one, `clicked(figure)`,
 * `carried(figure)` when a drag begins, `dropped(figure, element under the pointer)`.
 */
export function draggable(node, figureOf, { clicked, carried, dropped }) {
  node.addEventListener("pointerdown", (down) => {
    const figure = figureOf(down);
    if (!figure || down.button !== 0) return;
    let ghost = null;
    const move = (moved) => {
      if (!ghost && Math.hypot(moved.clientX - down.clientX, moved.clientY - down.clientY) > DRAG_FROM_PX) {
        ghost = ghostOf(figure);
        carried(figure);
      }
      if (ghost) ghost.style.transform = `translate(${moved.clientX}px, ${moved.clientY}px)`;
    };
    const stop = (up) => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", stop);
      document.removeEventListener("pointercancel", stop);
      ghost?.remove();
      if (up.type === "pointercancel") return;
      if (ghost) dropped(figure, document.elementFromPoint(up.clientX, up.clientY));
      else clicked(figure);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", stop);
    document.addEventListener("pointercancel", stop);
  });
}

function ghostOf(figure) {
  const ghost = document.createElement("div");
  ghost.className = `ghost figure-${figure}`;
  ghost.append(document.querySelector("button.figure svg").cloneNode(true));
  document.body.append(ghost);
  return ghost;
}
