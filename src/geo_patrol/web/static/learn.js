import { openAndPlay, request, start } from "./client.js";
import { OrderPanel } from "./orders.js";
import { Playback } from "./playback.js";
import { followClass } from "./pupil.js";
import { NARROW, screenKind } from "./scene.js";
import { capitalized, Cast, create, rulesOf, SIDES, svgElement } from "./words.js";

const FIRST = "level:sputnik"; // the first opponent

/** The guided first game: its steps, and what the player has to do, come from the server. */
class Lesson {
  constructor() {
    for (const id of ["progress", "step", "text", "task", "wrong", "back", "next", "play-on", "left", "right", "when"]) this[id] = document.getElementById(id);
    this.number = null;
    this.reached = 0; // the last step that is done, or was passed over
    this.tried = null; // what the player did that was right
    this.cast = new Cast(["You", "Gold"], "alpha");
    this.playback = new Playback(document.getElementById("board"), () => this.#showMoment());
    this.pointer = this.playback.board.svg.appendChild(svgElement("path", { class: "pointer marks" }));
    this.entry = new OrderPanel(document, this.playback, (orders) => this.#attempt({ orders }), () => this.#changed());
    this.back.addEventListener("click", () => this.#go(this.number - 1));
    this.next.addEventListener("click", () => this.#go(this.number + 1));
    this["play-on"].addEventListener("click", ({ target }) => start(target, () => openAndPlay({ preset: "geo_patrol", alpha: FIRST, bravo: FIRST }, "alpha"), this.wrong));
    window.addEventListener("hashchange", () => this.open());
    NARROW.addEventListener("change", () => this.#redraw());
  }

  /** Begins the step that the address names. */
  async open() {
    const hadFocus = document.activeElement !== document.body;
    this.number = Number(new URLSearchParams(location.hash.slice(1)).get("step") ?? 1);
    const answer = await this.#ask();
    if (answer === null) return;
    document.title = answer.title;
    this.count = answer.steps;
    Object.assign(this, { selects: answer.selects, points: answer.points });
    this.playback.setPlaying(false);
    this.playback.load(answer.record);
    document.querySelector(".rules").replaceChildren(...rulesOf(answer.record.rules));
    this.entry.selected = null;
    this.isDone = true; // choices are being loaded, nothing is selected by the player
    this.reached = Math.max(this.reached, this.number - 1);
    this.tried = this.result = null;
    this.entry.load(answer.choices);
    this.entry.select(null);
    this.#show(answer.card, false);
    if (hadFocus) this.step.focus({ preventScroll: true });
  }

  /** Has the step drawn for another screen; what was ordered, or has been played, stays. */
  async #redraw() {
    const answer = await this.#ask(this.selects ? undefined : (this.tried ?? undefined));
    if (answer === null) return;
    if (answer.record !== null) this.playback.load(answer.record);
    this.playback.pauseAt(this.playback.record.moments.length - 1);
    if (answer.choices) this.entry.redraw(answer.choices);
  }

  #go(number) {
    const parameters = new URLSearchParams(location.hash.slice(1)); // of a class, too
    parameters.set("step", number);
    location.hash = parameters;
  }

  #changed() {
    if (!this.isDone) this.wrong.textContent = ""; // it was about other orders
    if (this.selects && this.entry.selected !== null) this.#attempt({ select: this.entry.selected });
    this.#point();
  }

  /** Points on the board at the satellite that the step is about; once it is selected, at where it is to go or whom it is to attack. */
  #point() {
    const { entry, pointer, playback, isDone } = this;
    const [name, order] = this.points;
    const satellite = entry.choices?.satellites.find((one) => one.name === name);
    const option = satellite?.options.find((one) => one.order === order);
    const area = entry.selected === name && option ? option.area : satellite?.area;
    pointer.style.display = isDone || area === undefined || (option && entry.pending.get(name) === option) ? "none" : "";
    if (area === undefined) return;
    const { size } = playback.board;
    const places = new Map(Object.entries(entry.choices.areas).map(([key, { hit }]) => [key, hit[0] === "C" ? hit.slice(-3) : middle(hit.slice(5))]));
    const [x, y, radius] = places.get(area);
    const unit = size / (NARROW.matches ? 400 : 700);
    const others = [...places].filter(([key]) => key !== area && key.includes(":")).map(([, place]) => place);
    const room = (angle) => {
      const [left, top] = [Math.cos(angle), Math.sin(angle)].map((way, i) => [x, y][i] - way * (radius + 22 * unit)); // the middle of it
      const inside = Math.min(left, top, size - left, size - top) - 20 * unit;
      return Math.min(inside, ...others.map((one) => Math.hypot(one[0] - left, one[1] - top) - one[2]));
    };
    const angles = [...Array(16).keys()].map((i) => (i * Math.PI) / 8);
    const angle = angles.reduce((best, one) => (room(one) > room(best) ? one : best)); // where it covers nobody
    pointer.setAttribute("transform", `translate(${x} ${y}) rotate(${(angle * 180) / Math.PI}) translate(${-radius} 0) scale(${unit})`);
    pointer.setAttribute("d", "M-3 0l-16-11v6h-20v10h20v6z");
  }

  #showMoment() {
    if (this.result && this.playback.isAtEnd && this.playback.hasArrived) this.#tell();
    const shown = this.playback.settled;
    if (shown === undefined || shown === this.shown) return;
    this.shown = shown;
    this.entry.showFleets(shown, this.cast, "alpha");
    [this.left, this.right].forEach((element, i) => element.replaceChildren(create("span", {}, this.cast.name(SIDES[i])), " ", create("b", { class: "num" }, String(shown.score[i]))));
    this.when.replaceChildren(`Turn ${shown.turn}`, create("br"), create("b", {}, capitalized(shown.phase)));
  }

