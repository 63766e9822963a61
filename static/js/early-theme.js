// A classic script, run before the first paint, so that a chosen theme does not flash past.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("playgrad.theme");
  } catch {
    // Storage may be forbidden; the system's theme it is, then.
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
}
