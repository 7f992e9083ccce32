// Why: tests the pages as readers get them. The site is built as by `npm run docs`, read completely, and used in a browser.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { startChromium, Visit } from "./support/browser.ts";
import { builtSite, type Site } from "./support/built.ts";

const API = "reference/api/@virtual-workspaces";
/** One page of each kind. */
const KINDS: Readonly<Record<string, string>> = {
  home: "index.html",
  tutorial: "tutorials/first-view.html",
  "how-to guide": "how-to/mounts.html",
  reference: "reference/errors.html",
  API: `${API}/framework/functions/defineVirtualWorkspace.html`,
};
const FOLDERS = ["functions", "classes", "interfaces", "type-aliases", "variables", "enumerations"];

describe("documentation site", function () {
  this.timeout(60_000);
  let site: Site;

  before(async function () {
    this.timeout(300_000);
    site = await builtSite();
    expect(site.faults.join("\n")).to.equal("");
  });
  after(() => site[Symbol.dispose]());

  it("has no link to a page, a file or an anchor that does not exist", () => {
    const files = new Map<string, boolean>();
    const exists = (file: string): boolean => {
      if (!files.has(file))
        files.set(
          file,
          site.pages.has(file) || statSync(join(site.folder, file), { throwIfNoEntry: false })?.isFile() === true,
        );
      return files.get(file) ?? false;
    };
    const dead: string[] = [];
    let checked = 0;
    for (const page of site.pages.values())
      for (const { href, file, anchor } of page.links()) {
        checked++;
        const found = exists(file) && (anchor === "" || site.pages.get(file)?.ids.has(anchor) === true);
        if (!found || href.startsWith("/")) dead.push(`${page.file}: ${href}`);
      }
    expect(checked).to.be.above(100_000);
    expect(dead.join("\n")).to.equal("");
  });

  it("shows every page in the sidebar of that page", () => {
    const lost = [...site.pages.values()].filter(({ file }) => file !== "index.html" && !linksOf(site, file).has(file));
    expect(lost.map(({ file }) => file).join("\n")).to.equal("");
  });

  it("has a page for every public export, with its name and import path", () => {
    const snapshot: Record<string, string[]> = JSON.parse(
      readFileSync(join(root, "test/exports.snapshot.json"), "utf8"),
    );
    const missing: string[] = [];
    for (const [entry, names] of Object.entries(snapshot))
      for (const name of names.map((each) => each.replace(/^type /, ""))) {
        const folder = `reference/api/${entry}`;
        const own = FOLDERS.map((kind) => site.pages.get(`${folder}/${kind}/${name}.html`)).find(Boolean);
        const shown = own?.html.includes(name) === true && own.html.includes(entry);
        // Exports of another package are documented there.
        const imported = new RegExp(`Re-exports <a href="[^"]*/${name}.html"`).test(
          site.pages.get(`${folder}/index.html`)?.html ?? "",
        );
        if (!shown && !imported) missing.push(`${entry} ${name}`);
      }
    expect(missing.join("\n")).to.equal("");
  });

  it("refers to no script, style sheet, font or image of another host", () => {
    for (const { file, html } of site.pages.values())
      expect(html, file).not.to.match(
        /<(?:script|img|iframe|source)[^>]* src="(?:https?:)?\/\/|<link[^>]* href="(?:https?:)?\/\//,
      );
  });

  it("shows the thirty lines of examples/quotes.ts on the home page", () => {
    const html = site.pages.get("index.html")?.html ?? "";
    const text = html
      .replace(/<[^>]+>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'");
    const example = readFileSync(join(root, "examples/quotes.ts"), "utf8").trimEnd();
    for (const line of example.split("\n"))
      expect(text).to.include(line.replaceAll("<", "&lt;").replaceAll(">", "&gt;"));
  });

  describe("in a browser", function () {
    this.timeout(60_000);
    let browser: NonNullable<Awaited<ReturnType<typeof startChromium>>>;

    before(async function () {
      const started = await startChromium();
      if (started === undefined) this.skip();
      browser = started;
    });
    after(() => browser?.close());

    for (const base of ["/", "/some/sub/path/"]) {
      it(`works by following links, served at ${base}`, async () => {
        await using visit = await Visit.at(browser, site.folder, { base });
        await visit.open("");
        await visit.follow('.VPHero a[href$="tutorials/first-view.html"]', "tutorials/first-view.html");
        await visit.tab.locator(".VPSidebar .is-active").first().waitFor();
        await visit.follow('.VPNavBar a:has-text("How-to guides")', "how-to/install.html");
        await visit.follow('.vp-doc a[href$="/completion.html"]', "how-to/completion.html");
        await visit.follow('.VPSidebar a[href$="how-to/kubectl-ws.html"]', "how-to/kubectl-ws.html");
        await visit.follow('.VPNavBar a:has-text("API")', "reference/api/");
        await visit.follow('.vp-doc a:has-text("@virtual-workspaces/framework/authz")', `${API}/framework/authz/`);
        await visit.follow('.vp-doc a:has-text("rbac")', `${API}/framework/authz/functions/rbac.html`);
        await visit.follow('.vp-doc a[href$="how-to/authorization.html"]', "how-to/authorization.html");
        // Loads a page in a subfolder directly, and follows a link of its sidebar.
        await visit.open("reference/kcp/bindings.html");
        await visit.follow('.VPSidebar a[href$="reference/errors.html"]', "reference/errors.html");
        await visit.follow('.VPNavBar a:has-text("Virtual Workspaces")', "");
        visit.expectNoFaults();
      });

      it(`finds "permission claim" by search, served at ${base}`, async () => {
        await using visit = await Visit.at(browser, site.folder, { base });
        await visit.open("how-to/mounts.html");
        await visit.tab.locator("#local-search button").click();
        await visit.tab.locator(".search-input").fill("permission claim");
        const results = visit.tab.locator("#localsearch-list a.result");
        await results.first().waitFor();
        expect((await results.allInnerTexts()).join("\n")).to.match(/permission claim/i);
        await results.first().click();
        // The address changes before the page is loaded.
        await visit.tab.locator(`.vp-doc :text-matches("permission ?claim", "i")`).first().waitFor();
        visit.expectNoFaults();
      });
    }

    for (const [kind, page] of Object.entries(KINDS)) {
      it(`has no serious accessibility fault on a page of the kind ${kind}, light or dark, wide or narrow`, async () => {
        const axe = readFileSync(join(root, "tools/docs/node_modules/axe-core/axe.min.js"), "utf8");
        const faults: string[] = [];
        for (const width of [1400, 390]) {
          await using visit = await Visit.at(browser, site.folder, { width });
          for (const colorScheme of ["light", "dark"] as const) {
            await visit.tab.emulateMedia({ colorScheme });
            await visit.open(page);
            faults.push(...(await visit.axe(axe)).map((fault) => `${width} ${colorScheme} ${fault}`));
          }
          visit.expectNoFaults();
        }
        expect(faults.join("\n")).to.equal("");
      });
    }
  });
});

/** Returns the targets of a page's sidebar. */
function linksOf(site: Site, file: string): ReadonlySet<string> {
  const page = site.pages.get(file);
  return new Set(page?.links(page.sidebar).map((link) => link.file));
}
