"use strict";

const SIDES = ["alpha", "bravo"];

/** Creates an element with attributes, a text or children. */
function create(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Returns turn and phase in words, or the result of a game that is over. */
function headline(moment, names) {
  if (moment.winner === null) return `Turn ${moment.turn}, ${moment.phase} phase`;
  if (moment.winner === "draw") return `Draw in turn ${moment.turn}`;
  const winner = moment.winner[0].toUpperCase() + moment.winner.slice(1);
  return `${winner} (${names[SIDES.indexOf(moment.winner)]}) wins in turn ${moment.turn}`;
}

/** Returns lines ("left", "right") as a table; those without a right side are headings. */
function lineTable(lines) {
  const rows = lines.map(([left, right]) => {
    if (right === "") return create("tr", {}, create("th", { colspan: 2, scope: "rowgroup" }, left));
    return create("tr", {}, create("th", { scope: "row" }, left), create("td", {}, right));
  });
  return create("table", { class: "lines" }, create("tbody", {}, ...rows));
}

/** What the page says of a position beside its board. */
class Panels {
  /**
   * @param {HTMLElement} root with elements of the classes headline, scores, fleets, outcomes and rules.
   * @param {BoardView} board beside which they are.
   */
  constructor(root, board) {
    this.board = board;
    const find = (name) => root.querySelector(`.${name}`);
    [this.headline, this.scores, this.fleets] = ["headline", "scores", "fleets"].map(find);
    [this.outcomes, this.rules] = ["outcomes", "rules"].map(find);
    this.moment = null;
  }

  showRules(tabs) {
    this.rules.replaceChildren(...tabs.flatMap(([title, lines]) => [create("h3", {}, title), lineTable(lines)]));
  }

  show(moment, names) {
    if (moment === this.moment) return;
    this.moment = moment;
    this.headline.replaceChildren(headline(moment, names), create("small", {}, moment.reasons));
    this.scores.replaceChildren(
      ...SIDES.map((side, i) =>
        create(
          "div",
          { class: side },
          create("strong", {}, String(moment.score[i])),
          create("span", {}, `${side}, ${names[i]}`),
          create("small", {}, `points, ${moment.goal[i]} from the goal`),
        ),
      ),
    );
    this.fleets.replaceChildren(...SIDES.map((side, i) => this.#fleet(side, moment.fleets[i])));
    this.#showOutcomes(moment);
  }

  #fleet(side, satellites) {
    const cells = (tag, texts) => texts.map((text) => create(tag, tag === "th" ? { scope: "col" } : {}, String(text)));
    const head = create("tr", {}, ...cells("th", [side, "sector", "fuel", "ammo"]));
    const rows = satellites.map(([name, sector, fuel, full, ammo, state]) => {
      const meter = create("meter", { min: 0, max: full, value: fuel, "aria-hidden": "true" });
      const fuelCell = create("td", {}, state === "" ? String(fuel) : state, ...(state === "" ? [meter] : []));
      const row = create("tr", { "data-area": `${side}:${name}` }, create("th", { scope: "row" }, name), ...cells("td", [sector]), fuelCell);
      row.append(...cells("td", [ammo || ""]));
      if (state !== "") row.className = "inactive";
      return row;
    });
    return create("table", { class: side }, create("thead", {}, head), create("tbody", {}, ...rows));
  }

  #showOutcomes(moment) {
    const turn = moment.outcomesTurn;
    const changes = moment.changes.map((text) => create("p", {}, text));
    const result = moment.result.length ? [create("h2", {}, "Result"), lineTable(moment.result)] : [];
    const title = turn ? `Engagement and score of turn ${turn}` : "Engagement";
    this.outcomes.replaceChildren(...result, create("h2", {}, title), ...engagementCards(moment, this.board), ...changes);
  }
}
