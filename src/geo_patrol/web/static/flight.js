import { arrive, attempt, linkField, NAME, repeated, request } from "./client.js";
import { dataRow, dataTable, FlightBoard, isTaken, NARROW, scoreSheet } from "./flight_map.js";
import { capitalized, create, rulesOf, say } from "./words.js";

const REFRESH_SECONDS = 4;
const SAVED = "geo_patrol.flight."; // in the browser's storage, with the challenge: a pilot's secret
const FLIGHTS = "geo_patrol.flights"; // the person's flights with their best points, the latest first
const MAX_FLIGHTS = 50;

/** A pilot's page of a challenge: the mission, the own flight, and the ranking of all. */
class FlightPage {
  /** @param {string} name identifier of the challenge. */
  constructor(name) {
    this.base = `/api/flights/${encodeURIComponent(name)}`;
    this.key = SAVED + name;
    this.secret = localStorage.getItem(this.key);
    this.flight = null;
    this.isBusy = false;
    const ids = ["title", "notice", "arrive", "about", "scoring", "rules", "flying", "state", "result", "fly-again", "undo", "again", "ranking", "log", "orders", "picture", "said", "hinting", "ask-hint", "hint-text"];
    for (const id of ids) this[id] = document.getElementById(id);
    this.board = new FlightBoard(({ order }) => this.change("orders", { order }));
    document.getElementById("link").append(linkField("Link for everybody", location.href));
    document.getElementById("results").href = `${this.base}/ranking.csv`;
    this.#listen();
    attempt(() => this.#begin(), this.notice);
    const rank = repeated(() => this.#rank(), this.notice);
    setInterval(() => document.hidden || rank(), REFRESH_SECONDS * 1000);
  }

  #listen() {
    this.arrive.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#arrive(), this.notice);
    });
    this["fly-again"].addEventListener("click", () => this.change("again"));
    this.undo.addEventListener("click", () => this.change("undo"));
    this.again.addEventListener("click", () => this.change("again"));
    this["ask-hint"].addEventListener("click", () => this.#askHint());
    this.picture.addEventListener("click", () => attempt(() => this.#savePicture(), this.notice));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  async #begin() {
    this.challenge = await request(this.base);
    const { title, about, rules, scoring } = this.challenge;
    this.title.textContent = document.title = title;
    this.about.textContent = about;
    this.rules.replaceChildren(...rulesOf(rules));
    this.scoring.replaceChildren(...scoreSheet(scoring, scoring.map(([line]) => [line, 0])));
    this.board.load(this.challenge);
    await this.#rank();
    this.arrive.name.value = localStorage.getItem(NAME) ?? "";
    if (this.secret === null) this.arrive.hidden = false;
    else await this.#resume();
  }

  async #arrive() {
    this.notice.textContent = "";
    this.secret = await arrive(`${this.base}/pilots`, new FormData(this.arrive).get("name"));
    localStorage.setItem(this.key, this.secret);
    localStorage.setItem(NAME, new FormData(this.arrive).get("name"));
    await this.#resume();
    this.#focusMain();
  }

  async #resume() {
    this.#show(await request(`${this.base}/flight`, { secret: this.secret }), { animated: false });
    await this.#rank();
  }

  // Flying

  /** Asks for a change of the flight; after an error, for the flight as it is. */
  async change(path, asked = {}) {
    if (this.isBusy || this.flight === null) return;
    this.isBusy = true;
    this.notice.textContent = "";
    const { number } = this.flight;
    try {
      const flight = await request(`${this.base}/${path}`, { secret: this.secret, number, ...asked });
      this.#show(flight, { animated: path === "orders" });
      if (flight.over || number === 0) await this.#rank();
    } catch (error) {
      this.notice.textContent = error.message;
      await attempt(() => this.#resume(), this.notice);
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
      const { order, text } = await request(`${this.base}/hint`, { secret: this.secret }, this.hint.signal);
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
    this.hinting.hidden = !this.challenge.hints || flight.over;
    if (this.hint === undefined) say(this["hint-text"], "");
    this.arrive.hidden = true;
    this.flying.hidden = false;
    this.state.textContent = flight.status;
    this.result.hidden = !flight.over;
    this.result.textContent = flight.result;
    this.result.className = flight.success ? "success" : "";
    this.undo.disabled = this.again.disabled = flight.number === 0;
    this["fly-again"].hidden = !flight.over;
    this.board.show(flight, { animated });
    this.scoring.replaceChildren(...scoreSheet(this.challenge.scoring, flight.points));
    this.log.replaceChildren(...dataTable(["turn", "order", "endpoint", "points"], flight.log.map((row) => dataRow(row))));
    const orders = flight.log.map(([, order]) => order).reverse().join("; ");
    this.orders.replaceChildren(linkField("All orders, to fly again with geo-patrol fly --orders", orders));
    if (flight.over && NARROW.matches) this.result.scrollIntoView({ block: "center" });
    const last = flight.log[0];
    this.said.textContent = last === undefined ? flight.status : `${[`${last[1]} to ${last[2]}`, last[3], flight.result || flight.status].filter(Boolean).join(". ")}`;
    const focused = document.activeElement;
    if (hadFocus && (!this.flying.contains(focused) || focused.disabled || focused.hidden)) this.#focusMain();
  }

  /** Downloads map, path and score sheet of the flight. */
  async #savePicture() {
    const { svg } = await request(`${this.base}/picture`, { secret: this.secret });
    const href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    create("a", { href, download: "flight.svg" }).click();
    URL.revokeObjectURL(href);
  }

  #mainButton() {
    return this.flight.over ? this["fly-again"] : this.board.button;
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

  // The ranking

  async #rank() {
    const { ranking, best_known: best } = await request(`${this.base}/ranking`);
    const content = JSON.stringify([ranking, best, this.flight?.name]);
    if (content === this.shown) return;
    this.shown = content;
    const note = best === null ? "no flight is known that accomplishes the mission" : best.is_proved ? "best known, proved" : "best known";
    const rows = ranking.map(({ rank, name, score, turns, accomplished, lost, flights }) => {
      const state = score === null ? "flying" : lost ? "lost" : accomplished ? "done" : "failed";
      return dataRow([rank ?? "", name, score, turns, state, flights], name === this.flight?.name ? { "aria-current": "true" } : {});
    });
    const known = dataRow(["", note, best?.score, best?.turns, "", ""], { class: "known" });
    const own = ranking.find(({ name }) => name === this.flight?.name);
    if (own !== undefined) this.#keep(own.score);
    this.ranking.replaceChildren(...dataTable(["rank", "pilot", "score", "turns", "mission", "flights"], [known, ...rows]));
  }

  /** Keeps the flight among the person's own. */
  #keep(best) {
    const challenge = decodeURIComponent(this.base.split("/").at(-1));
    const others = JSON.parse(localStorage.getItem(FLIGHTS) ?? "[]").filter((one) => one.challenge !== challenge);
    localStorage.setItem(FLIGHTS, JSON.stringify([{ challenge, title: this.challenge.title, best }, ...others].slice(0, MAX_FLIGHTS)));
  }
}

const page = (window.page = new FlightPage(new URLSearchParams(location.hash.slice(1)).get("challenge") ?? ""));
