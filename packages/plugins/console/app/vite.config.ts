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
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
