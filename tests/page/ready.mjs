/** What a Python worker says when it is up. */
export const READY = {
  kind: "ready",
  version: "1",
  python: "3",
  numpy: "2",
  isRestored: true,
  isQuick: true,
  timings: {},
};
