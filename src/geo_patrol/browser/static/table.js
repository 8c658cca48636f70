"use strict";

/** A game in progress: shows phases as they are played unless the past is being looked at. */
class LivePlayback extends Playback {
  /** @param {function(boolean)} drawn called with whether the board shows the present. */
  constructor(root, drawn) {
    super(root, root.querySelector(".controls"));
    this.drawn = drawn;
    this.chart = new ScoreChart(root.querySelector(".chart"), (index) => this.pauseAt(index));
    this.present = root.querySelector("#present");
    this.present.addEventListener("click", () => {
      this.pauseAt(this.record.moments.length - 1);
      root.querySelector(".prompt").focus({ preventScroll: true });
    });
  }

  append(moment) {
    const isFollowing = this.isPlaying || this.index === this.record.moments.length - 1;
    this.record.moments.push(moment);
    this.slider.max = String(this.record.moments.length - 1);
    if (isFollowing) this.setPlaying(true);
  }

  /** Shows the last turn again: its movement, or what came before the phase in progress. */
  replayLast() {
    const { moments } = this.record;
    const { turn } = moments.at(-1);
    const first = moments.findIndex((moment) => moment.turn >= turn - 1);
    this.goTo(Math.max(first, 1), { animated: true });
    this.setPlaying(true);
  }

  draw() {
    super.draw();
    this.chart.show(this.record, this.index);
    const isLast = this.index === this.record.moments.length - 1;
    this.present.hidden = isLast || this.isPlaying;
    this.drawn(isLast && this.elapsed >= this.moment.seconds);
  }
}

/** A table: a game that is played or watched here. */
class TablePage {
  /**
   * @param {string} table identifier of the table.
   * @param {?string} secret of the seat.
   * @param {?string} schoolClass identifier of the class for which the table is; its pupils have names and keep their seats.
   */
  constructor(table, secret, schoolClass) {
    const find = (id) => document.getElementById(id);
    [this.title, this.notice, this.presence, this.section] = ["title", "notice", "presence", "entry"].map(find);
    this.downloads = find("downloads");
    Object.assign(this, { table, schoolClass });
    this.turn = null; // the last message of the server that asks for orders
    this.sent = null;
    this.playback = new LivePlayback(document, (isPresent) => this.entry?.show(isPresent));
    this.entry = new OrderEntry(document, this.playback.board, (orders) => this.#commit(orders), () => this.advice?.update());
    if (secret !== null) this.advice = new Advice(document, this.entry, table, secret, (text) => this.#notify(text));
    this.leave = find("leave");
    this.leave.addEventListener("click", () => this.#leave());
    const receivers = {
      welcome: (message) => this.#welcome(message),
      history: (message) => this.#history(message),
      event: (message) => this.#event(message),
      status: (message) => this.#status(message),
      your_turn: (message) => this.#yourTurn(message),
      accepted: () => this.#accepted(),
      error: (message) => this.#error(message),
      left: () => this.#left(),
    };
    this.connection = new Connection(
      table,
      secret,
      schoolClass === null ? localStorage.getItem(NAME) : null,
      (message) => receivers[message.type]?.(message),
      (isConnected) => this.#showConnection(isConnected),
    );
    this.#addExtras();
    setInterval(() => this.#showClock(), 250);
  }

  /** Adds what is around the game: a name, a link for those who watch, keys, another game. */
  #addExtras() {
    const find = (id) => document.getElementById(id);
    this.naming = find("naming");
    this.naming.addEventListener("submit", (event) => {
      event.preventDefault();
      localStorage.setItem(NAME, this.naming.name.value.trim());
      location.reload(); // orders outlive it
    });
    find("watching").append(linkField("Who opens it sees the game as it is played, and cannot order.", watchAddress(this.table)));
    for (const [id, isSwapped] of [["again", false], ["swap", true]])
      find(id).addEventListener("click", () => attempt(() => this.#playAgain(isSwapped), this.notice));
    const shortcuts = new Shortcuts(find("key-list"), this.#keys());
    find("keys").addEventListener("click", () => shortcuts.open());
  }

  #keys() {
    const { entry, playback } = this;
    const ordering = [
      ["Enter", "commit", ["Enter"], "commit"],
      ["F", "the next satellite without an order", ["f", "F"], () => entry.choices !== null && entry.isShown && entry.selectNext()],
      ["arrow keys, Enter, Escape", "on the board: move over what can be chosen, choose, take the choice back", [], null],
      ["U, Backspace", "undo", ["u", "U", "Backspace"], "undo"],
      ["G", "guard with all that can", ["g", "G"], "guard-all"],
      ["X", "hold with all: take every order back", ["x", "X"], "hold-all"],
      ["I", "a hint", ["i", "I"], "ask-hint"],
      ["T", "take the hint", ["t", "T"], "take-hint"],
    ];
    const watching = [
      ["L", "replay the last turn", ["l", "L"], () => playback.replayLast()],
      ["Space", "play, pause", [], null],
      ["left and right arrow", "a phase back, forward", [], null],
      ["E, Shift E", "the next, the previous engagement", [], null],
      ["R, Home", "to the start", ["r", "R"], "restart"],
      ["End", "to the end", [], null],
      ["+, -", "faster, slower", [], null],
      ["O", "why the scores changed in the last turn, and all engagements", ["o", "O"], () => document.querySelector(".outcomes").focus()],
    ];
    const leaving = [
      ["N", "after the end, a new game", ["n", "N"], "again"],
      ["C", "after the end, a new game with the sides swapped", ["c", "C"], "swap"],
      ["M", "back to all tables", ["m", "M"], "back"],
      ["?", "these keys", ["?"], "keys"],
    ];
    return [...(this.advice ? [["Your orders", ordering]] : []), ["The game so far", watching], ["The page", leaving]];
  }

  async #playAgain(isSwapped) {
    const { asked, side } = askedFor(this.table, isSwapped);
    await openAndPlay(asked, side);
  }

  /** Says that the connection is lost or back, and what that means for orders. */
  #showConnection(isConnected) {
    const isOrdering = this.entry.choices !== null;
    if (!isConnected) this.#notify(`The connection is lost; trying again.${isOrdering ? " Your orders are kept." : ""}`);
    else if (this.isLost) this.#notify(`The connection is back.${isOrdering && this.sent === null ? " Your orders are as you left them." : ""}`);
    this.isLost = !isConnected;
  }

  #notify(text) {
    this.notice.textContent = text;
  }

  #end(text) {
    this.#notify(text);
    this.connection.close();
    this.#clear();
  }

  #clear() {
    this.entry.clear();
    this.#showTitle();
    this.advice?.clear();
  }

