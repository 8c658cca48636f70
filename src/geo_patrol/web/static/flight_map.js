import { drawShape } from "./scene.js";
import { create, svgElement } from "./words.js";

const STEP_SECONDS = 0.25;
const FINGER_PIXELS = 22; // around a finger or pointer within which an endpoint is meant
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");
export const NARROW = window.matchMedia("(max-width: 48rem)");
const ARROWS = { w: "↑", e: "↗", d: "→", c: "↘", x: "↓", z: "↙", a: "←", q: "↖", s: "·" };
const COAST = "s"; // key of the order to leave the engines off
const CHOOSING = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The map of a mission with a flight, and the endpoints to choose from. */
class FlightMap {
  /**
   * @param {SVGSVGElement} svg where it is drawn.
   * @param {function(number)} choose called with the index of the endpoint that is pointed at.
   * @param {function(number)} fly called with the index of the endpoint that is clicked.
   */
  constructor(svg, choose, fly) {
    this.svg = svg;
    [this.ground, this.path, this.overlay, this.marks] = ["ground", "path", "overlay", "marks"].map((name) => svg.appendChild(svgElement("g", { class: name })));
    this.flight = null;
    this.chosen = null;
    svg.addEventListener("pointermove", (event) => {
      const index = this.#choiceAt(event);
      if (event.pointerType === "mouse" && index !== null && index !== this.chosen) choose(index);
    });
    svg.addEventListener("click", (event) => {
      const index = this.#choiceAt(event);
      if (index === null) return;
      if (event.pointerType === "touch" && index !== this.chosen) choose(index); // a finger hides what it points at
      else fly(index);
    });
  }

  /** Shows the map of a mission. */
  load({ view, map }) {
    this.svg.setAttribute("viewBox", view.join(" "));
    this.svg.style.setProperty("--units", view[2]); // a style sheet makes it so wide that its words can be read
    this.ground.replaceChildren(...map.map(drawShape));
    this.#center();
  }

  /**
   * Shows a flight.
   * @param {boolean} animated whether the steps of its last turn are shown one after the other.
   * @param {number} seconds of each step.
   * @param {function(number)} onStep called with the index of each step that is shown.
   */
  show(flight, { animated, seconds = STEP_SECONDS, onStep = () => {} }) {
    this.flight = flight;
    clearTimeout(this.timer);
    this.#showStep(animated && !STILL.matches ? 0 : flight.steps.length - 1, seconds, onStep);
    this.svg.setAttribute("aria-label", `The map. ${flight.status}`);
    this.#center();
  }

  #showStep(step, seconds, onStep) {
    const { steps } = this.flight;
    this.path.replaceChildren(...steps[step].map(drawShape));
    this.isMoving = step < steps.length - 1;
    if (this.isMoving) this.timer = setTimeout(() => this.#showStep(step + 1, seconds, onStep), 1000 * seconds);
    this.#drawChoices();
    onStep(step);
  }

  /** Marks an endpoint as the chosen one; null marks none. */
  choose(index) {
    this.chosen = index;
    this.#drawChoices();
  }

  /** Draws shapes over all others, to draw attention to points of the map. */
  mark(shapes) {
    this.marks.replaceChildren(...shapes.map(drawShape));
  }

  #drawChoices() {
    const { choices, outlook } = this.flight;
    const others = choices.filter((_, i) => i !== this.chosen).flatMap(({ shapes }) => shapes);
    const chosen = choices[this.chosen]?.chosen;
    const shapes = this.isMoving ? [] : [...(chosen ? [] : outlook), ...others, ...(chosen ?? [])]; // a chosen order shows its own path
    this.overlay.replaceChildren(...shapes.map(drawShape));
  }

  /** Returns the index of the endpoint that is meant by a pointer; null if none is near. */
  #choiceAt({ clientX, clientY }) {
    const matrix = this.svg.getScreenCTM();
    if (matrix === null || this.flight === null) return null;
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
    const distances = this.flight.choices.map(({ at }) => Math.hypot(at[0] - x, at[1] - y));
    const nearest = Math.min(...distances);
    return nearest * matrix.a < FINGER_PIXELS ? distances.indexOf(nearest) : null;
  }

  /** Makes the map as wide as the screen, or so large that its words can be read. */
  enlarge(isLarge) {
    this.svg.parentElement.classList.toggle("whole", !isLarge);
    this.#center();
  }

  /** Scrolls to the ship. */
  #center() {
    const frame = this.svg.parentElement;
    if (frame.scrollWidth > frame.clientWidth) frame.setAttribute("tabindex", "0"); // so that keys scroll it
    else frame.removeAttribute("tabindex");
    const matrix = this.svg.getScreenCTM();
    if (matrix !== null && this.flight !== null) frame.scrollLeft = this.flight.ship[0] * matrix.a - frame.clientWidth / 2;
  }
}

/** The orders of the next turn: as endpoints on the map, as buttons that lie to each other as these do, and as keys. */
export class FlightBoard {
  /** @param {function(object)} fly called with the order that is to be flown: one of the flight's choices. */
  constructor(fly) {
    [this.pad, this.button, this.zoom, this.legend] = ["pad", "fly", "zoom", "legend"].map((id) => document.getElementById(id));
    this.means = create("p", { id: "means", class: "soft" });
    this.flight = null;
    this.chosen = null;
    this.fly = (index) => this.flight?.choices[index] !== undefined && fly(this.flight.choices[index]);
    this.map = new FlightMap(document.getElementById("map"), (index) => this.choose(index), this.fly);
    this.button.addEventListener("click", () => this.fly(this.chosen));
    this.zoom.addEventListener("click", () => this.enlarge(!this.isLarge));
    this.enlarge(true);
  }

