/** The kinds of devices. Made by `python -m tools.messages` of app/playgrad/devices/kinds.py. */
export const KINDS = [
  {"name": "gpu", "title": "GPU", "onCores": false, "runsPlans": true, "isListed": true, "isOffered": true},
  {"name": "cpu", "title": "processor", "onCores": true, "runsPlans": false, "isListed": false, "isOffered": true},
  {"name": "reference", "title": "reference", "onCores": true, "runsPlans": false, "isListed": false, "isOffered": false},
];
