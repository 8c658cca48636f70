"use strict";

const REFRESH_SECONDS = 5;
const SEATS = [
  ["me", "me", "You play this side."],
  ["link", "a person, by a link", "You get a link to send to whoever plays this side."],
  ["open", "whoever comes first", "Anybody may take this side in the lobby."],
];
const byId = (id) => document.getElementById(id);

function playerName(seats, side) {
  return `${seats[side].kind === "open" ? "nobody yet" : seats[side].name} (${side})`;
}

function tableItem({ table, title, turn, over, winner, score, seats }) {
  const result = winner === null ? "draw" : `${playerName(seats, winner)} wins`;
  const state = over ? `${result} in turn ${turn}` : `turn ${turn}`;
  const names = SIDES.map((side) => playerName(seats, side)).join(" against ");
  const text = create("div", {}, create("strong", {}, title), create("small", {}, `${names}; ${state}, ${score.alpha} to ${score.bravo}`));
  return create("li", {}, text, create("div", { class: "actions" }, ...(over ? replayLinks(table) : seatButtons(table, seats)), watchLink(table, over)));
}

function watchLink(table, over) {
  return create("a", { href: watchAddress(table) }, over ? "Look at it" : "Watch");
}

function replayLinks(table) {
  return [
    create("a", { href: `/replays/${table}.html`, download: "" }, "Page"),
    create("a", { href: `/replays/${table}.jsonl.gz`, download: "" }, "Replay file"),
  ];
}

function seatButtons(table, seats) {
  return SIDES.filter((side) => seats[side].kind === "open").map((side) => {
    const button = create("button", { type: "button" }, `Play ${side}`);
    button.addEventListener("click", () => attempt(() => takeSeat(table, side), byId("notice")));
    return button;
  });
}

async function takeSeat(table, side) {
  const { secret } = await request(`/api/tables/${table}/seats/${side}`, {});
  location.href = tableAddress({ table, secret });
}

let shown = "";

/** Shows the tables; leaves the lists as they are, with their focus, if nothing has changed. */
async function refresh() {
  const { tables } = await request("/api/tables");
  const content = JSON.stringify(tables);
  if (content === shown) return;
  shown = content;
  const [going, finished] = [false, true].map((over) => tables.filter((table) => table.over === over).map(tableItem).reverse());
  byId("tables").replaceChildren(...(going.length ? going : [create("li", {}, "No game is in progress.")]));
  byId("finished").replaceChildren(...finished);
  byId("finished-games").hidden = finished.length === 0;
}

/** Opens a table; whoever plays there and has no link to send is led to the seat at once. */
async function openTable(game, fields) {
  const seats = Object.fromEntries(SIDES.map((side) => [side, fields.get(side)]));
  const mine = SIDES.filter((side) => seats[side] === "me");
  if (mine.length === 2) throw new Error("bravo: you play alpha already; choose somebody else");
  if (mine.length === 1 && !Object.values(seats).includes("link")) {
    await openAndPlay({ ...game, ...seats }, mine[0]);
    return;
  }
  const asked = Object.fromEntries(SIDES.map((side) => [side, seats[side] === "me" ? "link" : seats[side]]));
  const { table, secrets } = await request("/api/tables", { ...game, ...asked });
  showLinks(table, secrets, mine[0]);
  await refresh();
}

/** Shows the links of a new table, with whom to send which. */
function showLinks(table, secrets, mine) {
  const address = (side) => tableAddress({ table, secret: secrets[side] });
  const others = Object.keys(secrets).filter((side) => side !== mine);
  const fields = others.map((side) => linkField(`Send this to the player of ${side}, and to nobody else: who has it plays ${side}.`, address(side)));
  const watching = linkField("Send this to those who want to watch.", watchAddress(table));
  const own = mine === undefined ? [] : [create("p", {}, create("a", { class: "button", href: address(mine) }, `Go to your seat, ${mine}`))];
  const heading = create("h3", { tabindex: "-1" }, "The table is open");
  byId("links").replaceChildren(heading, ...fields, watching, ...own);
  heading.focus();
}

async function openClass(game, fields) {
  const asked = { ...game, title: fields.get("title"), agent: fields.get("agent"), pairs: fields.get("pairs") === "yes" };
  const { class: name, secret } = await request("/api/classes", asked);
  location.href = new URL(`teacher.html#${new URLSearchParams({ class: name, secret })}`, location.href).href;
}

async function playAtOnce(form) {
  const { preset, opponent, side } = Object.fromEntries(new FormData(form));
  await openAndPlay({ preset, alpha: opponent, bravo: opponent }, side);
}

/** Fills all lists with what the server names. */
async function offerChoices(newTable, newClass) {
  const { games, opponents, agents } = await request("/api/choices");
  const forms = { now: byId("play-now"), table: newTable.form, class: newClass.form };
  const note = (select) => select.parentElement.querySelector("small");
  offer(forms.now.preset, games, note(forms.now.preset));
  offer(forms.now.opponent, opponents, note(forms.now.opponent));
  newTable.offer(games);
  newClass.offer(games);
  for (const side of SIDES) offer(forms.table[side], [...SEATS, ...agents], note(forms.table[side]));
  forms.table.alpha.value = "me";
  forms.table.bravo.value = "link";
  offer(forms.class.agent, agents, note(forms.class.agent));
  forms.class.preset.value = "king_of_the_hill";
  for (const select of document.querySelectorAll("select")) select.dispatchEvent(new Event("change"));
}

byId("name").value = localStorage.getItem(NAME) ?? "";
byId("name").addEventListener("change", ({ target }) => localStorage.setItem(NAME, target.value.trim()));
byId("play-now").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => playAtOnce(event.target), byId("notice"));
});
const newTable = new SetupForm(byId("new"), openTable);
const newClass = new SetupForm(byId("new-class"), openClass);
attempt(() => offerChoices(newTable, newClass), byId("notice"));
attempt(refresh, byId("notice"));
setInterval(() => attempt(refresh, byId("notice")), REFRESH_SECONDS * 1000);
