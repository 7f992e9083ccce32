// Why: authors write Markdown as GitHub shows it. Text that VitePress would treat as a template, an attribute or an icon
// stays text. Diagrams are drawn, and errors name their page. A small site tests this independently of our pages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { buildSite } from "../../tools/docs/build.mjs";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { startChromium, Visit } from "./support/browser.ts";
import { build, type Site } from "./support/built.ts";

const PAGE = `# A <page> with {{ braces }} and \`{{ code }}\`

<!-- not shown -->
Text with {{ mustaches }}, <angle>, <script>alert(1)</script>, :tada:, example.dev and \`/clusters/:cluster\`{.cluster} stays as it is.
A [link](../../examples/one.ts), [another](#a-heading-with-angle-brackets) and a [third](../decisions/README.md).

## A heading with <angle brackets>

| table | with {{ braces }} |
|---|---|
| a \`Map<string, T>\` | {{ cell }} |

\`\`\`ts
const shown = "{{ fenced }} <T>";
\`\`\`

\`\`\`console
$ echo one \\
    two
one two
$ echo three
three
\`\`\`

\`\`\`mermaid
sequenceDiagram
  participant C as Client
  C->>S: GET {{ path }} <b>
  Note over S: authenticate
\`\`\`
`;

const ours = JSON.parse(readFileSync(join(root, "typedoc.json"), "utf8"));
const plugin = ours.plugin.map((path: string) => join(root, path));
const typedoc = { ...ours, plugin, entryPoints: ["packages/*/src/index.ts"], tsconfig: "tsconfig.json" };
const compilerOptions = { module: "nodenext", types: [], noEmit: true, allowImportingTsExtensions: true };

const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ version: "7.8.9" }),
  "typedoc.json": JSON.stringify(typedoc),
  "packages/a/package.json": JSON.stringify({ name: "a", type: "module" }),
  "tsconfig.json": JSON.stringify({ compilerOptions, include: ["packages"] }),
  "packages/b/package.json": JSON.stringify({ name: "b", type: "module" }),
  "packages/b/src/index.ts": "/** Another one. */\nexport const b = 2;\n",
  "packages/a/src/index.ts": "/**\n * What it is.\n *\n * @see docs/how-to/page.md\n */\nexport const a = 1;\n",
  "CHANGELOG.md": "# Changelog\n",
  "CONTRIBUTING.md": "# Contributing\n\n## The documentation\n",
  "SECURITY.md": "# Security\n",
  "examples/one.ts": "export const one = 1;\n",
  "docs/index.md": "# Home\n\n<<< ../examples/one.ts\n",
  "docs/sidebar.yaml":
    "Tutorials: [tutorials/t]\nHow-to guides: [how-to/page]\nReference: [reference/r]\nExplanation: [decisions/README]\n",
  "docs/tutorials/t.md": "# A tutorial\n",
  "docs/how-to/page.md": PAGE,
  "docs/reference/r.md": "# A reference\n",
  "docs/decisions/README.md": "# Decisions\n",
};

