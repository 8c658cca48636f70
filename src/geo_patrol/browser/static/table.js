"use strict";

/** A game in progress: shows phases as they are played unless the past is being looked at. */
class LivePlayback extends Playback {
  /** @param {function(boolean)} drawn called with whether the board shows the present. */
  constructor(root, drawn) {
    super(root, root.querySelector(".controls"));
    this.drawn = drawn;
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

  draw() {
    super.draw();
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
   */
  constructor(table, secret) {
    const find = (id) => document.getElementById(id);
    [this.title, this.notice, this.presence, this.section] = ["title", "notice", "presence", "entry"].map(find);
    this.downloads = find("downloads");
    this.table = table;
    this.turn = null; // the last message of the server that asks for orders
    this.sent = null;
    this.playback = new LivePlayback(document, (isPresent) => this.entry?.show(isPresent));
    this.entry = new OrderEntry(document, this.playback.board, (orders) => this.#commit(orders), () => this.advice?.update());
    if (secret !== null) this.advice = new Advice(document, this.entry, table, secret, (text) => this.#notify(text));
    this.leave = find("leave");
    this.leave.addEventListener("click", () => this.#leave());
    const receivers = {
      welcome: (message) => this.#welcome(message),
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
      (message) => receivers[message.type]?.(message),
      (isConnected) => this.#notify(isConnected ? "" : "The connection is lost; trying again."),
    );
    setInterval(() => this.#showClock(), 250);
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
    this.section.hidden = this.leave.hidden = you === null;
    this.you = you;
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

  #add(event, moments) {
    if (event.scene === undefined) return;
    const { moment, symbols, shapes } = event.scene;
    this.playback.board.define(symbols);
    moment.frames = this.playback.board.add(shapes, moment.frames);
    moments?.push(moment);
  }

  #event(event) {
    this.#add(event);
    if (event.scene !== undefined) this.playback.append(event.scene.moment);
    if (event.event.kind === "phase") this.turn = null;
  }

  #status({ turn, phase, names, submitted, connected, seconds_left, watching, paused }) {
    this.playback.record.names = [names.alpha, names.bravo];
    const people = SIDES.map((side) => {
      const state = !connected.includes(side) ? "not connected" : submitted.includes(side) ? "orders are in" : "ordering";
      const name = side === this.you ? "you" : names[side];
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
    if (this.entry.choices === null) this.entry.prompt.textContent = "Waiting for the other side.";
  }

  #yourTurn(message) {
    const isSame = this.turn !== null && this.turn.turn === message.turn && this.turn.phase === message.phase;
    this.turn = message;
    if (message.submitted !== null) this.#accepted();
    else if (isSame && this.sent !== null) this.#commit(this.sent);
    else if (!isSame) {
      this.sent = null;
      this.entry.load(message.scene, ["orders", message.game, message.scene.side, message.turn, message.phase].join(":"));
      this.advice.load(message.scene.hints);
    }
    this.#showTitle();
  }

  /** Sends orders; those that are lost with the connection are sent again with the next one. */
  #commit(orders) {
    const { game, turn, phase } = this.turn;
    this.sent = orders;
    this.entry.prompt.textContent = "Sending your orders.";
    this.connection.send({ type: "orders", game, turn, phase, orders });
  }

  #accepted() {
    this.sent = null;
    this.#clear();
    this.entry.prompt.textContent = "Your orders are in. Waiting for the other side.";
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
const page = new TablePage(parameters.get("table") ?? "", parameters.get("secret"));
if (parameters.has("class")) {
  page.leave.remove(); // a pupil keeps the seat
  const back = document.getElementById("back");
  back.href = `class.html#${new URLSearchParams({ class: parameters.get("class") })}`;
  back.textContent = "Back to the class";
}
