import { drawShape, NARROW } from "./scene.js";
import { capitalized, Cast, create, DEEDS, DIRECTIONS, fleetTokens, MOVES, oddsText, roundsText, say, short, SIDES, svgElement } from "./words.js";

const FINGER = 22; // pixels around a finger or pointer within which a satellite is meant
const TOUCH = 20; // pixels around a satellite that are its own where fingers choose: two that share them are told apart in a menu
const DRAG = 12; // pixels after which a press becomes a drag
export const SETTLE = 500; // milliseconds after new choices in which a press on Commit is meant for the old ones

/** Orders being entered: fleets, the orders of one satellite, those that are planned, and the board as a second way. */
export class OrderPanel {
  /**
   * @param {HTMLElement} root with elements of the classes yours, theirs, choice, sofar, menu, undo and commit.
   * @param {Playback} playback whose board shows choices and takes clicks.
   * @param {function(string[])} commit called with the orders.
   * @param {function()} changed called after orders or the selection have changed.
   */
  constructor(root, playback, commit, changed = () => {}) {
    const find = (name) => root.querySelector(`.${name}`);
    for (const name of ["yours", "theirs", "choice", "sofar", "menu", "undo", "commit"]) this[name] = find(name);
    this.view = playback.board;
    Object.assign(this, { send: commit, changed, choices: null, selected: null, isShown: true, story: "", cast: new Cast(["", ""], null), side: "alpha" });
    this.#forgetOrders();
    this.commit.addEventListener("click", () => {
      if (this.menu.hidden) this.commitAll();
      else this.menu.hidden = true; // a choice between two orders is open: without it, the satellite would hold
    });
    this.undo.addEventListener("click", () => this.takeBack());
    this.yours.addEventListener("change", ({ target }) => this.select(target.value));
    this.choice.addEventListener("change", ({ target }) => this.give(this.selected, target.option));
    this.#listenToBoard();
  }

