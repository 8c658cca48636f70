"use strict";

const FINGER = 22; // pixels around a finger or pointer within which a satellite is meant
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Returns an option in words. */
function describe({ text, cost }) {
  return `${text} (${cost.replace(/\s{2,}/g, ", ")})`;
}

/** The choices on a board: what is lit up, what takes clicks and keys, and a menu where they have several meanings. */
class ChoiceBoard {
  /**
   * @param {BoardView} board on whose overlay they are drawn.
   * @param {HTMLElement} menu above the board.
   * @param {OrderEntry} entry whose choices, orders and selection are shown.
   */
  constructor(board, menu, entry) {
    Object.assign(this, { board, menu, entry });
    board.svg.addEventListener("click", (event) => this.pick(this.#areaAt(event), event));
    board.svg.addEventListener("keydown", (event) => this.#press(event));
    menu.addEventListener("keydown", (event) => this.#moveInMenu(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#escape();
    });
  }

  /** Does what a click on an area means: selects a satellite, or gives the selected one an order. */
  pick(area, event) {
    const { choices, selected, isShown } = this.entry;
    if (choices === null || !isShown) return;
    const meant = selected?.options.filter((option) => option.area === area) ?? [];
    const own = choices.satellites.find((satellite) => satellite.area === area);
    if (meant.length > 1) this.#openMenu(meant, area, event);
    else if (meant.length === 1) this.entry.give(selected.name, meant[0]);
    else this.entry.select(own === undefined || own === selected ? null : own.name);
  }

  /** Draws the choices anew; a focus in them stays where it was, or goes on to the next satellite. */
  draw() {
    const { overlay } = this.board;
    const focused = overlay.contains(document.activeElement) ? document.activeElement.dataset.area : undefined;
    this.menu.hidden = true;
    const isOffered = this.entry.choices !== null && this.entry.isShown;
    overlay.replaceChildren(...(isOffered ? this.#drawn() : []));
    const hit = this.#hitOf(focused) ?? (isOffered ? this.#hitOf(this.#order()[0]) : null);
    hit?.setAttribute("tabindex", "0");
    if (focused !== undefined) hit?.focus({ preventScroll: true });
  }

  focus(area) {
    this.#hitOf(area)?.focus({ preventScroll: true });
  }

  #hitOf(area) {
    return this.board.overlay.querySelector(`[data-area="${area}"]`);
  }

  /** Returns the area that a click means: of satellites that lie close together the nearest. */
  #areaAt({ target, clientX, clientY }) {
    const { area } = target.dataset;
    if (area !== undefined && !area.includes(":")) return area;
    const distances = [...this.board.overlay.querySelectorAll("circle.hit")].map((hit) => {
      const { left, top, width, height } = hit.getBoundingClientRect();
      return [Math.hypot(clientX - left - width / 2, clientY - top - height / 2), hit.dataset.area];
    });
    const [distance, nearest] = distances.sort(([one], [other]) => one - other)[0] ?? [Infinity];
    return area !== undefined || distance <= FINGER ? nearest : undefined;
  }

  /** Arrow keys move over what can be chosen, Enter and the space bar choose. */
  #press(event) {
    const { area } = event.target.dataset;
    if (area === undefined) return;
    if (event.key === "Enter" || event.key === " ") {
      const { left, top, width, height } = event.target.getBoundingClientRect();
      this.pick(area, { clientX: left + width / 2, clientY: top + height / 2 });
    } else if (event.key in STEPS) {
      const order = this.#order();
      this.#hitOf(order.at((order.indexOf(area) + STEPS[event.key]) % order.length)).focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Returns the areas in the order of the arrow keys: the selected satellite, where it may act, the others. */
  #order() {
    const { choices, selected, pending } = this.entry;
    const free = choices.satellites.filter(({ name }) => !pending.has(name));
    const chosen = selected === null ? [] : [selected, ...selected.options];
    return [...new Set([...chosen, ...free, ...choices.satellites].map(({ area }) => area))];
  }

  #escape() {
    const isOpen = !this.menu.hidden;
    const hasFocus = this.menu.contains(document.activeElement);
    this.menu.hidden = true;
    if (!isOpen) this.entry.select(null);
    else if (hasFocus) this.#hitOf(this.menu.dataset.area)?.focus();
  }

  #openMenu(options, area, { clientX, clientY }) {
    const { name } = this.entry.selected;
    const buttons = options.map((option) => {
      const button = create("button", { type: "button" }, `${option.text}  ${option.cost}`);
      button.addEventListener("click", () => {
        this.entry.give(name, option);
        this.#hitOf(this.#order()[0])?.focus({ preventScroll: true });
      });
      return button;
    });
    this.menu.replaceChildren(...buttons);
    this.menu.dataset.area = area;
    this.menu.hidden = false;
    const around = this.menu.parentElement.getBoundingClientRect();
    this.menu.style.left = `${Math.max(Math.min(clientX - around.left, around.width - this.menu.offsetWidth), 0)}px`;
    this.menu.style.top = `${Math.max(Math.min(clientY - around.top, around.height - this.menu.offsetHeight), 0)}px`;
    buttons[0].focus();
  }

  #moveInMenu(event) {
    if (!(event.key in STEPS)) return;
    const buttons = [...this.menu.children];
    buttons.at((buttons.indexOf(document.activeElement) + STEPS[event.key]) % buttons.length).focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Returns the elements that mark choices and orders, those that take clicks on top. */
  #drawn() {
    const { choices, selected, pending, suggestion } = this.entry;
    const { satellites, areas } = choices;
    const lit = new Set((selected?.options ?? []).map((option) => option.area));
    const shapes = [...lit].flatMap((area) => areas[area].lit);
    shapes.push(...suggestion, ...[...pending.values()].flatMap((option) => option.arrow));
    for (const satellite of satellites) if (!pending.has(satellite.name)) shapes.push(...satellite.ring);
    if (selected !== null) shapes.push(...areas[selected.area].lit, ...selected.costs);
    const clickable = new Set([...lit, ...satellites.map((satellite) => satellite.area)]);
    const hits = [...clickable].sort((one, other) => one.includes(":") - other.includes(":")); // satellites on top
    return [...shapes.map(drawShape), ...hits.map((area) => this.#hit(area))];
  }

  #hit(area) {
    const element = drawShape(this.entry.choices.areas[area].hit);
    const attributes = { "fill-opacity": "0", class: "hit", role: "button", tabindex: "-1", "data-area": area };
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    const title = document.createElementNS(SVG, "title");
    title.textContent = this.#nameOf(area);
    element.append(title);
    return element;
  }

  /** Returns what an area is, what its satellite was ordered, and what choosing it means. */
  #nameOf(area) {
    const { choices, selected, pending } = this.entry;
    const own = choices.satellites.find((satellite) => satellite.area === area);
    const ordered = own && pending.has(own.name) ? [`ordered: ${pending.get(own.name).text}`] : [];
    const meant = selected?.options.filter((option) => option.area === area).map(describe) ?? [];
    return [...(own ? [own.name, own.label] : [choices.areas[area].name]), ...ordered, ...meant].join(", ");
  }
}
