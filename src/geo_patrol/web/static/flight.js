import { attempt, linkField, pageAddress, request } from "./client.js";
import { dataRow, dataTable, FlightBoard, isTaken, NARROW, scoreSheet } from "./flight_map.js";
import { capitalized, create, rulesOf, say } from "./words.js";

/** The page on which a mission is flown. Its address holds the mission and the orders: who opens it has the same flight. */
class FlightPage {
  /** @param {URLSearchParams} address ``mission``, a name, or ``scenario``, its TOML; and ``orders``. */
  constructor(address) {
    this.mission = address.has("scenario") ? { scenario: address.get("scenario") } : { mission: address.get("mission") ?? "sample" };
    this.orders = (address.get("orders") ?? "").split("; ").filter(Boolean);
    this.flight = null;
    this.isBusy = false;
    const ids = ["title", "notice", "about", "known", "scoring", "rules", "flying", "state", "result", "undo", "again", "log", "log-orders", "picture", "said", "hinting", "ask-hint", "hint-text", "engine-keys"];
    for (const id of ids) this[id] = document.getElementById(id);
    this.board = new FlightBoard(({ order }) => this.fly([...this.orders, order], { animated: true }));
    this.#listen();
    attempt(() => this.#begin(), this.notice);
  }

  #listen() {
    this.undo.addEventListener("click", () => this.fly(this.orders.slice(0, -1)));
    this.again.addEventListener("click", () => this.fly([]));
    this["ask-hint"].addEventListener("click", () => this.#askHint());
    this.picture.addEventListener("click", () => attempt(() => this.#savePicture(), this.notice));
    document.addEventListener("keydown", (event) => this.#press(event));
    window.addEventListener("hashchange", () => location.reload());
  }

  async #begin() {
    const mission = await request("/api/flights/mission", this.mission);
    const { title, about, known, rules, scoring } = mission;
    this.title.textContent = document.title = title;
    this.about.textContent = about;
    this.known.textContent = known;
    this.rules.replaceChildren(...rulesOf(rules));
    this.scoringLines = scoring;
    this.board.load(mission);
    await this.fly(this.orders);
  }

  // Flying

  /** Flies these orders from the start, and shows the flight. */
  async fly(orders, { animated = false } = {}) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.notice.textContent = "";
    try {
      const flight = await request("/api/flights", { ...this.mission, orders });
      this.orders = orders;
      history.replaceState(null, "", pageAddress("flight", { ...this.mission, orders: orders.join("; ") }));
      this.#show(flight, { animated });
    } catch (error) {
      this.notice.textContent = error.message;
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
      const { order, text } = await request("/api/flights/hint", { ...this.mission, orders: this.orders }, this.hint.signal);
      const index = this.flight.choices.findIndex((choice) => choice.order === order);
      if (number === this.flight.number && index >= 0) {
        this.board.choose(index);
        say(this["hint-text"], `${capitalized(this.flight.choices[index].label)} ${text}.`);
      } else say(this["hint-text"], "");
    } catch (error) {
      say(this["hint-text"], error.name === "AbortError" ? "" : error.message);
    }
    this.hint = undefined;
    say(this["ask-hint"], "Hint");
  }

  #show(flight, { animated }) {
    const hadFocus = this.flying.contains(document.activeElement);
    this.flight = flight;
    this.hinting.hidden = flight.over;
    if (this.hint === undefined) say(this["hint-text"], "");
    this.flying.hidden = false;
    this.state.textContent = flight.status;
    this.result.hidden = !flight.over;
    this.result.textContent = flight.result;
    this.result.className = flight.success ? "success" : "";
    this.undo.disabled = this.again.disabled = flight.number === 0;
    this.again.classList.toggle("main", flight.over);
    this["engine-keys"].hidden = !flight.choices.some(({ key }) => key !== null); // a launch has none
    this.board.show(flight, { animated });
    this.scoring.replaceChildren(...scoreSheet(this.scoringLines, flight.points));
    this.log.replaceChildren(...dataTable(["turn", "order", "endpoint", "points"], flight.log.map((row) => dataRow(row))));
    const links = [linkField("This flight, for others to see and to fly on", location.href), linkField("All orders, to fly again with geo-patrol fly --orders", this.orders.join("; "))];
    this["log-orders"].replaceChildren(...links);
    if (flight.over && NARROW.matches) this.result.scrollIntoView({ block: "center" });
    const last = flight.log[0];
    this.said.textContent = last === undefined ? flight.status : `${[`${last[1]} to ${last[2]}`, last[3], flight.result || flight.status].filter(Boolean).join(". ")}`;
    const focused = document.activeElement;
    if (hadFocus && (!this.flying.contains(focused) || focused.disabled || focused.hidden)) this.#focusMain();
  }

  /** Downloads map, path and score sheet of the flight. */
  async #savePicture() {
    const { svg } = await request("/api/flights/picture", { ...this.mission, orders: this.orders });
    const href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    create("a", { href, download: "flight.svg" }).click();
    URL.revokeObjectURL(href);
  }

  #mainButton() {
    return this.flight.over ? this.again : this.board.button;
  }

  /** Moves the focus to the main button; where nothing is chosen there is none. */
  #focusMain() {
    const button = this.#mainButton();
    (button.hidden ? this.flying : button).focus({ preventScroll: true });
  }

  #press(event) {
    const { key, target } = event;
    if (isTaken(event) || this.flight === null) return;
    if (key === "Enter" && !target.matches("button, a, summary")) this.#mainButton().click();
    else if (key === "Backspace" || key === "u") this.undo.click();
    else if (key === "r") this.again.click();
    else if (!this.board.press(key)) return;
    event.preventDefault();
  }
}

window.page = new FlightPage(new URLSearchParams(location.hash.slice(1)));
