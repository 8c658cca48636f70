"use strict";

const LETTERS = "geo_patrol.letters"; // in the browser's storage: whether single letters are shortcuts
const CONTROLS_WITH_KEYS = "a, button, summary, select, input, textarea, .hit"; // where Enter has a meaning already

/** Single keys that do what buttons do, and a dialog that lists them, which ? opens. */
class Shortcuts {
  /**
   * @param {HTMLDialogElement} dialog with a table and a box to switch letters off.
   * @param {Array} groups pairs of a heading and actions: a key as people call it, what it does, the values of
   *   ``KeyboardEvent.key``, and the id of the button to press or a function; null where something else listens.
   */
  constructor(dialog, groups) {
    this.dialog = dialog;
    const all = groups.flatMap(([, actions]) => actions);
    this.actions = new Map(all.flatMap(([, , keys, action]) => keys.map((key) => [key, action])));
    for (const [name, , keys, action] of all) if (typeof action === "string") this.#mark(document.getElementById(action), name, keys);
    const lines = groups.flatMap(([heading, actions]) => [[heading, ""], ...actions.map(([name, text]) => [name, text])]);
    dialog.querySelector("table").replaceWith(lineTable(lines));
    const box = dialog.querySelector("input");
    box.checked = localStorage.getItem(LETTERS) !== "no";
    box.addEventListener("change", () => localStorage.setItem(LETTERS, box.checked ? "yes" : "no"));
    dialog.querySelector("button").addEventListener("click", () => dialog.close());
    this.box = box;
    window.addEventListener("keydown", (event) => this.#filter(event), { capture: true });
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  open() {
    this.dialog.showModal();
  }

  /** Keeps keys from everybody who listens while the dialog is open, and letters while they are switched off. */
  #filter(event) {
    const isLetter = event.key.length === 1 && event.key !== " ";
    if (this.dialog.open || (isLetter && !this.box.checked)) event.stopPropagation();
  }

  #mark(button, name, keys) {
    button.title = name;
    button.setAttribute("aria-keyshortcuts", keys.join(" "));
  }

  #press(event) {
    const action = this.actions.get(event.key);
    if (!action || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.matches(event.key === "Enter" ? CONTROLS_WITH_KEYS : "select, input, textarea")) return;
    event.preventDefault();
    if (typeof action === "function") action();
    else if (document.getElementById(action).offsetParent !== null) document.getElementById(action).click(); // it is visible
  }
}
