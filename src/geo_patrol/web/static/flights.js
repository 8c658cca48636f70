import { attempt, leaveFor, pageAddress, request, start } from "./client.js";
import { drawShape } from "./scene.js";
import { capitalized, create, rulesOf, svgElement } from "./words.js";

const form = document.getElementById("new");
const notice = document.getElementById("notice");
const HARDEST = 5;

/** Lists the missions of the package from easy to hard, and shows the rules. */
async function listMissions() {
  const { levels, rules, scoring } = await request("/api/missions");
  const parts = levels.flatMap(([level, missions]) => [create("h3", {}, level), create("ul", { class: "missions" }, ...missions.map(missionItem))]);
  document.getElementById("missions").replaceChildren(...parts);
  document.getElementById("rules").replaceChildren(...rulesOf([...rules, ["Points", scoring]]));
}

function missionItem({ name, title, kind, difficulty, task, turns, known, size, map }) {
  const picture = svgElement("svg", { viewBox: `0 0 ${size.join(" ")}`, class: "map", "aria-hidden": "true" });
  picture.append(...map.map(drawShape));
  const link = create("a", { class: "button", href: pageAddress("flight", { mission: name }), "aria-label": `Fly: ${title}` }, "Fly");
  const dots = create("span", { role: "img", "aria-label": `difficulty ${difficulty} of ${HARDEST}` }, "●".repeat(difficulty) + "○".repeat(HARDEST - difficulty));
  const about = [create("p", { class: "row spread soft" }, capitalized(kind), dots), create("p", {}, task)];
  const best = create("p", { class: "soft" }, `Up to ${turns} turns. Best known: ${known}.`);
  return create("li", {}, picture, create("b", {}, title), ...about, best, link);
}

form.mission.addEventListener("change", () => {
  for (const label of form.querySelectorAll("[data-for]")) label.hidden = label.dataset.for !== form.mission.value;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { mission, game, seed, scenario } = Object.fromEntries(new FormData(form));
  const asked = mission === "own" ? { scenario } : { game, seed: seed === "" ? null : Number(seed) };
  start(event.submitter, () => openMission(asked), notice);
});

/** Goes to the page of a random mission, or of one's own. */
async function openMission(asked) {
  const { page } = await request("/api/missions", asked);
  return leaveFor(page);
}

attempt(listMissions, notice);
