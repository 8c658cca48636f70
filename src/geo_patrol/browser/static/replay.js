"use strict";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const PAUSE_SECONDS = 0.3; // for which a position stands still before the next phase
const REDUCED_MOTION = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Returns a game's record, which the page holds compressed. */
async function readGame(index) {
  const text = document.getElementById(`game-${index}`).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Plays recorded games. */
class Player {
  constructor() {
    const find = (id) => document.getElementById(id);
    this.board = new BoardView(find("board"));
    this.panels = new Panels(document);
    [this.slider, this.play, this.speed, this.games, this.title, this.status] = [
      "position", "play", "speed", "games", "title", "status",
    ].map(find);
    this.index = 0;
    this.elapsed = 0; // seconds since the phase that led here began
    this.isPlaying = false;
    this.last = null;
    this.#listen();
  }

  async open(number) {
    this.number = number;
    this.games.value = String(number);
    this.record = await readGame(number);
    this.title.textContent = this.record.title;
    document.title = this.record.title;
    this.slider.max = String(this.record.moments.length - 1);
    this.board.load(this.record);
    this.goTo(0);
  }

  get moment() {
    return this.record.moments[this.index];
  }

  /** Shows a moment, or the phase that led there from its beginning. */
  goTo(index, { animated = false } = {}) {
    this.index = Math.min(Math.max(index, 0), this.record.moments.length - 1);
    this.elapsed = animated && !REDUCED_MOTION.matches ? 0 : this.moment.seconds;
    this.status.textContent = this.#summary();
    this.#draw();
  }

  pauseAt(index) {
    this.setPlaying(false);
    this.goTo(index);
  }

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    this.play.textContent = isPlaying ? "Pause" : "Play";
    this.play.setAttribute("aria-pressed", String(isPlaying));
    this.last = null;
    this.#request();
  }

  toggle() {
    if (!this.isPlaying && this.index === this.record.moments.length - 1) this.goTo(0);
    this.setPlaying(!this.isPlaying);
  }

  forward() {
    this.setPlaying(false);
    if (this.elapsed < this.moment.seconds) this.goTo(this.index);
    else if (this.index + 1 < this.record.moments.length) this.goTo(this.index + 1, { animated: true });
    this.#request();
  }

  /** Plays the next engagement, or the one before. */
  seekEngagement(step) {
    const { moments } = this.record;
    let index = this.index + step;
    while (index > 0 && index < moments.length && !moments[index].engaged) index += step;
    this.setPlaying(false);
    this.goTo(index, { animated: moments[index]?.engaged ?? false });
    this.#request();
  }

  changeSpeed(step) {
    const index = SPEEDS.indexOf(Number(this.speed.value)) + step;
    this.speed.value = String(SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)]);
  }

  #request() {
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame((now) => {
      this.requested = false;
      this.#tick(now);
    });
  }

  #tick(now) {
    const seconds = this.last === null ? 0 : ((now - this.last) / 1000) * Number(this.speed.value);
    this.last = now;
    this.elapsed += seconds;
    const isAtEnd = this.index === this.record.moments.length - 1;
    if (this.isPlaying && this.elapsed >= this.moment.seconds + PAUSE_SECONDS) {
      if (isAtEnd) this.setPlaying(false);
      else this.goTo(this.index + 1, { animated: true });
    }
    this.#draw();
    if (this.isPlaying || this.elapsed < this.moment.seconds) this.#request();
    else this.last = null;
  }

  #draw() {
    const progress = this.moment.seconds > 0 ? Math.min(this.elapsed / this.moment.seconds, 1) : 1;
    this.board.draw(this.moment, progress);
    const before = this.record.moments[Math.max(this.index - 1, 0)];
    this.panels.show(progress < 0.5 ? before : this.moment, this.record.names);
    this.slider.value = String(this.index);
    this.slider.setAttribute("aria-valuetext", headline(this.moment, this.record.names));
  }

  /** Returns what has happened, for screen readers. */
  #summary() {
    const { moment, record } = this;
    const outcomes = moment.engaged ? moment.outcomes.filter((outcome) => outcome[2] !== "").map(outcomeText) : [];
    const score = `score ${moment.score.join(" to ")}`;
    return [`${headline(moment, record.names)}, ${score}.`, ...outcomes].join(" ");
  }

  #listen() {
    const actions = {
      restart: () => this.pauseAt(0),
      "previous-engagement": () => this.seekEngagement(-1),
      back: () => this.pauseAt(this.index - 1),
      play: () => this.toggle(),
      forward: () => this.forward(),
      "next-engagement": () => this.seekEngagement(1),
      end: () => this.pauseAt(this.record.moments.length - 1),
    };
    for (const [id, run] of Object.entries(actions)) document.getElementById(id).addEventListener("click", run);
    this.slider.addEventListener("input", () => this.pauseAt(Number(this.slider.value)));
    this.games.addEventListener("change", () => this.open(Number(this.games.value)));
    const keys = {
      " ": actions.play,
      ArrowLeft: actions.back,
      ArrowRight: actions.forward,
      Home: actions.restart,
      End: actions.end,
      e: actions["next-engagement"],
      E: actions["previous-engagement"],
      "+": () => this.changeSpeed(1),
      "-": () => this.changeSpeed(-1),
    };
    document.addEventListener("keydown", (event) => {
      const isControl = event.target.matches("select, input") || (event.key === " " && event.target.matches("button"));
      if (!(event.key in keys) || isControl || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.#listenToSwipes();
  }

  /** On the board, a tap plays or pauses, a swipe to the left goes on, one to the right back. */
  #listenToSwipes() {
    let start = null;
    this.board.svg.addEventListener("pointerdown", (event) => {
      start = event.clientX;
    });
    this.board.svg.addEventListener("pointerup", (event) => {
      if (start === null) return;
      const distance = event.clientX - start;
      start = null;
      if (Math.abs(distance) < 10) this.toggle();
      else if (Math.abs(distance) > 40) distance < 0 ? this.forward() : this.pauseAt(this.index - 1);
    });
  }
}

const player = new Player();
const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("game") ?? 0);
player.open(document.getElementById(`game-${wanted}`) ? wanted : 0).then(() => {
  if (!REDUCED_MOTION.matches) player.setPlaying(true);
});
