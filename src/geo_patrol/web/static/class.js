import { arrive, attempt, linkField, Network, pageAddress, repeated, request, watchAddress } from "./client.js";
import { Place } from "./pupil.js";
import { capitalized, counted, create, listed, say, SIDES } from "./words.js";

const REFRESH_SECONDS = 2;
const FINISHED = "has finished the game";

/** A pupil's place in a class: a name, then one table after the other. */
class PupilPage {
  /**
   * @param {string} code of the class.
   * @param {?string} left the table from which the pupil comes: somebody else has the seat there, or the game was ended.
   */
  constructor(code, left) {
    this.left = left;
    const root = document.getElementById("pupil");
    root.hidden = false;
    [this.title, this.notice] = [root.querySelector(".title"), root.querySelector(".notice")];
    for (const id of ["status", "arrive", "play", "table", "here", "again"]) this[id] = document.getElementById(id);
    document.getElementById("learn").href = pageAddress("learn", { class: code });
    this.place = new Place(code, (place) => this.#show(place), (text) => say(this.notice, text));
    this.arrive.hidden = this.place.secret !== null;
    this.arrive.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#arrive(), this.notice);
    });
    this.again.addEventListener("click", () => this.place.refresh("again"));
    this.here.addEventListener("click", () => this.place.go(this.left));
    if (this.place.secret === null) this.arrive.name.focus();
  }

  async #arrive() {
    this.place.secret = await arrive(`${this.place.base}/pupils`, new FormData(this.arrive).get("name"));
    this.notice.textContent = "";
    this.arrive.hidden = true;
    await this.place.refresh();
  }

  #show({ gone, name, waiting, table, over }) {
    this.arrive.hidden = !gone;
    this.play.hidden = gone || table === null;
    if (gone) {
      say(this.status, "");
      say(this.notice, "You are not in this class any more, or you play on another device. Ask your teacher, or join again.");
      return;
    }
    const isTaken = table !== null && table === this.left && !over;
    if (table !== null && !over && !isTaken) {
      this.place.isMoved = this.left !== null;
      this.place.go(table);
      return;
    }
    const moved = this.left !== null && this.left !== table ? "Your teacher has ended your game. " : "";
    const waits = `${name}, you are waiting for a partner. Your game opens by itself.`;
    say(this.status, isTaken ? `${name}, your seat is open in another window.` : waiting ? `${moved}${waits}` : `${name}, your game is over.`);
    if (table !== null) this.table.href = pageAddress("after", { table, class: this.place.code });
    this.here.hidden = !isTaken;
    this.table.hidden = isTaken;
    this.again.hidden = waiting || isTaken;
  }
}

/** Shows a button that pauses, or lets go on: bars and a triangle, as on players. */
function showPausing(button, isPaused, text) {
  button.classList.toggle("main", isPaused);
  if (button.textContent !== `${isPaused ? "▶" : "❚❚"}${text}`) button.replaceChildren(create("span", { "aria-hidden": "true" }, isPaused ? "▶" : "❚❚"), create("span", { class: "word" }, text));
}

