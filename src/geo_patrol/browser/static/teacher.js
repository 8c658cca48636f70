"use strict";

const REFRESH_SECONDS = 2;

/** What a teacher sees of a class, and does with it. */
class TeacherPage {
  /**
   * @param {string} name identifier of the class.
   * @param {string} secret the teacher's.
   */
  constructor(name, secret) {
    Object.assign(this, { name, secret, shown: "" });
    const find = (id) => document.getElementById(id);
    [this.title, this.notice, this.pause, this.agent, this.pupils, this.tables] =
      ["title", "notice", "pause", "agent", "pupils", "tables"].map(find);
    const link = new URL(`class.html#${new URLSearchParams({ class: name })}`, location.href).href;
    find("links").append(linkField("Link for all pupils", link));
    this.pause.addEventListener("click", () => this.#update("pause", { paused: !this.overview.paused }));
    this.agent.addEventListener("click", () => this.#update("agent"));
    find("results").addEventListener("click", () => attempt(() => this.#download(), this.notice));
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
    const { title, paused, pupils, waiting, agent, tables } = overview;
    this.title.textContent = title;
    document.title = `${title}: the teacher's page`;
    this.pause.textContent = paused ? "Let all games go on" : "Pause all games";
    this.agent.textContent = `Let those who wait play ${agent}`;
    this.agent.disabled = waiting.length === 0;
    const waits = waiting.length ? `; waiting: ${waiting.join(", ")}` : "";
    this.pupils.textContent = pupils.length ? `${pupils.length} pupils${waits}` : "Nobody has come yet.";
    const focused = document.activeElement?.dataset?.table;
    const items = tables.length ? tables.map((table) => this.#item(table)) : [create("li", {}, "No game has begun.")];
    this.tables.replaceChildren(...items);
    if (focused) this.tables.querySelector(`[data-table="${CSS.escape(focused)}"]`)?.focus();
  }

  #item({ table, names, turn, phase, score, over, winner, paused, waiting_for, away }) {
    const of = (sides) => sides.map((side) => names[SIDES.indexOf(side)]).join(" and ");
    const state = over
      ? `over: ${winner === null ? "draw" : `${of([winner])} wins`}`
      : `turn ${turn}, ${phase}${paused ? ", paused" : ""}`;
    const notes = [
      ...(waiting_for.length ? [`waiting for ${of(waiting_for)}`] : []),
      ...(away.length ? [`not connected: ${of(away)}`] : []),
    ];
    const text = create(
      "div",
      {},
      create("strong", {}, `${names[0]} (alpha) against ${names[1]} (bravo)`),
      create("small", {}, [state, `${score[0]} to ${score[1]}`, ...notes].join("; ")),
    );
    const actions = create("div", {});
    if (!over) {
      const button = create("button", { type: "button", "data-table": table }, paused ? "Go on" : "Pause");
      button.addEventListener("click", () => this.#update("pause", { paused: !paused, table }));
      actions.append(button, " ");
    }
    actions.append(create("a", { href: watchAddress(table), target: "_blank", rel: "noopener" }, over ? "Look at it" : "Watch"));
    return create("li", {}, text, actions);
  }

  /** Downloads the results as a table for spreadsheets. */
  async #download() {
    const response = await fetch(this.#address("results"), {
      method: "POST",
      body: JSON.stringify({ secret: this.secret }),
    });
    if (!response.ok) throw new Error((await response.json()).text);
    const link = create("a", { href: URL.createObjectURL(await response.blob()), download: `${this.overview.title}.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

const parameters = new URLSearchParams(location.hash.slice(1));
const page = new TeacherPage(parameters.get("class") ?? "", parameters.get("secret") ?? "");
