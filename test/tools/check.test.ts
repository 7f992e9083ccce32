import { readFileSync } from "node:fs";
import { expect } from "chai";
import { checkLayers } from "../../tools/check-layers.mjs";
import { checkLength } from "../../tools/check-length.mjs";
import { checkShape } from "../../tools/check-shape.mjs";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";

const scope = "@virtual-workspaces/";
const manifest = (name: string, more: object = {}): string =>
  JSON.stringify({ name, version: "1.0.0", type: "module", ...more });

/** Two packages in their rows, without faults. */
const healthy = {
  "packages/apimachinery/package.json": manifest(`${scope}apimachinery`),
  "packages/apimachinery/layers.json": '{ "rows": [["a.ts"], ["index.ts"]] }',
  "packages/apimachinery/src/index.ts": 'export { a } from "./a.ts";\n',
  "packages/apimachinery/src/a.ts":
    '/**\n * import { x } from "@virtual-workspaces/framework";\n */\nexport const a = "from";\n',
  "packages/framework/package.json": manifest(`${scope}framework`, { dependencies: { [`${scope}apimachinery`]: "1" } }),
  "packages/framework/layers.json": '{ "rows": [["index.ts"]] }',
  "packages/framework/src/index.ts": `import {\n  a,\n} from "${scope}apimachinery";\nimport { createServer } from "node:http";\n`,
};

describe("check layers", () => {
  it("accepts packages that keep to their rows", () => {
    using root = tree(healthy);
    expect(checkLayers(root.path)).to.deep.equal([]);
  });

  const wrong: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      "an import of a higher row, listed or not",
      { "packages/apimachinery/src/up.ts": `import type { B } from "${scope}framework";\n` },
      /apimachinery\/src\/up\.ts \(row 0\) imports @virtual-workspaces\/framework \(row 2\)/,
    ],
    [
      "a re-export and a dynamic import of a higher row",
      {
        "packages/apimachinery/src/up.ts": `export * from "${scope}framework";\n`,
        "packages/apimachinery/src/later.ts": `export const b = () => import("${scope}framework");\n`,
      },
      /later\.ts .*\n.*up\.ts /,
    ],
    [
      "an import that package.json does not list",
      { "packages/framework/src/yaml.ts": 'import { parse } from "yaml";\n' },
      /imports yaml, which its package\.json does not list/,
    ],
    [
      "a module of Node in row 0",
      { "packages/apimachinery/src/io.ts": 'import "node:fs";\n' },
      /imports node:fs, and row 0 is pure/,
    ],
    [
      "a relative import into another package",
      { "packages/framework/src/reach.ts": 'import { a } from "../../apimachinery/src/a.ts";\n' },
      /a file of another package/,
    ],
    [
      "a package without a row",
      { "packages/toolbox/package.json": manifest("toolbox") },
      /packages\/toolbox has no row/,
    ],
  ];
  for (const [title, files, fault] of wrong) {
    it(`finds ${title}`, () => {
      using root = tree({ ...healthy, ...files });
      expect(checkLayers(root.path).join("\n")).to.match(fault);
    });
  }
});

describe("check length", () => {
  it("accepts 400 lines and rejects 401, in tests and in Go too", () => {
    using root = tree({
      "packages/a/src/fits.ts": "//\n".repeat(400),
      "test/a/long.test.ts": "//\n".repeat(401),
      "test/go/a/long.go": "//\n".repeat(402),
      "packages/a/dist/built.mjs": "//\n".repeat(500),
    });
    const { faults, summary } = checkLength(root.path);
    expect(faults).to.deep.equal([
      "test/a/long.test.ts: 401 lines, 400 is the cap",
      "test/go/a/long.go: 402 lines, 400 is the cap",
    ]);
    expect(summary).to.equal("3 files, median 401 lines");
  });
});

describe("check package shape", () => {
  it("finds an entry that is missing from the tarball, and types that do not resolve", async function () {
    this.timeout(30_000);
    using root = tree({
      LICENSE: "Apache License\n",
      "package.json": JSON.stringify({ name: "root", private: true, workspaces: ["packages/*"] }),
      "packages/a/package.json": manifest("a", { exports: { ".": "./index.js" }, bin: { a: "./bin.js" } }),
      "packages/b/package.json": manifest("b", { exports: { ".": { types: "./index.d.ts", default: "./index.js" } } }),
      "packages/b/index.js": "module.exports = 1;\n",
      "packages/b/index.d.ts": "declare const b: number;\nexport = b;\n",
    });
    const faults = (await checkShape(root.path)).join("\n");
    expect(faults).to.match(/pkg\.bin.* is \.\/bin\.js but the file does not exist/);
    expect(faults).to.match(/@?b v1\.0\.0/);
  });
});

describe("lint", () => {
  const bad = {
    "floating.ts": "async function act(): Promise<void> {}\nact();\n",
    "any.ts": "export function f(value: any): string {\n  return value;\n}\n",
    "console.ts": 'console.log("x");\n',
    "params.ts":
      "export function f(a: number, b: number, c: number, d: number): number {\n  return a + b + c + d;\n}\n",
  };
  const rules = ["noFloatingPromises", "noExplicitAny", "noConsole", "useMaxParams"];

  it("rejects a floating promise, any, console and a fourth parameter", async () => {
    using folder = tree({ "biome.json": readFileSync(`${root}/biome.json`, "utf8"), ...bad });
    const { ok, output } = await run("biome", ["lint", "--colors=off", "."], { cwd: folder.path });
    expect(ok).to.equal(false);
    for (const rule of rules) expect(output).to.contain(rule);
  });
});

describe("check dead code", () => {
  it("finds a file and an export that nothing uses", async () => {
    using folder = tree({
      "package.json": manifest("a"),
      "knip.json": JSON.stringify({ entry: ["index.ts"], project: ["*.ts"] }),
      "index.ts": 'import { used } from "./part.ts";\nused();\n',
      "part.ts": "export function used(): void {}\nexport function unused(): void {}\n",
      "forgotten.ts": "export const forgotten = 1;\n",
    });
    const { ok, output } = await run("knip", ["--no-progress", "--directory", folder.path]);
    expect(ok).to.equal(false);
    expect(output).to.match(/Unused files \(1\)\s+forgotten\.ts/);
    expect(output).to.match(/Unused exports \(1\)\s+unused/);
  });
});