/** What a teacher sees of a class, and does with it. */
class TeacherPage {
  /**
   * @param {string} name code of the class.
   * @param {string} secret the teacher's.
   */
  constructor(name, secret) {
    Object.assign(this, { name, secret, shown: "", chosen: null });
    const root = document.getElementById("teacher");
    root.hidden = false;
    [this.title, this.notice] = [root.querySelector(".title"), root.querySelector(".notice")];
    for (const id of ["about", "pause", "next", "invite", "alone", "needs", "pupils", "games", "no-games", "games-table", "one", "doing", "rename", "reseat", "readmit", "remove"]) this[id] = document.getElementById(id);
    document.getElementById("pupils-page").href = pageAddress("class", { class: name });
    document.getElementById("enlarge").addEventListener("click", () => document.getElementById("large").showModal());
    this.pause.addEventListener("click", () => this.#update("pause", { paused: !this.overview.paused }));
    this.next.addEventListener("click", () => this.#update("next"));
    document.getElementById("results").addEventListener("click", () => attempt(() => this.#download(), this.notice));
    const poll = repeated(() => this.#act("overview"), this.notice);
    this.network = new Network(this.alone, this.notice, poll);
    this.#listenToDialog();
    poll();
    setInterval(poll, REFRESH_SECONDS * 1000);
  }

  #address(path) {
    return `/api/classes/${encodeURIComponent(this.name)}/${path}`;
  }

  async #act(path, asked = {}) {
    this.#show(await request(this.#address(path), { secret: this.secret, ...asked }));
  }

  #update(path, asked) {
    this.notice.textContent = "";
    return attempt(() => this.#act(path, asked), this.notice);
  }

  // A pupil

  #listenToDialog() {
    const notice = this.one.querySelector(".notice");
    this.one.addEventListener("close", () => this.#focus(`pupil ${this.chosen}`)); // its button may have been drawn anew
    const act = (path, asked = () => ({})) => (event) => {
      event.preventDefault();
      notice.textContent = "";
      return attempt(async () => {
        await this.#act(path, { pupil: this.chosen, ...asked() });
        this.one.close();
      }, notice);
    };
    this.rename.addEventListener("submit", act("rename", () => ({ name: this.rename.name.value })));
    this.reseat.addEventListener("submit", act("reseat", () => ({ partner: this.reseat.partner.value || null })));
    this.readmit.addEventListener("click", act("readmit"));
    this.remove.addEventListener("click", (event) => {
      if (this.remove.classList.contains("sure")) return void act("remove")(event);
      this.remove.classList.add("sure");
      say(this.remove, `Yes, remove ${this.chosen}`);
    });
  }

  #choose(name) {
    this.chosen = name;
    this.one.querySelector("h2").textContent = name;
    this.one.querySelector(".notice").textContent = "";
    this.doing.textContent = capitalized(this.#doing(name));
    this.rename.elements.name.value = name;
    const others = this.overview.pupils.filter((one) => one !== name);
    const agent = create("option", { value: "" }, `${this.overview.agent} (the computer)`);
    this.reseat.partner.replaceChildren(...others.map((one) => create("option", { value: one }, one)), agent);
    this.remove.classList.remove("sure");
    say(this.remove, "Remove from the class");
    this.one.showModal();
  }

  /** Returns what a pupil is doing. */
  #doing(name) {
    const { waiting, expected, tables } = this.overview;
    if (expected.includes(name)) return "may come in on another device";
    if (waiting.includes(name)) return "has no partner";
    const table = tables.find(({ names, over }) => !over && names.includes(name));
    return table ? `plays ${table.names.find((one) => one !== name)}` : FINISHED;
  }

  #showPupils({ pupils }) {
    const buttons = pupils.map((name) => {
      const button = create("button", { type: "button", "data-key": `pupil ${name}` }, create("b", {}, name), create("small", {}, this.#doing(name)));
      button.addEventListener("click", () => this.#choose(name));
      return create("li", {}, button);
    });
    this.pupils.replaceChildren(...(buttons.length ? buttons : [create("li", { class: "soft" }, "Nobody has come yet.")]));
  }

  // The class

  /** Shows how pupils come in, or that they cannot. */
  #showInvitation({ address }) {
    if (address === null && this.network.root.childElementCount === 0) attempt(() => this.network.show(), this.notice);
    this.invite.hidden = address === null;
    this.alone.hidden = address !== null;
    if (address === null || this.invite.dataset.address === address) return;
    this.invite.dataset.address = address;
    for (const host of document.querySelectorAll(".host")) say(host, new URL(address).host);
    for (const picture of document.querySelectorAll(".qr")) picture.src = this.#address("qr.svg");
    document.getElementById("link").before(linkField("Or send them the link", address));
  }

  /** Shows the class; leaves everything as it is, with the focus, if nothing has changed. */
  #show(overview) {
    const content = JSON.stringify(overview);
    if (content === this.shown) return;
    this.shown = content;
    this.overview = overview;
    const { title, paused, pairs, pupils, tables } = overview;
    say(this.title, title);
    document.title = `Class: ${title}`;
    showPausing(this.pause, paused, paused ? "All games go on" : "Pause all games");
    const going = tables.filter(({ over }) => !over).length;
    say(this.about, `${pairs ? "in pairs" : `each against ${overview.agent}`} · ${counted(pupils.length, "pupil")} · ${counted(going, "game")} in progress${paused ? " · paused" : ""}`);
    const focused = document.activeElement?.dataset?.key;
    this.#showInvitation(overview);
    this.next.disabled = !pupils.some((one) => this.#doing(one) === FINISHED);
    this.#showNeeds(overview);
    this.#showPupils(overview);
    const rows = tables.map((table) => this.#row(table));
    this.games.replaceChildren(...rows);
    this["games-table"].hidden = rows.length === 0;
    say(this["no-games"], rows.length ? "" : "No game has begun.");
    if (focused) this.#focus(focused);
  }

  #focus(key) {
    document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  /** Lists who waits for a partner, and who has lost the connection. */
  #showNeeds({ waiting, agent, tables }) {
    const agentButton = create("button", { type: "button", "data-key": "agent" }, `Let ${waiting.length > 1 ? "them" : waiting[0]} play ${agent}`);
    agentButton.addEventListener("click", () => this.#update("agent"));
    const alone = waiting.length ? [create("li", {}, create("div", {}, create("b", {}, listed(waiting)), ` ${waiting.length > 1 ? "have" : "has"} no partner.`), agentButton)] : [];
    const absent = tables.flatMap(({ names, away, over }) => (over ? [] : away.map((side) => names[SIDES.indexOf(side)])));
    const away = absent.length ? [create("li", {}, create("div", {}, create("b", {}, listed(absent)), ` ${absent.length > 1 ? "are" : "is"} not connected.`))] : [];
    const all = [...alone, ...away];
    this.needs.replaceChildren(...(all.length ? all : [create("li", { class: "soft" }, "Nobody.")]));
  }

  #row({ table, names, turn, phase, score, over, winner, paused, waiting_for, away }) {
    const state = (side) => {
      if (over) return winner === null ? "draw" : winner === side ? "won" : "lost";
      if (paused) return "paused";
      return away.includes(side) ? "! away" : waiting_for.includes(side) ? "ordering" : "orders in";
    };
    const heads = SIDES.map((side, i) => create("th", { scope: "row" }, names[i], create("small", {}, state(side))));
    const who = `${names[0]} and ${names[1]}`;
    const actions = create("div", { class: "row" });
    if (!over) {
      const button = create("button", { type: "button", class: "pausing", "data-key": `pause ${table}`, "aria-label": `${paused ? "Go on" : "Pause"}: ${who}` });
      showPausing(button, paused, paused ? "Go on" : "Pause");
      button.addEventListener("click", () => this.#update("pause", { paused: !paused, table }));
      actions.append(button);
    }
    actions.append(create("a", { class: "button", href: watchAddress(table), target: "_blank", rel: "noopener", "aria-label": `${over ? "Look" : "Watch"}: ${who}` }, over ? "Look" : "Watch"));
    return create("tr", {}, ...heads, create("td", {}, String(turn), create("small", {}, over ? "over" : phase)), create("td", {}, score === null ? "hidden" : score.join(" to ")), create("td", {}, actions));
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

/** Shows the page of whoever comes: of the teacher by the secret, of a pupil otherwise, by the code as the server writes it. */
async function openPage() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const { class: code, title } = await request(`/api/classes/${encodeURIComponent(parameters.get("class") ?? "")}`);
  for (const heading of document.querySelectorAll(".title")) say(heading, title);
  for (const element of document.querySelectorAll(".code")) say(element, `${code.slice(0, 3)} ${code.slice(3)}`);
  document.title = `Class: ${title}`;
  return parameters.has("teacher") ? new TeacherPage(code, parameters.get("teacher")) : new PupilPage(code, parameters.get("left"));
}

window.page = null; // until the server has said what it is a page of
openPage().then(
  (opened) => (window.page = opened),
  (error) => {
    document.getElementById("pupil").hidden = false;
    document.querySelector("#pupil .notice").textContent = `${error.message}. Check the code, or ask your teacher.`;
  },
);
