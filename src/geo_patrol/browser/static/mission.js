"use strict";

const form = document.getElementById("new");
const notice = document.getElementById("notice");

/** Says what the chosen mission is about, and shows the fields that it has. */
function showFields() {
  document.getElementById("mission-task").textContent = form.mission.selectedOptions[0].dataset.about;
  for (const label of form.querySelectorAll("[data-for]")) label.hidden = label.dataset.for !== form.mission.value;
}

/** Offers the missions that the server names, before the other kinds. */
async function offerMissions() {
  const { missions } = await request("/api/missions");
  form.mission.prepend(...missions.map(([value, text, about]) => create("option", { value, "data-about": about }, text)));
  form.mission.value = "sample";
  showFields();
}

async function openMission() {
  const { title, mission, game, seed, scenario } = Object.fromEntries(new FormData(form));
  const kinds = {
    own: { scenario },
    random: { mission, game, seed: seed === "" ? null : Number(seed) },
  };
  const { challenge } = await request("/api/flights", { title, ...(kinds[mission] ?? { mission }) });
  location.href = new URL(`flight.html#${new URLSearchParams({ challenge })}`, location.href).href;
}

form.mission.addEventListener("change", showFields);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  notice.textContent = "";
  attempt(openMission, notice);
});
showFields();
attempt(offerMissions, notice);
