"use strict";

const HOLD = "hold";

/** Orders being entered: by clicks on the board, or by a list of choices; what is legal comes with the choices. */
class OrderEntry {
  /**
   * @param {HTMLElement} root with elements of the classes prompt, order-buttons, order-list and menu.
   * @param {BoardView} board on whose overlay choices are drawn.
   * @param {function(string[])} commit called with the orders.
   */
  constructor(root, board, commit) {
    const find = (name) => root.querySelector(`.${name}`);
    [this.prompt, this.buttons, this.list, this.menu] = ["prompt", "order-buttons", "order-list", "menu"].map(find);
    this.board = board;
    this.commit = commit;
    this.choices = null;
    this.isShown = true;
    this.#addButtons();
    board.svg.addEventListener("click", (event) => this.#click(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.select(null);
    });
  }

  /** Offers the choices of a phase. */
  load(choices) {
    this.choices = choices;
    this.board.extend(choices.symbols, []);
    this.pending = new Map();
    this.past = [];
    this.selected = null;
    this.#addList();
    this.#update();
  }

  /** Offers nothing any more. */
  clear() {
    this.choices = null;
    this.list.replaceChildren();
    this.#update();
  }

  /** Shows or hides the choices on the board, for instance while it shows the past. */
  show(isShown) {
    if (this.isShown === isShown) return;
    this.isShown = isShown;
    this.#update();
  }

  get orders() {
    return [...this.pending.values()].map((option) => option.order);
  }

  /** Selects a satellite by name; null selects none. */
  select(name) {
    this.selected = this.choices?.satellites.find((satellite) => satellite.name === name) ?? null;
    this.#update();
  }

  /** Sets the order of a satellite; null holds. */
  give(name, option) {
    const pending = new Map(this.pending);
    if (option === null) pending.delete(name);
    else pending.set(name, option);
    this.#change(pending);
  }

  guardAll() {
    const pending = new Map(this.pending);
    for (const { name, options } of this.choices.satellites) {
      const guard = options.find((option) => option.action === "guard");
      if (guard) pending.set(name, guard);
    }
    this.#change(pending);
  }

  undo() {
    this.pending = this.past.pop() ?? this.pending;
    this.selected = null;
    this.#update();
  }

  #change(pending) {
    this.past.push(this.pending);
    this.pending = pending;
    this.selected = null;
    this.#update();
  }

  #addButtons() {
    const actions = {
      "guard-all": ["Guard all", () => this.guardAll()],
      "hold-all": ["Hold all", () => this.#change(new Map())],
      undo: ["Undo", () => this.undo()],
      commit: ["Commit", () => this.commit(this.orders)],
    };
    for (const [id, [text, run]] of Object.entries(actions)) {
      const button = create("button", { id, type: "button" }, text);
      button.addEventListener("click", run);
      this.buttons.append(button);
    }
  }

  #addList() {
    this.list.replaceChildren(
      ...this.choices.satellites.map((satellite) => {
        const { name, label, options } = satellite;
        const texts = options.map(({ order, text, cost }) => create("option", { value: order }, `${text}  (${cost})`));
        const select = create("select", { "data-satellite": name }, create("option", { value: HOLD }, HOLD), ...texts);
        select.addEventListener("change", () => {
          this.give(name, options.find((option) => option.order === select.value) ?? null);
          this.select(name);
        });
        select.addEventListener("focus", () => this.select(name));
        return create("label", {}, create("span", {}, name, create("small", {}, label)), select);
      }),
    );
  }

  #click(event) {
    if (this.choices === null || !this.isShown) return;
    const area = event.target.dataset.area;
    const meant = this.selected?.options.filter((option) => option.area === area) ?? [];
    const own = this.choices.satellites.find((satellite) => satellite.area === area);
    if (meant.length > 1) this.#openMenu(meant, event);
    else if (meant.length === 1) this.give(this.selected.name, meant[0]);
    else this.select(own === undefined || own === this.selected ? null : own.name);
  }

  /** Opens a small menu where a click has several meanings. */
  #openMenu(options, { clientX, clientY }) {
    const { name } = this.selected;
    const buttons = options.map((option) => {
      const button = create("button", { type: "button" }, `${option.text}  ${option.cost}`);
      button.addEventListener("click", () => this.give(name, option));
      return button;
    });
    this.menu.replaceChildren(...buttons);
    this.menu.hidden = false;
    const around = this.menu.parentElement.getBoundingClientRect();
    this.menu.style.left = `${Math.max(Math.min(clientX - around.left, around.width - this.menu.offsetWidth), 0)}px`;
    this.menu.style.top = `${Math.max(Math.min(clientY - around.top, around.height - this.menu.offsetHeight), 0)}px`;
    buttons[0].focus();
  }

  #update() {
    this.menu.hidden = true;
    const isOpen = this.choices !== null;
    for (const button of this.buttons.children) button.disabled = !isOpen;
    this.board.overlay.replaceChildren(...(isOpen && this.isShown ? this.#drawn() : []));
    if (!isOpen) return;
    this.buttons.querySelector("#undo").disabled = this.past.length === 0;
    this.buttons.querySelector("#guard-all").disabled = !this.choices.satellites.some(({ options }) =>
      options.some((option) => option.action === "guard"),
    );
    for (const select of this.list.querySelectorAll("select")) {
      const { satellite } = select.dataset;
      select.value = this.pending.get(satellite)?.order ?? HOLD;
      select.parentElement.classList.toggle("selected", satellite === this.selected?.name);
    }
    this.prompt.textContent = this.#promptText();
  }

  #promptText() {
    if (this.selected === null) return `Your orders for the ${this.choices.phase} phase: choose a satellite, then Commit.`;
    const goal = this.choices.phase === "movement" ? "where it should go" : "a target";
    return `${this.selected.name}: choose ${goal}, or an order in the list.`;
  }

  /** Returns the elements that mark choices and orders, those that take clicks on top. */
  #drawn() {
    const { satellites, areas } = this.choices;
    const options = this.selected?.options ?? [];
    const lit = new Set(options.map((option) => option.area));
    const shapes = [...lit].flatMap((area) => areas[area].lit);
    shapes.push(...[...this.pending.values()].flatMap((option) => option.arrow));
    for (const satellite of satellites) if (!this.pending.has(satellite.name)) shapes.push(...satellite.ring);
    if (this.selected !== null) shapes.push(...areas[this.selected.area].lit, ...this.selected.costs);
    const clickable = new Set([...lit, ...satellites.map((satellite) => satellite.area)]);
    const hits = [...clickable].sort((one, other) => one.includes(":") - other.includes(":")); // satellites on top
    return [...shapes.map(drawShape), ...hits.map((area) => this.#hit(area))];
  }

  #hit(area) {
    const element = drawShape(this.choices.areas[area].hit);
    element.setAttribute("fill-opacity", "0");
    element.setAttribute("class", "hit");
    element.dataset.area = area;
    return element;
  }
}
