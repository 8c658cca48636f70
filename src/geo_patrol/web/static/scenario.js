import { attempt, copy, DRAFT, linkField, openAndPlay, request, start } from "./client.js";
import { BoardView, drawShape, NARROW, screenKind } from "./scene.js";
import { byId, capitalized, COLORS, counted, create, listed, say, SIDES, svgElement } from "./words.js";

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
  ["points.patrol", "Points for a Patrol", "0"],
  ["sensor_range", "Sensor range", "sees all"],
];
const SINGLE = [["fuel", "fuel"], ["ammo", "rounds"]]; // of one Patrol
const COMMAND = "geo-patrol study run study.toml --out study";
const DRAG = 12; // pixels after which a press becomes a drag
const STEPS = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }; // of keys, in sectors prograde


/** Returns a place in words; the offset is in sectors ahead of the HVA. */
function placeText(offset) {
  if (offset === 0) return "with the HVA";
  return `${Math.abs(offset)} ${offset > 0 ? "ahead" : "back"}`;
}

/** Returns the address of a file with a text, for a link that saves it. */
function fileAddress(text) {
  return `data:application/toml;charset=utf-8,${encodeURIComponent(text)}`;
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
    const fields = VALUES.map(([key, text, placeholder = ""]) => create("label", {}, text, create("input", { "data-key": `${side}.${key}`, type: "number", inputmode: "numeric", placeholder })));
    const single = Array.from({ length: MAX_PATROLS }, (_, i) => SINGLE.map(([key, text]) => create("label", {}, `P${i + 1} ${text}`, create("input", { "data-key": `${side}.patrols.single.${i + 1}.${key}`, type: "number", inputmode: "numeric" }))));
    this.single = single.flat();
    const details = create("details", {}, create("summary", {}, "Single Patrols"), create("div", { class: "pairs" }, ...this.single));
    const legend = create("legend", {}, `${capitalized(COLORS[side])} (${side})`);
    this.element = create("fieldset", { class: `box stack ${side}` }, legend, this.total, this.list, create("div", { class: "pairs" }, ...fields), details);
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

  /**
   * Shows the fields of the Patrols that there are, and in those left empty what all Patrols have.
   * @param {number} count of them.
   * @param {Array<number>} supplies fuel and rounds of all that have none of their own.
   */
  showSingle(count, supplies) {
    this.single.forEach((label, i) => {
      label.hidden = i >= SINGLE.length * count;
      label.querySelector("input").placeholder = supplies[i % SINGLE.length];
    });
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

/** The sectors of the goal ring, on which Patrols are placed: pressed, dragged from one to another, or gone around by keys. */
class GoalRing {
  /**
   * @param {BoardView} view whose overlay they are.
   * @param {function(number)} press called with an azimuth.
   * @param {function(number)} remove called with an azimuth.
   * @param {function(number, number): boolean} drag called with two azimuths, of the sectors where a drag began and ended.
   */
  constructor(view, { press, remove, drag }) {
    this.view = view;
    this.shapes = "";
    this.sectors = [];
    const { svg } = view;
    let start = null;
    let line = null;
    svg.addEventListener("click", ({ target }) => target.dataset.azimuth && press(Number(target.dataset.azimuth)));
    svg.addEventListener("keydown", (event) => {
      const { key, target } = event;
      const azimuth = Number(target.dataset.azimuth);
      if (key in STEPS) this.#focus(azimuth + STEPS[key]);
      else if (key === "Enter" || key === " ") press(azimuth);
      else if (key === "Delete" || key === "Backspace") remove(azimuth);
      else return;
      event.preventDefault();
    });
    svg.addEventListener("pointerdown", ({ target, clientX, clientY }) => (start = target.dataset.azimuth ? { azimuth: Number(target.dataset.azimuth), x: clientX, y: clientY } : null));
    svg.addEventListener("pointermove", ({ clientX, clientY, pointerId }) => {
      if (start === null || (line === null && Math.hypot(clientX - start.x, clientY - start.y) < DRAG)) return;
      if (line === null) svg.setPointerCapture(pointerId); // from now on nothing is pressed
      line ??= view.overlay.appendChild(svgElement("line", { class: "drag" }));
      const [from, to] = [[start.x, start.y], [clientX, clientY]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse()));
      for (const [key, value] of Object.entries({ x1: from.x, y1: from.y, x2: to.x, y2: to.y })) line.setAttribute(key, value);
    });
    const end = ({ type, clientX, clientY }) => {
      const azimuth = document.elementFromPoint(clientX, clientY)?.dataset.azimuth;
      if (type === "pointerup" && line !== null && azimuth !== undefined && Number(azimuth) !== start.azimuth) drag(start.azimuth, Number(azimuth));
      line?.remove();
      start = line = null;
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  }

  /**
   * @param {Array} places the shapes of the sectors.
   * @param {function(number): string} label returns what is at an azimuth, in words.
   */
  show(places, label) {
    const shapes = JSON.stringify(places);
    if (shapes !== this.shapes) {
      this.shapes = shapes;
      this.sectors = places.map((shape, azimuth) => {
        const element = drawShape(shape);
        for (const [key, value] of Object.entries({ "fill-opacity": "0", class: "hit", role: "button", tabindex: azimuth === 0 ? 0 : -1, "data-azimuth": azimuth })) element.setAttribute(key, value);
        return element;
      });
      this.view.overlay.replaceChildren(...this.sectors);
    }
    this.sectors.forEach((element, azimuth) => element.setAttribute("aria-label", label(azimuth)));
  }

  #focus(azimuth) {
    const count = this.sectors.length;
    const chosen = this.sectors[(azimuth + count) % count];
    for (const element of this.sectors) element.setAttribute("tabindex", element === chosen ? 0 : -1);
    chosen.focus();
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
    this.sides = SIDES.map((side) => new SideForm(side, (offset, step) => this.#change(side, [offset, step])));
    byId("sides").append(...this.sides.map(({ element }) => element));
    this.ring = new GoalRing(this.board, {
      press: (azimuth) => this.#press(azimuth),
      remove: (azimuth) => this.#remove(azimuth),
      drag: (from, to) => this.#move(from, to),
    });
    byId("command").append(linkField("Then, in its folder", COMMAND));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", ({ target }) => target.dataset.key && this.#set(target));
    this.form.question.addEventListener("change", () => this.#showStudy());
    this.form.file.addEventListener("change", () => attempt(() => this.#readFile(), this.notice));
    this.form.preset.addEventListener("change", ({ target }) => this.#begin(target.value));
    this.text.addEventListener("input", () => this.#typed());
    byId("play").addEventListener("click", ({ target }) => start(target, () => this.#play(), this.notice));
    byId("copy").addEventListener("click", ({ target }) => copy(target, this.text.value));
    byId("copy-study").addEventListener("click", ({ target }) => copy(target, this.#study));
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

  async #readFile() {
    const [file] = this.form.file.files;
    if (file.size > this.text.maxLength) throw new Error(`${file.name} is longer than ${this.text.maxLength} bytes, too long for a scenario.`);
    for (const side of this.sides) side.clear();
    this.text.value = await file.text();
    this.#ask();
  }

  #typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), TYPING_SECONDS * 1000);
  }

  #set({ dataset, type, value }) {
    this.#ask({ [dataset.key]: value === "" ? null : type === "number" ? Number(value) : value });
  }

  /**
   * Changes a side's formation.
   * @param {string} side of which.
   * @param {Array} steps pairs of an offset and by how many Patrols it changes.
   */
  #change(side, ...steps) {
    this.notice.textContent = "";
    const places = new Map(this.places[side]);
    for (const [offset, step] of steps) places.set(this.#wrapped(offset), (places.get(this.#wrapped(offset)) ?? 0) + step);
    const formation = [...places].filter(([, count]) => count > 0).sort(([one], [other]) => one - other);
    const total = sum(places);
    if (total > MAX_PATROLS || total < 1) {
      this.notice.textContent = total < 1 ? `${capitalized(COLORS[side])} keeps one Patrol at least.` : `${capitalized(COLORS[side])} has ${MAX_PATROLS} Patrols already, the most that are possible. Remove one first, or drag one.`;
      return;
    }
    this.places[side] = new Map(formation);
    this.#showPlaces(side);
    const isCounted = this.answer.counted[SIDES.indexOf(side)];
    this.#ask({ [`${side}.patrols.formation`]: formation, ...(isCounted ? { [`${side}.patrols.count`]: total } : {}) });
  }

  /** Does what is chosen for a press on a sector of the goal ring. */
  #press(azimuth) {
    const tool = this.form.tool.value;
    if (tool === "remove") this.#remove(azimuth);
    else if (tool === "bravo" && this.answer.mirrored) this.notice.textContent = "Gold mirrors blue: place blue Patrols.";
    else this.#change(tool, [this.#offset(tool, azimuth), 1]);
  }

  #remove(azimuth) {
    const side = this.#sideAt(azimuth);
    if (side !== undefined) this.#change(side, [this.#offset(side, azimuth), -1]);
    else this.notice.textContent = "No Patrol starts there.";
  }

  #move(from, to) {
    const side = this.#sideAt(from);
    if (side !== undefined) this.#change(side, [this.#offset(side, from), -1], [this.#offset(side, to), 1]);
  }

  /** Returns whose Patrols start at an azimuth; of both, the side that is chosen. */
  #sideAt(azimuth) {
    const tool = this.form.tool.value;
    const sides = this.answer.mirrored ? ["alpha"] : tool === "bravo" ? ["bravo", "alpha"] : SIDES;
    return sides.find((side) => this.places[side].has(this.#offset(side, azimuth)));
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
      if (answer instanceof Error) return void this.#refuse(answer, Object.keys(changes).length === 0);
      if (this.text.value !== scenario) return; // somebody has gone on typing: that is asked for next
      this.answer = answer;
      this.text.value = answer.scenario;
      if (this.waiting === 0) this.#show(answer);
    });
  }

  /** Says what is wrong beside the fields that are named, and whatever else; the board keeps what was right. */
  #refuse({ message, faults }, isTyped) {
    this.#clearFaults();
    const others = faults?.filter((fault) => !this.#refuseField(fault)).map(({ key, text }) => `${key} ${text}.`) ?? [message];
    if (isTyped) {
      byId("faults").textContent = message;
      this.text.setAttribute("aria-invalid", "true");
    } else this.notice.textContent = others.join(" ");
    byId("play").disabled = true;
    if (this.answer !== undefined && this.waiting === 0) for (const side of SIDES) this.#readPlaces(side);
  }

  /** Says a fault beside the field that it names; returns whether there is one. */
  #refuseField({ key, text }) {
    const field = [...this.form.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === key);
    if (field === undefined) return false;
    field.setAttribute("aria-invalid", "true");
    field.after(create("span", { class: "fault", role: "alert" }, capitalized(text)));
    return true;
  }

  #clearFaults() {
    byId("faults").textContent = "";
    for (const field of this.form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const fault of this.form.querySelectorAll("span.fault")) fault.remove();
  }

  #show(answer) {
    const { scenario, record, extends: preset, board, supplies, single, prizes, sensors, mirrored, sampled } = answer;
    this.#clearFaults();
    localStorage.setItem(DRAFT, scenario);
    this.board.load(record);
    this.board.draw(record.moments[0], 1);
    this.form.preset.value = preset ?? "";
    this.#fill({ title: record.title, turn_limit: record.turnLimit, ...Object.fromEntries(Object.entries(board).map(([name, ring]) => [`board.${name}`, ring])) });
    SIDES.forEach((side, i) => {
      const [[, , hvaFuel, , hvaAmmo], ...patrols] = record.moments[0].fleets[i];
      const values = [hvaFuel, hvaAmmo, ...supplies[i], record.winScore[i], prizes[i] || "", sensors[i] ?? ""];
      patrols.forEach(([, , fuel, , ammo], j) => {
        const own = single[i][j + 1] ?? [];
        this.#fill(Object.fromEntries(SINGLE.map(([key], k) => [`${side}.patrols.single.${j + 1}.${key}`, own.includes(key) ? [fuel, ammo][k] : ""])));
      });
      this.sides[i].showSingle(patrols.length, supplies[i]);
      this.#fill(Object.fromEntries(VALUES.map(([key], j) => [`${side}.${key}`, values[j]])));
      this.#readPlaces(side);
    });
    this.sides[1].element.disabled = mirrored;
    const kinds = [mirrored ? "Gold has the values of blue, whatever is written for it: mirror = true." : "", sampled ? "Values are sampled for each game; this is one of its starts." : ""];
    say(byId("kind"), kinds.filter(Boolean).join(" "));
    byId("kind").hidden = !(mirrored || sampled);
    byId("save").href = fileAddress(scenario);
    byId("play").disabled = false;
    const { question } = this.form;
    const chosen = question.value;
    question.replaceChildren(...answer.studies.map(([title]) => create("option", {}, title)));
    if (answer.studies.some(([title]) => title === chosen)) question.value = chosen;
    byId("to-study").hidden = answer.studies.length === 0;
    this.#showStudy();
  }

  get #study() {
    return this.answer.studies[this.form.question.selectedIndex]?.[1] ?? "";
  }

  #showStudy() {
    byId("save-study").href = fileAddress(this.#study);
    byId("study-file").textContent = this.#study;
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
    const [tool] = [...this.form.tool].filter(({ value }) => value === side);
    tool.disabled = sum(this.places[side]) >= MAX_PATROLS;
    say(tool.nextElementSibling, tool.disabled ? `${capitalized(COLORS[side])} has all ${MAX_PATROLS}` : `Add ${COLORS[side]}`);
    this.ring.show(this.answer.places, (azimuth) => this.#label(azimuth));
  }

  /** Returns what is in a sector of the goal ring, in words. */
  #label(azimuth) {
    const texts = SIDES.flatMap((side) => {
      const offset = this.#offset(side, azimuth);
      const count = this.places[side].get(offset) ?? 0;
      return [...(offset === 0 ? [`the ${COLORS[side]} HVA`] : []), ...(count > 0 ? [counted(count, `${COLORS[side]} Patrol`)] : [])];
    });
    return `Sector ${this.answer.places.length - 1 + azimuth}: ${listed(texts) || "empty"}`;
  }

  #play() {
    const { agent, side } = this.form;
    return openAndPlay({ scenario: this.text.value, alpha: agent.value, bravo: agent.value }, side.value);
  }
}

const page = (window.page = new ScenarioPage());
attempt(() => page.open(), byId("notice"));
