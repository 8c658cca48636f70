import { Controls, drawScores, Playback, REDUCED_MOTION, SPEEDS, turnScores } from "./playback.js";
import { NARROW } from "./scene.js";
import { Cast, create, drawCards, fleetTokens, lossText, phaseText, rulesOf, say, SIDES, verdict } from "./words.js";

/** Returns a game's record, which the page holds compressed, twice: phones get larger satellites, in stacks where needed. */
async function readGame(index) {
  const text = document.getElementById(`${NARROW.matches ? "narrow" : "game"}-${index}`).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Plays recorded games. */
class Player {
  constructor() {
    this.playback = new Playback(document.getElementById("board"), () => this.#show());
    this.controls = new Controls(document.querySelector(".stepping"), this.playback);
    this.games = document.getElementById("games");
    this.games.addEventListener("change", () => this.open(Number(this.games.value)));
    this.speed = document.getElementById("speed");
    this.speed.append(...SPEEDS.map((speed) => create("option", {}, String(speed))));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => (this.playback.speed = Number(this.speed.value)));
    const engagements = { "next-engagement": 1, "previous-engagement": -1 };
    for (const [id, step] of Object.entries(engagements)) document.getElementById(id).addEventListener("click", () => this.playback.seekEngagement(step));
    document.addEventListener("keydown", (event) => this.#press(event));
    this.#listenToSwipes();
  }

  async open(number) {
    this.games.value = String(number);
    const record = await readGame(number);
    if (this.games.value !== String(number)) return; // another one was chosen meanwhile
    document.title = record.title;
    this.cast = new Cast(record.names, null);
    document.querySelector(".rules").replaceChildren(...rulesOf(record.rules));
    this.playback.load(record);
  }

  /** Shows a moment beside its board: result or phase, scores, fleets, what happened. */
  #show() {
    this.controls.update();
    const { cast } = this;
    const { settled: shown, record } = this.playback;
    if (shown === this.shown) return;
    this.shown = shown;
    const find = (id) => document.getElementById(id);
    say(find("headline"), shown.phase === "over" ? verdict(shown, cast) : phaseText(shown));
    const scores = SIDES.map((side, i) => create("span", { class: `who ${side}` }, create("span", {}, cast.name(side)), " ", create("b", { class: "num" }, String(shown.score[i]))));
    find("score").replaceChildren(...scores);
    SIDES.forEach((side, i) => {
      say(find(`${side}-title`), `${cast.colored(side)}: fuel, and ● for a round`);
      find(side).replaceChildren(...fleetTokens(shown.fleets[i]).map(({ classes, label, parts }) => create("li", { class: classes }, create("span", { class: "sr" }, label), ...parts)));
    });
    find("cards").replaceChildren(...(shown.outcomes.length && shown.engaged ? drawCards(shown, cast) : []));
    const past = record.moments.slice(0, record.moments.indexOf(shown) + 1); // the rest is not known yet
    find("chart").hidden = turnScores(past).length < 2;
    if (!find("chart").hidden) drawScores(find("chart"), past, cast);
    const lost = shown.engaged ? lossText(shown.outcomes, cast) : "";
    say(find("status"), `${find("headline").textContent}. ${lost} Score ${shown.score.join(" to ")}.`);
  }

  #press(event) {
    const { actions } = this.controls;
    const speed = (step) => {
      const index = SPEEDS.indexOf(this.playback.speed) + step;
      this.playback.speed = SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)];
      this.speed.value = String(this.playback.speed);
    };
    const keys = {
      " ": actions.play,
      ArrowLeft: actions.back,
      ArrowRight: actions.forward,
      Home: actions.start,
      End: actions.end,
      e: () => this.playback.seekEngagement(1),
      E: () => this.playback.seekEngagement(-1),
      "+": () => speed(1),
      "-": () => speed(-1),
    };
    const { key, target } = event;
    const isTaken = target.matches("select, input") || (key === " " && target.matches("button, summary"));
    if (!(key in keys) || isTaken || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[key]();
  }

  /** On the board, a tap plays or pauses, a swipe to the left goes on, one to the right back. */
  #listenToSwipes() {
    const { svg } = this.playback.board;
    let start = null;
    svg.addEventListener("pointerdown", ({ clientX }) => (start = clientX));
    svg.addEventListener("pointerup", ({ clientX }) => {
      if (start === null) return;
      const distance = clientX - start;
      start = null;
      if (Math.abs(distance) < 10) this.playback.toggle();
      else if (Math.abs(distance) > 40) distance < 0 ? this.playback.forward() : this.playback.pauseAt(this.playback.index - 1);
    });
  }
}

if (!("DecompressionStream" in window)) document.getElementById("headline").textContent = "This page needs a newer browser, of 2023 or later.";
const page = (window.page = new Player());
const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("game") ?? 0);
page.open(document.getElementById(`game-${wanted}`) ? wanted : 0).then(() => {
  if (!REDUCED_MOTION.matches) page.playback.setPlaying(true);
});
