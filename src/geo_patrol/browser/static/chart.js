"use strict";

const CHART = { width: 360, height: 150, left: 34, right: 18, top: 10, bottom: 22 };
const LETTER = 11; // height of a letter
const MIN_TURNS = 4; // of the axis, so that the first turns do not fill it

function svgElement(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Returns the score after each turn that was played, with the index of the moment. */
function turnScores(moments) {
  const points = new Map();
  moments.forEach(({ turn, phase, score }, index) => {
    if (phase === "movement") points.set(turn - 1, { turns: turn - 1, score, index });
    if (phase === "over") points.set(turn, { turns: turn, score, index });
  });
  return [...points.values()];
}

/** The score over the turns, as a picture and as a table; a click leads to a turn. */
class ScoreChart {
  /**
   * @param {HTMLElement} root with an svg and a table; hidden until a turn has been played.
   * @param {function(number)} goTo called with the index of the moment that was chosen.
   */
  constructor(root, goTo) {
    this.root = root;
    this.svg = root.querySelector("svg");
    this.table = root.querySelector("table");
    this.svg.setAttribute("viewBox", `0 0 ${CHART.width} ${CHART.height}`);
    this.svg.addEventListener("click", ({ clientX }) => {
      const { left, width } = this.svg.getBoundingClientRect();
      const x = ((clientX - left) / width) * CHART.width;
      const distance = ({ turns }) => Math.abs(this.#x(turns) - x);
      goTo(this.points.reduce((best, point) => (distance(point) < distance(best) ? point : best)).index);
    });
  }

  /**
   * Shows the scores of a game.
   * @param {object} record of the game, with its moments and names.
   * @param {number} index of the moment that is looked at.
   */
  show({ moments, names }, index) {
    const shown = `${moments.length} ${index} ${names}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.points = turnScores(moments);
    this.root.hidden = this.points.length < 2;
    this.lastTurn = Math.max(this.points.at(-1).turns, MIN_TURNS);
    const values = this.points.flatMap(({ score }) => score);
    const padding = Math.max((Math.max(...values) - Math.min(...values)) / 8, 10);
    this.low = Math.max(Math.floor(Math.min(...values) - padding), 0);
    this.high = Math.ceil(Math.max(...values) + padding);
    const ends = SIDES.map((side, i) => `${names[i]} (${side}) ${this.points[0].score[i]} to ${this.points.at(-1).score[i]}`);
    this.svg.setAttribute("aria-label", `The score over ${this.points.at(-1).turns} turns: ${ends.join(", ")}`);
    const current = this.points.findLast((point) => point.index <= index) ?? this.points[0];
    this.svg.replaceChildren(...this.#axes(), ...this.#cursor(current), ...SIDES.flatMap((side, i) => this.#curve(side, i)));
    this.#showTable(names);
  }

  #x(turns) {
    return CHART.left + (turns / this.lastTurn) * (CHART.width - CHART.left - CHART.right);
  }

  #y(score) {
    return CHART.height - CHART.bottom - ((score - this.low) / (this.high - this.low)) * (CHART.height - CHART.top - CHART.bottom);
  }

  #axes() {
    const [left, right] = [this.#x(0), this.#x(this.lastTurn)];
    const scores = [this.low, this.high].flatMap((score) => [
      svgElement("line", { class: "axis", x1: left, x2: right, y1: this.#y(score), y2: this.#y(score) }),
      svgElement("text", { x: left - 4, y: this.#y(score) + 4, "text-anchor": "end" }, String(score)),
    ]);
    const turns = [0, this.lastTurn].map((turn) =>
      svgElement("text", { x: this.#x(turn), y: CHART.height - 6, "text-anchor": turn ? "end" : "start" }, turn ? `turn ${turn}` : "start"),
    );
    return [...scores, ...turns];
  }

  #cursor({ turns }) {
    return [svgElement("line", { class: "cursor", x1: this.#x(turns), x2: this.#x(turns), y1: this.#y(this.low), y2: this.#y(this.high) })];
  }

  /** Draws a side's line, alpha's plain and bravo's with dots, with its letter at the end. */
  #curve(side, i) {
    const corners = this.points.map(({ turns, score }) => [this.#x(turns), this.#y(score[i])]);
    const [x, y] = corners.at(-1);
    const gap = this.#y(this.points.at(-1).score[1 - i]) - y;
    const shift = Math.max(LETTER - Math.abs(gap), 0) / 2; // of letters that would cover each other
    const isUpper = gap > 0 || (gap === 0 && i === 0);
    return [
      svgElement("polyline", { class: side, points: corners.join(" ") }),
      ...(side === "bravo" ? corners.map(([cx, cy]) => svgElement("circle", { class: side, cx, cy, r: 2.6 })) : []),
      svgElement("text", { class: side, x: x + 5, y: y + 4 + (isUpper ? -shift : shift) }, side[0].toUpperCase()),
    ];
  }

  #showTable(names) {
    const head = ["turn", ...SIDES.map((side, i) => `${side}, ${names[i]}`)].map((text) => create("th", { scope: "col" }, text));
    const rows = this.points.map(({ turns, score }) => {
      const cells = score.map((value) => create("td", {}, String(value)));
      return create("tr", {}, create("th", { scope: "row" }, turns === 0 ? "start" : String(turns)), ...cells);
    });
    this.table.replaceChildren(create("thead", {}, create("tr", {}, ...head)), create("tbody", {}, ...rows));
  }
}
