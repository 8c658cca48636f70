"use strict";

const REFRESH_SECONDS = 5;
const notice = document.getElementById("notice");

/** Sends a request; returns its answer, or throws an error with the server's words. */
async function request(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.text);
  return answer;
}

/** Runs an action; says what went wrong. */
async function attempt(action) {
  try {
    await action();
  } catch (error) {
    notice.textContent = error.message;
  }
}

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
    button.addEventListener("click", () => attempt(() => takeSeat(table, side)));
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

async function openTable(form) {
  const { preset, alpha, bravo, clock, on_timeout } = Object.fromEntries(new FormData(form));
  const asked = { preset, alpha, bravo, on_timeout, clock: clock === "" ? null : Number(clock) };
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

document.getElementById("new-class").addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(() => openClass(event.target));
});
document.getElementById("new").addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(() => openTable(event.target));
});
attempt(refresh);
setInterval(() => attempt(refresh), REFRESH_SECONDS * 1000);