  #forgetOrders() {
    Object.assign(this, { pending: new Map(), past: [], suggestion: [], attackers: [] });
  }

  /** Shows the fleets of a moment; ``side`` is the one whose orders are entered, or that is looked at. */
  showFleets({ fleets }, cast, side) {
    Object.assign(this, { cast, side });
    const own = SIDES.indexOf(side);
    this.tokens = fleetTokens(fleets[own]);
    this.states = new Map(fleets[own].map((state) => [state[0], state]));
    this.fleets = fleets;
    if (this.yours.dataset.names !== `${side} ${[...this.states.keys()]}`) this.#addFleet(`${side} ${[...this.states.keys()]}`);
    this.tokens.forEach(({ classes, label, parts, isActive }, i) => {
      const [input, ...old] = this.yours.querySelectorAll(".sat")[i].children;
      input.parentElement.className = `${classes} pick ${side}`;
      input.setAttribute("aria-label", label);
      input.disabled = !isActive;
      old.forEach((element, part) => element.replaceWith(parts[part]));
    });
    this.theirs.className = `fleet theirs ${SIDES[1 - own]}`;
    this.theirs.replaceChildren(
      ...fleetTokens(fleets[1 - own]).map(({ classes, label, parts }) => create("li", { class: classes }, create("span", { class: "sr" }, label), ...parts)),
    );
    this.theirs.setAttribute("aria-label", `${capitalized(cast.owner(SIDES[1 - own]))} fleet`);
    this.#draw();
  }

  #addFleet(key) {
    this.yours.dataset.names = key;
    const labels = this.tokens.map(({ name }) => create("label", {}, create("input", { type: "radio", name: "satellite", value: name }), create("i"), create("small")));
    this.yours.replaceChildren(create("legend", { class: "sr" }, "Your fleet"), ...labels.map((label) => (label.classList.add("sat"), label)));
  }

  /**
   * Offers the choices of a phase.
   * @param {?string} key under which the orders outlive a reload of the page.
   * @returns {boolean} whether there are orders from before a reload.
   */
  load(choices, key = null) {
    this.clear();
    Object.assign(this, { choices, key, loaded: Date.now() });
    delete this.choice.dataset.key;
    this.view.define(choices.symbols);
    this.pending = this.#optionsOf(key === null ? [] : JSON.parse(sessionStorage.getItem(key) ?? "[]"));
    const { satellites } = choices;
    this.selected = (satellites.find(({ name }) => name !== "HVA") ?? satellites[0])?.name ?? null;
    this.#draw();
    this.changed();
    return this.pending.size > 0;
  }

  /** Offers the same choices drawn for another screen; what was ordered, taken back and selected stays. */
  redraw(choices) {
    const orders = [this.pending, ...this.past].map((pending) => [...pending.values()].map(({ order }) => order));
    this.choices = choices;
    this.view.define(choices.symbols);
    delete this.choice.dataset.key; // whose buttons hold the old options
    [this.pending, ...this.past] = orders.map((texts) => this.#optionsOf(texts));
    this.#draw();
    this.changed();
  }

  /** Offers nothing any more. */
  clear() {
    this.choices = null;
    this.#forgetOrders();
    this.#draw();
  }

  /** Shows or hides the choices on the board, for instance while it shows the past; a story takes the place of those beside it. */
  show(isShown, story = "") {
    if (this.story !== story) {
      this.story = story;
      this.#drawChoice();
    }
    if (this.isShown === isShown) return;
    this.isShown = isShown;
    this.#drawBoard();
  }

  get orders() {
    return [...this.pending.values()].map(({ order }) => order);
  }

  #choiceOf(name) {
    return this.choices?.satellites.find((one) => one.name === name);
  }

  commitAll() {
    if (this.choices !== null && Date.now() - this.loaded > SETTLE) this.send(this.orders);
  }

  /** Selects a satellite by name. */
  select(name) {
    this.selected = name;
    this.#draw();
    this.changed();
  }

  /** Sets the order of a satellite; null holds. */
  give(name, option) {
    const pending = new Map(this.pending);
    pending.delete(name);
    if (option !== null) pending.set(name, option);
    this.#change(pending);
  }

  /** Replaces all orders. */
  giveAll(orders) {
    this.#change(this.#optionsOf(orders));
  }

  /** The satellites that can guard, each with its order. */
  get guards() {
    const all = (this.choices?.satellites ?? []).map(({ name, options }) => [name, options.find(({ action }) => action === "guard")]);
    return all.filter(([, guard]) => guard);
  }

  /** Lets every satellite guard that can. */
  guardAll() {
    if (this.guards.length > 0) this.#change(new Map([...this.pending, ...this.guards]));
  }

  /** Lights up enemies on the board, by their names. */
  light(names) {
    const areas = names.map((name) => this.choices?.areas[`${SIDES.find((side) => side !== this.side)}:${name}`]).filter(Boolean);
    if (String(areas.map(({ hit }) => hit)) === String(this.attackers)) return;
    this.attackers = areas.map(({ hit }) => hit);
    this.#drawBoard();
  }

  takeBack() {
    if (this.past.length > 0) this.#replace(this.past.pop());
  }

  /** Gives the selected satellite the next of its orders, or the one before. */
  step(step) {
    const ways = [...this.choice.querySelectorAll("input")];
    if (ways.length === 0) return;
    const way = ways.at((ways.findIndex(({ checked }) => checked) + step) % ways.length);
    this.give(this.selected, way.option);
    this.choice.querySelector(":checked")?.focus();
  }

  /** Draws orders that are suggested; null draws none. */
  suggest(hint) {
    if (hint !== null) this.view.define(hint.symbols);
    this.suggestion = hint?.shapes ?? [];
    this.#drawBoard();
  }

  #optionsOf(orders) {
    const chosen = ({ name, options }) => [name, options.find(({ order }) => orders.includes(order))];
    return new Map(this.choices.satellites.map(chosen).filter(([, option]) => option !== undefined));
  }

  #change(pending) {
    this.past.push(this.pending);
    this.#replace(pending);
  }

  #replace(pending) {
    this.pending = pending;
    if (this.key !== null) sessionStorage.setItem(this.key, JSON.stringify(this.orders));
    this.#draw();
    this.changed();
  }

  // Drawing

  #draw() {
    for (const label of this.yours.querySelectorAll(".sat")) {
      const [input] = label.children;
      input.checked = input.value === this.selected;
      label.toggleAttribute("data-ordered", this.pending.has(input.value));
    }
    this.#drawChoice();
    this.#drawPlanned();
    this.#drawBoard();
    this.undo.disabled = this.choices === null || this.past.length === 0;
    this.commit.disabled = this.choices === null;
    if (this.choices === null) return;
    const count = this.pending.size;
    this.commit.replaceChildren("Commit", ...(count ? [` ${count}`, create("span", { class: "wide" }, count === 1 ? " order" : " orders")] : [create("small", {}, "all hold")]));
  }

  /** Shows what the selected satellite may do; its elements stay where only the order has changed. */
  #drawChoice() {
    if (this.story) {
      delete this.choice.dataset.key;
      const hadFocus = this.choice.contains(document.activeElement);
      this.choice.replaceChildren(create("p", {}, this.story));
      if (hadFocus) this.yours.querySelector(":checked")?.focus();
      return;
    }
    const state = this.states?.get(this.selected);
    if (state === undefined) {
      delete this.choice.dataset.key;
      const text = this.choices?.satellites.length ? "Choose one of your satellites, here or on the board." : "Nothing to order: commit to go on.";
      this.choice.replaceChildren(...(this.choices === null ? [] : [create("p", { class: "soft" }, text)]));
      return;
    }
    const choice = this.#choiceOf(this.selected);
    const ordered = this.pending.get(this.selected) ?? null;
    const key = JSON.stringify([this.choices && [this.choices.turn, this.choices.phase, this.choices.side], state]);
    if (this.choice.dataset.key !== key) {
      this.choice.dataset.key = key;
      const hadFocus = this.choice.contains(document.activeElement);
      this.choice.replaceChildren(this.#choiceForm(state, choice));
      if (hadFocus) (this.choice.querySelector("input") ?? this.yours.querySelector(":checked"))?.focus();
    }
    for (const input of this.choice.querySelectorAll("input")) input.checked = input.option === ordered;
  }

  #choiceForm([name, sector, fuel, , ammo, condition], choice) {
    const title = name === "HVA" ? `${capitalized(this.cast.owner(this.side))} HVA` : `Patrol ${short(name)}`;
    const about = condition === "" ? `, sector ${sector}, fuel ${fuel}${name === "HVA" ? "" : `, ${roundsText(ammo)}`}` : `, ${condition}`;
    const form = create("fieldset", { "aria-label": `Order of ${title}` });
    const head = create("div", { class: "head" }, create("span", {}, create("b", {}, title), create("span", { class: "soft wide" }, about)));
    form.append(head);
    if (this.choices === null) return form;
    const options = choice?.options ?? [];
    const guard = options.find(({ action }) => action === "guard");
    if (guard) head.append(this.#way(guard, `Guard ${guard.odds}%`, `−${guard.cost} fuel`, `Guard your HVA, ${guard.odds} percent, ${guard.cost} fuel`));
    if (options.length > 0) head.append(this.#way(null, "Hold", "", "Hold"));
    const moves = options.filter(({ action }) => action in MOVES);
    if (moves.length > 0) {
      const ways = moves.map((one) => {
        const word = capitalized(MOVES[one.action]);
        return this.#way(one, word, `to ${one.sector}, −${one.cost} fuel`, `${word} to sector ${one.sector}, ${one.cost} fuel`);
      });
      form.append(create("div", { class: "moves" }, ...ways));
      form.append(create("p", { class: "soft wide" }, `${DIRECTIONS} Satellites further in overtake.`));
    }
    for (const line of this.#attackLines(options)) form.append(line);
    if (options.length === 0) form.append(create("p", { class: "soft" }, this.choices.phase === "movement" ? "It cannot pay for a move." : "No enemy is in the same or the next sector."));
    return form;
  }

  /** Returns a line for each deed with its cost, and a button with the odds for each of its targets, the HVA first, then the likeliest. */
  #attackLines(options) {
    return ["shoot", "collide"].flatMap((action) => {
      const line = options.filter((one) => one.action === action).sort((one, other) => (other.target === "HVA") - (one.target === "HVA") || other.odds - one.odds);
      if (line.length === 0) return [];
      const deed = capitalized(DEEDS[action][0]);
      const costs = [...new Set(line.map(({ cost }) => cost))];
      const head = create("span", { "aria-hidden": "true" }, capitalized(action), create("small", { class: "soft" }, `−${costs.join(" or ")} fuel`));
      const ways = line.map((one) => this.#way(one, short(one.target), `${one.odds}%`, `${deed} ${short(one.target)}, ${one.odds} percent, ${one.cost} fuel`));
      return [create("div", { class: "line" }, head, ...ways)];
    });
  }

  #way(option, text, cost, label) {
    const input = create("input", { type: "radio", name: "order", "aria-label": label });
    input.option = option;
    return create("label", { class: "way pick" }, input, text, ...(cost ? [create("small", {}, cost)] : []));
  }

  /** Lists the planned orders as buttons that take them back; a focus goes on to the next one. */
  #drawPlanned() {
    const chips = this.sofar.querySelector(".chips");
    const focused = [...chips.children].findIndex((chip) => chip.contains(document.activeElement));
    const guards = [...this.pending].filter(([, { action }]) => action === "guard").map(([name]) => name);
    const others = [...this.pending].filter(([, { action }]) => action !== "guard").map(([name, option]) => [[name], `${short(name)} ${oddsText(option)}`]);
    const guarding = guards.length ? [[guards, `${guards.map(short).join(", ")} guard${guards.length === 1 ? "s" : ""} your HVA`]] : [];
    const cost = [...this.pending.values()].reduce((sum, option) => sum + option.cost, 0);
    const all = [...guarding, ...others].map(([names, text]) => {
      const chip = create("button", { type: "button", class: "chip", "aria-label": `Take back: ${text}` }, text, create("span", { "aria-hidden": "true" }, "✕"));
      chip.addEventListener("click", () => this.#change(new Map([...this.pending].filter(([name]) => !names.includes(name)))));
      return create("li", {}, chip);
    });
    chips.replaceChildren(...all);
    say(this.sofar.querySelector("h2"), this.choices === null ? "" : `Ordered: ${this.pending.size}${cost ? `, −${cost} fuel` : ""}`);
    if (focused >= 0) (chips.children[Math.min(focused, all.length - 1)]?.firstChild ?? this.yours.querySelector(":checked"))?.focus();
  }

  // The board

  #drawBoard() {
    const { overlay, lights } = this.view;
    this.menu.hidden = true;
    if (this.choices === null || !this.isShown) {
      overlay.replaceChildren();
      lights.replaceChildren();
      return;
    }
    const { satellites, areas } = this.choices;
    const selected = this.#choiceOf(this.selected);
    const lit = [...new Set((selected?.options ?? []).map(({ area }) => area))];
    const looks = lit.flatMap((area) => areas[area].lit);
    const isFilled = ([, fill]) => fill !== null; // what lights a sector up lies beneath satellites, its edge and rings above
    lights.replaceChildren(...looks.filter(isFilled).map(drawShape));
    const arrows = svgElement("g", { class: "arrows" });
    arrows.append(...[...this.suggestion, ...[...this.pending.values()].flatMap(({ arrow }) => arrow)].map(drawShape));
    const rings = satellites.filter(({ name }) => !this.pending.has(name)).flatMap(({ ring }) => ring);
    if (selected !== undefined) rings.push(...areas[selected.area].lit, ...(NARROW.matches ? [] : selected.costs)); // which hide the board there
    const hits = [...new Set([...lit, ...satellites.map(({ area }) => area)])].sort((one, other) => one.includes(":") - other.includes(":"));
    const attackers = this.attackers.map(drawShape);
    for (const element of attackers) element.setAttribute("class", "attacker");
    overlay.replaceChildren(...looks.filter((look) => !isFilled(look)).map(drawShape), ...attackers, arrows, ...rings.map(drawShape), ...hits.map((area) => this.#hit(area)));
  }

  #hit(area) {
    const element = drawShape(this.choices.areas[area].hit);
    for (const [key, value] of Object.entries({ "fill-opacity": "0", class: "hit", "data-area": area })) element.setAttribute(key, value);
    return element;
  }

  /** Clicks on the board select a satellite, or give the selected one an order; drags from a satellite do both. */
  #listenToBoard() {
    const { svg } = this.view;
    let start = null;
    let line = null;
    svg.addEventListener("pointerdown", (event) => {
      const area = this.#areaAt(event);
      start = { area, x: event.clientX, y: event.clientY };
      const here = this.#alike(area).map((one) => this.#ownAt(one)).filter((one) => one !== undefined);
      const satellite = here.find(({ name }) => name === this.selected) ?? here[0];
      if (satellite !== undefined && !this.#meant(area).length) {
        start.satellite = satellite;
        svg.setPointerCapture(event.pointerId);
      }
    });
    svg.addEventListener("pointermove", (event) => {
      if (!start?.satellite || Math.hypot(event.clientX - start.x, event.clientY - start.y) < DRAG) return;
      if (line === null) {
        this.select(start.satellite.name);
        line = svgElement("line", { class: "drag" });
      }
      const [from, to] = [[start.x, start.y], [event.clientX, event.clientY]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse()));
      for (const [key, value] of Object.entries({ x1: from.x, y1: from.y, x2: to.x, y2: to.y })) line.setAttribute(key, value);
      this.view.overlay.append(line);
    });
    svg.addEventListener("pointerup", (event) => {
      const wasDragged = line !== null;
      line?.remove();
      line = null;
      const from = start;
      start = null;
      if (from === null || this.choices === null || !this.isShown) return;
      const area = this.#areaAt(event);
      if (wasDragged) this.#drop(area, event);
      else if (area === from.area) this.#click(area, event);
    });
    svg.addEventListener("pointercancel", () => {
      line?.remove();
      line = start = null;
    });
    document.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.menu.hidden = true;
    });
  }

  /** Returns the areas of satellites that are drawn where this one is, as a stack, itself among them. */
  #alike(area) {
    const { areas } = this.choices ?? {};
    if (!area?.includes(":")) return [area];
    return this.#satelliteHits().map(({ dataset }) => dataset.area).filter((one) => String(areas[one].hit) === String(areas[area].hit));
  }

  /** Returns the areas of satellites on the board that take clicks. */
  #satelliteHits() {
    return [...this.view.overlay.querySelectorAll('.hit[data-area*=":"]')];
  }

  /** Returns whether a press may mean more than one satellite: a stack, or neighbours under a finger. */
  #isAmbiguous(area, event) {
    if (!area?.includes(":")) return false;
    if (this.#alike(area).length > 1) return true;
    return event.pointerType === "touch" && this.#distances(event).filter(([distance, , radius]) => distance + radius <= TOUCH).length > 1;
  }

  #ownAt(area) {
    return this.choices?.satellites.find((one) => one.area === area);
  }

  #meant(area) {
    return this.#choiceOf(this.selected)?.options.filter((one) => one.area === area) ?? [];
  }

  #click(area, event) {
    const meant = this.#meant(area);
    const own = this.#ownAt(area);
    if (this.#isAmbiguous(area, event)) this.#openSector(this.choices.areas[area].sector, event);
    else if (meant.length > 0) this.#choose(meant, event);
    else if (own !== undefined) this.select(own.name);
    else this.menu.hidden = true;
  }

  /** Gives the dragged satellite the order that a target means; an own satellite means its sector. */
  #drop(area, event) {
    const targets = this.#meant(area);
    const sector = this.choices.areas[area]?.sector;
    if (targets.length > 0 && this.#isAmbiguous(area, event)) this.#openSector(sector, event, false);
    else this.#choose(targets.length > 0 ? targets : this.#choiceOf(this.selected).options.filter((one) => sector !== undefined && one.sector === sector), event);
  }

  #choose(options, event) {
    if (options.length === 1) this.give(this.selected, options[0]);
    else if (options.length > 1) this.#openMenu(options, event);
  }

  #openMenu(options, event) {
    this.#showMenu(options.map((option) => this.#orderButton(option)), event);
  }

  #orderButton(option) {
    const deed = option.action in MOVES ? `${capitalized(MOVES[option.action])} to ${option.sector}` : `${capitalized(DEEDS[option.action][0])} ${short(option.target)}, ${option.odds}%`;
    const button = create("button", { type: "button" }, `${deed}, −${option.cost} fuel`);
    button.addEventListener("click", () => this.give(this.selected, option));
    return button;
  }

  /** Shows the satellites of a sector one by one, those that can be chosen or are targets, and the move that leads there. */
  #openSector(sector, event, hasOwn = true) {
    const { areas } = this.choices;
    const here = this.#satelliteHits().map(({ dataset }) => dataset.area).filter((area) => areas[area].sector === sector);
    const tokens = here.filter((area) => hasOwn || this.#meant(area).length > 0).map((area) => this.#tokenButton(area, event));
    const moves = hasOwn ? this.#meant(String(sector)).map((option) => this.#orderButton(option)) : [];
    this.#showMenu([create("div", { class: "row" }, ...tokens), ...moves], event);
  }

  #tokenButton(area, event) {
    const [side, name] = area.split(":");
    const { label, classes, parts } = fleetTokens(this.fleets[SIDES.indexOf(side)]).find((one) => one.name === name);
    const button = create("button", { type: "button", class: `${classes} ${side}`, "aria-label": `${this.cast.owner(side)} ${label}` }, ...parts);
    button.toggleAttribute("data-ordered", side === this.side && this.pending.has(name));
    const meant = this.#meant(area);
    button.addEventListener("click", () => (meant.length > 0 ? this.#choose(meant, event) : this.select(name)));
    return button;
  }

  #showMenu(content, { clientX, clientY }) {
    this.menu.replaceChildren(...content);
    this.menu.hidden = false;
    const around = this.menu.parentElement.getBoundingClientRect();
    this.menu.style.left = `${Math.max(Math.min(clientX - around.left, around.width - this.menu.offsetWidth), 0)}px`;
    this.menu.style.top = `${Math.max(Math.min(clientY - around.top + 12, around.height - this.menu.offsetHeight), 0)}px`;
  }

  /** Returns the area that a pointer means: of satellites that lie close together the nearest. */
  #areaAt(event) {
    const { clientX, clientY } = event;
    const [distance, nearest] = this.#distances(event)[0] ?? [Infinity];
    if (distance <= 0) return nearest;
    const below = document.elementsFromPoint(clientX, clientY).find((element) => element.dataset?.area !== undefined);
    if (below !== undefined) return below.dataset.area;
    return distance <= FINGER ? nearest : undefined;
  }

  /** Returns the satellites on the board, the nearest first, each with the distance of its edge, its area and its radius. */
  #distances({ clientX, clientY }) {
    const distances = this.#satelliteHits().map((hit) => {
      const { left, top, width, height } = hit.getBoundingClientRect();
      return [Math.hypot(clientX - left - width / 2, clientY - top - height / 2) - width / 2, hit.dataset.area, width / 2];
    });
    return distances.sort(([one], [other]) => one - other);
  }
}
