// Why: the site is built in steps that nothing else needs to know: the pages are copied, typedoc adds the API reference, VitePress
// renders all of it, and what it rendered is made independent of the path at which it is served.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../run.mjs";
import { writePages } from "./pages.mjs";
import { relocate } from "./relocate.mjs";
import { sidebarOf } from "./sidebar.mjs";

const home = dirname(fileURLToPath(import.meta.url));
const API = "reference/api";
/** Where a page is edited when no repository is given: how to. */
const EDITING = "/source/CONTRIBUTING.html#the-documentation";

/** @typedef {{ name: string, page: string, categories: { title: string, exports: { name: string, page: string }[] }[] }} Module */
/** @typedef {import("./sidebar.mjs").SidebarItem} SidebarItem */

/**
 * Builds the site of the repository at `root` into `out`. `pages` is a folder for what it is built from.
 *
 * `repository` is the address of its files, as an editor of them has it.
 *
 * @param {{ root: string, pages: string, out: string, repository?: string | undefined }} where
 * @returns {Promise<{ faults: string[], modules: number, seconds: Record<string, number> }>}
 */
export async function buildSite({ root, pages, out, repository }) {
  const key = keyOf(root, repository);
  rmSync(keyFile(out), { force: true });
  rmSync(pages, { recursive: true, force: true });
  rmSync(out, { recursive: true, force: true });
  /** @type {Record<string, number>} */
  const seconds = {};
  /** @template T @param {string} step @param {() => T} work @returns {Promise<Awaited<T>>} */
  const timed = async (step, work) => {
    const began = performance.now();
    const result = await work();
    seconds[step] = (performance.now() - began) / 1000;
    return result;
  };
  const { faults, sources } = writePages({ root, out: pages });
  if (faults.length > 0) return { faults, modules: 0, seconds };
  const typedoc = await timed("typedoc", () => document(root, join(pages, API)));
  if (!typedoc.ok) return { faults: [typedoc.output], modules: 0, seconds };
  const modules = /** @type {Module[]} */ (JSON.parse(readFileSync(join(pages, API, "modules.json"), "utf8")));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const edit = repository === undefined ? EDITING : `${repository.replace(/\/$/, "")}/docs/:path`;
  const sidebar = sidebars({ docs: join(root, "docs"), modules, sources });
  writeFileSync(join(pages, "site.json"), JSON.stringify({ version, sidebar, edit }));
  symlinkSync(join(home, "node_modules"), join(pages, "node_modules"), "junction"); // where the pages' own imports are found
  const vitepress = join(home, "node_modules/vitepress/bin/vitepress.js");
  const env = { DOCS_PAGES: pages, DOCS_OUT: out, NODE_OPTIONS: "--max-old-space-size=6144" };
  const built = await timed("vitepress", () =>
    run("node", [vitepress, "build", join(home, "site")], { env, cwd: home }),
  );
  if (!built.ok) return { faults: [built.output], modules: modules.length, seconds };
  await timed("relocate", () => relocate(out));
  copyMermaid(out);
  if (key !== undefined) writeFileSync(keyFile(out), key);
  return { faults: [], modules: modules.length, seconds };
}

/** Beside the site, not in it: it is not to be published. @param {string} out */
const keyFile = (out) => `${out}.key`;

/**
 * Whether `out` has the site of the repository at `root` as its files are now, so that a test need not build it again.
 *
 * @param {{ root: string, out: string }} where
 */
export function isBuilt({ root, out }) {
  return existsSync(keyFile(out)) && readFileSync(keyFile(out), "utf8") === keyOf(root, undefined);
}

/** Hash of all files of the repository, undefined outside of one. @param {string} root @param {string | undefined} repository */
function keyOf(root, repository) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) return undefined;
  const hash = createHash("sha256").update(repository ?? "");
  for (const file of stdout.split("\0").sort()) {
    const path = join(root, file);
    if (file !== "" && existsSync(path)) hash.update(`${file}\n`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** Mermaid as it is published, for the browser. Its files end with `.js`, since not every server knows `.mjs`. @param {string} out */
function copyMermaid(out) {
  const dist = join(home, "node_modules/mermaid/dist");
  for (const file of globSync(["mermaid.esm.min.mjs", "chunks/mermaid.esm.min/*.mjs"], { cwd: dist })) {
    const to = join(out, "mermaid", file.replace(/\.mjs$/, ".js"));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, readFileSync(join(dist, file), "utf8").replace(/(\.\/[\w./-]+)\.mjs(?=["'])/g, "$1.js"));
  }
}

/** The address of a page on the site. @param {string} page */
const addressOf = (page) => `/${page.replace(/\.md$/, "")}`;

/** @param {string} root @param {string} out */
function document(root, out) {
  const typedoc = join(home, "node_modules/typedoc/bin/typedoc");
  return run("node", [typedoc, "--options", join(root, "typedoc.json"), "--out", out], { cwd: root });
}

/**
 * The sidebar of the four parts, and one for the exports of each module. VitePress takes the one with the longest path.
 *
 * @param {{ docs: string, modules: Module[], sources: { file: string, page: string }[] }} what
 * @returns {Record<string, SidebarItem[]>}
 */
function sidebars({ docs, modules, sources }) {
  const api = (/** @type {string} */ page) => addressOf(`${API}/${page}`);
  const packages = modules.map(({ name, page }) => ({
    text: name.replace("@virtual-workspaces/", ""),
    link: api(page),
  }));
  const parts = sidebarOf(docs);
  const files = sources
    .map(({ file, page }) => ({ text: file, link: addressOf(page) }))
    .sort((a, b) => a.text.localeCompare(b.text));
  const reference = parts.find(({ text }) => text === "Reference");
  reference?.items?.push(
    { text: "API", collapsed: true, items: [{ text: "All packages", link: `/${API}/index` }, ...packages] },
    { text: "Project and examples", collapsed: true, items: files },
  );
  const own = modules.map(({ name, page, categories }) => [
    `/${API}/${dirname(page)}/`,
    [
      { text: "All packages", link: `/${API}/index` },
      {
        text: name.replace("@virtual-workspaces/", ""),
        items: [
          { text: "Overview", link: api(page) },
          ...categories.flatMap(
            /** @returns {SidebarItem[]} */ ({ title, exports }) => {
              const items = exports.map((each) => ({ text: each.name, link: api(each.page) }));
              return title === "" || items.length === 0 ? items : [{ text: title, collapsed: true, items }];
            },
          ),
        ],
      },
    ],
  ]);
  return { "/": parts, ...Object.fromEntries(own) };
}
