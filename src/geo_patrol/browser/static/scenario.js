"use strict";

const DRAFT = "geo_patrol.scenario"; // in the browser's storage: the scenario that was edited last
const FIRST = 'extends = "geo_patrol"\ntitle = "My scenario"\n';
const TYPING_SECONDS = 0.4; // without a key, after which the server reads what was typed
const MAX_PATROLS = 10;
const USUAL_PLACES = [2, 1, 0, -1, -2]; // that are always listed, in sectors ahead of the HVA
const VALUES = [
  ["hva.fuel", "HVA fuel"],
  ["hva.ammo", "HVA rounds"],
  ["patrols.fuel", "Patrol fuel"],
  ["patrols.ammo", "Patrol rounds"],
  ["points.win", "Win score"],
];
const COMMANDS = [
  ["How often each side wins, with the same agent on both", "geo-patrol match scripted scripted --config scenario.toml --games 1000"],
  ["How much fuel gold needs", "geo-patrol sweep --config scenario.toml --vary bravo.patrols.fuel=40..100..20"],
];

const byId = (id) => document.getElementById(id);

/** Returns a place in words; the offset is in sectors ahead of the HVA. */
function placeText(offset) {
  if (offset === 0) return "with the HVA";
  return `${Math.abs(offset)} ${offset > 0 ? "ahead" : "back"}`;
}

/** Returns how many Patrols there are at all places. */
function sum(places) {
  return [...places.values()].reduce((total, count) => total + count, 0);
}

/** What the page shows of one side: its values, and how many Patrols start at each place. */
class SideForm {
  /**
   * @param {string} side of which it is.
   * @param {function(number, number)} place called with an offset, and by how many Patrols it changes.
   */
  constructor(side, place) {
    this.side = side;
    this.place = place;
    this.rows = new Map();
    this.list = create("ul", { class: "places" });
    this.total = create("p", { class: "soft num" });
    const fields = VALUES.map(([key, text]) => create("label", {}, text, create("input", { "data-key": `${side}.${key}`, type: "number", inputmode: "numeric" })));
    const other = create("input", { type: "number", inputmode: "numeric", step: 1 });
    const add = create("button", { type: "button" }, "Add");
    add.addEventListener("click", () => other.value !== "" && place(Math.trunc(Number(other.value)), 1));
    other.addEventListener("keydown", ({ key }) => key === "Enter" && add.click());
    const another = create("div", { class: "link" }, create("label", {}, "Elsewhere, sectors ahead (minus: back)", other), add);
    const legend = create("legend", {}, `${capitalized(COLORS[side])} (${side})`);
    this.element = create("fieldset", { class: `box stack ${side}` }, legend, this.total, this.list, another, create("div", { class: "pairs" }, ...fields));
  }

