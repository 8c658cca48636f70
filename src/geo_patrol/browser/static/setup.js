"use strict";

const OWN = "own"; // instead of a preset
const MAX_SCENARIO_BYTES = 65536; // as the server's

/** Fills a list with choices: a value, what it is called, and a sentence that is shown below it. */
function offer(select, choices, note) {
  note.id = `about-${select.form.id}-${select.name}`;
  select.setAttribute("aria-label", select.parentElement.firstChild.textContent.trim()); // without the note
  select.setAttribute("aria-describedby", note.id);
  select.append(...choices.map(([value, text, about]) => create("option", { value, "data-about": about }, text)));
  const show = () => (note.textContent = select.selectedOptions[0].dataset.about);
  select.addEventListener("change", show);
  show();
}

/** The game of a new table or class: a form with the fields of the template "setup". */
class SetupForm {
  /**
   * @param {HTMLFormElement} form with an element of the class setup, where the fields go, and one of the class notice.
   * @param {function(object)} open called with the game that is asked for and all other fields.
   */
  constructor(form, open) {
    this.form = form;
    this.notice = form.querySelector(".notice");
    form.querySelector(".setup").replaceWith(document.getElementById("setup").content.cloneNode(true));
    this.own = form.querySelector(".own");
    form.preset.addEventListener("change", () => this.#showOwn());
    form.clock.addEventListener("input", () => this.#showTimeout());
    form.file.addEventListener("change", () => this.#try(() => this.#readFile()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#try(() => open(this.#game(), new FormData(form)));
    });
    form.addEventListener("input", ({ target }) => this.#clear(target));
    this.#showTimeout();
  }

  /** Offers the games that the server names. */
  offer(games) {
    const own = [OWN, "A scenario of my own", "Written as TOML; it may change a preset, as the example does."];
    offer(this.form.preset, [...games, own], this.form.querySelector(".about-game"));
    this.#showOwn();
  }

  #showOwn() {
    this.own.hidden = this.form.preset.value !== OWN;
  }

  #showTimeout() {
    this.form.on_timeout.disabled = this.form.clock.value === "";
  }

  #game() {
    const { preset, scenario, seed, clock, on_timeout, hints } = this.form;
    const number = ({ value }) => (value === "" ? null : Number(value));
    const game = preset.value === OWN ? { scenario: scenario.value } : { preset: preset.value };
    return { ...game, seed: number(seed), clock: number(clock), on_timeout: on_timeout.value, hints: hints.value === "yes" };
  }

  async #readFile() {
    const [file] = this.form.file.files;
    if (file === undefined) return;
    if (file.size > MAX_SCENARIO_BYTES) throw new Error(`file: it is longer than ${MAX_SCENARIO_BYTES} bytes`);
    this.form.scenario.value = await file.text();
    this.#clear(this.form.scenario);
  }

  async #try(action) {
    this.notice.textContent = "";
    for (const field of this.form.querySelectorAll("[aria-invalid]")) this.#clear(field);
    try {
      await action();
    } catch ({ message }) {
      const field = this.#fieldOf(message);
      if (field === null) this.notice.textContent = message;
      else this.#accuse(field, message);
    }
  }

  /** Returns the field that an error names; what the server says of a configuration is about the scenario. */
  #fieldOf(message) {
    const field = this.form.elements.namedItem(message.match(/^\w+/)?.[0] ?? "");
    if (field !== null) return field;
    return message.startsWith("configuration") && !this.own.hidden ? this.form.scenario : null;
  }

  #accuse(field, message) {
    const id = `fault-${this.form.id}-${field.name}`;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", id);
    field.closest("label").append(create("span", { id, class: "fault", role: "alert" }, message));
    field.focus();
  }

  #clear(field) {
    if (field.getAttribute("aria-invalid") === null) return;
    field.removeAttribute("aria-invalid");
    document.getElementById(field.getAttribute("aria-errormessage")).remove();
    field.removeAttribute("aria-errormessage");
  }
}
