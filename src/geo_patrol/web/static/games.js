import { attempt, FIRM_GAMES, opponentOf, OwnGames, ownRating, pageAddress, ratingText, refreshOwnGames, request } from "./client.js";
import { capitalized, Cast, counted, create, endText } from "./words.js";

const SHOWN = 8; // finished games, until more are asked for

/** The person's games, unfinished ones first, and the rating; all of it is known to this browser only. */
class GamesPage {
  constructor() {
    this.notice = document.getElementById("notice");
    this.isWhole = false;
    document.getElementById("more").addEventListener("click", () => {
      this.isWhole = true;
      this.#list();
    });
  }

  async open() {
    this.games = (await refreshOwnGames()).filter(({ state }) => state);
    this.#list();
    await this.#showRating();
  }

  #list() {
    const going = this.games.filter(({ state }) => !state.over).sort((one, other) => other.state.your_turn - one.state.your_turn);
    const over = this.games.filter(({ state }) => state.over);
    const none = (text) => [create("li", { class: "soft" }, text)];
    document.getElementById("unfinished").replaceChildren(...(going.length ? going.map((game) => this.#unfinished(game)) : none("None.")));
    const shown = this.isWhole ? over : over.slice(0, SHOWN);
    document.getElementById("finished").replaceChildren(...(shown.length ? shown.map((game) => this.#finished(game)) : none("None yet.")));
    const more = document.getElementById("more");
    more.hidden = shown.length === over.length;
    more.textContent = counted(over.length - shown.length, "earlier game");
  }

  #unfinished(game) {
    const { side, state } = game;
    const [own, other] = side === "alpha" ? state.score : [...state.score].reverse();
    const points = [own, `${state.estimated ? "~" : ""}${other}`];
    const what = state.your_turn ? `your ${state.phase} orders` : "waiting for the other side";
    const name = `${capitalized(opponentOf(game))}, turn ${state.turn}`;
    const text = create("div", {}, create("b", {}, name), create("div", { class: "soft" }, `${state.title} · ${points.join(" to ")} · ${what}`));
    const link = create("a", { class: state.your_turn ? "button main" : "button", href: OwnGames.seat(game), "aria-label": `${state.your_turn ? "Continue" : "Look"}: ${name}` }, state.your_turn ? "Continue" : "Look");
    return create("li", {}, text, link);
  }

  #finished(game) {
    const { side, state, table, isPractice } = game;
    const points = side === "alpha" ? state.score : [...state.score].reverse();
    const result = state.winner === null ? "Drawn" : state.winner === side ? "Won" : "Lost";
    const cast = new Cast(state.names, side);
    const end = endText({ ends: state.reasons, outcomes: [] }, cast);
    const about = `turn ${state.turn}: ${end}${isPractice ? " · practice" : ""}`;
    const opponent = opponentOf(game);
    const text = create("div", { class: "how" }, create("b", {}, result), create("span", {}, `${points.join(" to ")}, ${opponent}`, create("br"), create("span", { class: "soft" }, about)));
    const link = create("a", { class: "button", href: pageAddress("after", { table }), "aria-label": `Analysis: ${result} ${points.join(" to ")}, ${opponent}` }, "Analysis");
    return create("li", {}, text, link);
  }

  async #showRating() {
    const { levels } = await request("/api/choices");
    const rating = await ownRating(this.games, levels);
    const next = levels.find((level) => level.rating >= (rating?.rating ?? 0)) ?? levels.at(-1);
    const about =
      rating === null
        ? [create("p", {}, "Play a whole game of GEO Patrol without hints against one of the nine levels, and you have one.")]
        : [
            create("p", { class: "big num" }, ratingText(rating)),
            create("p", {}, `After ${counted(rating.games, "game")} against levels with known ratings${rating.games < FIRM_GAMES ? `: a first guess. ${FIRM_GAMES} games make a rating` : `. It lies between ${rating.low} and ${rating.high}`}.`),
          ];
    document.getElementById("rating").replaceChildren(...about, create("p", {}, create("a", { class: "button", href: "start.html" }, `Next: ${next.name}, ${next.rating}`)));
  }
}

const page = (window.page = new GamesPage());
attempt(() => page.open(), page.notice);