  /**
   * Shows how many Patrols are where. A place that was listed stays, so that nothing moves away under a finger.
   * @param {Map<number, number>} places how many start at each offset.
   * @param {number} size of the goal ring, in sectors.
   */
  show(places, size) {
    const offsets = [...new Set([...USUAL_PLACES, ...this.rows.keys(), ...places.keys()])]
      .filter((offset) => offset > -size / 2 && offset <= size / 2)
      .sort((one, other) => other - one);
    const total = sum(places);
    say(this.total, `${total} of at most ${MAX_PATROLS} Patrols`);
    const rows = offsets.map((offset) => {
      if (!this.rows.has(offset)) this.rows.set(offset, this.#row(offset));
      const { row, fewer, count, more } = this.rows.get(offset);
      const number = places.get(offset) ?? 0;
      say(count, String(number));
      row.classList.toggle("none", number === 0);
      const focused = document.activeElement;
      fewer.disabled = number === 0 || total === 1;
      more.disabled = total >= MAX_PATROLS;
      if (focused === fewer && fewer.disabled) more.focus(); // a button that is switched off would lose it
      if (focused === more && more.disabled) fewer.focus();
      return row;
    });
    if (rows.length === this.list.children.length && rows.every((row, i) => this.list.children[i] === row)) return;
    const focused = document.activeElement;
    this.list.replaceChildren(...rows);
    if (this.list.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Lists the usual places alone again. */
  clear() {
    this.rows.clear();
  }

  #row(offset) {
    const button = (text, step, label) => {
      const element = create("button", { type: "button", "aria-label": `${label}, ${COLORS[this.side]}, ${placeText(offset)}` }, text);
      element.addEventListener("click", () => this.place(offset, step));
      return element;
    };
    const [fewer, more, count] = [button("−", -1, "One fewer"), button("+", 1, "One more"), create("b", { class: "num" })];
    return { row: create("li", {}, create("span", {}, placeText(offset)), fewer, count, more), fewer, count, more };
  }
}

/** The editor: every change is made by the server, which writes the TOML, checks it and draws the start of the game. */
class ScenarioPage {
  constructor() {
    this.form = byId("editor");
    this.text = this.form.scenario;
    this.notice = byId("notice");
    this.board = new BoardView(byId("board"));
    this.queue = Promise.resolve(); // one question after the other: each change is made to what the one before led to
    this.waiting = 0; // questions that are not answered; the page shows the answer to the last one
    this.places = { alpha: new Map(), bravo: new Map() };
    this.sides = SIDES.map((side) => new SideForm(side, (offset, step) => this.#place(side, offset, step)));
    byId("sides").append(...this.sides.map(({ element }) => element));
    byId("commands").append(...COMMANDS.map(([text, command]) => linkField(text, command)));
    this.form.addEventListener("change", ({ target }) => target.dataset.key && this.#set(target));
    this.form.preset.addEventListener("change", ({ target }) => this.#begin(target.value));
    this.text.addEventListener("input", () => this.#typed());
    byId("play").addEventListener("click", () => attempt(() => this.#play(), this.notice));
    byId("copy").addEventListener("click", ({ target }) => copy(target, this.text.value));
    byId("board").addEventListener("click", ({ target }) => target.dataset.azimuth && this.#press(Number(target.dataset.azimuth)));
    NARROW.addEventListener("change", () => this.#ask());
  }

  async open() {
    const { games, levels } = await request("/api/choices");
    this.form.preset.append(...games.map(([name, title]) => create("option", { value: name }, title)), create("option", { value: "", hidden: "" }, "nothing"));
    this.form.agent.append(...levels.map(({ agent, name, rating }) => create("option", { value: agent }, `${name}, ${rating}`)));
    this.text.value = localStorage.getItem(DRAFT) ?? FIRST;
    this.#ask();
  }

  #begin(preset) {
    for (const side of this.sides) side.clear();
    this.text.value = `extends = "${preset}"\ntitle = "My scenario"\n`;
    this.#ask();
  }

  #typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), TYPING_SECONDS * 1000);
  }

  #set({ dataset, type, value }) {
    this.#ask({ [dataset.key]: value === "" ? null : type === "number" ? Number(value) : value });
  }

  /** Adds a Patrol to a place, or takes one away. */
  #place(side, offset, step) {
    this.notice.textContent = "";
    const places = this.places[side];
    const place = this.#wrapped(offset);
    const count = (places.get(place) ?? 0) + step;
    const total = sum(places) + step;
    if (count < 0) return;
    if (total > MAX_PATROLS || total < 1) {
      this.notice.textContent = total < 1 ? `${capitalized(COLORS[side])} keeps one Patrol at least.` : `${capitalized(COLORS[side])} has ${MAX_PATROLS} Patrols, more there cannot be.`;
      return;
    }
    if (count === 0) places.delete(place);
    else places.set(place, count);
    this.#showPlaces(side);
    const formation = [...places].sort(([one], [other]) => one - other);
    const isCounted = this.answer.counted[SIDES.indexOf(side)];
    this.#ask({ [`${side}.patrols.formation`]: formation, ...(isCounted ? { [`${side}.patrols.count`]: total } : {}) });
  }

  /** Does what is chosen for a press on a sector of the goal ring. */
  #press(azimuth) {
    const tool = document.querySelector("#tools :checked").value;
    const side = tool === "remove" ? SIDES.find((one) => this.places[one].has(this.#offset(one, azimuth))) : tool;
    if (side !== undefined) this.#place(side, this.#offset(side, azimuth), tool === "remove" ? -1 : 1);
    else this.notice.textContent = "No Patrol starts there.";
  }

  /** Returns how far an azimuth is ahead of a side's HVA. */
  #offset(side, azimuth) {
    return this.#wrapped(azimuth - (side === "alpha" ? 0 : this.answer.places.length / 2));
  }

  /** Returns an offset by the shorter way around the ring. */
  #wrapped(offset) {
    const count = this.answer.places.length;
    const back = count / 2 - 1;
    return ((((offset + back) % count) + count) % count) - back;
  }

  /** Sends the scenario with changes to the server, when what was asked before is answered. */
  #ask(changes = {}) {
    clearTimeout(this.timer);
    this.waiting += 1;
    this.queue = this.queue.then(async () => {
      const scenario = this.text.value;
      const answer = await request("/api/scenario", { scenario, changes, screen: screenKind() }).catch((error) => error);
      this.waiting -= 1;
      if (answer instanceof Error) return void this.#refuse(answer.message);
      if (this.text.value !== scenario) return; // somebody has gone on typing: that is asked for next
      this.answer = answer;
      this.text.value = answer.scenario;
      if (this.waiting === 0) this.#show(answer);
    });
  }

  /** Says what is wrong, at the fields it names too; the board keeps what was right. */
  #refuse(message) {
    const faults = byId("faults");
    faults.textContent = message.replace(/^configuration: /, "");
    this.text.setAttribute("aria-invalid", "true");
    for (const field of this.form.querySelectorAll("[data-key]")) if (message.includes(`${field.dataset.key} must`)) field.setAttribute("aria-invalid", "true");
    byId("play").disabled = true;
    if (this.answer !== undefined && this.waiting === 0) for (const side of SIDES) this.#readPlaces(side);
  }

  #show(answer) {
    const { scenario, record, extends: preset, places, board, mirrored, sampled } = answer;
    byId("faults").textContent = "";
    for (const field of this.form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    localStorage.setItem(DRAFT, scenario);
    this.board.load(record);
    this.board.draw(record.moments[0], 1);
    this.board.overlay.replaceChildren(...places.map((shape, azimuth) => this.#hit(shape, azimuth)));
    this.form.preset.value = preset ?? "";
    this.#fill({ title: record.title, turn_limit: record.turnLimit, ...Object.fromEntries(Object.entries(board).map(([name, ring]) => [`board.${name}`, ring])) });
    SIDES.forEach((side, i) => {
      const [[, , hvaFuel, , hvaAmmo], [, , patrolFuel, , patrolAmmo]] = record.moments[0].fleets[i];
      const values = [hvaFuel, hvaAmmo, patrolFuel, patrolAmmo, record.winScore[i]];
      this.#fill(Object.fromEntries(VALUES.map(([key], j) => [`${side}.${key}`, values[j]])));
      this.#readPlaces(side);
    });
    this.sides[1].element.disabled = mirrored;
    const kinds = [mirrored ? "Gold has the values of blue, whatever is written for it: mirror = true." : "", sampled ? "Values are sampled for each game; this is one of its starts." : ""];
    say(byId("kind"), kinds.filter(Boolean).join(" "));
    byId("kind").hidden = !(mirrored || sampled);
    byId("save").href = `data:application/toml;charset=utf-8,${encodeURIComponent(scenario)}`;
    byId("play").disabled = false;
  }

  /** Writes values into their fields, but into none that somebody is filling in. */
  #fill(values) {
    for (const [key, value] of Object.entries(values)) {
      const field = this.form.querySelector(`[data-key="${key}"]`);
      if (field !== document.activeElement || field.value === "") field.value = value;
    }
  }

  /** Takes the places of a side's Patrols from the start of the game. */
  #readPlaces(side) {
    const { places, record } = this.answer;
    const counts = new Map();
    for (const [, sector] of record.moments[0].fleets[SIDES.indexOf(side)].slice(1)) {
      const offset = this.#offset(side, sector + 1 - places.length); // the ring's first sector has the number of its sectors, less one
      counts.set(offset, (counts.get(offset) ?? 0) + 1);
    }
    this.places[side] = counts;
    this.#showPlaces(side);
  }

  #showPlaces(side) {
    this.sides[SIDES.indexOf(side)].show(this.places[side], this.answer.places.length);
    const texts = SIDES.map((one) => `${capitalized(COLORS[one])}: ${counted(sum(this.places[one]), "Patrol")}`);
    say(byId("fleets"), `${texts.join(". ")}.`);
  }

  #hit(shape, azimuth) {
    const element = drawShape(shape);
    for (const [key, value] of Object.entries({ "fill-opacity": "0", class: "hit", "data-azimuth": azimuth })) element.setAttribute(key, value);
    return element;
  }

  #play() {
    const { agent, side } = this.form;
    return openAndPlay({ scenario: this.text.value, alpha: agent.value, bravo: agent.value }, side.value);
  }
}

const page = new ScenarioPage();
attempt(() => page.open(), byId("notice"));
