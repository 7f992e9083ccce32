// Why: pages are written to be read in the repository too, where they link to sources, examples and each other by relative paths. Here they
// are copied to where the site is built from. What they link to outside docs/ becomes a page as well, so that the site needs no other host.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { mapLinks, mapProse } from "./prose.mjs";
import { pagesOf, sidebarFaults } from "./sidebar.mjs";

const LANGUAGES = /** @type {Record<string, string>} */ ({
  ".ts": "ts",
  ".mjs": "js",
  ".go": "go",
  ".json": "json",
  ".yaml": "yaml",
  ".sh": "sh",
  ".proto": "proto",
});
/** Files that pages show: the site copies them. */
const IMAGES = new Set([".svg"]);
/** These are pages whether or not another page links to them. */
const ALWAYS = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples"];
const EXTERNAL = /^(?:[a-z][a-z+.-]*:|\/\/|#)/i;

/** A file of the repository as a page: where it is, and where its page goes. @typedef {{ file: string, page: string }} Page */

/** Where the page of a file is, below the folder of all pages. @param {string} file by its path in the repository */
function pageOf(file) {
  const inDocs = file.startsWith("docs/");
  const path = inDocs ? file.slice("docs/".length) : `source/${file}`;
  if (extname(path) === ".md") return path;
  // Without a dot, which would make its address that of a file.
  return LANGUAGES[extname(path)] === undefined ? `${path}/index.md` : `${path.replace(/\.(\w+)$/, "-$1")}.md`;
}

/** Copies the pages of `root`/docs and of what they link to. Returns the faults. @param {{ root: string, out: string }} where */
export function writePages({ root, out }) {
  const docs = join(root, "docs");
  const faults = sidebarFaults(docs);
  const queue = ["docs/index.md", ...pagesOf(docs).map((page) => `docs/${page}.md`), ...ALWAYS];
  const seen = new Set(queue);
  /** @param {string} from @param {string} target */
  const link = (from, target) => {
    if (EXTERNAL.test(target)) return target;
    const [path = "", anchor] = target.split("#");
    const hash = anchor === undefined ? "" : `#${anchor}`;
    if (path === "") return hash;
    let file = posix.join(posix.dirname(from), path).replace(/\/$/, "");
    if (file.startsWith("docs/reference/api/")) return relativePage(pageOf(from), file.slice("docs/".length)) + hash;
    if (!existsSync(join(root, file))) {
      faults.push(`${from} links to ${target}, which does not exist: correct the link`);
      return target;
    }
    if (IMAGES.has(extname(file))) {
      const to = file.startsWith("docs/") ? file.slice("docs/".length) : `source/${file}`;
      write(join(out, to), readFileSync(join(root, file), "utf8"));
      return relativePage(pageOf(from), to) + hash;
    }
    if (statSync(join(root, file)).isDirectory() && existsSync(join(root, file, "README.md"))) file += "/README.md";
    if (!seen.has(file)) queue.push(file);
    seen.add(file);
    return relativePage(pageOf(from), pageOf(file)) + hash;
  };
  for (const file of queue)
    write(join(out, pageOf(file)), frontmatter(file) + content(root, file, (target) => link(file, target)));
  const sources = queue.filter((file) => !file.startsWith("docs/"));
  return { faults, sources: sources.map((file) => ({ file, page: pageOf(file) })) };
}

/** Only pages below docs/ are edited where the link for it leads. @param {string} file */
const frontmatter = (file) => (file.startsWith("docs/") ? "" : "---\neditLink: false\n---\n\n");

/** @param {string} from @param {string} to both below the folder of all pages */
const relativePage = (from, to) => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
};

/** @param {string} root @param {string} file @param {(target: string) => string} link */
function content(root, file, link) {
  const path = join(root, file);
  if (statSync(path).isDirectory()) {
    const files = readdirSync(path, { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => LANGUAGES[extname(name)] !== undefined && !name.includes("node_modules"))
      .sort();
    return `# ${file}\n\n${files.map((name) => `- [${name}](${link(`${posix.basename(file)}/${name}`)})`).join("\n")}\n`;
  }
  const text = readFileSync(path, "utf8");
  const language = LANGUAGES[extname(file)];
  if (language !== undefined) return `# ${file}\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
  const shown = mapProse(text, (prose) => prose.replace(/<!--[\s\S]*?-->\n?/g, ""));
  return include(mapLinks(shown, link), dirname(path));
}

/** `<<< ../examples/quotes.ts` shows that file. @param {string} markdown @param {string} folder */
function include(markdown, folder) {
  return markdown.replace(/^<<< (\S+)$/gm, (_, file) => {
    const text = readFileSync(join(folder, file), "utf8").trimEnd();
    return `\`\`\`${LANGUAGES[extname(file)] ?? "text"}\n${text}\n\`\`\``;
  });
}

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
