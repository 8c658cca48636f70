import { attempt, Connection, forOthers, isForRating, linkField, NAME, nextGames, OwnGames, pageAddress, request, Shortcuts, showPause, watchAddress } from "./client.js";
import { OrderPanel, SETTLE } from "./orders.js";
import { Controls, drawScores, Playback, REDUCED_MOTION, turnScores } from "./playback.js";
import { followClass } from "./pupil.js";
import { NARROW, screenKind } from "./scene.js";
import { capitalized, Cast, COLORS, counted, COUNTS, create, DIRECTIONS, drawCards, faultText, listed, lossText, manyDo, orderText, phaseStory, phaseText, rulesOf, say, short, SIDES, verdict, withEnd } from "./words.js";

const PATIENCE = 200; // milliseconds without a change of orders before the server is asked about danger
const ANNOUNCED = 1300; // milliseconds for which the page says what a new phase is for
const HINT_SECONDS = 3; // after which the page says why a hint takes long
const SOUND = "geo_patrol.sound";

/** Short tones, made by the browser; silent unless they are switched on. */
class Sounds {
  /** @param {HTMLInputElement} box that switches them on. */
  constructor(box) {
    this.box = box;
    box.checked = localStorage.getItem(SOUND) === "yes";
    box.addEventListener("change", () => {
      localStorage.setItem(SOUND, box.checked ? "yes" : "no");
      this.play("turn");
    });
  }

  /** Plays what stands for "turn", "hit" or "end". */
  play(name) {
    if (!this.box.checked) return;
    this.context ??= new AudioContext();
    const tones = { turn: [[660, 0, 0.12]], hit: [[110, 0, 0.25], [82, 0.08, 0.3]], end: [[523, 0, 0.15], [659, 0.15, 0.15], [784, 0.3, 0.3]] };
    for (const [frequency, start, seconds] of tones[name]) {
      const [tone, volume] = [this.context.createOscillator(), this.context.createGain()];
      const now = this.context.currentTime + start;
      tone.type = name === "hit" ? "sawtooth" : "sine";
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.15, now);
      volume.gain.exponentialRampToValueAtTime(0.001, now + seconds);
      tone.connect(volume).connect(this.context.destination);
      tone.start(now);
      tone.stop(now + seconds);
    }
  }
}

/** A person's seat at a table: the connection, and what is to be ordered. */
class SeatLine {
  /**
   * @param {TablePage} page which is told what the server says.
   * @param {string} table identifier of the table.
   * @param {?string} secret of the seat; null watches.
   * @param {boolean} isFirst whether the page shows the game as this connection receives it.
   */
  constructor(page, table, secret, isFirst) {
    Object.assign(this, { page, secret, isFirst, side: null, turn: null, hadChoice: null, sent: null, areIn: false });
    const name = page.schoolClass === null && isFirst ? localStorage.getItem(NAME) : null;
    this.connection = new Connection(table, secret, name || null, (message) => this.#receive(message), (is, seconds) => isFirst && page.showConnection(is, seconds));
  }

  #receive(message) {
    const { page } = this;
    switch (message.type) {
      case "welcome":
        this.side = message.you;
        if (this.isFirst) page.welcome(message);
        break;
      case "history":
        if (this.isFirst) page.history(message);
        break;
      case "event":
        if (this.isFirst) page.event(message);
        break;
      case "status":
        if (this.isIn(message)) this.areIn &&= message.submitted.includes(this.side); // not, if the phase could not be saved
        if (this.isFirst) page.status(message);
        else page.refresh();
        break;
      case "your_turn":
        this.#yourTurn(message);
        break;
      case "accepted":
        if (this.isIn(message)) Object.assign(this, { sent: null, areIn: true });
        page.refresh();
        break;
      case "error":
        this.sent = null;
        page.error(message);
        break;
      case "left":
        if (page.schoolClass !== null) page.toClass();
        else page.end("You left this seat, or somebody else has it now.");
    }
  }

  /** Returns whether the orders that it was asked for last are those of a phase. */
  isIn({ turn, phase }) {
    return this.turn?.turn === turn && this.turn.phase === phase;
  }

  #yourTurn(message) {
    const isSame = this.isIn(message);
    this.turn = message;
    this.hadChoice = Object.keys(message.options).length > 0;
    this.areIn = message.submitted !== null;
    if (isSame && this.sent !== null && !this.areIn) this.send(this.sent);
    else this.sent = null;
    this.page.refresh();
  }

  get isWanted() {
    return this.turn !== null && !this.areIn && this.sent === null;
  }

  /** Sends orders; those that are lost with the connection are sent again with the next one. */
  send(orders) {
    const { game, turn, phase } = this.turn;
    this.sent = orders;
    this.connection.send({ type: "orders", game, turn, phase, orders });
    this.page.refresh();
  }
}

