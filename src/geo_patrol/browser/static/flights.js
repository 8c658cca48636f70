"use strict";

const form = document.getElementById("new");
const notice = document.getElementById("notice");
const hints = document.getElementById("hints");

/** Lists the missions of the package from easy to hard, and shows the rules. */
async function listMissions() {
  const { levels, rules, scoring } = await request("/api/missions");
  const parts = levels.flatMap(([level, missions]) => [create("h3", {}, level), create("ul", { class: "list" }, ...missions.map(missionItem))]);
  document.getElementById("missions").replaceChildren(...parts);
  document.getElementById("rules").replaceChildren(...rulesOf([...rules, ["Points", scoring]]));
}

function missionItem({ name, title, task, turns, known }) {
  const button = create("button", { type: "button", "aria-label": `Fly: ${title}` }, "Fly");
  button.addEventListener("click", () => attempt(() => openMission({ mission: name, hints: hints.checked }), notice));
  const about = create("div", { class: "soft" }, `${task} Up to ${turns} turns; best known: ${known}.`);
  return create("li", {}, create("div", {}, create("b", {}, title), about), button);
}

form.mission.addEventListener("change", () => {
  for (const label of form.querySelectorAll("[data-for]")) label.hidden = label.dataset.for !== form.mission.value;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  const { title, mission, game, seed, scenario } = Object.fromEntries(new FormData(form));
  const asked = mission === "own" ? { title, scenario } : { title, mission, game, seed: seed === "" ? null : Number(seed) };
  attempt(() => openMission({ ...asked, hints: hints.checked }), notice);
});
attempt(listMissions, notice);
