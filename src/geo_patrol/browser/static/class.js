"use strict";

const REFRESH_SECONDS = 2;
const SAVED = "geo_patrol.class."; // in the browser's storage, with the class: a pupil's secret

/** A pupil's place in a class: a name, then one table after the other. */
class ClassPage {
  /** @param {string} name identifier of the class. */
  constructor(name) {
    this.base = `/api/classes/${encodeURIComponent(name)}`;
    this.key = SAVED + name;
    this.name = name;
    const find = (id) => document.getElementById(id);
    [this.title, this.status, this.notice, this.form, this.play, this.link, this.again] =
      ["title", "status", "notice", "arrive", "play", "table", "again"].map(find);
    this.secret = localStorage.getItem(this.key);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#arrive(), this.notice);
    });
    this.again.addEventListener("click", () => attempt(async () => this.#show(await this.#ask("again")), this.notice));
    attempt(() => this.#refresh(), this.notice);
    setInterval(() => attempt(() => this.#refresh(), this.notice), REFRESH_SECONDS * 1000);
  }

  #ask(path) {
    return request(`${this.base}/${path}`, { secret: this.secret });
  }

  async #arrive() {
    const { secret } = await request(`${this.base}/pupils`, { name: new FormData(this.form).get("name") });
    this.secret = secret;
    localStorage.setItem(this.key, secret);
    await this.#refresh();
  }

  async #refresh() {
    this.form.hidden = this.secret !== null;
    if (this.secret !== null) this.#show(await this.#ask("place"));
  }

  #show({ title, name, waiting, paused, table, over }) {
    this.notice.textContent = "";
    this.title.textContent = title;
    if (table !== null && !over) {
      location.href = this.#address(table);
      return;
    }
    const text = waiting
      ? `${name}, you are waiting for a partner. Your game opens by itself.`
      : `${name}, your game is over.`;
    this.#say(paused ? `${text} Your teacher has paused the class.` : text);
    this.play.hidden = table === null;
    if (table !== null) this.link.href = this.#address(table);
    this.again.hidden = waiting;
  }

  /** Changes the status only where it differs: screen readers read every change. */
  #say(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  #address(table) {
    const parameters = new URLSearchParams({ table, secret: this.secret, class: this.name });
    return new URL(`table.html#${parameters}`, location.href).href;
  }
}

const page = new ClassPage(new URLSearchParams(location.hash.slice(1)).get("class") ?? "");
