import { attempt, Connection, copy, FIRM_GAMES, forOthers, isForRating, leaveFor, nextGames, OwnGames, ownRating, pageAddress, ratedResults, ratingText, refreshOwnGames, request, start, watchAddress } from "./client.js";
import { Controls, drawPlot, drawScores, Playback } from "./playback.js";
import { followClass } from "./pupil.js";
import { drawShape, NARROW, screenKind } from "./scene.js";
import { byId, capitalized, Cast, counted, COUNTS, create, drawCards, faultText, isSettled, lineTable, listed, orderText, phaseStory, phaseText, say, short, SIDES, sumLines, verdict, withEnd } from "./words.js";

const STRONGEST = "level:webb";
const ASK_SECONDS = 1; // between questions how far the analysis has come
const ONE_COLUMN = window.matchMedia("(max-width: 48rem)");

/** A game that is over: how it ended, what decided it, every moment of it, and the next one. */
class AfterPage {
  /** @param {string} table identifier of the table. */
  constructor(table) {
    this.table = table;
    this.own = OwnGames.find(table);
    this.notice = byId("notice");
    this.playback = new Playback(byId("board"), () => this.#showMoment());
    this.controls = new Controls(document.querySelector(".stepping"), this.playback);
    this.chosen = null;
    this.#connect();
    NARROW.addEventListener("change", () => this.#redraw());
    const address = forOthers(watchAddress(table)).catch(() => watchAddress(table)); // known before it is copied, which must follow a click at once
    byId("copy").addEventListener("click", ({ target }) => attempt(async () => copy(target, await address), this.notice));
    byId("page-file").href = `/replays/${table}.html`;
    byId("replay-file").href = `/replays/${table}.jsonl.gz`;
    byId("practise").addEventListener("click", ({ target }) => start(target, () => this.#practise(), this.notice));
    for (const id of ["list", "best"]) byId(id).addEventListener("change", ({ target }) => this.#choose(Number(target.value)));
  }

  #connect() {
    this.connection = new Connection(this.table, null, null, (message) => this.#receive(message), () => {});
  }

  /** Has everything drawn for another screen; what is looked at stays. */
  #redraw() {
    this.connection.close();
    if (this.last !== undefined) this.lookedAt = { index: this.playback.index, chosen: this.chosen };
    this.#connect();
  }

  #receive(message) {
    if (message.type === "error") this.notice.textContent = message.text;
    if (message.type === "welcome" && message.scene !== null) this.welcome = message;
    else if (message.events !== undefined) this.welcome.events.push(...message.events); // more of the past, after a lost connection too
    else return;
    const { events, last_event } = this.welcome;
    if ((events.at(-1)?.number ?? 0) < last_event) return; // the rest follows
    const ending = events.at(-1)?.event;
    if (ending?.kind !== "end") return void location.replace(pageAddress("table", { table: this.table }));
    this.connection.close();
    this.#load(this.welcome, ending);
    if (!this.lookedAt) attempt(() => this.#rate(), this.notice);
    attempt(() => this.#analyse(), this.notice);
  }

  #load({ scene, events, names }, ending) {
    const moments = [scene.moment];
    const texts = SIDES.map((side) => names[side]);
    this.side = this.own && !this.own.second ? this.own.side : null;
    this.cast = new Cast(texts, this.side);
    this.playback.load({ ...scene, moments, names: texts });
    for (const { scene: one } of events) {
      if (one === null) continue;
      moments.push(this.playback.board.add(one));
    }
    this.last = withEnd(moments.at(-1), ending);
    byId("verdict").textContent = document.title = verdict(this.last, this.cast);
    say(byId("curve-title"), this.side === null ? `${this.cast.name("alpha")}’s chance to win, in %, turn by turn` : "Your chance to win, in %, turn by turn");
    drawScores(byId("chart"), moments, this.cast);
    const lines = moments.at(-1).sums.flatMap((sums, i) => sumLines(sums, this.cast.name(SIDES[i])));
    byId("points").replaceChildren(...lineTable(lines).children);
    this.notice.textContent = faultText(ending) ?? "";
    attempt(async () => byId("again").replaceChildren(...(await nextGames(this.own, this.notice))), this.notice);
    this.playback.pauseAt(this.lookedAt?.index ?? moments.length - 1);
  }

  /** Says the own rating after this game, and what it has changed. */
  async #rate() {
    if (this.side === null) return;
    const games = await refreshOwnGames();
    const own = games.find(({ table }) => table === this.table);
    if (own === undefined) return;
    const { levels } = await request("/api/choices");
    const [now, before] = await Promise.all([games, games.filter((game) => game !== own)].map((played) => ownRating(played, levels)));
    const isRated = ratedResults([own], levels).length > 0;
    byId("rating").hidden = !isRated && !(isForRating(own) && own.result?.hinted);
    if (byId("rating").hidden) return;
    if (!isRated) return void say(byId("rating"), "This game had hints: it does not count for your rating.");
    const change = before === null || before.games < FIRM_GAMES ? "" : ` (${now.rating >= before.rating ? "+" : "−"}${Math.abs(now.rating - before.rating)})`;
    byId("rating").replaceChildren("Your rating is now ", create("b", { class: "num" }, ratingText(now)), create("span", { class: "soft" }, `${change}.`));
  }

  // The analysis

  async #analyse() {
    const side = this.side ?? "alpha";
    const round = (this.round = (this.round ?? 0) + 1);
    for (;;) {
      const analysis = await request(`/api/tables/${encodeURIComponent(this.table)}/analysis/${side}?screen=${screenKind()}`);
      if (round !== this.round) return; // it is asked for again, for another screen
      this.analysis = analysis;
      if (analysis.failed) {
        byId("analysing").hidden = true;
        byId("moments-title").hidden = false;
        return void say(byId("moments-title"), "The analysis failed: the operator of the server can see why.");
      }
      const { done, total } = this.analysis;
      byId("analysing").querySelector("progress").value = done / total;
      if (done === total) break;
      await new Promise((resolve) => setTimeout(resolve, ASK_SECONDS * 1000));
    }
    byId("analysing").hidden = true;
    this.#drawCurve(side);
    this.#listMoments(side);
    if (this.lookedAt?.chosen != null) this.#choose(this.lookedAt.chosen);
    this.lookedAt = null;
  }

  /** Returns the turns that had been played at a moment, halves for the time between movement and engagement. */
  #turnsAt(index) {
    const { turn, phase } = this.playback.record.moments[index];
    return phase === "movement" ? turn - 1 : phase === "over" ? turn : turn - 0.5;
  }

  #drawCurve(side) {
    const { chances, moments, luck } = this.analysis;
    const points = chances.map((chance, i) => [this.#turnsAt(i), i === chances.length - 1 ? this.#finalChance(side) : chance]);
    const marks = moments.map(({ index }, i) => ({ turns: this.#turnsAt(index), value: chances[index], label: String(i + 1) }));
    drawPlot(byId("curve"), [{ name: side, points }], [0, 100], `From ${chances[0]}% at the start over ${counted(this.last.turn, "turn")}: ${chances.join(", ")}`, marks);
    const about = ["The share of games won from there if Webb, the strongest level, plays on for both. (Hints let simple scripts play on for both, and come to other figures.)"];
    if (marks.length > 0) about.push(`${listed(marks.map(({ label }) => label))} on the curve: ${marks.length === 1 ? "the moment" : "the moments"} below.`);
    if (luck !== null) {
      const { turn } = this.playback.record.moments[luck.index - 1];
      about.push(`Luck in turn ${turn} ${luck.change < 0 ? "cost" : "was worth"} ${counted(Math.abs(luck.change), "point")}, whatever the orders.`);
    }
    say(byId("about-curve"), about.join(" "));
  }

  #finalChance(side) {
    return this.last.winner === "draw" ? 50 : this.last.winner === side ? 100 : 0;
  }

  #listMoments(side) {
    const { moments, best } = this.analysis;
    const title = this.last.winner === side ? `Where ${side === this.side ? "you" : this.cast.name(side)} could have done better` : `${COUNTS[moments.length]} moment${moments.length > 1 ? "s" : ""} that decided it`;
    say(byId("moments-title"), moments.length ? title : "No single other order would have changed much.");
    byId("moments-title").hidden = false;
    byId("list").replaceChildren(...moments.map((one, i) => this.#item(one, side, i, String(i + 1))));
    say(byId("best-title"), `${capitalized(this.cast.owner(side))} best order`);
    byId("best-title").hidden = best === null;
    byId("best").replaceChildren(...(best === null ? [] : [this.#item(best, side, moments.length, "✓")]));
  }

  /** Returns an order that would have been better, or the best one that was given, as what shows it. */
  #item(one, side, value, mark) {
    const { turn, phase } = this.playback.record.moments[one.index];
    const name = one.satellite === "HVA" ? `${capitalized(this.cast.owner(side))} HVA` : short(one.satellite);
    const better = one.better.action === "hold" ? "holds" : orderText(one.better);
    const given = one.given.action === "hold" ? (phase === "movement" ? "held" : "did nothing") : orderText(one.given);
    const words = value < this.analysis.moments.length ? [`${name} ${given}. `, `Better: ${short(one.satellite)} ${better}.`] : ["", `${name} ${better}.`];
    const text = create("span", {}, create("span", { class: "soft" }, `Turn ${turn}, ${phase}`), create("br"), words[0], create("b", {}, words[1]));
    const input = create("input", { type: "radio", name: "moment", value, "aria-label": `${mark}: turn ${turn}, ${phase}: ${words.join("")} ${one.before} to ${one.after}%` });
    return create("label", { class: "moment pick" }, input, create("b", { "aria-hidden": "true" }, mark), text, create("span", { class: "gain num" }, `${one.before} → ${one.after}%`));
  }

  /** Returns what can be looked at: the moments, and the best order after them. */
  get #told() {
    return [...this.analysis.moments, ...(this.analysis.best === null ? [] : [this.analysis.best])];
  }

  #choose(number) {
    this.chosen = null;
    this.playback.pauseAt(this.#told[number].index);
    this.chosen = number;
    byId("moments").querySelector(`input[value="${number}"]`).checked = true;
    this.#showMoment();
    if (ONE_COLUMN.matches) document.querySelector(".board").scrollIntoView({ block: "nearest" });
  }

  #showMoment() {
    const { playback } = this;
    const { moment, index } = playback;
    this.controls?.update();
    if (moment === undefined || this.last === undefined) return;
    const one = this.chosen === null ? undefined : this.#told[this.chosen];
    const isChosen = one?.index === index && playback.hasArrived;
    if (!isChosen && this.chosen !== null && playback.index !== one.index) {
      this.chosen = null;
      for (const input of byId("moments").querySelectorAll(":checked")) input.checked = false;
    }
    if (isChosen) playback.board.define(one.symbols);
    playback.board.overlay.replaceChildren(...(isChosen ? one.shapes.map(drawShape) : []));
    say(byId("caption"), isChosen ? `Dashed: the ${one === this.analysis.best ? "best" : "better"} order.` : playback.isAtEnd && playback.hasArrived ? "The end." : playback.hasArrived ? `${phaseText(moment)}.` : phaseStory(playback.record.moments[Math.max(index - 1, 0)], moment));
    byId("practise").hidden = !isSettled(this.last) && (moment.phase === "over" || (playback.isAtEnd && playback.hasArrived));
    const key = `${index} ${this.last.turn}`;
    if (this.cardsKey === key) return;
    this.cardsKey = key;
    byId("cards").replaceChildren(...(moment.engaged ? drawCards(moment, this.cast) : []));
  }

  async #practise() {
    const side = this.side ?? "alpha";
    const { seats } = await request(`/api/tables/${encodeURIComponent(this.table)}`);
    const opponent = seats[SIDES.find((one) => one !== side)].agent;
    const agent = this.last.ends.some(({ reason }) => reason === "failed") ? STRONGEST : (opponent ?? STRONGEST);
    const { table, secrets } = await request(`/api/tables/${encodeURIComponent(this.table)}/practice`, { index: this.playback.index, side, agent });
    const game = { table, side, secret: secrets[side], isPractice: true };
    OwnGames.keep(game);
    return leaveFor(OwnGames.seat(game));
  }
}

const parameters = new URLSearchParams(location.hash.slice(1));
const page = (window.page = new AfterPage(parameters.get("table") ?? ""));
if (parameters.has("class")) {
  byId("class").href = pageAddress("class", { class: parameters.get("class") });
  byId("class").hidden = false;
  followClass(parameters.get("class"), page.table);
}
window.addEventListener("hashchange", () => location.reload());
