import { BoardView } from "./scene.js";
import { counted, create, phaseText, say, SIDES, svgElement } from "./words.js";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const PAUSE_SECONDS = 0.3; // for which a position stands still before the next phase
export const REDUCED_MOTION = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Shows the moments of a game on a board, and moves between them. */
export class Playback {
  /**
   * @param {SVGSVGElement} svg of the board.
   * @param {function(Playback)} changed called when another moment is shown, when it has arrived, and when it plays or stops.
   */
  constructor(svg, changed = () => {}) {
    this.board = new BoardView(svg);
    this.changed = changed;
    this.record = { moments: [], names: ["", ""] };
    this.index = 0;
    this.elapsed = 0; // seconds since the phase that led here began
    this.speed = 1;
    this.isPlaying = false;
    this.last = null;
  }

  /** Shows the start of a game. */
  load(record) {
    this.record = record;
    this.board.load(record);
    this.goTo(0);
  }

  get moment() {
    return this.record.moments[this.index];
  }

  get isAtEnd() {
    return this.index === this.record.moments.length - 1;
  }

  /** Whether the phase that led to the moment has been shown to its end. */
  get hasArrived() {
    return this.elapsed >= (this.moment?.seconds ?? 0);
  }

  /** The moment whose position is shown beside the board: until the phase that leads to one has been shown, the one before. */
  get settled() {
    return this.hasArrived ? this.moment : this.record.moments[Math.max(this.index - 1, 0)];
  }

  /** Shows a moment, or the phase that led there from its beginning. */
  goTo(index, { animated = false } = {}) {
    if (this.record.moments.length === 0) return;
    this.index = Math.min(Math.max(index, 0), this.record.moments.length - 1);
    this.elapsed = animated && !REDUCED_MOTION.matches ? 0 : this.moment.seconds;
    this.draw();
    this.changed(this);
    this.#request();
  }

  pauseAt(index) {
    this.setPlaying(false);
    this.goTo(index);
  }

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    this.last = null;
    this.changed(this);
    this.#request();
  }

  toggle() {
    if (!this.isPlaying && this.isAtEnd) this.goTo(0);
    this.setPlaying(!this.isPlaying);
  }

  /** Shows the next phase; skips to the end of one that is being shown. */
  forward() {
    this.setPlaying(false);
    if (!this.hasArrived) this.goTo(this.index);
    else if (!this.isAtEnd) this.goTo(this.index + 1, { animated: true });
  }

  /** Plays the next engagement, or the one before. */
  seekEngagement(step) {
    const { moments } = this.record;
    let index = this.index + step;
    while (index > 0 && index < moments.length && !moments[index].engaged) index += step;
    this.setPlaying(false);
    this.goTo(index, { animated: moments[index]?.engaged ?? false });
  }

  /** Adds a moment; it is shown at once unless the past is being looked at. */
  append(moment) {
    const isFollowing = this.isPlaying || this.isAtEnd;
    this.record.moments.push(moment);
    if (isFollowing) this.setPlaying(true);
  }

  #request() {
    if (this.requested || this.record.moments.length === 0) return;
    this.requested = true;
    requestAnimationFrame((now) => {
      this.requested = false;
      this.#tick(now);
    });
  }

  #tick(now) {
    const hadArrived = this.hasArrived;
    this.elapsed += this.last === null ? 0 : ((now - this.last) / 1000) * this.speed;
    this.last = now;
    if (this.isPlaying && this.elapsed >= this.moment.seconds + PAUSE_SECONDS) {
      if (this.isAtEnd) this.setPlaying(false);
      else this.goTo(this.index + 1, { animated: true });
    }
    this.draw();
    if (!hadArrived && this.hasArrived) this.changed(this);
    if (this.isPlaying || !this.hasArrived) this.#request();
    else this.last = null;
  }

  draw() {
    const progress = this.moment.seconds > 0 ? Math.min(this.elapsed / this.moment.seconds, 1) : 1;
    this.board.draw(this.moment, progress);
  }
}

const CONTROLS = [
  ["start", "«", "To the start"],
  ["back", "‹", "A phase back"],
  ["play", "Play", ""],
  ["forward", "›", "A phase on"],
  ["end", "»", "To the end"],
];

