"use strict";

const STEP_SECONDS = 0.25;
const FINGER_PIXELS = 22; // around a finger or pointer within which an endpoint is meant
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");
const REFRESH_SECONDS = 4;
const SAVED = "geo_patrol.flight."; // in the browser's storage, with the challenge: a pilot's secret
const FLIGHTS = "geo_patrol.flights"; // the person's flights with their best points, the latest first
const MAX_FLIGHTS = 50;
const ARROWS = { w: "↑", e: "↗", d: "→", c: "↘", x: "↓", z: "↙", a: "←", q: "↖", s: "·" };
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

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

/** Returns the parts of a table: its headings, and rows. */
function dataTable(headings, rows) {
  const head = create("tr", {}, ...headings.map((text) => create("th", { scope: "col" }, text)));
  return [create("thead", {}, head), create("tbody", {}, ...rows)];
}

function dataRow(cells, attributes = {}) {
  return create("tr", attributes, ...cells.map((cell) => create("td", {}, String(cell ?? ""))));
}

/** A pilot's page of a challenge: the mission, the own flight, and the ranking of all. */
class FlightPage {
  /** @param {string} name identifier of the challenge. */
  constructor(name) {
    this.base = `/api/flights/${encodeURIComponent(name)}`;
    this.key = SAVED + name;
    this.secret = localStorage.getItem(this.key);
    this.flight = null;
    this.isBusy = false;
    const ids = ["title", "notice", "arrive", "zoom", "about", "flying", "state", "result", "fly", "undo", "again", "pad", "ranking", "log", "said", "hinting", "ask-hint", "hint-text"];
    for (const id of ids) this[id] = document.getElementById(id);
    this.map = new FlightMap(document.getElementById("map"), (index) => this.choose(index), (index) => this.send(index));
    document.getElementById("link").append(linkField("Link for everybody", location.href));
    document.getElementById("results").href = `${this.base}/ranking.csv`;
    this.#listen();
    attempt(() => this.#begin(), this.notice);
    setInterval(() => document.hidden || attempt(() => this.#rank(), this.notice), REFRESH_SECONDS * 1000);
  }

  #listen() {
    this.arrive.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#arrive(), this.notice);
    });
    this.fly.addEventListener("click", () => (this.flight.over ? this.change("again") : this.send(this.chosen)));
    this.undo.addEventListener("click", () => this.change("undo"));
    this.again.addEventListener("click", () => this.change("again"));
    this["ask-hint"].addEventListener("click", () => this.#askHint());
    this.zoom.addEventListener("click", () => {
      const isLarge = this.zoom.getAttribute("aria-pressed") !== "true";
      this.zoom.setAttribute("aria-pressed", String(isLarge));
      this.map.enlarge(isLarge);
    });
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  async #begin() {
    this.challenge = await request(this.base);
    const { title, about, rules } = this.challenge;
    this.title.textContent = document.title = title;
    this.about.replaceChildren(lineTable(about));
    document.getElementById("rules-text").append(...rules.map(([heading, lines]) => create("section", {}, create("h3", {}, heading), lineTable(lines))));
    this.map.load(this.challenge);
    await this.#rank();
    this.arrive.name.value = localStorage.getItem(NAME) ?? "";
    if (this.secret === null) this.arrive.hidden = false;
    else await this.#resume();
  }

  async #arrive() {
    this.notice.textContent = "";
    const { secret } = await request(`${this.base}/pilots`, { name: new FormData(this.arrive).get("name") });
    this.secret = secret;
    localStorage.setItem(this.key, secret);
    localStorage.setItem(NAME, new FormData(this.arrive).get("name"));
    await this.#resume();
    this.fly.focus();
  }

