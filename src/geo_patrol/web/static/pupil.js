import { pageAddress, request, showPause } from "./client.js";

const PLACE_SECONDS = 2;
const SAVED = "geo_patrol.class."; // in the browser's storage, with the code of a class: the pupil's secret

/** Where a pupil of a class is, as the server says it every two seconds. */
export class Place {
  /**
   * @param {string} code of the class.
   * @param {function(object)} show called with what the server says; "gone" where the pupil is nobody in the class any more.
   * @param {function(string)} fail called with what went wrong, "" after it.
   */
  constructor(code, show, fail = () => {}) {
    Object.assign(this, { code, show, fail, base: `/api/classes/${encodeURIComponent(code)}` });
    setInterval(() => this.refresh(), PLACE_SECONDS * 1000);
    this.refresh();
  }

  get secret() {
    return localStorage.getItem(SAVED + this.code);
  }

  set secret(secret) {
    if (secret === null) localStorage.removeItem(SAVED + this.code);
    else localStorage.setItem(SAVED + this.code, secret);
  }

  /** Asks the server, about what is at a path. */
  async refresh(path = "place") {
    if (this.secret === null) return;
    try {
      const place = await request(`${this.base}/${path}`, { secret: this.secret });
      this.fail("");
      showPause(place.paused);
      this.show(place);
    } catch (error) {
      if (error.code !== "wrong_secret") return void this.fail(error.message);
      this.secret = null;
      showPause(false);
      this.show({ gone: true });
    }
  }

  /** Goes to the table of a game. */
  go(table) {
    location.replace(pageAddress("table", { table, secret: this.secret, class: this.code, ...(this.isMoved ? { moved: "yes" } : {}) }));
  }
}

/** Takes a pupil from another page to the next game as soon as it has begun, and shows there what the teacher pauses. */
export function followClass(code, table) {
  const follow = new Place(code, (place) => {
    if (!place.gone && place.table !== null && place.table !== table && !place.over) follow.go(place.table);
  });
}
