import { leaveFor, pageAddress, request } from "./client.js";
import { FlightBoard, isTaken, NARROW, scoreSheet } from "./flight_map.js";
import { create } from "./words.js";

const STORY_SECONDS = 1.1; // for each of coast, gravity and engines, so that each can be seen and read
const FINGER = window.matchMedia("(hover: none)");

/** The guided first flight: its steps, and what the player has to do, come from the server. */
class FlightLesson {
  constructor() {
    for (const id of ["progress", "step", "text", "task", "press", "happened", "story", "result", "wrong", "scoring", "back", "again", "next", "play-on"]) this[id] = document.getElementById(id);
    this.number = null;
    this.board = new FlightBoard(({ order }) => this.#attempt(order));
    this.back.addEventListener("click", () => this.#go(this.number - 1));
    this.again.addEventListener("click", () => this.open());
    this.next.addEventListener("click", () => this.#go(this.number + 1));
    this["play-on"].addEventListener("click", () => leaveFor(pageAddress("flight", { mission: "sample" })));
    window.addEventListener("hashchange", () => this.open());
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Begins the step that the address names. */
  async open() {
    const hadFocus = document.activeElement !== document.body;
    this.number = Number(new URLSearchParams(location.hash.slice(1)).get("step") ?? 1);
    const answer = await this.#ask();
    if (answer === null) return;
    document.title = answer.title;
    this.count = answer.steps;
    this.scoringLines = answer.scoring;
    this.board.load(answer);
    this.#show(answer);
    if (hadFocus) this.step.focus({ preventScroll: true });
    if (NARROW.matches) window.scrollTo(0, 0);
  }

  #go(number) {
    location.hash = new URLSearchParams({ step: number });
  }

  async #attempt(order) {
    if (this.isDone || this.isAsking) return;
    this.isAsking = true;
    const answer = await this.#ask({ order });
    this.isAsking = false;
    if (answer !== null) this.#show(answer);
  }

  /** Asks the server about the step; null where it does not answer, or another step has begun meanwhile. */
  async #ask(body) {
    const { number } = this;
    try {
      const answer = await request(`/api/flight-lesson/${number}`, body);
      return number === this.number ? answer : null;
    } catch (error) {
      this.wrong.textContent = error.message;
      return null;
    }
  }

  /** Shows what the server has answered: a step as it begins, after an order of another kind, or done. */
  #show({ card, done, flight, story, order, sights, target }) {
    this.isDone = done;
    this.progress.textContent = `Step ${card.progress}`;
    this.step.textContent = card.title;
    this.text.textContent = done ? "" : card.text;
    this.task.textContent = card.task;
    this.press.textContent = done || card.hint ? "" : this.#pressText(flight.choices.find((choice) => choice.order === order));
    this.wrong.textContent = card.hint;
    this.happened.hidden = !done;
    this.result.textContent = done ? card.text : "";
    this.result.hidden = true;
    this.back.disabled = this.number === 1;
    const isLast = this.number === this.count;
    this.next.hidden = !done || isLast;
    this["play-on"].hidden = !done || !isLast;
    this.story.replaceChildren();
    const { chosen } = this.board;
    this.board.map.mark(done ? [] : [...sights, ...target]);
    this.board.show(done ? { ...flight, choices: [] } : flight, { coasts: false, animated: done, seconds: STORY_SECONDS, onStep: (step) => this.#tell(done, story, step, flight.steps.length) });
    if (card.hint) this.board.choose(chosen);
    this.scoring.replaceChildren(...scoreSheet(this.scoringLines, flight.points));
    if (done && NARROW.matches) window.scrollTo(0, 0); // where it is told what happened
    if (done) this.#main.focus({ preventScroll: true });
  }

  /** The button that Enter presses. */
  get #main() {
    if (!this.isDone) return this.board.button;
    return this.number === this.count ? this["play-on"] : this.next;
  }

  /** Tells what the steps of a turn were, as far as they are shown; after the last one the points, and what they mean. */
  #tell(done, story, step, count) {
    if (!done) return;
    const isLast = step === count - 1;
    const lines = isLast ? story : story.slice(0, step + 1);
    this.story.append(...lines.slice(this.story.children.length).map((line) => create("li", {}, line)));
    this.result.hidden = !isLast;
  }

  #pressText({ key }) {
    if (FINGER.matches) return "Tap its button, or tap it twice on the map.";
    return `Click it on the map, press its button, or use ${key === null ? "the arrow keys and Enter" : `the key ${key.toUpperCase()}`}.`;
  }

  #press(event) {
    const { key, target } = event;
    if (isTaken(event) || this.board.flight === null) return;
    if (key === "Enter" && !target.matches("button, a, summary")) this.#main.click();
    else if (key === "r") this.again.click();
    else if (this.isDone || !this.board.press(key)) return;
    event.preventDefault();
  }
}

window.page = new FlightLesson();
window.page.open();
