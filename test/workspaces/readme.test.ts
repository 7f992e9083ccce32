import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("packages/workspaces/README.md", () => {
  it("shows examples/over-workspaces/published.ts, which its own test runs", () => {
    const [, shown = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(read("packages/workspaces/README.md")) ?? [];
    expect(shown).to.equal(read("examples/over-workspaces/published.ts"));
  });
});

describe("views over workspaces", () => {
  const examples = ["byo-mount", "noticeboard", "preparer", "published", "syncer"];
  for (const name of examples)
    it(`need two packages of ours: ${name}.ts`, () => {
      const imports = [
        ...read(`examples/over-workspaces/${name}.ts`).matchAll(/ from "(@virtual-workspaces\/[\w-]+)/g),
      ];
      const packages = new Set(imports.map(([, from = ""]) => from));
      expect([...packages]).to.satisfy((all: string[]) => all.every((from) => /\/(framework|workspaces)$/.test(from)));
    });
});