/** Buttons and a slider that step through a game. */
export class Controls {
  /**
   * @param {HTMLElement} root where they go.
   * @param {Playback} playback what they control; it calls ``update`` when it changes.
   */
  constructor(root, playback) {
    this.playback = playback;
    const actions = {
      start: () => playback.pauseAt(0),
      back: () => playback.pauseAt(playback.index - 1),
      play: () => playback.toggle(),
      forward: () => playback.forward(),
      end: () => playback.pauseAt(playback.record.moments.length - 1),
    };
    this.actions = actions;
    for (const [id, text, label] of CONTROLS) {
      const button = create("button", { type: "button", class: `step-${id}`, ...(label ? { "aria-label": label, title: label } : {}) }, text);
      button.addEventListener("click", actions[id]);
      root.append(button);
    }
    this.play = root.querySelector(".step-play");
    this.slider = create("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Moment of the game" });
    this.slider.addEventListener("input", () => playback.pauseAt(Number(this.slider.value)));
    root.append(this.slider);
  }

  update() {
    const { record, index, isPlaying, moment } = this.playback;
    this.slider.max = String(record.moments.length - 1);
    this.slider.value = String(index);
    if (moment !== undefined) this.slider.setAttribute("aria-valuetext", phaseText(moment));
    say(this.play, isPlaying ? "Pause" : "Play");
  }
}

/** Returns the score after each turn that was played, with the index of the moment. */
export function turnScores(moments) {
  const points = new Map();
  moments.forEach(({ turn, phase, score }, index) => {
    if (phase === "movement") points.set(turn - 1, { turns: turn - 1, score, index });
    if (phase === "over") points.set(turn, { turns: turn, score, index });
  });
  return [...points.values()];
}

/**
 * Draws lines over the turns of a game into an element of the class plot.
 * @param {HTMLElement} root the element.
 * @param {Array} lines each with a class, and points (turns, value).
 * @param {number[]} range the lowest and the highest value.
 * @param {string} text what the picture shows, in words.
 * @param {Array} marks each with turns, value, and its text.
 */
export function drawPlot(root, lines, [low, high], text, marks = []) {
  const last = Math.max(4, ...lines.flatMap(({ points }) => points.map(([turns]) => turns)));
  const y = (value) => 100 - ((value - low) / (high - low || 1)) * 100;
  const x = (turns) => (turns / last) * 100;
  const svg = svgElement("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(svgElement("path", { class: "frame", d: "M0 0H100M0 100H100" }), svgElement("path", { class: "middle", d: "M0 50H100" }));
  for (const { name, points } of lines) svg.append(svgElement("polyline", { class: name, points: points.map(([turns, value]) => `${x(turns)},${y(value)}`).join(" ") }));
  const labels = marks.map(({ turns, value, label }) => {
    const mark = create("b", {}, label);
    [mark.style.left, mark.style.top] = [`${x(turns)}%`, `${y(value)}%`];
    return mark;
  });
  const values = [high, (low + high) / 2, low].map((value) => create("span", {}, String(Math.round(value))));
  const step = Math.ceil(last / 10);
  const turns = [...Array(Math.floor(last / step) + 1).keys()].map((i) => {
    const label = create("span", {}, String(i * step));
    label.style.left = `${x(i * step)}%`;
    return label;
  });
  root.replaceChildren(create("div", { class: "y", "aria-hidden": "true" }, ...values), create("div", { class: "line" }, svg, ...labels), create("div", { class: "x", "aria-hidden": "true" }, ...turns));
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", text);
}

/** Draws the score over the turns. */
export function drawScores(root, moments, cast) {
  const points = turnScores(moments);
  const values = points.flatMap(({ score }) => score);
  const lines = SIDES.map((side, i) => ({ name: side, points: points.map(({ turns, score }) => [turns, score[i]]) }));
  const ends = SIDES.map((side, i) => `${cast.name(side)} ${points[0].score[i]} to ${points.at(-1).score[i]}`);
  drawPlot(root, lines, [Math.floor((Math.min(...values) - 5) / 10) * 10, Math.ceil((Math.max(...values) + 5) / 10) * 10], `The score over ${counted(points.at(-1).turns, "turn")}: ${ends.join(", ")}`);
}
