// The theme's buttons that fold parts of the sidebar have no names that screen readers could say.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("li.has-children > details > summary")) {
    const page = button.closest("li").querySelector("a").textContent.trim();
    button.setAttribute("aria-label", `Pages below ${page}`);
  }
});

// The search reads pages to show excerpts of them. Browsers do not allow that to pages that are opened as files: there, the
// texts come from a script. Elsewhere the words of buttons that fold code away are left out.
if (DOCUMENTATION_OPTIONS.pagename === "search") {
  const root = document.documentElement.dataset.content_root;
  const isFile = location.protocol === "file:";
  const loaded = new Promise((resolve) => {
    if (!isFile) return void resolve();
    const script = document.createElement("script");
    script.src = `${root}_static/texts.js`;
    script.addEventListener("load", resolve);
    document.head.append(script);
  });
  const { fetch } = window;
  window.fetch = async (address) => {
    await loaded;
    if (!isFile) {
      const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
      for (const summary of page.querySelectorAll("details.hide > summary")) summary.remove();
      return new Response(page.documentElement.outerHTML);
    }
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.textContent = window.SITE_TEXTS[address.slice(root.length).replace(/\.html$/, "")] ?? "";
    return new Response(main.outerHTML);
  };
}
