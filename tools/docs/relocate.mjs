// Why: VitePress writes the path at which a site is served into every page and script. Here the same build works at any path: pages name their
// files relative to themselves, and scripts ask the page. The build has a base that occurs nowhere else; each form in which it is
// written is known, and another one is a fault.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export const BASE = "/__docs_base__/";
/** The path at which the site is served, as scripts see it. */
const HERE = "globalThis.__DOCS_BASE__";

/** The links of the page that came from the server become absolute, since another page takes its place without being loaded. */
const ABSOLUTE_LINKS = `for(const a of document.querySelectorAll("#app a[href]"))if(a.origin===location.origin&&!a.getAttribute("href").startsWith("#"))a.setAttribute("href",a.pathname+a.search+a.hash)`;

/** Served where there is no page, at a path of any depth: it refers to no other file. */
const NOT_FOUND = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Page not found | Virtual Workspaces</title>
  </head>
  <body style="font-family: system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
    <h1>Page not found</h1>
    <p>The documentation of Virtual Workspaces has no page at this address. Check the address, or begin at the home page.</p>
  </body>
</html>
`;

/** @param {string} html @param {string} page its path */
function page(html, page) {
  const up = "../".repeat(page.split("/").length - 1) || "./";
  const base = `<script>${HERE}=new URL(${JSON.stringify(up)},location.href).pathname</script>`;
  return html
    .replace("<head>", `<head>\n    ${base}`)
    .replace("</body>", `<script>${ABSOLUTE_LINKS}</script>\n  </body>`)
    .replaceAll(`"${BASE}`, `"${up}`);
}

/** @param {string} script @param {string} file */
function script(script, file) {
  if (!script.includes(BASE)) return script;
  const name = basename(file);
  // The identifiers of its documents are addresses.
  if (name.startsWith("@localSearchIndex"))
    return script.replace(/(;?\s*)export\s*\{/, `.replaceAll(${JSON.stringify(BASE)},${HERE});export{`);
  // A string in double quotes, which holds JSON.
  if (name.startsWith("metadata.")) return script.replaceAll(BASE, `"+${HERE}+"`);
  return script.replaceAll(JSON.stringify(BASE), `(${HERE})`);
}

/** Makes the site in this folder independent of the path at which it is served. @param {string} out */
export function relocate(out) {
  for (const file of globSync("**/*.{html,js,css}", { cwd: out, exclude: ["mermaid"] }).map((each) =>
    each.replaceAll("\\", "/"),
  )) {
    const path = join(out, file);
    const text = readFileSync(path, "utf8");
    if (file.endsWith(".js") && !text.includes(BASE)) continue;
    const moved = file.endsWith(".html")
      ? page(text, file)
      : file.endsWith(".js")
        ? script(text, file)
        : text.replaceAll(`url(${BASE}assets/`, "url(./");
    const index = basename(file).startsWith("@localSearchIndex");
    if (moved.includes(BASE) && !index)
      throw new Error(
        `${file} has the base of the site in a form that is not known: add it to tools/docs/relocate.mjs`,
      );
    writeFileSync(path, moved);
  }
  writeFileSync(join(out, "404.html"), NOT_FOUND);
}
