"use strict";

const HOLD = "hold";

/** Orders being entered: on the board, or by a list of choices; what is legal comes with the choices. */
class OrderEntry {
  /**
   * @param {HTMLElement} root with elements of the classes prompt, order-buttons, order-options, order-list, menu
   *   and fleets.
   * @param {BoardView} board on which choices are shown.
   * @param {function(string[])} commit called with the orders.
   * @param {function()} changed called after orders or the selection have changed.
   */
  constructor(root, board, commit, changed = () => {}) {
    const find = (name) => root.querySelector(`.${name}`);
    [this.prompt, this.buttons] = ["prompt", "order-buttons"].map(find);
    [this.options, this.list] = ["order-options", "order-list"].map(find);
    Object.assign(this, { view: board, commit, changed });
    this.choices = null;
    this.selected = null;
    this.isShown = true;
    this.#addButtons();
    this.board = new ChoiceBoard(board, find("menu"), this);
    this.#update();
    find("fleets").addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-area]");
      if (row !== null) this.board.pick(row.dataset.area, event);
    });
  }

  /**
   * Offers the choices of a phase.
   * @param {?string} key under which the orders outlive a reload of the page.
   * @returns {boolean} whether there are orders from before a reload.
   */
  load(choices, key = null) {
    this.#forget();
    this.choices = choices;
    this.key = key;
    this.view.define(choices.symbols);
    this.pending = this.#optionsOf(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
    this.past = [];
    this.selected = null;
    this.suggestion = [];
    this.#keepFocus(() => this.#addList());
    this.#update();
    return this.pending.size > 0;
  }

  /** Offers nothing any more. */
  clear() {
    this.#forget();
    this.choices = null;
    this.prompt.textContent = "";
    this.#keepFocus(() => this.list.replaceChildren());
    this.#update();
  }

  #forget() {
    if (this.choices !== null && this.key !== null) sessionStorage.removeItem(this.key);
  }

  /** Makes a change; a focus on what it takes away moves to the prompt, which says what follows. */
  #keepFocus(change) {
    const hadFocus = document.activeElement !== document.body;
    change();
    const { activeElement } = document;
    if (hadFocus && (activeElement === document.body || activeElement.disabled)) this.prompt.focus({ preventScroll: true });
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
    this.changed();
  }

  /** Sets the order of a satellite; null holds. */
  give(name, option) {
    const pending = new Map(this.pending);
    if (option === null) pending.delete(name);
    else pending.set(name, option);
    this.#change(pending);
  }

  /** Replaces all orders. */
  giveAll(orders) {
    this.#change(this.#optionsOf(orders));
  }

  /** Selects the next satellite without an order, on the board. */
  selectNext() {
    const { satellites } = this.choices;
    const start = satellites.indexOf(this.selected) + 1;
    const following = [...satellites.slice(start), ...satellites.slice(0, start)];
    const next = following.find(({ name }) => !this.pending.has(name));
    if (next === undefined) return;
    this.select(next.name);
    this.board.focus(next.area);
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
    this.#replace(this.past.pop() ?? this.pending);
  }

  /** Draws orders that are suggested. */
  suggest({ shapes, symbols }) {
    this.view.define(symbols);
    this.suggestion = shapes;
    this.#update();
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
    this.selected = null;
    if (this.key !== null) sessionStorage.setItem(this.key, JSON.stringify(this.orders));
    this.#update();
    this.changed();
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
      ...this.choices.satellites.map(({ name, label, options }) => {
        const texts = options.map((option) => create("option", { value: option.order }, describe(option)));
        const attributes = { "data-satellite": name, "aria-label": `${name}, ${label}` };
        const select = create("select", attributes, create("option", { value: HOLD }, HOLD), ...texts);
        select.addEventListener("change", () => {
          this.give(name, options.find((option) => option.order === select.value) ?? null);
          this.select(name);
        });
        select.addEventListener("focus", () => this.select(name));
        return create("label", { title: label }, create("span", {}, name), select);
      }),
    );
  }

  #update() {
    this.#keepFocus(() => this.#show());
  }

  #show() {
    const isOpen = this.choices !== null;
    for (const button of this.buttons.querySelectorAll("button")) button.disabled = !isOpen;
    this.board.draw();
    const isListed = this.list.contains(document.activeElement); // and so are the options
    this.options.replaceChildren(...(isOpen && this.selected !== null && !isListed ? this.#optionButtons() : []));
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

  /** Returns buttons for the orders of the selected satellite. */
  #optionButtons() {
    const { name, options } = this.selected;
    const current = this.pending.get(name) ?? null;
    return [...options, null].map((option) => {
      const text = option === null ? HOLD : describe(option);
      const button = create("button", { type: "button", "aria-pressed": String(option === current) }, text);
      button.addEventListener("click", () => this.give(name, option));
      return button;
    });
  }

  #promptText() {
    const { phase } = this.choices;
    if (this.selected === null) {
      const rest = this.pending.size > 0 ? "; the others hold" : "";
      return `Your ${phase} orders: choose a satellite with a ring, then Commit${rest}.`;
    }
    return `${this.selected.name}: choose ${phase === "movement" ? "where it should go" : "a target"}, or one of the orders below.`;
  }
}
