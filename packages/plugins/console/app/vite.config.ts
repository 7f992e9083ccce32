import { join } from "node:path";
import { defineConfig } from "vite";

/** The page loads all its files by relative URLs, so that it works below any prefix. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  build: {
    outDir: join(import.meta.dirname, "../dist/app"),
    emptyOutDir: true,
    target: "es2024",
    // The content security policy allows no inline code.
    assetsInlineLimit: 0,
    // Licenses of the packages that the page contains.
    license: { fileName: "licenses.md" },
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Names for the parts that are loaded when they are needed.
        codeSplitting: {
          groups: [
            {
              name: "editor",
              test: /node_modules\/(@codemirror\/(?!merge)|@lezer|@marijn|codemirror|crelt|style-mod|w3c)/,
            },
            { name: "yaml", test: /node_modules\/yaml\// },
          ],
        },
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
