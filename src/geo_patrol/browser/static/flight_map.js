"use strict";

const STEP_SECONDS = 0.25;
const FINGER_PIXELS = 22; // around a finger or pointer within which an endpoint is meant
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

/** The map of a mission with a flight, and the endpoints to choose from. */
class FlightMap {
  /**
   * @param {SVGSVGElement} svg where it is drawn.
   * @param {function(number)} choose called with the index of the endpoint that is pointed at.
   * @param {function(number)} fly called with the index of the endpoint that is clicked.
   */
  constructor(svg, choose, fly) {
    this.svg = svg;
    [this.ground, this.path, this.overlay] = ["g", "g", "g"].map((name) => svg.appendChild(document.createElementNS(SVG, name)));
    this.flight = null;
    this.chosen = 0;
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
    this.ground.replaceChildren(...map.map(drawShape));
  }

  /** Shows a flight; the steps of its last turn one after the other if so wished. */
  show(flight, { animated }) {
    this.flight = flight;
    clearTimeout(this.timer);
    this.#showStep(animated && !STILL.matches ? 0 : flight.steps.length - 1);
    this.svg.setAttribute("aria-label", `The map. ${flight.status}`);
    this.#center();
  }

  #showStep(step) {
    const { steps } = this.flight;
    this.path.replaceChildren(...steps[step].map(drawShape));
    this.isMoving = step < steps.length - 1;
    if (this.isMoving) this.timer = setTimeout(() => this.#showStep(step + 1), 1000 * STEP_SECONDS);
    this.#drawChoices();
  }

  /** Marks an endpoint as the chosen one. */
  choose(index) {
    this.chosen = index;
    this.#drawChoices();
  }

  #drawChoices() {
    const { choices, outlook } = this.flight;
    const others = choices.filter((_, i) => i !== this.chosen).flatMap(({ shapes }) => shapes);
    const shapes = this.isMoving ? [] : [...outlook, ...others, ...(choices[this.chosen]?.chosen ?? [])];
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

  /** Makes the map larger than the screen, or as wide as it. */
  enlarge(isLarge) {
    const frame = this.svg.parentElement;
    frame.classList.toggle("large", isLarge);
    frame.toggleAttribute("tabindex", isLarge); // so that keys scroll it
    if (isLarge) frame.setAttribute("tabindex", "0");
    this.#center();
  }

  /** Scrolls to the ship. */
  #center() {
    if (this.flight === null) return;
    const frame = this.svg.parentElement;
    const matrix = this.svg.getScreenCTM();
    if (matrix !== null) frame.scrollLeft = this.flight.ship[0] * matrix.a - frame.clientWidth / 2;
  }
}
