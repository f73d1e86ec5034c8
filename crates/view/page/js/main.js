// The page put together: header, one or two pictures in step, the bar that plays, the panels.
import { unpack } from "./data/columns.js";
import { Schedule } from "./data/schedule.js";
import { Program } from "./data/program.js";
import { State } from "./state.js";
import { isCalm } from "./drawing/palette.js";
import { count, element, icon } from "./drawing/elements.js";
import { MachineView } from "./drawing/machine.js";
import { stepChart } from "./drawing/charts.js";
import { Timeline, timelineKey } from "./drawing/timeline.js";
import { badge, brokenWords, chartsPanel, chunkPanel, linksPanel, rankPanel, verdictPanel } from "./panels.js";
import { search } from "./inspect.js";

const TABS = { verdict: ["Verdict", verdictPanel], links: ["Links", linksPanel], chunk: ["Chunk", chunkPanel], rank: ["Rank", rankPanel], charts: ["Charts", chartsPanel] };

const KEYS = [
  ["space", "play and pause"],
  ["← →", "a step back, a step on"],
  ["Home End", "the first step, the last"],
  ["h", "one step, or the heat of all"],
  ["/", "search"],
  ["t", "light or dark"],
  ["Esc", "choose nothing"],
  ["?", "these keys"],
  ["in the picture", "arrows turn it, + - zoom, 0 resets; drag, Ctrl and wheel"],
];

/** How long a step is shown while it plays, in milliseconds. */
const STEP_TIME = 1100;

