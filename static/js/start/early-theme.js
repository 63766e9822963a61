// A classic script that runs before the first paint, so that the other theme does not flash.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("playgrad.theme");
  } catch {
    // Storage may be forbidden; then the system's theme applies.
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
}
