"use strict";

const PATIENCE = 200; // milliseconds without a change of orders before the server is asked

/** Advice for the owner of a seat: how his HVA can be attacked next, and hints. */
class Advice {
  /**
   * @param {HTMLElement} root with elements of the classes danger, hint and order-buttons.
   * @param {OrderEntry} entry for which it is given.
   * @param {string} table identifier of the table.
   * @param {string} secret of the seat.
   * @param {function(string)} notify called with what went wrong.
   */
  constructor(root, entry, table, secret, notify) {
    [this.danger, this.hint] = ["danger", "hint"].map((name) => root.querySelector(`.${name}`));
    Object.assign(this, { entry, secret, notify, path: `/api/tables/${encodeURIComponent(table)}` });
    this.button = create("button", { id: "ask-hint", type: "button" }, "Hint");
    this.button.addEventListener("click", () => this.#askHint());
    root.querySelector("#undo").after(this.button);
    this.take = create("button", { id: "take-hint", type: "button" }, "Take it");
    this.take.addEventListener("click", () => this.entry.giveAll(this.orders));
    this.text = create("span", { role: "status" });
    this.hint.append(this.text, this.take);
    this.clear();
  }

  /** Begins the phase of a message that asks for orders. */
  load({ turn, phase, scene }) {
    this.clear();
    this.phase = { turn, phase };
    this.button.hidden = !scene.hints;
    this.#askDanger();
  }

  /** Shows nothing any more. */
  clear() {
    clearTimeout(this.timer);
    this.phase = {}; // what comes for another one is too late
    this.text.textContent = "";
    this.hint.hidden = true;
    this.danger.hidden = true;
  }

  /** Asks again if the orders have changed, as soon as they have not for a moment. */
  update() {
    clearTimeout(this.timer);
    if (this.entry.choices !== null && String(this.entry.orders) !== this.asked) this.timer = setTimeout(() => this.#askDanger(), PATIENCE);
  }

  async #askDanger() {
    const { phase, entry } = this;
    const { orders } = entry;
    this.asked = String(orders);
    const question = { secret: this.secret, orders, ...phase }; // the server says nothing of a phase that is over
    const answer = await request(`${this.path}/danger`, question).catch(() => null); // asked again
    if (answer === null || phase !== this.phase || String(entry.orders) !== this.asked) return;
    this.danger.hidden = answer.text === "";
    if (this.danger.hidden) return;
    const summary = this.danger.querySelector("[role=status]");
    if (summary.textContent !== answer.text) summary.textContent = answer.text;
    this.danger.lastElementChild.replaceChildren(lineTable(answer.lines));
  }

  async #askHint() {
    const { phase } = this;
    this.hint.hidden = false;
    this.button.disabled = this.take.hidden = true;
    this.text.textContent = "Searching for a hint; the first one on a server may take a minute.";
    try {
      const answer = await request(`${this.path}/hint`, { secret: this.secret });
      if (phase !== this.phase) return;
      this.orders = answer.orders;
      this.text.textContent = answer.orders.length ? `${answer.text}: ${answer.orders.join(", ")}` : `${answer.text}: hold`;
      this.take.hidden = false;
      this.entry.suggest(answer);
    } catch (error) {
      this.hint.hidden = true;
      this.notify(error.message);
    }
    this.button.disabled = this.entry.choices === null;
  }
}
