import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

const STRICT = join(import.meta.dirname, "src/pods/terminal/strict-style.ts");

/** Has xterm.js create its styles in a way that the content security policy allows. Fails if a new version creates them elsewhere. */
const strictXterm: Plugin = {
  name: "strict-xterm",
  transform: {
    filter: { id: /@xterm\/xterm\/lib\/xterm\.mjs$/ },
    handler(code) {
      let [elements, attributes] = [0, 0];
      const strict = code
        .replace(/[\w$.]+\.createElement\("style"\)/g, () => {
          elements += 1;
          return "createStyle()";
        })
        .replace(/([\w$]+)\.setAttribute\("style",/g, (_all, element: string) => {
          attributes += 1;
          return `setStyle(${element},`;
        });
      if (elements !== 3 || attributes !== 1) this.error("xterm.js creates its styles in another way than expected");
      return { code: `import { createStyle, setStyle } from ${JSON.stringify(STRICT)};\n${strict}`, map: null };
    },
  },
};

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
            { name: "terminal", test: /node_modules\/@xterm\// },
            { name: "yaml", test: /node_modules\/yaml\// },
          ],
        },
      },
    },
  },
  plugins: [strictXterm],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
