"use strict";

const REFRESH_SECONDS = 2;
const SAVED = "geo_patrol.class."; // in the browser's storage, with the class: a pupil's secret

/** A pupil's place in a class: a name, then one table after the other. */
class PupilPage {
  /** @param {string} name identifier of the class. */
  constructor(name) {
    this.base = `/api/classes/${encodeURIComponent(name)}`;
    this.key = SAVED + name;
    this.name = name;
    const root = document.getElementById("pupil");
    root.hidden = false;
    [this.title, this.notice] = [root.querySelector(".title"), root.querySelector(".notice")];
    for (const id of ["status", "arrive", "play", "table", "again"]) this[id] = document.getElementById(id);
    this.secret = localStorage.getItem(this.key);
    this.arrive.addEventListener("submit", (event) => {
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
    const { secret } = await request(`${this.base}/pupils`, { name: new FormData(this.arrive).get("name") });
    this.secret = secret;
    localStorage.setItem(this.key, secret);
    await this.#refresh();
  }

  async #refresh() {
    this.arrive.hidden = this.secret !== null;
    if (this.secret !== null) this.#show(await this.#ask("place"));
  }

  #show({ title, name, waiting, paused, table, over }) {
    this.notice.textContent = "";
    say(this.title, title);
    if (table !== null && !over) {
      location.href = this.#address(table);
      return;
    }
    const text = waiting ? `${name}, you are waiting for a partner. Your game opens by itself.` : `${name}, your game is over.`;
    say(this.status, paused ? `${text} Your teacher has paused the class.` : text);
    this.play.hidden = table === null;
    if (table !== null) this.table.href = pageAddress("after", { table });
    this.again.hidden = waiting;
  }

  #address(table) {
    return pageAddress("table", { table, secret: this.secret, class: this.name });
  }
}

/** What a teacher sees of a class, and does with it. */
class TeacherPage {
  /**
   * @param {string} name identifier of the class.
   * @param {string} secret the teacher's.
   */
  constructor(name, secret) {
    Object.assign(this, { name, secret, shown: "" });
    const root = document.getElementById("teacher");
    root.hidden = false;
    [this.title, this.notice] = [root.querySelector(".title"), root.querySelector(".notice")];
    for (const id of ["about", "pause", "needs", "games"]) this[id] = document.getElementById(id);
    const link = pageAddress("class", { class: name });
    document.getElementById("pupils-page").href = link;
    document.getElementById("invite").append(linkField("Link for all pupils: phones are enough", link));
    if (["localhost", "127.0.0.1", "[::1]"].includes(location.hostname))
      document.getElementById("invite").append(create("p", { role: "alert" }, "Only this computer can open this link. Start the server with geo-patrol serve --host 0.0.0.0, and open it under this computer’s name or address."));
    this.pause.addEventListener("click", () => this.#update("pause", { paused: !this.overview.paused }));
    document.getElementById("results").addEventListener("click", () => attempt(() => this.#download(), this.notice));
    this.#update("overview");
    setInterval(() => this.#update("overview"), REFRESH_SECONDS * 1000);
  }

  #address(path) {
    return `/api/classes/${encodeURIComponent(this.name)}/${path}`;
  }

  #update(path, asked = {}) {
    const action = async () => this.#show(await request(this.#address(path), { secret: this.secret, ...asked }));
    return attempt(action, this.notice);
  }

  /** Shows the class; leaves everything as it is, with the focus, if nothing has changed. */
  #show(overview) {
    this.notice.textContent = "";
    const content = JSON.stringify(overview);
    if (content === this.shown) return;
    this.shown = content;
    this.overview = overview;
    const { title, paused, pairs, pupils, tables } = overview;
    say(this.title, title);
    document.title = `Class: ${title}`;
    say(this.pause, paused ? "All games go on" : "Pause all games");
    const going = tables.filter(({ over }) => !over).length;
    say(this.about, `${pairs ? "in pairs" : `each against ${playerName(overview.agent)}`} · ${counted(pupils.length, "pupil")} · ${counted(going, "game")} in progress${paused ? " · paused" : ""}`);
    const focused = document.activeElement?.dataset?.table;
    this.#showNeeds(overview);
    const rows = tables.map((table) => this.#row(table));
    this.games.replaceChildren(...(rows.length ? rows : [create("tr", {}, create("td", { colspan: 5, class: "soft" }, pupils.length ? "No game has begun." : "Nobody has come yet."))]));
    if (focused) this.games.querySelector(`[data-table="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Lists who waits for a partner, and who has lost the connection. */
  #showNeeds({ waiting, agent, tables }) {
    const agentButton = create("button", { type: "button" }, `Let ${waiting.length > 1 ? "them" : waiting[0]} play ${playerName(agent)}`);
    agentButton.addEventListener("click", () => this.#update("agent"));
    const alone = waiting.length ? [create("li", {}, create("div", {}, create("b", {}, listed(waiting)), ` ${waiting.length > 1 ? "have" : "has"} no partner.`), agentButton)] : [];
    const away = tables.flatMap(({ names, away, over }) => (over ? [] : away.map((side) => create("li", {}, create("div", {}, create("b", {}, names[SIDES.indexOf(side)]), " is not connected.")))));
    const all = [...alone, ...away];
    this.needs.replaceChildren(...(all.length ? all : [create("li", { class: "soft" }, "Nobody.")]));
  }

  #row({ table, names, turn, score, over, winner, paused, waiting_for, away }) {
    const state = (side) => {
      if (over) return winner === null ? "draw" : winner === side ? "won" : "lost";
      if (paused) return "paused";
      return away.includes(side) ? "! not connected" : waiting_for.includes(side) ? "ordering" : "orders in";
    };
    const heads = SIDES.map((side, i) => create("th", { scope: "row" }, playerName(names[i]), create("small", {}, state(side))));
    const who = `${playerName(names[0])} and ${playerName(names[1])}`;
    const actions = create("div", { class: "row" });
    if (!over) {
      const button = create("button", { type: "button", "data-table": table, "aria-label": `${paused ? "Go on" : "Pause"}: ${who}` }, paused ? "Go on" : "Pause");
      button.addEventListener("click", () => this.#update("pause", { paused: !paused, table }));
      actions.append(button);
    }
    actions.append(create("a", { class: "button", href: watchAddress(table), target: "_blank", rel: "noopener", "aria-label": `${over ? "Look" : "Watch"}: ${who}` }, over ? "Look" : "Watch"));
    return create("tr", {}, ...heads, create("td", {}, over ? `over in ${turn}` : String(turn)), create("td", {}, score.join(" to ")), create("td", {}, actions));
  }

  /** Downloads the results as a table for spreadsheets. */
  async #download() {
    const response = await fetch(this.#address("results"), { method: "POST", body: JSON.stringify({ secret: this.secret }) });
    if (!response.ok) throw new Error((await response.json()).text);
    const link = create("a", { href: URL.createObjectURL(await response.blob()), download: `${this.overview.title}.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

const parameters = new URLSearchParams(location.hash.slice(1));
const name = parameters.get("class") ?? "";
const page = parameters.has("teacher") ? new TeacherPage(name, parameters.get("teacher")) : new PupilPage(name);