  #leave() {
    if (!confirm("Leave your seat for good? Somebody else may take it.")) return;
    this.isLeaving = this.connection.send({ type: "leave" });
    if (!this.isLeaving) this.#notify("There is no connection: your seat is still yours.");
  }

  #left() {
    this.#end("You left this seat, or somebody else has it now.");
    if (this.isLeaving) location.href = "lobby.html";
  }

  #welcome({ title, names, you, on_timeout, first_event, events, scene }) {
    this.title.textContent = you === null ? title : `${title}: you are ${you}`;
    this.consequence = on_timeout === "hold" ? "then satellites without orders hold" : "then who has not ordered forfeits";
    this.section.hidden = you === null;
    this.leave.hidden = you === null || this.schoolClass !== null; // pupils keep their seats
    this.you = you;
    this.naming.hidden = you === null || this.schoolClass !== null || events.length > 0 || localStorage.getItem(NAME) !== null;
    if (first_event === 1) {
      const moments = [scene.moment];
      this.playback.load({ ...scene, moments, names: [names.alpha, names.bravo] });
      events.forEach((event) => this.#add(event, moments));
      this.playback.record.moments = moments;
      this.playback.slider.max = String(moments.length - 1);
      this.playback.pauseAt(moments.length - 1);
    } else {
      events.forEach((event) => this.#event(event));
    }
  }

  /** Adds more of the past, which is not played back. */
  #history({ events }) {
    const { moments } = this.playback.record;
    events.forEach((event) => this.#add(event, moments));
    this.playback.slider.max = String(moments.length - 1);
    this.playback.pauseAt(moments.length - 1);
  }

  #add(event, moments) {
    if (event.scene === null) return;
    const { moment, symbols, shapes } = event.scene;
    this.playback.board.define(symbols);
    moment.frames = this.playback.board.add(shapes, moment.frames);
    moments?.push(moment);
  }

  #event(event) {
    this.#add(event);
    if (event.scene !== null) this.playback.append(event.scene.moment);
    if (event.event.kind !== "phase") return;
    this.turn = null;
    this.naming.hidden = true;
    this.#notify("");
  }

  #status({ turn, phase, names, submitted, connected, seconds_left, watching, paused }) {
    this.#name(names);
    this.waitingFor = SIDES.filter((side) => side !== this.you && !submitted.includes(side)).map((side) => `${names[side]} (${side})`);
    const people = SIDES.map((side) => {
      const state = !connected.includes(side) ? "not connected" : submitted.includes(side) ? "orders are in" : "ordering";
      const name = side === this.you ? `${names[side]} (you)` : names[side];
      return phase === "drift" ? `${side}: ${name}` : `${side}: ${name}, ${state}`;
    });
    if (watching > 0) people.push(`${watching} watching`);
    if (paused) people.push("paused");
    this.who = people.join(" \u00b7 ");
    this.deadline = seconds_left === null ? null : Date.now() + 1000 * seconds_left;
    this.#showClock();
    if (phase === "drift") this.#showEnd();
    else if (turn !== this.turn?.turn) this.#showWaiting();
  }

  #name(names) {
    const { record, panels, moment } = this.playback;
    const texts = SIDES.map((side) => names[side]);
    if (String(texts) === String(record.names)) return;
    record.names = texts;
    panels.moment = null; // which is shown with the names
    if (moment !== undefined) this.playback.draw();
  }

  #showClock() {
    const left = this.deadline ? ` \u00b7 ${Math.max(Math.ceil((this.deadline - Date.now()) / 1000), 0)} s, ${this.consequence}` : "";
    const text = (this.who ?? "") + left;
    if (this.presence.textContent !== text) this.presence.textContent = text;
  }

  #showEnd() {
    this.#clear();
    this.leave.hidden = this.entry.buttons.hidden = true;
    this.entry.prompt.textContent = this.#resultText();
    this.downloads.hidden = false;
    this.downloads.querySelector(".again").hidden = askedFor(this.table, false) === null;
    document.getElementById("page-link").href = `/replays/${this.table}.html`;
    document.getElementById("file-link").href = `/replays/${this.table}.jsonl.gz`;
  }

  #resultText() {
    const { winner } = this.playback.record.moments.at(-1);
    if (winner === "draw" || this.you === null) return "The game is over.";
    return `The game is over: you ${winner === this.you ? "win" : "lose"}.`;
  }

  /** Says in the tab of the browser whether orders are asked for. */
  #showTitle() {
    document.title = this.entry.choices === null ? this.title.textContent : `Your orders: ${this.title.textContent}`;
  }

  #showWaiting() {
    if (this.entry.choices !== null) return;
    const areIn = this.turn !== null ? "Your orders are in. " : "";
    const text = `${areIn}Waiting for ${this.waitingFor?.join(" and ") || "the other side"}.`;
    if (this.entry.prompt.textContent !== text) this.entry.prompt.textContent = text;
  }

  #yourTurn(message) {
    const isSame = this.turn !== null && this.turn.turn === message.turn && this.turn.phase === message.phase;
    this.turn = message;
    if (message.submitted !== null) this.#accepted();
    else if (isSame && this.sent !== null) this.#commit(this.sent);
    else if (!isSame) {
      this.sent = null;
      const key = ["orders", message.game, message.scene.side, message.turn, message.phase].join(":");
      if (this.entry.load(message.scene, key)) this.#notify("The orders that you had entered are still here; they are not committed yet.");
      this.advice.load(message);
    }
    this.#showTitle();
  }

  /** Sends orders; those that are lost with the connection are sent again with the next one. */
  #commit(orders) {
    const { game, turn, phase } = this.turn;
    this.sent = orders;
    const isSent = this.connection.send({ type: "orders", game, turn, phase, orders });
    this.entry.prompt.textContent = isSent ? "Sending your orders." : "Your orders are sent as soon as the connection is back.";
  }

  #accepted() {
    this.sent = null;
    this.#clear();
    this.#showWaiting();
    this.#notify("");
  }

  #error({ code, text }) {
    if (["no_table", "wrong_secret", "closed"].includes(code)) this.#end(text);
    else {
      this.sent = null;
      this.entry.select(null); // the prompt asks for orders again
      this.#notify(text);
    }
  }
}

const parameters = new URLSearchParams(location.hash.slice(1)); // which the browser keeps to itself
window.addEventListener("hashchange", () => location.reload());
const page = new TablePage(parameters.get("table") ?? "", parameters.get("secret"), parameters.get("class"));
if (parameters.has("class")) {
  const back = document.getElementById("back");
  back.href = `class.html#${new URLSearchParams({ class: parameters.get("class") })}`;
  back.textContent = "Back to the class";
}