  /** Shows the map of a mission, and what its marks and lines mean. */
  load(mission) {
    this.map.load(mission);
    const items = mission.legend.map(([name, shapes]) => {
      const picture = svgElement("svg", { viewBox: "-1 -13 36 26", "aria-hidden": "true" });
      picture.append(...shapes.map(drawShape));
      return create("li", {}, picture, name);
    });
    this.legend.replaceChildren(...items);
  }

  enlarge(isLarge) {
    this.isLarge = isLarge;
    this.zoom.textContent = isLarge ? "Show the whole map" : "Enlarge the map";
    this.map.enlarge(isLarge);
  }

  /**
   * Shows a flight as the map does; its orders as well.
   * @param {boolean} options.coasts whether coasting or staying is chosen at first, where it keeps the ship on the map.
   */
  show(flight, { coasts = true, ...options }) {
    const offset = this.pad.contains(document.activeElement) ? document.activeElement.dataset.offset : null;
    this.flight = flight;
    const [first] = flight.choices;
    this.chosen = this.map.chosen = coasts && first?.key === COAST && first.end !== "off" ? 0 : null;
    this.#drawPad();
    this.map.show(flight, options);
    this.#nameChosen();
    if (offset !== null) (this.pad.querySelector(`[data-offset="${offset}"]`) ?? this.button).focus({ preventScroll: true });
  }

  /** Chooses an endpoint by its index; null chooses none. */
  choose(index) {
    this.chosen = index;
    this.map.choose(index);
    this.#nameChosen();
  }

  /** Chooses or flies what a key stands for; returns whether it stands for something. */
  press(key) {
    const { choices } = this.flight;
    const index = choices.findIndex((choice) => choice.key === key.toLowerCase());
    if (key in CHOOSING && choices.length) {
      const last = this.chosen ?? (CHOOSING[key] > 0 ? -1 : choices.length);
      this.choose((last + CHOOSING[key] + choices.length) % choices.length);
    } else if (index >= 0) this.fly(index);
    else return false;
    return true;
  }

  #drawPad() {
    const { choices } = this.flight;
    const reach = Math.max(1, ...choices.flatMap(({ offset }) => offset.map(Math.abs)));
    this.pad.className = reach > 1 ? "launches" : "engines";
    const buttons = choices.map((choice, i) => {
      const { offset, label, end, cost, key } = choice;
      const cell = [Math.round(offset[0]), Math.round(offset[1])].map((value) => value + reach + 1);
      const attributes = { type: "button", "data-offset": offset.join(), "aria-label": `${label}, ${end}` };
      if (key !== null) attributes["aria-keyshortcuts"] = key;
      const text = key === null ? [end] : [ARROWS[key], create("small", {}, cost ? `${end} (${-cost})` : end)];
      const button = create("button", attributes, ...text);
      button.classList.toggle("off", end === "off");
      [button.style.gridColumn, button.style.gridRow] = cell;
      button.addEventListener("focus", () => this.choose(i));
      button.addEventListener("pointerenter", () => this.choose(i));
      button.addEventListener("click", () => this.fly(i));
      return button;
    });
    this.pad.replaceChildren(...buttons, this.means);
  }

  #nameChosen() {
    const choice = this.flight.choices[this.chosen];
    this.button.hidden = choice === undefined;
    this.button.textContent = choice === undefined ? "" : `Fly: ${choice.label}`;
    this.means.textContent = choice?.means ?? "";
    [...this.pad.querySelectorAll("button")].forEach((button, i) => button.classList.toggle("chosen", i === this.chosen));
  }
}

/** Returns the parts of a table: its headings, and rows. */
export function dataTable(headings, rows) {
  const head = create("tr", {}, ...headings.map((text) => create("th", { scope: "col" }, text)));
  return [create("thead", {}, head), create("tbody", {}, ...rows)];
}

export function dataRow(cells, attributes = {}) {
  return create("tr", attributes, ...cells.map((cell) => create("td", {}, String(cell ?? ""))));
}

/** Returns the parts of the table of points: each line of the score sheet, what it is for, and a flight's points. */
export function scoreSheet(scoring, points) {
  const totals = Object.fromEntries(points);
  const rows = scoring.map(([line, text]) => create("tr", {}, create("th", { scope: "row" }, line), create("td", {}, text), create("td", { class: "num" }, String(totals[line]))));
  const sum = points.reduce((total, [, value]) => total + value, 0);
  const total = create("tr", { class: "total" }, create("th", { scope: "row", colspan: 2 }, "total"), create("td", { class: "num" }, String(sum)));
  return dataTable(["points", "what for", "so far"], [...rows, total]);
}

/** Returns whether a key is for something else than flying: a field, or the browser. */
export function isTaken({ target, ctrlKey, altKey, metaKey, repeat }) {
  return target.matches("input, select, textarea") || ctrlKey || altKey || metaKey || repeat;
}
