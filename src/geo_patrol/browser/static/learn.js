"use strict";

/** The guided first game: its steps, and what the player has to do, come from the server. */
class Lesson {
  constructor() {
    for (const id of ["progress", "step", "text", "task", "wrong", "back", "next", "play-on", "left", "right", "when"]) this[id] = document.getElementById(id);
    this.number = null;
    this.reached = 0; // the last step that is done, or was passed over
    this.tried = null; // what the player did that was right
    this.cast = new Cast(["You", "Gold"], "alpha");
    this.playback = new Playback(document.getElementById("board"), () => this.#showMoment());
    this.entry = new OrderPanel(document, this.playback, (orders) => this.#attempt({ orders }), () => this.#changed());
    this.back.addEventListener("click", () => this.#go(this.number - 1));
    this.next.addEventListener("click", () => this.#go(this.number + 1));
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
    this.selects = answer.selects;
    this.playback.setPlaying(false);
    this.playback.load(answer.record);
    document.querySelector(".rules").replaceChildren(...rulesOf(answer.record.rules));
    this.entry.selected = null;
    this.isDone = true; // choices are being loaded, nothing is selected by the player
    this.reached = Math.max(this.reached, this.number - 1);
    this.tried = null;
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
    location.hash = new URLSearchParams({ step: number });
  }

  #changed() {
    if (this.selects && this.entry.selected !== null) this.#attempt({ select: this.entry.selected });
  }

  #showMoment() {
    const { moment } = this.playback;
    if (moment === undefined || this.entry === undefined) return;
    const shown = this.playback.hasArrived ? moment : this.playback.record.moments[Math.max(this.playback.index - 1, 0)];
    const key = `${this.number} ${this.playback.record.moments.length} ${this.playback.record.moments.indexOf(shown)}`;
    if (this.shown === key) return;
    this.shown = key;
    this.entry.showFleets(shown, this.cast, "alpha");
    [this.left, this.right].forEach((element, i) => element.replaceChildren(create("span", {}, this.cast.name(SIDES[i])), " ", create("b", { class: "num" }, String(shown.score[i]))));
    this.when.replaceChildren(`Turn ${shown.turn}`, create("br"), create("b", {}, capitalized(shown.phase)));
  }

  async #attempt(attempt) {
    if (this.isDone) return;
    const { number } = this;
    const answer = await this.#ask(attempt);
    if (answer === null || number !== this.number) return;
    if (answer.done) Object.assign(this, { tried: attempt, reached: Math.max(this.reached, number) });
    if (answer.record !== null) {
      this.entry.clear();
      this.playback.load(answer.record);
      this.playback.setPlaying(true);
    }
    this.#show(answer.card, answer.done);
    if (answer.done) this.step.scrollIntoView({ block: "nearest" });
    if (answer.done) (this.next.hidden ? this["play-on"] : this.next).focus({ preventScroll: true });
  }

  async #ask(body) {
    try {
      const screen = screenKind();
      return await request(...(body ? [`/api/lesson/${this.number}`, { ...body, screen }] : [`/api/lesson/${this.number}?screen=${screen}`]));
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
    this.entry.commit.hidden = this.entry.undo.hidden = isDone || this.selects;
    this.next.hidden = this.number === this.count || this.number > this.reached;
    this.next.classList.toggle("main", isDone);
    this["play-on"].hidden = !isDone || this.number < this.count;
  }
}

const followed = new URLSearchParams(location.hash.slice(1)).get("class"); // of a pupil who waits for a partner
if (followed !== null) followClass(followed, null);
const lesson = new Lesson();
lesson.open();