class App {
  constructor(files) {
    this.files = files;
    this.state = new State();
    this.root = document.getElementById("app");
    this.focus = 0;
    this.build();
    this.state.listen(() => this.update());
    this.update();
    addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.redraw());
  }

  /** The files shown: one, or two side by side. */
  shown() {
    const index = (key, other) => Math.max(0, Math.min(this.files.length - 1, this.state.get(key) ?? other));
    return this.files.length === 1 ? [this.files[0]] : [this.files[index("left", 0)], this.files[index("right", 1)]];
  }

  file() {
    return this.shown()[Math.min(this.focus, this.shown().length - 1)];
  }

  steps() {
    return Math.max(1, ...this.shown().map((file) => file.steps));
  }

  build() {
    this.search = element("input", { type: "search", id: "search", placeholder: "rank 42 · 2.2.2 · link 2,3 · 2>3 · step 4", "aria-label": "Search for a rank, a link, a chunk or a step", onkeydown: (event) => event.key === "Enter" && this.find() });
    this.message = element("p", { class: "message", role: "status" });
    const theme = element("button", { type: "button", onclick: () => this.theme(), title: "Light or dark (t)", "aria-label": "Light or dark" }, icon("theme"));
    const keys = element("button", { type: "button", onclick: () => this.help.showModal(), title: "Keys (?)", "aria-label": "Keys" }, "?");
    const header = element("header", {}, element("h1", {}, "synth", element("span", {}, " view")), this.search, element("nav", {}, theme, keys), this.message);
    this.stage = element("div", { class: "stage" });
    this.panes = element("div", { class: "panes" });
    this.stage.append(this.panes, this.transport());
    this.inspector = element("aside", { class: "inspector", "aria-label": "Details" });
    this.help = this.dialog();
    this.root.replaceChildren(header, element("main", {}, this.stage, this.inspector), this.help);
    this.buildPanes();
    this.buildTabs();
  }

  buildPanes() {
    this.views = this.shown().map((file) => (file.type === "program" ? new Timeline(file, this.state) : new MachineView(file, this.state)));
    this.charts = [];
    const panes = this.shown().map((file, index) => this.pane(file, index));
    this.panes.classList.toggle("two", panes.length > 1);
    this.panes.replaceChildren(...panes);
    this.built = `${this.state.get("left")} ${this.state.get("right")}`;
  }

  pane(file, index) {
    const view = this.views[index];
    const isOne = this.shown().length === 1;
    const press = (event) => this.look(index, event.detail === 0);
    const name = isOne ? element("h2", {}, file.name) : element("h2", {}, element("button", { type: "button", class: "focus", onclick: press }, file.name));
    const choose = this.files.length > 2 ? this.chooser(index) : null;
    const zoom = (words, sign, act) => element("button", { type: "button", onclick: act, "aria-label": words, title: words }, sign);
    const camera = file.type === "program" ? view : view.camera;
    const tools = element("div", { class: "tools" }, zoom("Zoom in", icon("plus"), () => camera.scale(1.25)), zoom("Zoom out", icon("minus"), () => camera.scale(0.8)), zoom("Reset the view", icon("reset"), () => camera.reset()));
    const parts = [element("div", { class: "head" }, name, badge(file), choose, element("p", {}, file.headline), this.elsewhere(file)), element("div", { class: "picture" }, view.canvas, tools)];
    if (file.type === "schedule") {
      const { chart, update } = stepChart(file, this.state);
      this.charts.push(update);
      parts.push(chart);
    } else parts.push(element("p", { class: "legend" }, timelineKey()));
    return element("section", { class: "pane", "aria-label": file.name }, parts);
  }

  /** What a file meets on a machine that is not its own. */
  elsewhere(file) {
    if (!file.elsewhere) return null;
    const words = brokenWords(file);
    return element("p", { class: words ? "failed" : "" }, `Judged on another machine, ${file.elsewhere.machine}: ${words || "nothing crosses what is dead"}`);
  }

  chooser(index) {
    const key = index ? "right" : "left";
    const options = this.files.map((file, number) => element("option", { value: number, selected: number === this.state.get(key) }, file.name));
    const choose = element("select", { "aria-label": `The file on the ${key}`, onchange: () => this.state.set({ [key]: Number(choose.value) }) }, options);
    return choose;
  }

  transport() {
    const button = (words, sign, act, attributes = {}) => element("button", { type: "button", onclick: act, "aria-label": words, title: words, ...attributes }, sign);
    this.playing = button("Play", icon("play"), () => this.play(), { class: "play" });
    this.slider = element("input", { type: "range", id: "step", min: "1", max: `${this.steps()}`, "aria-label": "Step", oninput: () => this.go(Number(this.slider.value)) });
    this.heat = button("Heat of all steps", "heat", () => this.toggleHeat(), { class: "wide", "aria-pressed": "false" });
    this.words = element("p", { class: "now", "aria-live": "polite" });
    const bar = element(
      "div",
      { class: "bar", role: "group", "aria-label": "Steps" },
      button("First step", icon("first"), () => this.go(1)),
      button("A step back", icon("back"), () => this.go(this.state.get("step") - 1)),
      this.playing,
      button("A step on", icon("on"), () => this.go(this.state.get("step") + 1)),
      button("Last step", icon("last"), () => this.go(this.steps())),
      this.slider,
      this.heat,
    );
    const scale = element("span", { class: "scale" }, "idle ", element("i"), " full");
    const keys = [["failed", "failed"], ["chunk", "chunk followed"], ["evidence", "evidence"]].map(([name, words]) => element("span", { class: `key ${name}` }, words));
    this.legend = element("p", { class: "legend" }, scale, keys);
    return element("div", { class: "transport" }, this.words, bar, this.legend);
  }

  buildTabs() {
    this.tabs = Object.entries(TABS).map(([key, [name]]) =>
      element("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel", onclick: () => this.state.set({ tab: key }), onkeydown: (event) => this.tabKey(event, key) }, name),
    );
    this.panel = element("div", { role: "tabpanel", id: "panel", tabindex: "0" });
    this.inspector.replaceChildren(element("div", { role: "tablist", "aria-label": "Details" }, this.tabs), this.panel);
  }

  tabKey(event, key) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const keys = Object.keys(TABS);
    const next = keys[(keys.indexOf(key) + by + keys.length) % keys.length];
    this.state.set({ tab: next });
    document.getElementById(`tab-${next}`).focus();
  }

  dialog() {
    const rows = KEYS.map(([key, words]) => element("div", {}, element("dt", {}, key), element("dd", {}, words)));
    const close = element("button", { type: "button", onclick: () => this.help.close() }, "Close");
    return element("dialog", { "aria-label": "Keys" }, element("h2", {}, "Keys"), element("dl", { class: "keys" }, rows), close);
  }

  /** Shows what is asked for, everywhere. */
  update() {
    if (this.built !== `${this.state.get("left")} ${this.state.get("right")}`) this.buildPanes();
    const step = Math.max(1, Math.min(this.steps(), this.state.get("step")));
    if (step !== this.state.get("step")) this.state.values.step = step;
    this.slider.max = `${this.steps()}`;
    this.slider.value = `${step}`;
    const heat = this.state.get("mode") === "heat";
    this.heat.setAttribute("aria-pressed", `${heat}`);
    const isProgram = this.file().type === "program";
    this.heat.hidden = this.legend.hidden = isProgram;
    this.words.textContent = isProgram ? `Time ${step} of ${this.steps()}: an operation takes one unit, a wait or a token a quarter` : this.sentence(step, heat);
    for (const update of this.charts) update();
    this.updatePanel();
    this.redraw();
    const finding = this.state.get("finding");
    if (isProgram && finding !== this.lastFinding && finding !== "") this.views[this.focus]?.show?.(this.file().involved[Number(finding)] ?? []);
    this.lastFinding = finding;
  }

  sentence(step, heat) {
    const file = this.file();
    if (heat) return `All ${count(file.steps, "step")} · width ${file.totalWidth} · ${count(file.chunks.length, "move")}`;
    if (step > file.steps) return `Step ${step}: this schedule ended at step ${file.steps}`;
    const transfers = file.firstTransfer[step] - file.firstTransfer[step - 1];
    const broken = file.brokenMoves[step - 1];
    return `Step ${step} of ${file.steps} · width ${file.width[step - 1]} · ${count(transfers, "transfer")} · ${count(file.moves[step - 1], "chunk")}${broken ? ` · ${broken} broken` : ""}`;
  }

  updatePanel() {
    const tab = TABS[this.state.get("tab")] ? this.state.get("tab") : "verdict";
    this.tabs.forEach((button, index) => {
      const isChosen = Object.keys(TABS)[index] === tab;
      button.setAttribute("aria-selected", `${isChosen}`);
      button.tabIndex = isChosen ? 0 : -1;
    });
    this.panes.querySelectorAll("button.focus").forEach((button, index) => button.setAttribute("aria-pressed", `${index === this.focus}`));
    this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    const { values } = this.state;
    const wanted = JSON.stringify([tab, this.focus, values.left, values.right, tab === "charts" ? "" : values]);
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    // The focus stays on the button that was pressed, though it is a new one.
    const buttons = () => Array.from(this.panel.querySelectorAll("button"));
    const at = buttons().indexOf(document.activeElement);
    const top = this.panel.scrollTop;
    this.panel.replaceChildren(...TABS[tab][1](this.file(), this.state).filter(Boolean));
    this.panel.scrollTop = top;
    if (at >= 0) (buttons()[at] ?? this.panel).focus();
  }

  look(index) {
    this.focus = index;
    this.update();
  }

  redraw() {
    for (const view of this.views) view.redraw();
  }

  go(step) {
    this.state.set({ step: Math.max(1, Math.min(this.steps(), step)), mode: "step" });
  }

  toggleHeat() {
    this.state.set({ mode: this.state.get("mode") === "heat" ? "step" : "heat" });
  }

  play() {
    if (this.timer) {
      this.stop();
      return;
    }
    if (this.state.get("step") >= this.steps()) this.go(1);
    else this.state.set({ mode: "step" });
    this.playing.replaceChildren(icon("pause"));
    this.playing.setAttribute("aria-label", "Pause");
    this.playing.title = "Pause";
    let began = performance.now();
    const frame = (now) => {
      const phase = (now - began) / STEP_TIME;
      if (phase >= 1) {
        began = now;
        if (this.state.get("step") >= this.steps()) {
          this.stop();
          return;
        }
        this.go(this.state.get("step") + 1);
      } else if (!isCalm()) {
        for (const view of this.views) {
          view.phase = phase;
          view.redraw();
        }
      }
      this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }

  stop() {
    cancelAnimationFrame(this.timer);
    this.timer = null;
    this.playing.replaceChildren(icon("play"));
    this.playing.setAttribute("aria-label", "Play");
    this.playing.title = "Play";
    for (const view of this.views) view.phase = null;
    this.redraw();
  }

  find() {
    const text = this.search.value;
    const found = search(this.file(), text);
    this.message.textContent = found || !text.trim() ? "" : `There is no ${text.trim()} here. Try a rank (42 or 2.2.2), a link (2,3), a chunk (2>3) or a step (#4).`;
    if (found) this.state.set(found);
  }

  theme() {
    const root = document.documentElement;
    const isDark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    this.drawn = "";
    this.update();
  }

  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (target.matches("input, select")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (event.key === " " && target.matches("button, summary")) return;
    const step = this.state.get("step");
    const acts = {
      " ": () => this.play(),
      ArrowRight: () => this.go(step + 1),
      ArrowLeft: () => this.go(step - 1),
      Home: () => this.go(1),
      End: () => this.go(this.steps()),
      h: () => this.toggleHeat(),
      t: () => this.theme(),
      "/": () => this.search.focus(),
      "?": () => this.help.showModal(),
      Escape: () => this.state.set({ rank: "", link: "", chunk: "", finding: "", evidence: "" }),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
}

/** Unpacks the files and shows them. */
async function main() {
  const stated = JSON.parse(document.getElementById("data").textContent);
  const files = [];
  for (const [index, file] of stated.files.entries()) {
    const columns = await unpack(document.getElementById(`columns-${index}`).textContent);
    files.push(file.type === "program" ? new Program(file, columns) : new Schedule(file, columns));
  }
  const app = new App(files);
  document.documentElement.dataset.ready = "true";
  return app;
}

main().catch((error) => {
  document.getElementById("app").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
