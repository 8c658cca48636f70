import { screenKind } from "./scene.js";
import { create, say, SIDES } from "./words.js";

export const NAME = "geo_patrol.name"; // in the browser's storage: what the person is called
const GAMES = "geo_patrol.games"; // the person's games with the secrets of their seats, the latest first
const LOOK = "geo_patrol.look"; // light or dark, if the person has chosen
export const DRAFT = "geo_patrol.scenario"; // the scenario that was edited last
const LETTERS = "geo_patrol.letters"; // whether single letters are shortcuts
const MAX_GAMES_KEPT = 500;
const PRESENCE_SECONDS = 60; // a server for one person ends when no page has asked for anything for a while
const PAUSES = [300, 1000, 3000]; // milliseconds before a request that got no answer is sent again

/**
 * Lets somebody come to a class; returns the secret. It is made here and kept until there is an answer, because
 * whoever comes again under the same name after an answer was lost is the same.
 */
export async function arrive(path, name) {
  const key = `${path} ${name}`;
  const made = sessionStorage.getItem(key) ?? btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24)))).replaceAll("+", "-").replaceAll("/", "_");
  sessionStorage.setItem(key, made);
  const { secret } = await request(path, { name, secret: made });
  sessionStorage.removeItem(key);
  return secret;
}

/** Sends a request, with a body if there is one; returns its answer, or throws an error with the server's words. */
export async function request(path, body, signal) {
  const options = body === undefined ? { signal } : { method: "POST", body: JSON.stringify(body), signal };
  const response = await send(path, options, body === undefined ? PAUSES : []); // what a body asks for might be done twice
  const answer = await response.json().catch(() => ({ text: `The server answers ${response.status}.` }));
  if (!response.ok) throw Object.assign(new Error(answer.text), { code: answer.code, faults: answer.faults });
  return answer;
}

/** Sends a request, and again after each of the pauses while there is no answer. */
async function send(path, options, [pause, ...pauses]) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (pause === undefined) throw new Error("The server does not answer. Try again in a moment.");
    await new Promise((resolve) => setTimeout(resolve, pause));
    return send(path, options, pauses);
  }
}

/** Runs an action; says in a notice what went wrong. */
export async function attempt(action, notice) {
  try {
    await action();
  } catch (error) {
    notice.textContent = error.message;
  }
}

/** Runs what a button starts; until it is done, or has failed, the button says so and cannot be pressed. */
export async function start(button, action, notice) {
  const [label, hadFocus] = [button.textContent, button === document.activeElement];
  notice.textContent = "";
  button.disabled = true;
  say(button, "Starting …"); // the first game of its kind is compiled before
  await attempt(action, notice);
  button.disabled = false;
  say(button, label);
  if (hadFocus) button.focus(); // which a button that is disabled loses
}

/** Goes to an address; done only if somebody comes back to the page as it was left. */
export function leaveFor(address) {
  location.href = address;
  return new Promise((resolve) => window.addEventListener("pageshow", resolve, { once: true }));
}

setInterval(() => fetch("/api/ready").catch(() => {}), PRESENCE_SECONDS * 1000);

/** Returns the address of a page; what follows # is never sent over the network. */
export function pageAddress(page, parameters) {
  return new URL(`/static/${page}.html#${new URLSearchParams(parameters)}`, location.href).href;
}

/** Returns the short address at which everybody may watch a table, and look at its game when it is over. */
export function watchAddress(table) {
  return new URL(`/table/${encodeURIComponent(table)}`, location.href).href;
}

/** Returns an address of this server as others open it. */
export async function forOthers(address) {
  const { others } = await request("/api/ready");
  return others === null ? address : address.replace(`${location.origin}/`, others);
}

/** The person's games, the latest first: table, side, secret, the second person's if there is one, and what was asked for. */
export class OwnGames {
  static all() {
    try {
      const games = JSON.parse(localStorage.getItem(GAMES) ?? "[]");
      return Array.isArray(games) ? games : [];
    } catch {
      return [];
    }
  }

  static find(table) {
    return this.all().find((game) => game.table === table) ?? null;
  }

  /** Adds a game, or what is new of one. */
  static keep(game) {
    const others = this.all().filter(({ table }) => table !== game.table);
    localStorage.setItem(GAMES, JSON.stringify([{ ...this.find(game.table), ...game }, ...others].slice(0, MAX_GAMES_KEPT)));
  }

