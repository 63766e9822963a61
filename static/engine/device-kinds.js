/** The kinds of devices. Made by `python -m tools.messages` of app/playgrad/devices/kinds.py. */
export const KINDS = [
  {"name": "gpu", "title": "GPU", "onCores": false, "runsPlans": true, "isListed": true},
  {"name": "cpu", "title": "processor", "onCores": true, "runsPlans": false, "isListed": false},
];
