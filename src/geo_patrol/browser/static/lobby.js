"use strict";

const REFRESH_SECONDS = 5;
const notice = document.getElementById("notice");

/** Returns the address of a table, or of a seat: the part after # is never sent over the network. */
function address(table, secret) {
  const parameters = new URLSearchParams(secret === undefined ? { table } : { table, secret });
  return new URL(`table.html#${parameters}`, location.href).href;
}

function tableItem({ table, title, turn, over, winner, score, seats }) {
  const state = over ? `over: ${winner === null ? "draw" : `${winner} wins`}` : `turn ${turn}`;
  const names = SIDES.map((side) => `${seats[side].name} (${side})`).join(" against ");
  const text = create("div", {}, create("strong", {}, title), create("small", {}, `${names}; ${state}, ${score.alpha} to ${score.bravo}`));
  const actions = create("div", {});
  for (const side of SIDES) {
    if (seats[side].kind !== "open" || over) continue;
    const button = create("button", { type: "button" }, `Play ${side}`);
    button.addEventListener("click", () => attempt(() => takeSeat(table, side), notice));
    actions.append(button, " ");
  }
  actions.append(create("a", { href: address(table) }, over ? "Look at it" : "Watch"));
  return create("li", {}, text, actions);
}

async function takeSeat(table, side) {
  const { secret } = await request(`/api/tables/${table}/seats/${side}`, {});
  location.href = address(table, secret);
}

let shown = "";

/** Shows the tables; leaves the list as it is, with its focus, if nothing has changed. */
async function refresh() {
  const { tables } = await request("/api/tables");
  const content = JSON.stringify(tables);
  if (content === shown) return;
  shown = content;
  const items = tables.length ? tables.map(tableItem) : [create("li", {}, "No table is open.")];
  document.getElementById("tables").replaceChildren(...items);
}

/** Offers the games and the opponents that the server names. */
async function offer(form) {
  const { games, opponents } = await request("/api/choices");
  const options = (choices) => choices.map(([value, text]) => create("option", { value }, text));
  form.preset.replaceChildren(...options(games));
  form.opponent.replaceChildren(...options(opponents));
}

async function playAtOnce(form) {
  const { preset, opponent, side } = Object.fromEntries(new FormData(form));
  const { table, secrets } = await request("/api/tables", { preset, alpha: opponent, bravo: opponent, [side]: "link" });
  location.href = address(table, secrets[side]);
}

async function openTable(form) {
  const { preset, alpha, bravo, clock, on_timeout, hints } = Object.fromEntries(new FormData(form));
  const asked = { preset, alpha, bravo, on_timeout, clock: clock === "" ? null : Number(clock), hints: hints === "yes" };
  const { table, secrets } = await request("/api/tables", asked);
  const links = Object.entries(secrets).map(([side, secret]) =>
    create("label", {}, `Link for ${side}`, create("input", { readonly: "", value: address(table, secret) })),
  );
  document.getElementById("links").replaceChildren(...links);
  notice.textContent = "The table is open.";
  await refresh();
}

async function openClass(form) {
  const { title, preset, pairs, agent, clock } = Object.fromEntries(new FormData(form));
  const asked = { title, preset, pairs: pairs === "yes", agent, clock: clock === "" ? null : Number(clock) };
  const { class: name, secret } = await request("/api/classes", asked);
  location.href = new URL(`teacher.html#${new URLSearchParams({ class: name, secret })}`, location.href).href;
}

document.getElementById("play-now").addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(() => playAtOnce(event.target), notice);
});
document.getElementById("new-class").addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(() => openClass(event.target), notice);
});
document.getElementById("new").addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(() => openTable(event.target), notice);
});
attempt(() => offer(document.getElementById("play-now")), notice);
attempt(refresh, notice);
setInterval(() => attempt(refresh, notice), REFRESH_SECONDS * 1000);