  static forget(table) {
    localStorage.setItem(GAMES, JSON.stringify(this.all().filter((game) => game.table !== table)));
  }

  /** Returns the address of the seat. */
  static seat({ table, secret, second }) {
    return pageAddress("table", { table, secret, ...(second ? { second } : {}) });
  }
}

/** Covers the page while a teacher has paused it: nothing below can be pressed, and whatever was open is closed. */
export function showPause(isPaused) {
  const old = document.querySelector("dialog.pause");
  if (isPaused === (old !== null)) return;
  if (!isPaused) {
    old.close(); // the focus goes back to where it was
    return void old.remove();
  }
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const words = [create("h2", { id: "pause-title" }, "Paused"), create("p", {}, "Your teacher has stopped the game. It goes on when they say so.")];
  const cover = create("dialog", { class: "pause", "aria-labelledby": "pause-title" }, ...words);
  cover.addEventListener("cancel", (event) => event.preventDefault());
  cover.addEventListener("keydown", (event) => event.key === "Escape" && event.preventDefault());
  document.body.append(cover);
  cover.showModal();
}

const MAX_ASKED = 50; // games about which the server is asked at once

/** Asks the server about the person's games whose results are not known yet; returns all games, each with its state. */
export async function refreshOwnGames() {
  const unknown = OwnGames.all().filter(({ result }) => !result).slice(0, MAX_ASKED);
  if (unknown.length > 0) {
    const { games } = await request("/api/games", { games: unknown.map(({ table, secret }) => ({ table, secret })) });
    games.forEach((state, i) => {
      if (state === null) OwnGames.forget(unknown[i].table);
      else OwnGames.keep({ ...unknown[i], side: state.side, state, ...(state.over ? { result: state } : {}) });
    });
  }
  const known = OwnGames.all().map((game) => ({ ...game, state: game.state ?? game.result }));
  return known.sort((one, other) => (other.state?.changed ?? 0) - (one.state?.changed ?? 0));
}

/** Returns whom the person plays, or played. */
export function opponentOf({ side, second, state }) {
  if (second) return "two at one screen";
  const name = state.names[side === "alpha" ? 1 : 0];
  return name === "person" ? "another person" : name;
}

/** Returns whether a game counts for the rating if nobody asks for a hint in it: a whole game of the usual scenario against a level. */
export function isForRating({ side, asked, second, isPractice }) {
  return asked?.preset === "geo_patrol" && !second && !isPractice && asked[side === "alpha" ? "bravo" : "alpha"]?.startsWith("level:");
}

/** Returns (rating, result) of the games against levels that count. */
export function ratedResults(games, levels) {
  return games.flatMap((game) => {
    const { side, asked, result } = game;
    if (!result || result.hinted || !isForRating(game)) return [];
    const level = levels.find(({ agent }) => agent === asked[side === "alpha" ? "bravo" : "alpha"]);
    return [[level.rating, result.winner === null ? 0.5 : Number(result.winner === side)]];
  });
}

/** Returns the person's rating with its interval; null before the first rated game. */
export async function ownRating(games, levels) {
  return (await request("/api/rating", { results: ratedResults(games, levels) })).rating;
}

export const FIRM_GAMES = 5; // from which on a rating's interval says something

/** Returns a rating as it is shown: "1270 ± 140", before some games "about 1270". */
export function ratingText({ rating, low, high, games }) {
  return games < FIRM_GAMES ? `about ${rating}` : `${rating} ± ${Math.round((high - low) / 2)}`;
}

/**
 * Opens a table and goes to the seat of a side.
 * @param {object} asked what the server is asked for; the other side is played by an agent, or at the same screen.
 * @param {string} side of the seat.
 */
export async function openAndPlay(asked, side) {
  const { table, secrets } = await request("/api/tables", { ...asked, [side]: "link" });
  const other = SIDES.find((one) => one !== side);
  const game = { table, side, secret: secrets[side], asked, ...(secrets[other] ? { second: secrets[other] } : {}) };
  OwnGames.keep(game);
  return leaveFor(OwnGames.seat(game));
}

