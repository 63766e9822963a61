// The menu on narrow screens, and the search field. Not a form: the server's policy forbids
// submitting one.
const menu = document.querySelector(".menu-button");
const contents = document.getElementById("contents");
menu.hidden = false;
menu.addEventListener("click", () => {
  const open = contents.toggleAttribute("data-open");
  menu.setAttribute("aria-expanded", String(open));
});

const search = document.querySelector(".search");
const field = search.querySelector("input");
search.hidden = false;
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && field.value.trim()) {
    location.href = `${search.dataset.page}?q=${encodeURIComponent(field.value.trim())}`;
  }
});
