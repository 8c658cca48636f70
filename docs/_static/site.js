// The theme's buttons that fold parts of the sidebar have no names that screen readers could say.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("li.has-children > details > summary")) {
    const page = button.closest("li").querySelector("a").textContent.trim();
    button.setAttribute("aria-label", `Pages below ${page}`);
  }
});
