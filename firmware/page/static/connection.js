// The stream of messages from the volcano, which comes back by itself.

const SILENCE_MS = 30000; // three missed signs of life
const AGAIN_MS = 1500;

/**
 * Listen for ever. `handlers` are called by message name (snapshot, room, row, trouble), and `lost()` and
 * `found(again)` when the connection goes and comes.
 */
export function connect(handlers) {
  let alive = false;
  let once = false;

  const lost = () => {
    if (alive || !once) handlers.lost();
    alive = false;
  };

  const open = () => {
    const source = new EventSource("/events");
    let watch = 0;
    const restart = () => {
      clearTimeout(watch);
      source.close();
      lost();
      setTimeout(open, AGAIN_MS);
    };
    const stay = () => {
      clearTimeout(watch);
      watch = setTimeout(restart, SILENCE_MS);
    };
    source.addEventListener("beat", stay);
    for (const name of ["snapshot", "room", "row", "trouble"]) {
      source.addEventListener(name, (message) => {
        stay();
        if (!alive) {
          alive = true;
          handlers.found(once);
          once = true;
        }
        handlers[name](JSON.parse(message.data));
      });
    }
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) restart();
      else lost(); // the browser itself tries again
    };
    stay();
  };

  open();
  return { lost, alive: () => alive };
}
