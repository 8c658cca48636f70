"use strict";

const form = document.getElementById("new");
const notice = document.getElementById("notice");

/** Opens a mission for everybody who gets its link, and goes there. */
async function openMission(asked) {
  const { challenge } = await request("/api/flights", asked);
  location.href = pageAddress("flight", { challenge });
}

/** Lists the missions of the package. */
async function listMissions() {
  const { missions } = await request("/api/missions");
  const items = missions.map(([mission, title, about]) => {
    const button = create("button", { type: "button", "aria-label": `Fly: ${title}` }, "Fly");
    button.addEventListener("click", () => attempt(() => openMission({ mission }), notice));
    return create("li", {}, create("div", {}, create("b", {}, title), create("div", { class: "soft" }, about)), button);
  });
  document.getElementById("missions").replaceChildren(...items);
}

form.mission.addEventListener("change", () => {
  for (const label of form.querySelectorAll("[data-for]")) label.hidden = label.dataset.for !== form.mission.value;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  const { title, mission, game, seed, scenario } = Object.fromEntries(new FormData(form));
  const asked = mission === "own" ? { title, scenario } : { title, mission, game, seed: seed === "" ? null : Number(seed) };
  attempt(() => openMission(asked), notice);
});
attempt(listMissions, notice);