/** A table: a game that is played or watched here. */
class TablePage {
  /** @param {URLSearchParams} parameters table, and where they are known secret, second (of another person here) and class. */
  constructor(parameters) {
    this.table = parameters.get("table") ?? "";
    this.schoolClass = parameters.get("class");
    const ids = ["left", "right", "when", "aim", "ordering", "told", "tell", "going-on", "look-again", "past", "next", "ask-hint", "hint", "show-hint", "take-hint", "close-hint", "steps", "said", "menu", "menu-notice", "about", "naming", "resign", "offer-draw", "leave", "sure", "now", "banner"];
    for (const id of ids) this[id] = document.getElementById(id);
    this.over = document.querySelector(".over");
    Object.assign(this, { cast: new Cast(["", ""], null), ending: null, isReading: false, isEndTold: false, isCurtain: false, state: null, asked: null, aside: null, lookedAt: null });
    this.playback = new Playback(document.getElementById("board"), () => this.refresh());
    this.controls = new Controls(this.steps, this.playback);
    this.entry = new OrderPanel(document, this.playback, (orders) => this.#commit(orders), () => this.#ordersChanged());
    this.sounds = new Sounds(document.querySelector("[name=sound]"));
    const [first, second] = [parameters.get("secret"), parameters.get("second")];
    this.lines = [new SeatLine(this, this.table, first, true), ...(second === null ? [] : [new SeatLine(this, this.table, second, false)])];
    if (first !== null && this.schoolClass === null) OwnGames.keep({ table: this.table, secret: first, ...(second ? { second } : {}) });
    this.#listen();
    setInterval(() => this.#showWhen(), 250);
  }

  get connection() {
    return this.lines[0].connection;
  }

  /** The line whose orders are being entered: the first that is asked and has not given them. */
  get line() {
    return this.lines.find((one) => one.isWanted) ?? this.lines.find((one) => one.turn !== null) ?? this.lines[0];
  }

  #listen() {
    const on = (element, run) => element.addEventListener("click", run);
    on(this.next, () => this.#goOn());
    on(this["look-again"], () => this.replayLast());
    on(this.past, () => this.#openPast());
    on(document.querySelector(".look-past"), () => {
      this.menu.close();
      this.#openPast();
    });
    on(this.entry.commit, () => this.#isPlayedBack && this.#toPresent());
    on(this["ask-hint"], () => this.#askHint());
    on(this["show-hint"], () => this.#findHint());
    on(this["take-hint"], () => {
      if (Date.now() - this.hintedAt < SETTLE) return; // the second click of two
      this.entry.giveAll(this.hinted.orders);
      this.#closeHint();
      this.entry.commit.focus();
    });
    on(this["close-hint"], () => this.#closeHint());
    on(this.over, ({ target }) => {
      if (target.matches("button")) this.#liftCurtain();
    });
    on(this.resign, () => this.#ask("Resign?", "The other side wins.", { type: "resign" }));
    on(this["offer-draw"], () => this.#offerDraw());
    on(this.leave, () => this.#ask("Give up the seat for good?", "Somebody else may take it. To come back later, just close the page.", { type: "leave" }));
    this.naming.addEventListener("submit", (event) => {
      event.preventDefault();
      localStorage.setItem(NAME, this.naming.name.value.trim());
      location.reload(); // orders outlive it
    });
    new Shortcuts(this.menu, this.#keys());
    NARROW.addEventListener("change", () => this.#redraw());
    const fold = () => (document.querySelector(".foes").open = !NARROW.matches);
    NARROW.addEventListener("change", fold);
    fold();
  }

  #keys() {
    const { entry } = this;
    const choose = (name) => () => {
      const radio = [...entry.yours.querySelectorAll("input")].find(({ value, disabled }) => value === name && !disabled);
      if (radio === undefined || !this.#isOrdering) return;
      entry.select(name);
      (entry.choice.querySelector(":checked") ?? radio).focus(); // where arrow keys choose the order
    };
    const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0].map((digit) => [String(digit), `P${digit || 10}`]);
    const satellites = [...digits, ["h", "HVA"]];
    return [
      ["1 to 9, 0, H", "choose a satellite", [], null],
      ["arrows", "its order, or a phase of the past", ["ArrowRight", "ArrowDown"], () => this.#arrow(1)],
      ["C", "commit, or go on", ["c"], () => this.#main()?.click()],
      ["U", "take back", ["u", "Backspace"], () => this.#isOrdering && entry.takeBack()],
      ["G", "guard with all that can", ["g"], () => this.#isOrdering && entry.guardAll()],
      ["I, T", "a hint; take it", ["i"], () => !this["ask-hint"].disabled && this["ask-hint"].offsetParent && this.#askHint()],
      ["L", "show the last turn again", ["l"], () => this.replayLast()],
      ["P", "past turns", ["p"], () => (this.steps.hidden ? this.#openPast() : this.#toPresent())],
      ["?", "this menu", ["?"], () => this.menu.showModal()],
      [null, "", ["ArrowLeft", "ArrowUp"], () => this.#arrow(-1)],
      [null, "", ["t"], () => !this.hint.hidden && !this["take-hint"].hidden && this["take-hint"].click()],
      [null, "", ["Escape"], () => (this.hint.hidden ? this.steps.hidden || this.#toPresent() : this.#closeHint())],
      ...satellites.map(([key, name]) => [null, "", [key], choose(name)]),
    ];
  }

  #arrow(step) {
    if (!this.steps.hidden) this.playback.pauseAt(this.playback.index + step);
    else if (this.#isOrdering) this.entry.step(step);
  }

  #main() {
    return [this.next, this.entry.commit].find((button) => button.offsetParent !== null && !button.disabled);
  }

  /** Whether no orders are taken. */
  get isStill() {
    return Boolean(this.state?.paused || this.state?.fault);
  }

  get #isOrdering() {
    return this.entry.choices !== null && !this.isReading && !this.isCurtain;
  }

  // What the server says

  welcome({ title, names, you, on_timeout, first_event, events, scene, config }) {
    const hidesEnemies = [config.alpha, config.bravo].some((side) => "sensor_range" in side);
    if (this.lines.length > 1 && hidesEnemies) {
      this.end("Enemies are hidden in this game, so that two people cannot share a screen: play it on two, each with a link of its own.");
      return;
    }
    this.title = title;
    this.consequence = on_timeout === "hold" ? "then satellites without orders hold" : "then who has not ordered forfeits";
    this.you = this.lines.length > 1 ? null : you;
    this.config = config;
    if (you !== null && this.schoolClass === null) OwnGames.keep({ table: this.table, side: you, title });
    if (first_event === 1) {
      const moments = [scene.moment];
      this.playback.load({ ...scene, moments, names: SIDES.map((side) => names[side]) });
      for (const event of events) this.#add(event, moments);
      this.playback.record.moments = moments;
      this.#toLatest();
      document.querySelector(".rules").replaceChildren(...rulesOf(scene.rules));
      this.ending = events.find(({ event }) => event.kind === "end")?.event ?? null;
      this.#followClass();
    } else {
      for (const event of events) this.event(event);
    }
    this.#name(names);
    this.naming.name.value = localStorage.getItem(NAME) ?? "";
    attempt(() => this.#offerWatching(hidesEnemies), this["menu-notice"]);
  }

  async #offerWatching(hidesEnemies) {
    const address = await forOthers(watchAddress(this.table));
    document.getElementById("watching").replaceChildren(linkField(hidesEnemies ? "A link to look at the game when it is over" : "A link for those who want to watch", address));
  }

  /** Has everything drawn for another screen: planned orders stay, and so does the moment of the past that is looked at. */
  #redraw() {
    this.#closeHint();
    this.lookedAt = this.steps.hidden ? null : this.playback.index;
    for (const { connection } of this.lines) connection.restart();
  }

  #toLatest() {
    const last = this.playback.record.moments.length - 1;
    this.playback.pauseAt(Math.min(this.lookedAt ?? last, last));
  }

  /** Waits for a pupil's next game when this one is over. */
  #followClass() {
    if (this.schoolClass === null || this.ending === null || this.isFollowing) return;
    this.isFollowing = true;
    followClass(this.schoolClass, this.table);
  }

  /** Adds more of the past, which comes in pages and is not played back. */
  history({ events }) {
    const { moments } = this.playback.record;
    for (const event of events) this.#add(event, moments);
    this.ending = events.find(({ event }) => event.kind === "end")?.event ?? this.ending;
    this.#followClass();
    this.#toLatest();
    this.refresh();
  }

  #add({ scene }, moments) {
    if (scene === null) return;
    scene.moment = this.playback.board.add(scene);
    moments?.push(scene.moment);
  }

  event(message) {
    const { event, scene } = message;
    for (const line of this.lines) if (event.kind === "end" || line.isIn(event)) line.turn = null;
    this.#add(message);
    if (event.kind === "end") {
      this.ending = event;
      this.isEnding = true;
      this.#followClass();
    } else {
      const isSkipped = event.phase === "engagement" && !scene.moment.engaged && this.lines.every(({ hadChoice }) => hadChoice === false);
      this.aside = isSkipped && !this.isExplained ? `Turn ${event.turn} had no engagement: nobody was next to an enemy.` : null;
      this.isExplained ||= isSkipped;
      this.entry.clear();
      this.#closeHint();
      this.isReading = scene.moment.engaged && scene.moment.phase !== "over"; // the end follows at once
      if (scene.moment.engaged) this.sounds.play("hit");
      say(this.said, this.#summary(scene.moment));
    }
    if (scene !== null) this.playback.append(scene.moment);
    this.refresh();
  }

  status(message) {
    this.state = message;
    if (this.backText !== null && this.backText !== this.toldBack) this.notify((this.toldBack = this.backText));
    this.#name(message.names);
    this.lookedAt = null; // the past is complete
    this.deadline = message.seconds_left === null ? null : Date.now() + 1000 * message.seconds_left;
    this.refresh();
  }

  /** Returns what is to be said in the phase to which the game went back; null in all others. */
  get backText() {
    const { went_back: back, turn, phase } = this.state ?? {};
    if (!back || back.turn !== turn || back.phase !== phase || this.ending !== null) return null;
    return `The server lost ${counted(back.lost, "phase")}: the game went back to turn ${turn}, ${phase}.`;
  }

  #name(names) {
    const texts = SIDES.map((side) => names[side]);
    const key = `${texts} ${this.you}`;
    if (this.castKey === key) return;
    this.castKey = key;
    if (this.schoolClass !== null && this.you) {
      if (this.calledYou !== undefined && this.calledYou !== names[this.you]) this.notify(`Your teacher calls you ${names[this.you]} now.`);
      this.calledYou = names[this.you];
    }
    this.playback.record.names = texts;
    this.cast = new Cast(texts, this.you);
    this.shownFleets = null;
    this.refresh();
  }

  /** Goes to the page of the class, which knows why this seat is nobody's any more. */
  toClass() {
    location.replace(pageAddress("class", { class: this.schoolClass, left: this.table }));
  }

  error({ code, text }) {
    if (code === "wrong_secret" && this.schoolClass !== null) this.toClass();
    else if (["no_table", "wrong_secret", "closed"].includes(code)) this.end(capitalized(text), code !== "closed");
    else {
      this.refresh();
      this.notify(text); // rather than that planned orders are still here
    }
  }

  /** Says that the connection is lost or back. */
  showConnection(isConnected, seconds) {
    this.isLost = !isConnected;
    this.retry = Date.now() + 1000 * seconds;
    this.refresh();
  }

  /** Ends the connection for good, and says why; a seat that is nobody's any more is forgotten. */
  end(text, isLost = false) {
    for (const line of this.lines) line.connection.close();
    this.entry.clear();
    clearTimeout(this.dangerTimer);
    this.closed = text;
    if (isLost) OwnGames.forget(this.table);
    this.refresh();
  }

  /** Says something for a moment. */
  notify(text) {
    this.notice = text;
    queueMicrotask(() => this.refresh());
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => {
      this.notice = null;
      this.refresh();
    }, 6000);
  }

  #summary(moment) {
    const score = SIDES.map((side, i) => `${this.cast.name(side)} ${moment.score[i]}`).join(", ");
    return `${phaseText(moment)}. ${lossText(moment.engaged ? moment.outcomes : [], this.cast)} ${score}.`;
  }

  // Orders

  #commit(orders) {
    this.#closeHint();
    this.line.send(orders);
  }

  #ordersChanged() {
    clearTimeout(this.dangerTimer);
    if (!this.closed && this.entry.choices !== null && String(this.entry.orders) !== this.asked) this.dangerTimer = setTimeout(() => this.#askDanger(), PATIENCE);
    this.refresh();
  }

  get #path() {
    return `/api/tables/${encodeURIComponent(this.table)}`;
  }

  async #askDanger() {
    const { choices, orders, key } = this.entry;
    if (choices === null) return;
    const { turn, phase } = choices;
    const asked = (this.asked = String(orders));
    const answer = await request(`${this.#path}/danger`, { secret: this.line.secret, orders, turn, phase }).catch(() => null);
    if (answer === null || key !== this.entry.key || String(this.entry.orders) !== asked) return;
    this.danger = answer;
    this.refresh();
  }

  /** Finds a hint; says before the first one of a game that it would not count for the rating any more. */
  #askHint() {
    if (this.entry.choices === null) return;
    const own = OwnGames.find(this.table);
    if (own === null || own.hinted || !isForRating(own) || (!this.hint.hidden && !this["show-hint"].hidden)) return void this.#findHint();
    this.hint.hidden = false;
    this["take-hint"].hidden = true;
    this["show-hint"].hidden = false;
    say(this["close-hint"], "Play on without");
    say(this.hint.querySelector("p"), "A game with hints does not count for your rating.");
    this.refresh();
    this["show-hint"].focus();
  }

  async #findHint() {
    const { choices } = this.entry;
    if (choices === null) return;
    if (OwnGames.find(this.table) !== null) OwnGames.keep({ table: this.table, hinted: true });
    this.hintRequest?.abort();
    const control = (this.hintRequest = new AbortController());
    this.hint.hidden = false;
    this["take-hint"].hidden = this["show-hint"].hidden = true;
    say(this["close-hint"], "Cancel");
    const text = this.hint.querySelector("p");
    say(text, "Playing some thousand games from here, for a second …");
    this.refresh();
    this["close-hint"].focus();
    const patience = setTimeout(() => say(text, "Hints are still being prepared, which takes a minute the first time. You can cancel, and play on."), HINT_SECONDS * 1000);
    try {
      const answer = await request(`${this.#path}/hint`, { secret: this.line.secret, screen: screenKind() }, control.signal);
      if (choices !== this.entry.choices || control.signal.aborted) return;
      this.hinted = answer;
      const replaced = this.entry.orders.length === 0 ? "" : " Taking it replaces your orders.";
      say(text, `${this.#hintText(answer.orders)}: wins ${answer.percent}% of ${answer.games.toLocaleString("en")} games that simple scripts play on from here, for both sides.${replaced}`);
      this["take-hint"].hidden = false;
      this.hintedAt = Date.now();
      say(this["close-hint"], "Close");
      this.entry.suggest(answer);
      this["take-hint"].focus();
    } catch (error) {
      if (error.name !== "AbortError") say(text, error.message);
    } finally {
      clearTimeout(patience);
    }
  }

  /** Returns orders in words, satellites with the same order together. */
  #hintText(orders) {
    const together = new Map();
    for (const { name, options } of this.entry.choices.satellites)
      for (const one of options.filter(({ order }) => orders.includes(order))) {
        const key = orderText(one);
        together.set(key, { one, names: [...(together.get(key)?.names ?? []), short(name)] });
      }
    const texts = [...together.values()].map(({ one, names }) => `${listed(names)} ${orderText(one, names.length)}`);
    return texts.join("; ") || "All hold";
  }

  #closeHint() {
    if (this.hint.hidden) return;
    const hadFocus = this.hint.contains(document.activeElement);
    this.hintRequest?.abort();
    this.hint.hidden = true;
    this.entry.suggest(null);
    this.refresh();
    if (hadFocus) this["ask-hint"].focus();
  }

  // Leaving

  #ask(title, text, message) {
    this.menu.close();
    const [heading, paragraph] = this.sure.querySelectorAll("h2, p");
    heading.textContent = title;
    paragraph.textContent = text;
    document.getElementById("yes").onclick = () => {
      this.sure.close();
      if (!this.line.connection.send(message)) this.notify("There is no connection: nothing has changed.");
    };
    this.sure.showModal();
  }

  #offerDraw() {
    this.menu.close();
    const isSent = this.line.connection.send({ type: "draw", offer: true });
    this.notify(isSent ? "You offered a draw." : "There is no connection: nothing has changed.");
  }

  // Going on

  #goOn() {
    if (!this.steps.hidden) return void this.#toPresent();
    if (this.isEndTold) {
      location.href = pageAddress("after", { table: this.table, ...(this.schoolClass ? { class: this.schoolClass } : {}) });
      return;
    }
    const hadFocus = document.activeElement === this.next;
    this.isReading = false;
    this.#toPresent();
    if (hadFocus) (this.entry.commit.disabled ? this.entry.yours.querySelector(":checked") : this.entry.commit)?.focus();
  }

  /** Shows the last turn again: its movement, or what came before the phase in progress. */
  replayLast() {
    const { moments } = this.playback.record;
    if (moments.length < 2) return;
    const last = moments.at(-1);
    const turn = last.phase === "movement" ? last.turn - 1 : last.turn;
    const first = moments.findIndex((moment, i) => i > 0 && moments[i - 1].turn === turn && moments[i - 1].phase === "movement");
    this.playback.goTo(Math.max(first, 1), { animated: true });
    this.playback.setPlaying(true);
  }

  #openPast() {
    this.steps.hidden = false;
    this.refresh();
    this.controls.slider.focus();
  }

  #toPresent() {
    const hadFocus = this.told.contains(document.activeElement) || document.activeElement === this.next;
    this.steps.hidden = true;
    this.playback.pauseAt(this.playback.record.moments.length - 1);
    this.refresh();
    if (hadFocus) (this.#main() ?? this.entry.yours.querySelector(":checked"))?.focus();
  }

  #liftCurtain() {
    this.curtainFor = this.line.side;
    this.refresh();
    this.entry.yours.querySelector(":checked")?.focus();
  }

  // Showing

  /** Shows everything anew, what has changed. */
  refresh() {
    if (this.isRefreshing || this.playback?.moment === undefined || this.entry === undefined) {
      if (this.closed) this.#showOver();
      return;
    }
    this.isRefreshing = true;
    this.#loadTurn();
    this.#show();
    this.isRefreshing = false;
  }

  /** Offers the choices of the line that is asked, as soon as what came before has been read. */
  #loadTurn() {
    const { line, entry } = this;
    const { turn } = line;
    this.isCurtain = this.lines.length > 1 && line.isWanted && this.curtainFor !== line.side;
    const key = line.isWanted && !this.isCurtain && !this.isReading ? ["orders", turn.game, line.side, turn.turn, turn.phase].join(":") : null;
    if (key === null) {
      if (entry.choices !== null && !line.isWanted) {
        entry.clear();
        if (this.lines.length > 1) this.curtainFor = null;
      }
      return;
    }
    if (entry.choices === turn.scene) return;
    if (entry.choices !== null && entry.key === key) return void entry.redraw(turn.scene);
    Object.assign(this, { danger: null, asked: null });
    entry.showFleets(this.playback.record.moments.at(-1), this.#castOf(line), line.side);
    if (entry.load(turn.scene, key)) this.notify("The orders that you had planned are still here; they are not committed yet.");
    this.hasHints = turn.scene.hints;
    this.sounds.play("turn");
    this.#announce(turn.phase === "movement" ? "Now move" : "Now engage: shoot, guard or hold");
  }

  /** Writes over the board, for a second, what is to be done. */
  #announce(text) {
    if (REDUCED_MOTION.matches) return;
    say(this.now, text);
    const shown = { opacity: 1 };
    this.now.animate([{ opacity: 0 }, { ...shown, offset: 0.15 }, { ...shown, offset: 0.75 }, { opacity: 0 }], ANNOUNCED);
  }

