"use strict";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const PAUSE_SECONDS = 0.3; // for which a position stands still before the next phase
const REDUCED_MOTION = window.matchMedia("(prefers-reduced-motion: reduce)");

const CONTROLS = [
  ["restart", "|<", "To the start", "Home"],
  ["back", "<", "A phase back", "left arrow"],
  ["play", "Play", "", "space"],
  ["forward", ">", "A phase forward", "right arrow"],
  ["end", ">|", "To the end", "End"],
  ["previous-engagement", "Previous engagement", "", "Shift E"],
  ["next-engagement", "Next engagement", "", "E"],
];

/** Shows the moments of a game, and moves between them. */
class Playback {
  /**
   * @param {HTMLElement} root with a board, panels, an element of the class controls and one with the id status.
   * @param {EventTarget} keys where keys control it.
   */
  constructor(root, keys = document) {
    this.keys = keys;
    this.board = new BoardView(root.querySelector("#board"));
    this.panels = new Panels(root, this.board);
    this.status = root.querySelector("#status");
    this.record = { moments: [], names: ["", ""] };
    this.index = 0;
    this.elapsed = 0; // seconds since the phase that led here began
    this.isPlaying = false;
    this.last = null;
    this.#addControls(root.querySelector(".controls"));
    this.#listen();
  }

  /** Shows the start of a game. */
  load(record) {
    this.record = record;
    this.slider.max = String(record.moments.length - 1);
    this.board.load(record);
    this.panels.showRules(record.rules);
    this.goTo(0);
  }

  get moment() {
    return this.record.moments[this.index];
  }

  /** Shows a moment, or the phase that led there from its beginning. */
  goTo(index, { animated = false } = {}) {
    if (this.record.moments.length === 0) return;
    this.index = Math.min(Math.max(index, 0), this.record.moments.length - 1);
    this.board.recall();
    this.elapsed = animated && !REDUCED_MOTION.matches ? 0 : this.moment.seconds;
    this.status.textContent = this.#summary();
    this.draw();
  }

  pauseAt(index) {
    this.setPlaying(false);
    this.goTo(index);
  }

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    this.play.textContent = isPlaying ? "Pause" : "Play";
    this.play.setAttribute("aria-pressed", String(isPlaying));
    this.last = null;
    this.#request();
  }

  toggle() {
    if (!this.isPlaying && this.index === this.record.moments.length - 1) this.goTo(0);
    this.setPlaying(!this.isPlaying);
  }

  forward() {
    this.setPlaying(false);
    if (this.elapsed < this.moment.seconds) this.goTo(this.index);
    else if (this.index + 1 < this.record.moments.length) this.goTo(this.index + 1, { animated: true });
    this.#request();
  }

  /** Plays the next engagement, or the one before. */
  seekEngagement(step) {
    const { moments } = this.record;
    let index = this.index + step;
    while (index > 0 && index < moments.length && !moments[index].engaged) index += step;
    this.setPlaying(false);
    this.goTo(index, { animated: moments[index]?.engaged ?? false });
    this.#request();
  }

  changeSpeed(step) {
    const index = SPEEDS.indexOf(Number(this.speed.value)) + step;
    this.speed.value = String(SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)]);
  }

  #request() {
    if (this.record.moments.length === 0) return;
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame((now) => {
      this.requested = false;
      this.#tick(now);
    });
  }

  #tick(now) {
    const seconds = this.last === null ? 0 : ((now - this.last) / 1000) * Number(this.speed.value);
    this.last = now;
    this.elapsed += seconds;
    const isAtEnd = this.index === this.record.moments.length - 1;
    if (this.isPlaying && this.elapsed >= this.moment.seconds + PAUSE_SECONDS) {
      if (isAtEnd) this.setPlaying(false);
      else this.goTo(this.index + 1, { animated: true });
    }
    this.draw();
    if (this.isPlaying || this.elapsed < this.moment.seconds) this.#request();
    else this.last = null;
  }

  draw() {
    const progress = this.moment.seconds > 0 ? Math.min(this.elapsed / this.moment.seconds, 1) : 1;
    this.board.draw(this.moment, progress);
    const before = this.record.moments[Math.max(this.index - 1, 0)];
    this.panels.show(progress < this.moment.told ? before : this.moment, this.record.names);
    this.slider.value = String(this.index);
    this.slider.setAttribute("aria-valuetext", headline(this.moment, this.record.names));
  }

  /** Returns what has happened, for screen readers. */
  #summary() {
    const { moment, record } = this;
    const outcomes = moment.engaged ? moment.outcomes.filter(([, , isIdle]) => !isIdle).map(([text]) => text) : [];
    const score = `score ${moment.score.join(" to ")}`;
    return [`${headline(moment, record.names)}, ${score}.`, ...outcomes].join(" ");
  }

  #addControls(root) {
    for (const [id, text, label, key] of CONTROLS) {
      const button = create("button", { id, type: "button", title: `${label || text} (${key})` }, text);
      if (label) button.setAttribute("aria-label", label);
      root.append(button);
    }
    this.play = root.querySelector("#play");
    this.play.setAttribute("aria-pressed", "false");
    this.speed = create("select", { id: "speed" }, ...SPEEDS.map((speed) => create("option", {}, String(speed))));
    this.speed.value = "1";
    this.slider = create("input", { id: "position", type: "range", min: 0, max: 0, value: 0, "aria-label": "Position in the game" });
    root.append(create("label", {}, "Speed ", this.speed), this.slider);
  }

  #listen() {
    const actions = {
      restart: () => this.pauseAt(0),
      "previous-engagement": () => this.seekEngagement(-1),
      back: () => this.pauseAt(this.index - 1),
      play: () => this.toggle(),
      forward: () => this.forward(),
      "next-engagement": () => this.seekEngagement(1),
      end: () => this.pauseAt(this.record.moments.length - 1),
    };
    for (const [id, run] of Object.entries(actions)) document.getElementById(id).addEventListener("click", run);
    this.slider.addEventListener("input", () => this.pauseAt(Number(this.slider.value)));
    const keys = {
      " ": actions.play,
      ArrowLeft: actions.back,
      ArrowRight: actions.forward,
      Home: actions.restart,
      End: actions.end,
      e: actions["next-engagement"],
      E: actions["previous-engagement"],
      "+": () => this.changeSpeed(1),
      "-": () => this.changeSpeed(-1),
    };
    this.keys.addEventListener("keydown", (event) => {
      const isControl = event.target.matches("select, input") || (event.key === " " && event.target.matches("button, summary"));
      if (!(event.key in keys) || isControl || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
