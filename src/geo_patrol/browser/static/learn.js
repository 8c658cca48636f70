"use strict";

/** The guided first game: its steps, and what the player has to do, come from the server. */
class Lesson {
  constructor() {
    for (const id of ["title", "progress", "step", "text", "task", "hint", "back", "next", "play-on"]) {
      this[id] = document.getElementById(id);
    }
    this.section = document.getElementById("entry");
    this.number = null;
    this.playback = new Playback(document, document.querySelector(".controls"));
    this.entry = new OrderEntry(document, this.playback.board, (orders) => this.#attempt({ orders }), () => this.#changed());
    this.back.addEventListener("click", () => this.#go(this.number - 1));
    this.next.addEventListener("click", () => this.#go(this.number + 1));
    window.addEventListener("hashchange", () => this.open());
  }

  /** Begins the step that the address names. */
  async open() {
    const hadFocus = document.activeElement !== document.body;
    this.number = Number(new URLSearchParams(location.hash.slice(1)).get("step") ?? 1);
    const answer = await this.#ask();
    if (answer === null) return;
    this.title.textContent = document.title = answer.title;
    this.count = answer.steps;
    this.selects = answer.selects;
    this.playback.setPlaying(false);
    this.playback.load(answer.record);
    this.entry.load(answer.choices);
    this.#show(answer.card, false);
    if (hadFocus) this.step.focus({ preventScroll: true });
  }

  #go(number) {
    location.hash = new URLSearchParams({ step: number });
  }

  #changed() {
    if (this.selects && this.entry.selected !== null) this.#attempt({ select: this.entry.selected.name });
  }

  async #attempt(attempt) {
    if (this.isDone) return;
    const { number } = this;
    const answer = await this.#ask(attempt);
    if (answer === null || number !== this.number) return;
    if (answer.record !== null) {
      this.entry.clear();
      this.playback.load(answer.record);
      this.playback.setPlaying(true);
    }
    this.#show(answer.card, answer.done);
    if (answer.done) (this.next.hidden ? this["play-on"] : this.next).focus({ preventScroll: true });
  }

  async #ask(body) {
    try {
      return await request(`/api/lesson/${this.number}`, body);
    } catch (error) {
      this.hint.textContent = error.message;
      return null;
    }
  }

  #show(card, isDone) {
    this.progress.textContent = `Step ${card.progress}`;
    this.step.textContent = card.title;
    this.text.textContent = isDone ? "" : card.text;
    this.task.textContent = isDone ? card.text : card.task;
    this.hint.textContent = card.hint;
    this.back.disabled = this.number === 1;
    this.isDone = this.section.hidden = isDone;
    this.next.hidden = !isDone || this.number === this.count;
    this["play-on"].hidden = !isDone || this.number < this.count;
  }
}

const lesson = new Lesson();
lesson.open();