  #castOf(line) {
    return this.lines.length > 1 ? new Cast(this.cast.names, line.side) : this.cast;
  }

  #show() {
    const { playback, entry, line } = this;
    const { moment } = playback;
    const isPresent = playback.isAtEnd && playback.hasArrived;
    const shown = playback.settled;
    const side = line.side ?? "alpha";
    const cast = this.#castOf(line);
    if (!this.isEndTold && this.ending !== null && this.state?.phase === "drift" && isPresent) {
      this.isEndTold = true; // only now: the last shots come before the result
      if (this.isEnding) this.sounds.play("end");
      this.#drawBanner(withEnd(moment, this.ending), cast);
    }
    const isOver = this.isEndTold;
    const isReading = (this.isReading || isOver) && isPresent;
    const isPast = !this.steps.hidden;
    this.banner.hidden = !isOver || isPast || !isPresent || Boolean(this.closed);
    const isTold = isReading || isPast || (line.side === null && moment.engaged && isPresent);
    const fleetsKey = `${playback.record.moments.indexOf(shown)} ${this.castKey} ${side}`;
    if (this.shownFleets !== fleetsKey) {
      this.shownFleets = fleetsKey;
      entry.showFleets(shown, cast, side);
      say(document.getElementById("own-title"), `${capitalized(cast.owner(side))} fleet: H is the HVA, below is fuel, ● is a round to shoot`);
      const foes = shown.fleets[1 - SIDES.indexOf(side)];
      const isUnseen = foes.some(([, , , , , , lastSeen]) => lastSeen !== null);
      const count = foes.filter(([, , , , , state]) => state === "").length;
      say(document.getElementById("their-title"), `${capitalized(cast.owner(SIDES[1 - SIDES.indexOf(side)]))} fleet: ${isUnseen ? "T and the turn it was last seen, if not now" : `${count} of ${foes.length} in play`}`);
    }
    this.#showTold(isTold, moment, cast);
    entry.show(isPresent && !isReading && !isPast && !this.isCurtain && !this.isStill, isPresent ? "" : this.#story(playback.index + Number(playback.hasArrived)));
    const hasFoot = isReading || isPast || line.side === null || isOver;
    this["going-on"].hidden = !hasFoot;
    document.querySelector(".foot").hidden = hasFoot;
    say(this.next, isPast ? "Back to now" : isOver ? "What decided it" : line.side === null ? "To the present" : "Next turn");
    this.next.disabled = line.side === null && isPresent && !isOver && !isPast;
    this["look-again"].disabled = playback.record.moments.length < 2;
    this.past.disabled = isPast;
    this["ask-hint"].disabled = entry.choices === null || this.hasHints === false;
    say(this["ask-hint"], this.hasHints === false ? "No hints" : "Hint");
    entry.commit.classList.toggle("main", entry.choices !== null); // what is not ready does not look so
    if (entry.choices === null) {
      entry.commit.disabled = !this.#isPlayedBack;
      say(entry.commit, this.#isPlayedBack ? "Skip" : this.#waitText());
    } else entry.commit.disabled = this.isStill || !this.hint.hidden; // an open hint is taken or closed first
    this.controls.update();
    document.body.dataset.state = isOver ? "over" : isReading ? "played" : entry.choices !== null ? entry.choices.phase : "waiting";
    this.#showScore(shown, cast, side);
    this.#showAim(shown, cast, side);
    this.#showTell(cast);
    this.#showWhen();
    this.#showOver();
    this.#showMenu(isOver);
    const title = this.title ?? "GEO Patrol";
    document.title = isOver ? `Over: ${title}` : line.isWanted ? `Your turn: ${title}` : title;
  }

  /** Says over the board how the game ended, with the ways to the next one. */
  #drawBanner(moment, cast) {
    const { winner } = moment;
    this.banner.className = `banner ${cast.you === null || winner === "draw" ? "" : cast.is(winner) ? "won" : "lost"}`;
    const ways = create("div", { class: "row" });
    const fault = create("p", { role: "alert" });
    this.banner.replaceChildren(create("h2", {}, verdict(moment, cast)), ways, fault);
    const own = this.schoolClass === null ? OwnGames.find(this.table) : null;
    attempt(async () => ways.replaceChildren(...(await nextGames(own, fault))), fault);
  }

  /** Whether an engagement is being shown that has not been read yet, or the end. */
  get #isPlayedBack() {
    const { playback } = this;
    return (this.isReading || (this.ending !== null && !this.isEndTold)) && this.steps.hidden && !(playback.isAtEnd && playback.hasArrived);
  }

  #waitText() {
    if (this.lines.some(({ sent }) => sent !== null)) return this.isLost ? "Sent when connected" : "Sending";
    return `Waiting for ${this.#missing().join(" and ") || "the other side"}`;
  }

  #missing() {
    const own = this.lines.map(({ side }) => side);
    return SIDES.filter((side) => !own.includes(side) && !(this.state?.submitted ?? []).includes(side)).map((side) => this.cast.name(side));
  }

  /** Returns what happens in the phase that led to a moment. */
  #story(index) {
    const { moments } = this.playback.record;
    const last = Math.min(index, moments.length - 1);
    return phaseStory(moments[Math.max(last - 1, 0)], moments[last]);
  }

  #showTold(isTold, moment, cast) {
    this.ordering.hidden = isTold;
    this.told.hidden = !isTold;
    if (!isTold) return void (this.toldKey = null);
    const { moments } = this.playback.record;
    const { index } = this.playback;
    const key = `${index} ${this.castKey} ${this.ending === null}`;
    if (this.toldKey === key) return;
    this.toldKey = key;
    const happened = moment.engaged ? drawCards(moment, cast) : [];
    const loss = moment.engaged ? lossText(moment.outcomes, cast) || "Nobody was hit." : index > 0 ? this.#story(index) : "The start of the game.";
    say(this.told.querySelector(".losses"), this.ending !== null && this.playback.isAtEnd ? verdict(withEnd(moment, this.ending), cast) : loss);
    const fault = this.playback.isAtEnd ? faultText(this.ending) : null;
    if (fault !== null) happened.unshift(create("li", { class: "box lost" }, create("p", {}, fault), create("p", {}, "The game is kept: from its result you can play on against another agent.")));
    this.told.querySelector(".cards").replaceChildren(...happened);
    const chart = document.getElementById("chart");
    chart.hidden = turnScores(moments).length < 2;
    const title = document.getElementById("chart-title");
    title.hidden = chart.hidden;
    say(title, `Points, turn by turn: ${listed(SIDES.map((side) => `${cast.is(side) ? "yours" : cast.owner(side)} ${COLORS[side]}`))}`);
    if (!chart.hidden) drawScores(chart, moments, cast);
  }

  #showScore({ score, fleets }, cast, side) {
    const own = SIDES.indexOf(side);
    [this.left, this.right].forEach((element, i) => {
      const index = i === 0 ? own : 1 - own;
      element.className = `who ${SIDES[index]}`;
      const parts = [create("span", {}, cast.name(SIDES[index])), create("b", { class: "num" }, `${fleets[index].some(([, , , , , , lastSeen]) => lastSeen !== null) ? "~" : ""}${score[index]}`)];
      element.replaceChildren(...(i === 0 ? parts : parts.reverse()).flatMap((part, j) => (j ? [" ", part] : [part])));
    });
  }

  #showAim({ goals, fleets }, cast, side) {
    const own = SIDES.indexOf(side);
    const enemy = SIDES[1 - own];
    const [, sector, , , , state] = fleets[own][0];
    const { winScore } = this.playback.record;
    if (this.lines[0].side === null) return say(this.aim, `${this.backText === null ? "" : `${this.backText} `}${this.state?.paused && this.ending === null ? "Paused. " : ""}${cast.colored("alpha")} against ${cast.colored("bravo")}`);
    const keep = state !== "" ? "Your HVA is lost" : sector === goals[own] ? `Keep your HVA (High Value Asset) in sector ${goals[own]}` : `Bring your HVA (High Value Asset) to sector ${goals[own]}`;
    if (this.isEndTold) return say(this.aim, "The game is over.");
    say(this.aim, `${keep}, hit ${cast.owner(enemy)}. ${winScore[own]} points win.`);
  }

  #showTell(cast) {
    const { danger, notice, entry } = this;
    const isDanger = entry.choices !== null && danger?.attackers?.length > 0 && !notice;
    this.tell.classList.toggle("danger", isDanger);
    entry.light(isDanger ? danger.attackers : []);
    if (!isDanger) {
      delete this.tell.dataset.key;
      return say(this.tell, notice ?? this.#calm());
    }
    const guards = entry.guards.filter(([name]) => entry.pending.get(name)?.action !== "guard");
    const key = JSON.stringify([danger, guards.map(([name]) => name)]);
    if (this.tell.dataset.key === key && this.tell.firstChild) return;
    this.tell.dataset.key = key;
    this.tell.replaceChildren(create("span", {}, create("b", {}, "Danger:"), ` ${dangerText(danger)}`));
    if (guards.length === 0) return;
    const cost = guards.reduce((sum, [, guard]) => sum + guard.cost, 0);
    const button = create("button", { type: "button", class: "guard-all" }, `Guard with ${guards.length === 1 ? short(guards[0][0]) : `all ${COUNTS[guards.length].toLowerCase()}`}, −${cost} fuel`);
    button.addEventListener("click", () => {
      entry.guardAll();
      entry.commit.focus();
    });
    this.tell.append(button);
  }

  /** Returns what there is to say while the own HVA is in no danger: on a phone in the first turn what the words for moves mean. */
  #calm() {
    const { danger, entry, aside, reach } = this;
    if (entry.choices === null || !danger) return "";
    const { turn, phase } = entry.choices;
    const sight = turn === 1 ? "In turn 1 both sides know the start." : "A ? marks where an enemy would be without orders.";
    if (this.backText !== null) return this.backText;
    if (reach && turn <= 2 && phase === "movement") return `You can see ${counted(reach, "step")} away. ${sight}`;
    if (NARROW.matches && turn === 1 && phase === "movement") return DIRECTIONS;
    return aside ?? `No enemy ${reach ? "that you know of " : ""}can attack your HVA next.`;
  }

  /** How many steps the own satellites see; undefined: everything. */
  get reach() {
    return (this.config.mirror ? this.config.alpha : this.config[this.line.side])?.sensor_range;
  }

  #showWhen() {
    const { record, isAtEnd, settled: moment } = this.playback;
    if (moment === undefined) return;
    const left = this.deadline && this.ending === null ? `${Math.max(Math.ceil((this.deadline - Date.now()) / 1000), 0)} s` : null;
    const isPast = !isAtEnd && !this.steps.hidden;
    const isRead = document.body.dataset.state === "played" && !isPast; // of an engagement that is over
    const turn = isRead ? moment.outcomesTurn : moment.turn;
    const what = moment.phase === "over" || (this.isEndTold && !isPast) ? "Over" : isPast ? "Past" : isRead ? "Engagement" : capitalized(moment.phase);
    const key = `${turn} ${what} ${left}`;
    if (this.isLost) this.#showOver();
    if (this.whenKey === key) return;
    this.whenKey = key;
    this.when.title = left ? this.consequence : "";
    this.when.replaceChildren(`Turn ${turn}`, create("span", { class: "wide" }, ` of ${record.turnLimit}`), create("br"), create("b", {}, left ? `${what}, ${left}` : what));
  }

  #showOver() {
    const lines = this.closed
      ? [this.closed]
      : this.isLost
        ? ["No connection", `Trying again${this.retry > Date.now() ? ` in ${Math.ceil((this.retry - Date.now()) / 1000)} s` : ""}. Your orders are kept.`]
        : this.isCurtain && !this.isReading
          ? [`${this.cast.name(this.line.side)} gives orders`, `${this.cast.name(SIDES[1 - SIDES.indexOf(this.line.side)])}, look away.`]
          : this.state?.fault
            ? ["The game stands still", `${capitalized(this.state.fault)}. It is kept: open it again later.`]
            : [];
    if (this.ending === null) showPause(!this.closed && this.lines[0].side !== null && Boolean(this.state?.paused));
    this.over.hidden = lines.length === 0;
    const key = lines.join("|");
    if (this.overKey === key) return;
    this.overKey = key;
    const [title, text] = lines;
    const button = this.isCurtain && !this.closed && !this.isLost && lines.length ? [create("button", { type: "button", class: "main" }, "Show the board")] : [];
    const back = this.closed || (!this.isLost && this.state?.fault) ? [create("a", { class: "button", href: "start.html" }, "To the start")] : [];
    this.over.replaceChildren(...(title ? [create("p", {}, create("b", {}, title))] : []), ...(text ? [create("p", {}, text)] : []), ...button, ...back);
    this.over.querySelector("button")?.focus();
  }

  #showMenu(isOver) {
    const { side } = this.lines[0];
    const isPlaying = side !== null && !isOver;
    const status = this.state;
    const isPerson = (one) => one !== side && status?.people?.includes(one);
    this.resign.hidden = !isPlaying;
    this.naming.hidden = !isPlaying || this.schoolClass !== null || this.lines.length > 1 || !SIDES.some(isPerson);
    this["offer-draw"].hidden = !isPlaying || this.lines.length > 1 || !SIDES.some(isPerson);
    this.leave.hidden = !isPlaying || this.schoolClass !== null || this.lines.length > 1 || !SIDES.some(isPerson);
    const offered = (status?.draw_offered ?? []).filter((one) => one !== side);
    say(this["offer-draw"], offered.length ? "Accept the draw" : "Offer a draw");
    if (offered.length && isPlaying && this.drawSeen !== status.turn) {
      this.drawSeen = status.turn;
      this.notify(`${this.cast.name(offered[0])} offers a draw: the menu ☰ accepts it.`);
    }
    const there = status ? SIDES.filter((one) => !status.connected.includes(one) && !this.lines.some((line) => line.side === one)).map((one) => `${this.cast.name(one)} is not connected`) : [];
    const watching = status?.watching ? [`${status.watching} watching`] : [];
    say(this.about, [this.title, ...there, ...watching].join(" · "));
  }
}