/** Returns buttons that open the next game after one of the person's: the first is the main one. */
export async function nextGames(own, notice) {
  if (!own?.asked || own.second) return [];
  const { asked, side } = own;
  const other = SIDES.find((one) => one !== side);
  const opponent = asked[other];
  const play = (agent, seat) => openAndPlay({ ...asked, seed: null, alpha: agent, bravo: agent }, seat);
  const { levels } = await request("/api/choices");
  const stronger = levels[levels.findIndex(({ agent }) => agent === opponent) + 1];
  const isLevel = levels.some(({ agent }) => agent === opponent);
  const ways = [
    ["rematch", "Rematch", () => play(opponent, side)],
    ["swap", "Swap sides", () => play(opponent, other)],
    ...(isLevel && stronger ? [["stronger", `Stronger: ${stronger.name}, ${stronger.rating}`, () => play(stronger.agent, side)]] : []),
  ];
  return ways.map(([id, text, open], i) => {
    const button = create("button", { type: "button", id, ...(i === 0 ? { class: "main" } : {}) }, text);
    button.addEventListener("click", () => start(button, open, notice));
    return button;
  });
}

/** Says how others can come to this server, and opens a person's own page to the network if its owner wants that. */
export class Network {
  /**
   * @param {HTMLElement} root where it is said.
   * @param {HTMLElement} notice where faults are said.
   * @param {function()} opened called when others can come.
   */
  constructor(root, notice, opened = () => {}) {
    Object.assign(this, { root, notice, opened });
  }