  async #attempt(attempt) {
    if (this.isDone) return;
    const answer = await this.#ask(attempt);
    if (answer === null) return;
    if (answer.done) Object.assign(this, { tried: attempt, reached: Math.max(this.reached, this.number) });
    if (answer.record !== null) {
      this.entry.clear();
      this.playback.load(answer.record);
      this.isDone = answer.done; // nothing more is tried while it is shown
      this.entry.commit.disabled = this.entry.undo.disabled = true;
      this.playback.setPlaying(true);
    }
    this.#point();
    this.result = answer;
    if (answer.record === null || (this.playback.isAtEnd && this.playback.hasArrived)) this.#tell();
  }

  /** Says what came of an attempt, when it has been shown. */
  #tell() {
    const answer = this.result;
    this.result = null;
    this.#show(answer.card, answer.done);
    if (answer.done) this.step.scrollIntoView({ block: "nearest" });
    if (answer.done) (this.next.hidden ? this["play-on"] : this.next).focus({ preventScroll: true });
  }

  /** Asks the server about the step; null where it does not answer, or another step has begun meanwhile. */
  async #ask(body) {
    const { number } = this;
    try {
      const screen = screenKind();
      const answer = await request(...(body ? [`/api/lesson/${number}`, { ...body, screen }] : [`/api/lesson/${number}?screen=${screen}`]));
      return number === this.number ? answer : null;
    } catch (error) {
      this.wrong.textContent = error.message;
      return null;
    }
  }

  #show(card, isDone) {
    this.progress.textContent = `Step ${card.progress}`;
    this.step.textContent = card.title;
    this.text.textContent = isDone ? "" : card.text;
    this.task.textContent = isDone ? card.text : card.task;
    this.wrong.textContent = card.hint;
    if (card.hint) this.wrong.scrollIntoView({ block: "nearest" });
    this.back.hidden = this.number === 1;
    this.isDone = isDone;
    this.#point();
    this.entry.commit.hidden = this.entry.undo.hidden = isDone || this.selects;
    this.next.hidden = this.number === this.count || this.number > this.reached;
    this.next.classList.toggle("main", isDone);
    this["play-on"].hidden = !isDone || this.number < this.count;
  }
}

/** Returns the middle of a polygon, and 0 as its radius. */
function middle(points) {
  const mean = (from) => points.filter((_, i) => i % 2 === from).reduce((sum, value, _, all) => sum + value / all.length, 0);
  return [mean(0), mean(1), 0];
}

const followed = new URLSearchParams(location.hash.slice(1)).get("class"); // of a pupil who waits for a partner
if (followed !== null) followClass(followed, null);
window.page = new Lesson();
window.page.open();