/** Returns what can happen to the own HVA with the planned orders, and who guards it. */
function dangerText({ attackers, lost, guarding, able, phase }) {
  const isLong = NARROW.matches && attackers.length > 3;
  const who = isLong ? COUNTS[attackers.length] : listed(attackers.map(short).sort((one, other) => one - other));
  const could = able.length ? `${COUNTS[able.length]} can guard.` : "Nobody can guard.";
  const help = able.length ? "" : ` ${could}`; // a button says who can
  if (phase === "movement") return `${who} can reach your HVA: lost in ${lost}%${NARROW.matches ? "" : " without guards"}. ${could}`;
  if (NARROW.matches && !guarding.length) return `${who} can attack your HVA: lost in ${lost}%.${help}`;
  return `${who} can attack your HVA. ${manyDo(guarding.length, "guard")}: lost in ${lost}%.${guarding.length ? "" : help}`;
}

const parameters = new URLSearchParams(location.hash.slice(1)); // which the browser keeps to itself
window.addEventListener("hashchange", () => location.reload()); // orders outlive it
const page = (window.page = new TablePage(parameters));
if (parameters.has("class")) {
  const back = document.getElementById("back");
  back.href = pageAddress("class", { class: parameters.get("class") });
  back.lastElementChild.textContent = "\u00a0The class";
  back.setAttribute("aria-label", "‹ The class");
  if (parameters.has("moved")) page.notify("Your teacher has given you this game.");
}
