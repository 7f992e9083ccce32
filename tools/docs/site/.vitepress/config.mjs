import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { accessibleTheme } from "../../accessible.mjs";
import { anchorOf, plain } from "../../markdown.mjs";
import { BASE } from "../../relocate.mjs";
import { searchable, weight } from "../../search.mjs";

const pages = String(process.env["DOCS_PAGES"]);
const { version, sidebar, edit } = JSON.parse(readFileSync(join(pages, "site.json"), "utf8"));
const first = (/** @type {string} */ part) => sidebar["/"].find((/** @type {any} */ { text }) => text === part);
/** @param {any} item @returns {string} */
const linkOf = (item) => item.link ?? linkOf(item.items[0]);
const nav = ["Tutorials", "How-to guides", "Reference", "Explanation"].map((text) => ({
  text,
  link: linkOf(first(text)),
  activeMatch: `^/${text.toLowerCase().replace(" guides", "")}/(?!api/)`,
}));

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3451b2"/><path d="M8 9l8 14 8-14" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/></svg>`;

export default defineConfig({
  title: "Virtual Workspaces",
  description: "Kubernetes-style API servers that serve computed views, in TypeScript, compatible with kcp.",
  lang: "en",
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  base: BASE,
  srcDir: pages,
  outDir: String(process.env["DOCS_OUT"]),
  cacheDir: fileURLToPath(new URL("../../node_modules/.cache/vitepress", import.meta.url)),
  cleanUrls: false,
  metaChunk: true,
  markdown: {
    html: false,
    linkify: false,
    attrs: { disable: true },
    // Their colours can be told from the background by everybody.
    theme: { light: "github-light-high-contrast", dark: "github-dark-default" },
    languageAlias: { console: "shellsession" },
    anchor: { slugify: anchorOf },
    toc: { slugify: anchorOf },
    config: plain,
  },
  vite: {
    plugins: [accessibleTheme()],
    build: { chunkSizeWarningLimit: 10_000, reportCompressedSize: false },
    logLevel: "warn",
  },
  themeConfig: {
    nav: [
      ...nav,
      { text: "API", link: "/reference/api/index", activeMatch: "^/reference/api/" },
      {
        text: `v${version}`,
        items: [
          { text: "Changelog", link: "/source/CHANGELOG" },
          { text: "Contributing", link: "/source/CONTRIBUTING" },
        ],
      },
    ],
    sidebar,
    outline: { level: [2, 3] },
    editLink: { pattern: edit, text: "Edit this page" },
    search: {
      provider: "local",
      options: { _render: searchable, miniSearch: { searchOptions: { boostDocument: weight } } },
    },
  },
});
