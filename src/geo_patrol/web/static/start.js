import { attempt, DRAFT, forOthers, leaveFor, linkField, Network, openAndPlay, opponentOf, OwnGames, pageAddress, refreshOwnGames, request, start } from "./client.js";
import { Playback, REDUCED_MOTION } from "./playback.js";
import { byId, capitalized, Cast, COLORS, create, listed, phaseStory, say, SIDES, verdict } from "./words.js";

const LEVEL = "geo_patrol.level"; // in the browser's storage: the opponent that was chosen last
const OWN = "own"; // a scenario instead of a preset
const FIRST_LEVEL = 1; // of somebody who comes for the first time
const READY_SECONDS = 0.7;


/** The start page: an opponent and a game, and the ways to everything else. */
class StartPage {
  constructor() {
    this.form = byId("play");
    this.setup = byId("setup-form");
    this.button = this.form.querySelector(".main");
    this.notice = byId("notice");
    this.playback = new Playback(byId("board"), (playback) => this.#caption(playback));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      start(this.button, () => this.#play(), this.notice);
    });
    this.form.addEventListener("change", () => this.#showFoe());
    this.setup.addEventListener("change", () => this.#showSetting());
    this.setup.file.addEventListener("change", () => this.#run(this.notice, () => this.#readFile()));
    document.querySelector("[data-open=watch]").addEventListener("click", () => attempt(() => this.#listTables(), this.notice));
    for (const id of ["pair", "host"]) {
      const notice = byId(id).querySelector(".notice");
      const network = new Network(byId(id).querySelector(".network"), notice);
      document.querySelector(`[data-open=${id}]`).addEventListener("click", () => this.#run(notice, () => network.show()));
    }
    document.querySelector("[data-open=host]").addEventListener("click", () => this.choices && this.#prepareHost());
    byId("host-form").addEventListener("change", () => this.choices && this.#showHost());
    for (const [id, open] of [["same-screen", () => this.#playHere()], ["by-link", () => this.#playByLink()]])
      byId(id).addEventListener("click", ({ target }) => start(target, open, byId("pair").querySelector(".notice")));
    for (const [id, open] of [["watch", () => this.#watch()], ["host", () => this.#host()], ["join", () => this.#join()]])
      byId(`${id}-form`).addEventListener("submit", (event) => {
        event.preventDefault();
        start(event.submitter, open, event.target.querySelector(".notice"));
      });
  }

  async #run(notice, action) {
    notice.textContent = "";
    await attempt(action, notice);
  }

  /** Waits until games can be played, then offers them; goes where the server says if it was just started for that. */
  async open() {
    attempt(async () => this.#showBoard(await request("/static/board.json")), this.notice);
    const preparing = byId("preparing");
    for (;;) {
      const { ready, page, done, total, piece, failure } = await request("/api/ready");
      if (failure) throw new Error(failure);
      if (ready && page && location.hash === "#open") return void location.replace(page);
      if (ready) break;
      preparing.hidden = false;
      preparing.querySelector("progress").max = total;
      preparing.querySelector("progress").value = done + 0.3;
      say(preparing.querySelector("span"), `Preparing ${piece ?? "your games"}: ${done + 1} of ${total + 1}. The first time on a computer takes a minute.`);
      await new Promise((resolve) => setTimeout(resolve, READY_SECONDS * 1000));
    }
    history.replaceState(null, "", location.pathname);
    preparing.hidden = true;
    this.choices = await request("/api/choices");
    this.#offer();
    this.button.disabled = byId("setting").disabled = false;
    if (document.activeElement === document.body) this.button.focus({ focusVisible: false });
    attempt(() => this.#offerToContinue(), this.notice);
    attempt(() => this.#showDemo(), this.notice);
  }

  #offer() {
    const { levels, games, agents } = this.choices;
    const chosen = Number(localStorage.getItem(LEVEL) ?? FIRST_LEVEL);
    const radios = levels.map(({ name, rating }, i) => {
      const input = create("input", { type: "radio", name: "level", value: i, "aria-label": `${i + 1}, ${name}, rating ${rating}` });
      input.checked = i + 1 === chosen;
      return create("label", { class: "pick" }, input, String(i + 1));
    });
    this.form.querySelector(".levels").append(...radios);
    this.setup.preset.append(...games.map(([name, title, about]) => create("option", { value: name, "data-about": about }, title)));
    this.setup.preset.append(create("option", { value: OWN, "data-about": "Written as TOML; it may change a preset, as the example does." }, "A scenario of my own"));
    for (const name of ["preset", "clock", "hints"]) byId("host-form")[name].append(...[...this.setup[name].options].map((option) => option.cloneNode(true)));
    for (const select of [byId("watch-form").alpha, byId("watch-form").bravo, byId("host-form").agent]) select.append(...agents.map(([name, text]) => create("option", { value: name }, text)));
    byId("watch-form").alpha.value = levels[6].agent;
    byId("watch-form").bravo.value = levels[5].agent;
    byId("host-form").agent.value = levels[1].agent;
    this.setup.scenario.value = localStorage.getItem(DRAFT) ?? this.setup.scenario.value;
    this.#showFoe();
    this.#showSetting();
    this.#prepareHost(); // whose dialog may be open already
  }

  get level() {
    return this.choices.levels[Number(this.form.level.value)];
  }

  #showFoe() {
    localStorage.setItem(LEVEL, String(Number(this.form.level.value) + 1));
    const { name, rating, style } = this.level;
    byId("foe").replaceChildren(create("b", {}, `${name}, rated ${rating}${this.form.level.value === String(FIRST_LEVEL - 1) ? ", for a first game" : ""}.`), ` ${style}`);
  }

  #showSetting() {
    const { preset, side, clock, seed } = this.setup;
    byId("own").hidden = preset.value !== OWN;
    const [option] = preset.selectedOptions;
    byId("about-preset").textContent = option.dataset.about;
    const time = clock.value === "" ? "no clock" : `${clock.value.split(" ")[0]} seconds a phase`;
    byId("setting").textContent = `Game: ${option.textContent}, you are ${COLORS[side.value]}, ${time}${seed.value ? `, seed ${seed.value}` : ""}`;
  }

  /** Offers a class the game that is set. */
  #prepareHost() {
    const form = byId("host-form");
    for (const name of ["preset", "clock", "hints"]) form[name].value = this.setup[name].value;
    form.preset.querySelector(`[value=${OWN}]`).hidden = form.preset.value !== OWN; // it is written on the start page
    this.#showHost();
  }

  #showHost() {
    const { pairs, preset } = byId("host-form");
    say(byId("host-opponent"), pairs.value === "yes" ? "Opponent for a pupil without a partner" : "Opponent");
    say(byId("about-class"), preset.selectedOptions[0].dataset.about);
  }

  /** Returns what a table is asked for, without its seats. */
  #game({ preset, clock, hints } = this.setup) {
    const { scenario, seed } = this.setup;
    const [seconds, onTimeout] = clock.value.split(" ");
    return {
      ...(preset.value === OWN ? { scenario: scenario.value } : { preset: preset.value }),
      seed: seed.value === "" ? null : Number(seed.value),
      clock: seconds ? Number(seconds) : null,
      on_timeout: onTimeout ?? "hold",
      hints: hints.value === "yes",
    };
  }

  async #readFile() {
    const [file] = this.setup.file.files;
    if (file.size > 65536) throw new Error("file: it is longer than 65536 bytes");
    this.setup.scenario.value = await file.text();
  }

  #play() {
    const { agent } = this.level;
    return openAndPlay({ ...this.#game(), alpha: agent, bravo: agent }, this.setup.side.value);
  }

  #playHere() {
    return openAndPlay({ ...this.#game(), alpha: "link", bravo: "link" }, "alpha");
  }

  async #playByLink() {
    const side = this.setup.side.value;
    const other = SIDES.find((one) => one !== side);
    const { table, secrets } = await request("/api/tables", { ...this.#game(), alpha: "link", bravo: "link" });
    const game = { table, side, secret: secrets[side], title: "By a link" };
    OwnGames.keep(game);
    const link = linkField(`Send this to who plays ${COLORS[other]}, and to nobody else`, await forOthers(pageAddress("table", { table, secret: secrets[other] })));
    byId("links").replaceChildren(link, create("a", { class: "button main", href: OwnGames.seat(game) }, `Go to your seat, ${COLORS[side]}`));
  }

  async #watch() {
    const { alpha, bravo } = byId("watch-form");
    const { table } = await request("/api/tables", { ...this.#game(), alpha: alpha.value, bravo: bravo.value });
    return leaveFor(pageAddress("table", { table }));
  }

  async #host() {
    const form = byId("host-form");
    const { title, pairs, agent } = form;
    const { class: name, secret } = await request("/api/classes", { ...this.#game(form), title: title.value, agent: agent.value, pairs: pairs.value === "yes" });
    return leaveFor(pageAddress("class", { class: name, teacher: secret }));
  }

  async #join() {
    const code = byId("join-form").code.value.replace(/\s/g, "");
    const { class: name } = await request(`/api/classes/${encodeURIComponent(code)}`).catch((error) => {
      throw error.code === "no_table" ? new Error(`No class has the code ${code.toUpperCase()}. Look at the whiteboard again, or ask your teacher.`) : error;
    });
    return leaveFor(pageAddress("class", { class: name }));
  }

  async #listTables() {
    const { tables } = await request("/api/tables");
    const going = tables.filter(({ over }) => !over).reverse();
    const items = going.map(({ table, title, turn, score, seats }) => {
      const names = SIDES.map((side) => (seats[side].kind === "open" ? "nobody yet" : seats[side].name === "person" ? "somebody" : seats[side].name));
      const text = create("div", {}, create("b", {}, capitalized(`${names[0]} and ${names[1]}`)), create("div", { class: "soft" }, `${title}, turn ${turn}, ${score ? `${score.alpha} to ${score.bravo}` : "enemies are hidden"}`));
      const seat = SIDES.find((side) => seats[side].kind === "open");
      const take = create("button", { type: "button" }, `Play ${COLORS[seat]}`);
      take.addEventListener("click", () => start(take, () => this.#takeSeat(table, seat), byId("watch").querySelector(".notice")));
      const watch = create("a", { class: "button", href: pageAddress("table", { table }) }, "Watch");
      return create("li", {}, text, create("div", { class: "row" }, ...(seat ? [take] : []), ...(score ? [watch] : [])));
    });
    byId("tables").replaceChildren(...(items.length ? items : [create("li", { class: "soft" }, "No game is in progress.")]));
  }

  async #takeSeat(table, side) {
    const { secret } = await request(`/api/tables/${table}/seats/${side}`, {});
    OwnGames.keep({ table, side, secret });
    return leaveFor(OwnGames.seat({ table, secret }));
  }

  /** Offers the game that was left last and waits for the person. */
  async #offerToContinue() {
    const [game] = (await refreshOwnGames()).filter(({ state }) => state && !state.over);
    if (game === undefined) return;
    const link = byId("continue");
    link.href = OwnGames.seat(game);
    link.querySelector("span").textContent = `${opponentOf(game)}, turn ${game.state.turn}, ${game.state.your_turn ? "your orders" : "waiting"}`;
    link.hidden = false;
  }

  // The moving board

  #showBoard(record) {
    if (this.playback.moment === undefined) this.playback.load(record);
  }

  async #showDemo() {
    this.playback.load(await request("/api/demo"));
    if (REDUCED_MOTION.matches) this.playback.goTo(this.playback.record.moments.findIndex(({ engaged }) => engaged));
    else this.playback.setPlaying(true);
  }

  #caption({ moment, index, isPlaying, isAtEnd, hasArrived, record }) {
    if (moment === undefined || record.moments.length < 2) return; // or no game yet, but a board at rest
    const before = record.moments[Math.max(index - 1, 0)];
    const deeds = { shoot: "shots", collide: "collisions", guard: "guards" };
    const names = [...new Set(moment.outcomes.filter(({ attacker }) => attacker).map(({ action }) => deeds[action]))];
    const cast = new Cast(record.names, null);
    const what = moment.phase === "over" ? verdict(moment, cast) : moment.engaged ? `Turn ${moment.outcomesTurn}: ${listed(names)}${names.length > 1 ? ", all at once" : ""}` : phaseStory(before, moment);
    say(byId("caption"), what);
    if (!isPlaying && isAtEnd && hasArrived && !this.isEnding && !REDUCED_MOTION.matches) {
      this.isEnding = true;
      setTimeout(() => {
        this.isEnding = false;
        this.playback.goTo(0);
        this.playback.setPlaying(true);
      }, 5000);
    }
  }
}

const page = (window.page = new StartPage());
attempt(() => page.open(), page.notice);
