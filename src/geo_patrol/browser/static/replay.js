"use strict";

/** Returns a game's record, which the page holds compressed, twice: phones get larger satellites, in stacks where needed. */
async function readGame(index) {
  const isNarrow = window.matchMedia("(max-width: 40rem)").matches;
  document.getElementById("board").classList.toggle("narrow", isNarrow);
  const text = document.getElementById(`${isNarrow ? "narrow" : "game"}-${index}`).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Plays recorded games. */
class Player extends Playback {
  constructor() {
    super(document);
    this.games = document.getElementById("games");
    this.games.addEventListener("change", () => this.open(Number(this.games.value)));
    this.#listenToSwipes();
  }

  async open(number) {
    this.games.value = String(number);
    const record = await readGame(number);
    document.title = record.title;
    this.load(record);
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

if (!("DecompressionStream" in window))
  document.querySelector(".headline").textContent = "This page needs a newer browser, of 2023 or later.";
const player = new Player();
const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("game") ?? 0);
player.open(document.getElementById(`game-${wanted}`) ? wanted : 0).then(() => {
  if (!REDUCED_MOTION.matches) player.setPlaying(true);
});