describe("pages of the documentation site", function () {
  this.timeout(60_000);
  let site: Site;
  const text = (file: string): string =>
    (site.pages.get(file)?.html ?? "")
      .replace(/<[^>]+>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"');

  before(async function () {
    this.timeout(120_000);
    using folder = tree(FILES);
    site = await build("docs-fixture", folder.path);
    expect(site.faults.join("\n")).to.equal("");
  });
  after(() => site?.[Symbol.dispose]());

  it("show text that looks like a template, HTML or an icon as text", () => {
    const shown = text("how-to/page.html");
    for (const part of [
      "A <page> with {{ braces }} and {{ code }}",
      "Text with {{ mustaches }}, <angle>, <script>alert(1)</script>, :tada:, example.dev and /clusters/:cluster{.cluster} stays as it is.",
      "A heading with <angle brackets>",
      "Map<string, T>",
      "{{ cell }}",
      '"{{ fenced }} <T>"',
    ])
      expect(shown).to.include(part);
    expect(shown).not.to.include("not shown");
  });

  it("link to each other, and to source files as pages", () => {
    const page = site.pages.get("how-to/page.html");
    const targets = page?.links().map(({ file, anchor }) => `${file}#${anchor}`);
    expect(targets).to.include.members([
      "source/examples/one-ts.html#",
      "how-to/page.html#a-heading-with-angle-brackets",
      "decisions/README.html#",
    ]);
    expect(text("source/examples/one-ts.html")).to.include("export const one = 1;");
    expect(text("index.html")).to.include("export const one = 1;");
  });

  it("show the version, and a link from an export to its guide", () => {
    expect(text("how-to/page.html")).to.include("v7.8.9");
    const links = site.pages.get("reference/api/a/variables/a.html")?.links() ?? [];
    expect(links.map(({ file }) => file)).to.include("how-to/page.html");
  });

  it("link to the given repository for edits", async () => {
    using folder = tree(FILES);
    const at = { pages: join(folder.path, "pages"), out: join(folder.path, "out") };
    const repository = "https://git.example.dev/edit/main/";
    const { faults } = await buildSite({ root: folder.path, ...at, repository });
    expect(faults).to.deep.equal([]);
    const html = readFileSync(join(at.out, "how-to/page.html"), "utf8");
    expect(html).to.include('href="https://git.example.dev/edit/main/docs/how-to/page.md"');
  });

  const faults: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    [
      "a link to a file that does not exist",
      { "docs/how-to/page.md": "# A page\n\n[lost](lost.md)\n" },
      "docs/how-to/page.md links to lost.md, which does not exist",
    ],
    [
      "a page without a place in the sidebar",
      { "docs/how-to/other.md": "# Other\n" },
      "docs/how-to/other.md has no place",
    ],
    [
      "an export without documentation",
      { "packages/a/src/index.ts": "export const a = 1;\n" },
      "does not have any documentation",
    ],
    [
      "an export without documentation among those that have categories",
      {
        "packages/framework/package.json": JSON.stringify({ name: "framework", type: "module" }),
        "packages/framework/src/index.ts": 'export { a, b, c, d, e, f, g, h } from "./authz/all.ts";\n',
        "packages/framework/src/authz/all.ts": [..."abcdefgh"]
          .map((name) => `${name === "d" ? "" : `/** It is ${name}. */\n`}export const ${name} = 1;\n`)
          .join(""),
      },
      "does not have any documentation",
    ],
  ];
  for (const [title, changed, fault] of faults) {
    it(`are not built with ${title}`, async () => {
      using folder = tree({ ...FILES, ...changed });
      const at = { pages: join(folder.path, "pages"), out: join(folder.path, "out") };
      const result = await buildSite({ root: folder.path, ...at });
      expect(result.faults.join("\n")).to.include(fault);
    });
  }

  it("draw diagrams from their text, light and dark, without another host", async function () {
    await using browser = await chromium(this);
    await using visit = await Visit.at(browser, site.folder, { base: "/docs/" });
    await visit.open("how-to/page.html");
    const drawing = visit.tab.locator(".diagram svg");
    for (const colorScheme of ["light", "dark"] as const) {
      await visit.tab.emulateMedia({ colorScheme });
      await drawing.first().waitFor();
      expect(await visit.tab.locator(".diagram").first().innerText()).to.include("authenticate");
    }
    visit.expectNoFaults();
  });

  it("copy only the commands of a console listing, without their output", async function () {
    await using browser = await chromium(this);
    await using visit = await Visit.at(browser, site.folder);
    await visit.open("how-to/page.html");
    await visit.tab.evaluate("navigator.clipboard.writeText = async (text) => void (window.copied = text)");
    await visit.tab.locator(".language-console > button.copy").first().click();
    expect(await visit.tab.evaluate("window.copied")).to.equal("echo one \\\n    two\necho three");
  });
});

/** Starts Chromium for the block; without one the test is skipped. */
async function chromium(context: Mocha.Context) {
  const browser = (await startChromium()) ?? context.skip();
  return { ...browser, newPage: browser.newPage.bind(browser), [Symbol.asyncDispose]: () => browser.close() };
}
