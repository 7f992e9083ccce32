// Why: all tests share one build of the site, and read each page once.
import { globSync, readFileSync, rmSync } from "node:fs";
import { join, posix } from "node:path";
import { buildSite, isBuilt } from "../../../tools/docs/build.mjs";
import { ensureInstalled, root } from "../../../tools/install.mjs";

export interface Link {
  readonly href: string;
  /** Target file on the site. */
  readonly file: string;
  readonly anchor: string;
}

/** Page of the built site. */
export class Page {
  readonly file: string;
  readonly html: string;
  readonly ids: ReadonlySet<string>;

  constructor(folder: string, file: string) {
    this.file = file;
    this.html = readFileSync(join(folder, file), "utf8");
    this.ids = new Set([...this.html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => decoded(id)));
  }

  /** Returns the references to the site: links, scripts, style sheets, fonts, images. */
  links(html = this.html): Link[] {
    return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, href = ""]) => decoded(href))
      .filter((href) => !/^(?:https?|data|mailto):/.test(href))
      .map((href) => {
        const [path = "", anchor = ""] = href.split("#");
        const file = path === "" ? this.file : posix.normalize(posix.join(posix.dirname(this.file), decodeURI(path)));
        return {
          href,
          file: file.endsWith("/") || file === "." ? posix.join(file, "index.html") : file,
          anchor: decodeURIComponent(anchor),
        };
      });
  }

  get sidebar(): string {
    return /<aside class="VPSidebar"[\s\S]*?<\/aside>/.exec(this.html)?.[0] ?? "";
  }
}

const decoded = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">");

/** Built site. One that was built for a test is deleted at the end of its block. */
export interface Site extends Disposable {
  readonly folder: string;
  readonly faults: readonly string[];
  readonly pages: ReadonlyMap<string, Page>;
}

/** Returns the site of `npm run docs` if it has been built from the same files, or else builds it separately. */
export async function builtSite(): Promise<Site> {
  const out = join(root, "dist/docs");
  return isBuilt({ root, out }) ? siteIn(out, []) : build("docs-test");
}

/** Builds the site of the repository at `from`, separately from that of `npm run docs`. */
export async function build(name: string, from = root): Promise<Site> {
  await ensureInstalled(join(root, "tools/docs"));
  const pages = join(root, `dist/${name}-pages`);
  const out = join(root, `dist/${name}`);
  const { faults } = await buildSite({ root: from, pages, out });
  return siteIn(out, faults, () => {
    for (const path of [pages, out, `${out}.key`]) rmSync(path, { recursive: true, force: true });
  });
}

function siteIn(folder: string, faults: readonly string[], dispose: () => void = () => {}): Site {
  const files = globSync("**/*.html", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
  return {
    folder,
    faults,
    pages: new Map(files.filter((file) => file !== "404.html").map((file) => [file, new Page(folder, file)])),
    [Symbol.dispose]: dispose,
  };
}
