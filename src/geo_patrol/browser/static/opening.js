"use strict";

const NAME = "geo_patrol.name"; // in the browser's storage: what the person is called
const ASKED = "geo_patrol.asked."; // with the table: what was asked for, to play it again

/** Returns the address of a page about a table; the part after # is never sent over the network. */
function tableAddress(parameters) {
  return new URL(`/static/table.html#${new URLSearchParams(parameters)}`, location.href).href;
}

/** Returns the short address at which everybody may watch a table. */
function watchAddress(table) {
  return new URL(`/table/${encodeURIComponent(table)}`, location.href).href;
}

/** Opens a table and takes a seat of it, that of the given side; nobody else needs a link. */
async function openAndPlay(asked, side) {
  const { table, secrets } = await request("/api/tables", { ...asked, [side]: "link" });
  sessionStorage.setItem(ASKED + table, JSON.stringify({ asked, side }));
  location.href = tableAddress({ table, secret: secrets[side] });
}

/** Returns what ``openAndPlay`` was asked for a table, with the sides swapped if so wished; null if nothing was. */
function askedFor(table, isSwapped) {
  const saved = JSON.parse(sessionStorage.getItem(ASKED + table));
  if (saved === null || !isSwapped) return saved;
  const { asked, side } = saved;
  return { asked: { ...asked, alpha: asked.bravo, bravo: asked.alpha }, side: side === "alpha" ? "bravo" : "alpha" };
}

/** Returns a link as a field with a button that copies it. */
function linkField(text, address) {
  const input = create("input", { readonly: "", value: address });
  const button = create("button", { type: "button", "aria-label": `Copy: ${text}` }, "Copy");
  const status = create("span", { role: "status" });
  input.addEventListener("focus", () => input.select());
  button.addEventListener("click", async () => {
    input.select();
    const isCopied = await (navigator.clipboard?.writeText(address).then(() => true, () => false) ?? false);
    status.textContent = isCopied || document.execCommand("copy") ? "Copied." : "Press Ctrl C to copy it.";
  });
  return create("p", { class: "link" }, create("label", {}, text, input), button, status);
}