  /** Shows how things stand; nothing where others come already. */
  async show() {
    const { others, offer } = await request("/api/ready");
    const alone = create("p", {}, create("b", {}, "Only this computer can open it."));
    const command = create("p", {}, "For others, start ", create("kbd", {}, "geo-patrol serve --host 0.0.0.0"), " instead, and open the page at this computer’s address in your network.");
    const button = create("button", { type: "button" }, "Open it to my network");
    button.addEventListener("click", () => attempt(() => this.#open(), this.notice));
    const promise = create("p", { class: "soft" }, `Everybody there can then open games here, at ${offer}, until you end geo-patrol.`);
    const parts = others !== null ? [] : offer === null ? [alone, command] : [alone, button, promise];
    this.root.replaceChildren(...parts);
    this.root.classList.toggle("warning", parts.length > 0);
  }

  async #open() {
    const { others } = await request("/api/network", {});
    this.root.classList.remove("warning");
    this.root.replaceChildren(create("p", { role: "status" }, "Others come to ", create("b", {}, others)));
    this.opened();
  }
}

/** Returns an action to repeat: what goes wrong is said in a notice until it goes well again. */
export function repeated(action, notice) {
  let isLost = false;
  return async () => {
    try {
      await action();
      if (isLost) notice.textContent = "";
      isLost = false;
    } catch (error) {
      isLost = true;
      say(notice, error.message);
    }
  };
}

/** Copies a text, and says so on the button for a moment. */
export async function copy(button, text) {
  const label = (button.dataset.label ??= button.textContent); // not that of a moment ago
  const isCopied = await (navigator.clipboard?.writeText(text).then(() => true, () => false) ?? false);
  if (!isCopied) {
    prompt("Copy this:", text);
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
}

/** Returns a link as a field with a button that copies it. */
export function linkField(text, address) {
  const input = create("input", { readonly: "", value: address });
  const button = create("button", { type: "button", "aria-label": `Copy: ${text}` }, "Copy");
  input.addEventListener("focus", () => input.select());
  button.addEventListener("click", () => copy(button, address));
  return create("div", { class: "link" }, create("label", {}, text, input), button);
}

const root = document.documentElement;
if (root.dataset.look) root.dataset.look = localStorage.getItem(LOOK) ?? root.dataset.look;

/** Opens the dialogs that buttons name in data-open; those with data-close close theirs. Switches between light and dark. */
document.addEventListener("click", ({ target }) => {
  if (target.closest(".switch-look") !== null) localStorage.setItem(LOOK, (root.dataset.look = root.dataset.look === "light" ? "dark" : "light"));
  const opener = target.closest("[data-open]");
  if (opener !== null) document.getElementById(opener.dataset.open).showModal();
  target.closest("[data-close]")?.closest("dialog").close();
});

/** Single keys that press buttons or call functions; a box in a dialog switches letters and digits off. */
export class Shortcuts {
  /**
   * @param {HTMLDialogElement} dialog with a table and a box.
   * @param {Array} keys a key as people call it (null is not listed), what it does, the values of ``KeyboardEvent.key``, and a function.
   */
  constructor(dialog, keys) {
    this.dialog = dialog;
    this.actions = new Map(keys.flatMap(([, , values, run]) => values.map((value) => [value, run])));
    dialog.querySelector(".keys").replaceChildren(...keys.flatMap(([name, text]) => (name === null ? [] : [create("dt", {}, create("kbd", {}, name)), create("dd", {}, text)])));
    this.box = dialog.querySelector("input[name=letters]");
    this.box.checked = localStorage.getItem(LETTERS) !== "no";
    this.box.addEventListener("change", () => localStorage.setItem(LETTERS, this.box.checked ? "yes" : "no"));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  #press(event) {
    const { key, target } = event;
    const run = this.actions.get(key.length === 1 ? key.toLowerCase() : key);
    if (!run || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (document.querySelector("dialog[open]") !== null || target.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select")) return;
    if (key.startsWith("Arrow") && target.matches("input[type=radio], input[type=range]")) return; // which they move already
    if (key.length === 1 && key !== "?" && !this.box.checked) return;
    event.preventDefault();
    run();
  }
}

const PING_SECONDS = 10;
const SILENCE_SECONDS = 25; // after which a connection counts as dead
const MAX_RETRY_SECONDS = 8;

/** A connection to a table that comes back by itself and goes on after the last event that arrived. */
export class Connection {
  /**
   * @param {string} table identifier of the table.
   * @param {?string} secret of the seat; null watches.
   * @param {?string} name what to call who plays; null leaves it.
   * @param {function(object)} receive called with every message of the server.
   * @param {function(boolean, number)} changed called with whether there is a connection, and the seconds until the next try.
   */
  constructor(table, secret, name, receive, changed) {
    Object.assign(this, { table, secret, name, receive, changed });
    this.lastEvent = 0;
    this.failures = 0;
    this.isClosed = false;
    this.beating = setInterval(() => this.#beat(), PING_SECONDS * 1000);
    window.addEventListener("offline", () => this.changed(false, 0));
    window.addEventListener("online", () => this.#retryAtOnce());
    this.#connect();
  }

  /** Sends a message; returns whether there is a connection. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Receives the game anew from its start, drawn for the screen as it is now. */
  restart() {
    if (this.isClosed) return;
    const old = this.socket;
    clearTimeout(this.timer);
    this.lastEvent = 0;
    this.#connect();
    old.close();
  }

  /** Ends it for good. */
  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearInterval(this.beating);
    this.socket.close();
  }

  #connect() {
    const address = new URL(`/ws/${encodeURIComponent(this.table)}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    this.heard = Date.now();
    socket.addEventListener("open", () => {
      const { table, secret, name, lastEvent } = this;
      this.send({ type: "hello", version: 1, table, secret, name, last_event: lastEvent, scene: true, screen: screenKind() });
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.socket) this.#read(JSON.parse(data));
    });
    socket.addEventListener("close", () => {
      if (socket === this.socket) this.#lost();
    });
  }

  #read(message) {
    this.heard = Date.now();
    if (message.type === "welcome") {
      this.failures = 0;
      this.changed(true, 0);
    }
    this.receive(message);
    const events = message.type === "event" ? [message] : (message.events ?? []); // of a welcome, or of the history
    for (const { number } of events) this.lastEvent = number;
  }

  #beat() {
    if (Date.now() - this.heard > SILENCE_SECONDS * 1000) this.socket.close();
    else this.send({ type: "ping", number: 0 });
  }

  #lost() {
    if (this.isClosed) return;
    const seconds = Math.min(0.5 * 2 ** this.failures, MAX_RETRY_SECONDS);
    this.changed(false, seconds);
    this.failures += 1;
    this.timer = setTimeout(() => this.#connect(), seconds * 1000);
  }

  #retryAtOnce() {
    if (this.isClosed || this.socket.readyState === WebSocket.CONNECTING) return;
    if (this.socket.readyState === WebSocket.OPEN) {
      this.changed(true, 0);
    } else {
      clearTimeout(this.timer);
      this.#connect();
    }
  }
}
