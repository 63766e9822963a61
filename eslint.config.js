// A few rules that catch mistakes; types are checked by tsc.

import globals from "globals";

const rules = {
  eqeqeq: "error",
  "no-undef": "error",
  "no-unused-vars": ["error", { args: "after-used", caughtErrors: "all" }],
  "no-var": "error",
  "prefer-const": "error",
};

/** The page's state is in static/js/state/store.js; a module has none of its own. */
const noModuleState = [
  "error",
  {
    selector:
      ":matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration[kind='let']",
    message: "A module has no state: keep it in the store, or in an object that the caller owns.",
  },
];

export default [
  {
    ignores: [
      "static/bundled/",
      "static/js/records/",
      "static/vendor/",
      "node_modules/",
      "var/",
      ".venv/",
      "build/",
      "dist/",
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["static/**/*.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
    rules: { ...rules, "no-restricted-syntax": noModuleState },
  },
  {
    files: ["**/*.mjs", "eslint.config.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules,
  },
  {
    files: ["bench/**/*.js", "tests/**/*.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
    rules,
  },
];