  async #resume() {
    this.#show(await request(`${this.base}/flight`, { secret: this.secret }), { animated: false });
    await this.#rank();
  }

  // Flying

  /** Chooses an endpoint by its index. */
  choose(index) {
    this.chosen = index;
    this.map.choose(index);
    this.#nameChosen();
  }

  /** Flies the order of an index. */
  send(index) {
    const choice = this.flight?.choices[index];
    if (choice !== undefined) this.change("orders", { order: choice.order });
  }

  /** Asks for a change of the flight; after an error, for the flight as it is. */
  async change(path, asked = {}) {
    if (this.isBusy || this.flight === null) return;
    this.isBusy = true;
    this.notice.textContent = "";
    const { number } = this.flight;
    try {
      const flight = await request(`${this.base}/${path}`, { secret: this.secret, number, ...asked });
      this.#show(flight, { animated: path === "orders" });
      if (flight.over || number === 0) await this.#rank();
    } catch (error) {
      this.notice.textContent = error.message;
      await attempt(() => this.#resume(), this.notice);
    } finally {
      this.isBusy = false;
    }
  }

  /** Asks the solver for the best order and chooses it; the same button cancels the search. */
  async #askHint() {
    if (this.hint !== undefined) return void this.hint.abort();
    this.hint = new AbortController();
    const { number } = this.flight;
    say(this["ask-hint"], "Cancel");
    say(this["hint-text"], "Searching for some seconds …");
    try {
      const { order, text } = await request(`${this.base}/hint`, { secret: this.secret }, this.hint.signal);
      const index = this.flight.choices.findIndex((choice) => choice.order === order);
      if (number === this.flight.number && index >= 0) {
        this.choose(index);
        say(this["hint-text"], `${capitalized(this.flight.choices[index].label)} ${text}.`);
      } else say(this["hint-text"], "");
    } catch (error) {
      say(this["hint-text"], error.name === "AbortError" ? "" : error.message);
    }
    this.hint = undefined;
    say(this["ask-hint"], "Hint");
  }

  #show(flight, { animated }) {
    const focused = this.flying.contains(document.activeElement) ? document.activeElement : null;
    const offset = focused?.dataset.offset;
    this.flight = flight;
    this.hinting.hidden = !this.challenge.hints || flight.over;
    if (this.hint === undefined) say(this["hint-text"], "");
    this.arrive.hidden = true;
    this.flying.hidden = false;
    this.state.textContent = flight.status;
    this.result.hidden = !flight.over;
    this.result.textContent = flight.result;
    this.result.className = flight.success ? "success" : "";
    this.undo.disabled = this.again.disabled = flight.number === 0;
    this.#drawPad();
    this.chosen = this.map.chosen = 0;
    this.map.show(flight, { animated });
    this.#nameChosen();
    this.#showLog();
    const last = flight.log[0];
    this.said.textContent = last === undefined ? flight.status : `${last[1]} to ${last[2]}. ${last[3]}. ${flight.result || flight.status}`;
    if (focused !== null) (this.pad.querySelector(`[data-offset="${offset}"]`) ?? this.fly).focus({ preventScroll: true });
  }

  /** Shows the orders as buttons that lie to each other as their endpoints do. */
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
      button.addEventListener("click", () => this.send(i));
      return button;
    });
    this.pad.replaceChildren(...buttons);
  }

  #nameChosen() {
    const { over, choices } = this.flight;
    this.fly.textContent = over ? "Fly again" : `Fly: ${choices[this.chosen].label}`;
    [...this.pad.children].forEach((button, i) => button.classList.toggle("chosen", i === this.chosen));
  }

  #showLog() {
    const { log, points } = this.flight;
    const rows = log.map((row) => dataRow(row));
    const turns = create("table", {}, ...dataTable(["turn", "order", "endpoint", "points"], rows));
    const sheet = create("table", {}, ...dataTable(["line", "points"], points.map((line) => dataRow(line))));
    this.log.replaceChildren(turns, sheet);
  }

  #press(event) {
    const { key, target } = event;
    const isTaken = target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey || event.repeat;
    if (isTaken || this.flight === null) return;
    const index = this.flight.choices.findIndex((choice) => choice.key === key.toLowerCase());
    const { length } = this.flight.choices;
    if (key in STEPS && length) this.choose((this.chosen + STEPS[key] + length) % length);
    else if (key === "Enter" && !target.matches("button, a, summary")) this.fly.click();
    else if (key === "Backspace" || key === "u") this.undo.click();
    else if (key === "r") this.again.click();
    else if (index >= 0) this.send(index);
    else return;
    event.preventDefault();
  }

  // The ranking

  async #rank() {
    const { ranking } = await request(`${this.base}/ranking`);
    const content = JSON.stringify([ranking, this.flight?.name]);
    if (content === this.shown) return;
    this.shown = content;
    const { best_known: best } = this.challenge;
    const note = best === null ? "no flight is known that accomplishes the mission" : best.is_proved ? "best known, proved" : "best known";
    const rows = ranking.map(({ rank, name, score, turns, accomplished, flights }) => {
      const state = rank === null ? "flying" : accomplished ? "accomplished" : "failed";
      return dataRow([rank ?? "", name, score, turns, state, flights], name === this.flight?.name ? { "aria-current": "true" } : {});
    });
    const known = dataRow(["", note, best?.score, best?.turns, "", ""], { class: "known" });
    const own = ranking.find(({ name }) => name === this.flight?.name);
    if (own !== undefined) this.#keep(own.score);
    this.ranking.replaceChildren(...dataTable(["rank", "pilot", "score", "turns", "mission", "flights"], [known, ...rows]));
  }

  /** Keeps the flight among the person's own. */
  #keep(best) {
    const challenge = decodeURIComponent(this.base.split("/").at(-1));
    const others = JSON.parse(localStorage.getItem(FLIGHTS) ?? "[]").filter((one) => one.challenge !== challenge);
    localStorage.setItem(FLIGHTS, JSON.stringify([{ challenge, title: this.challenge.title, best }, ...others].slice(0, MAX_FLIGHTS)));
  }
}

const page = new FlightPage(new URLSearchParams(location.hash.slice(1)).get("challenge") ?? "");
