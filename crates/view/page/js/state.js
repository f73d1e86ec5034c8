// What is shown: a few values, kept in the address (`#step=3&chunk=2-3`), and those who want to know of changes.

const DEFAULTS = { step: 1, mode: "step", tab: "verdict", chunk: "", rank: "", link: "", finding: "", evidence: "", left: 0, right: 1 };

export class State {
  constructor() {
    this.listeners = [];
    this.values = { ...DEFAULTS };
    this.read();
    addEventListener("hashchange", () => {
      if (location.hash !== this.written) {
        this.read();
        this.tell();
      }
    });
  }

  /** Takes the values from the address. */
  read() {
    const stated = new URLSearchParams(location.hash.slice(1));
    for (const [key, value] of Object.entries(DEFAULTS)) {
      const text = stated.get(key);
      if (text === null) this.values[key] = value;
      else if (typeof value === "number") this.values[key] = Number.parseInt(text, 10) || 0;
      else this.values[key] = text;
    }
  }

  get(key) {
    return this.values[key];
  }

  /** Changes values, puts them in the address, and tells everyone. */
  set(changes) {
    Object.assign(this.values, changes);
    const stated = new URLSearchParams();
    for (const [key, value] of Object.entries(this.values)) if (value !== DEFAULTS[key]) stated.set(key, value);
    const text = stated.toString();
    this.written = text ? `#${text}` : "";
    history.replaceState(null, "", this.written || location.pathname + location.search);
    this.tell();
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}
