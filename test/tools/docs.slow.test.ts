import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureInstalled, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";

/** One package, with the repository's own options for it. */
const options = (): string => {
  const ours = JSON.parse(readFileSync(join(root, "typedoc.json"), "utf8"));
  const plugin = ours.plugin.map((path: string) => join(root, path));
  const own = { entryPoints: ["packages/a/src/index.ts"], tsconfig: "packages/a/tsconfig.json", out: "out" };
  return JSON.stringify({ ...ours, ...own, plugin, name: "fixture" });
};

/** Runs typedoc over a package with this index.ts. */
async function document(index: string): Promise<{ readonly ok: boolean; readonly output: string }> {
  const home = join(root, "tools/docs");
  await ensureInstalled(home);
  using folder = tree({
    "typedoc.json": options(),
    "packages/a/package.json": JSON.stringify({ name: "a", version: "1.0.0", type: "module" }),
    "packages/a/tsconfig.json": JSON.stringify({
      compilerOptions: { module: "nodenext", types: [] },
      include: ["src"],
    }),
    "packages/a/src/index.ts": index,
  });
  symlinkSync(join(home, "node_modules"), join(folder.path, "node_modules"));
  return await run("node", ["node_modules/typedoc/bin/typedoc"], { cwd: folder.path });
}

describe("the API reference", function () {
  this.timeout(120_000);

  it("accepts documented exports", async () => {
    const { ok, output } = await document("/** What it is. */\nexport const a = 1;\n");
    expect(output).to.contain("markdown generated");
    expect(ok).to.equal(true);
  });

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ["an export without documentation", "export const a = 1;", /a \(Variable\).* does not have any documentation/],
    [
      "a type that is shown and not exported",
      "interface Hidden {}\n/** Shows it. */\nexport const a: Hidden = {};",
      /Hidden, defined in .* is referenced by a but not included/,
    ],
    ["a link to nowhere", "/** See {@link nowhere}. */\nexport const a = 1;", /Failed to resolve link to "nowhere"/],
  ];
  for (const [title, index, warning] of wrong) {
    it(`rejects ${title}`, async () => {
      const { ok, output } = await document(index);
      expect(output).to.match(warning);
      expect(ok).to.equal(false);
    });
  }
});
