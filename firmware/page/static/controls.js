// The volcano's own controls: slide switch, push button, a weight on the button, weak batteries.

import { hint } from "./hint.js";
import { holdable, oneHand, pause } from "./hands.js";
import { word } from "./words.js";

const SHORTEST_PRESS_MS = 150; // longer than the button's debouncing
const LONG_PRESS_MS = 3000; // the unit's long press
const id = (name) => document.getElementById(name);

/** Bring them to life: `send` a command, `room` tells the table. Returns the push button, to be held by a key too. */
export function controls(send, room) {
  const hand = oneHand();
  const cap = id("button");
  const latch = id("latch");
  const isLatched = () => latch.getAttribute("aria-pressed") === "true";

  /** A real board is told a whole press, so that none can stick: a long one as soon as it is long. */
  function tellPress() {
    let told = false;
    const tell = (long) => {
      told = true;
      hand(() => send({ do: "press", long }));
    };
    cap.classList.add("waiting");
    const done = setTimeout(() => {
      cap.classList.add("long");
      tell(true);
    }, LONG_PRESS_MS);
    return () => {
      clearTimeout(done);
      cap.classList.remove("waiting", "long");
      if (!told) tell(false);
    };
  }

  function press() {
    if (room().service) return tellPress();
    const latched = isLatched();
    if (latched && room().button) {
      latch.setAttribute("aria-pressed", "false");
      hand(() => send({ do: "button", pressed: false }));
      return null;
    }
    let rise;
    const risen = new Promise((done) => { rise = done; });
    hand(async () => {
      await send({ do: "button", pressed: true });
      if (latched) return;
      const began = performance.now();
      await risen;
      await pause(began + SHORTEST_PRESS_MS - performance.now());
      await send({ do: "button", pressed: false });
    });
    cap.classList.add("waiting");
    const done = setTimeout(() => cap.classList.add("long"), LONG_PRESS_MS);
    return () => {
      clearTimeout(done);
      cap.classList.remove("waiting", "long");
      if (latched) hint(word("hint_settings"));
      rise();
    };
  }

  id("switch").addEventListener("click", () => {
    const on = !room().on;
    hand(() => send({ do: "power", on }));
  });
  id("battery").addEventListener("click", () => {
    const low = !room().battery_low;
    hand(() => send({ do: "battery", low }));
  });
  latch.addEventListener("click", () => {
    const latched = isLatched();
    if (latched && room().button) hand(() => send({ do: "button", pressed: false }));
    latch.setAttribute("aria-pressed", String(!latched));
  });
  return holdable(cap, press);
}
