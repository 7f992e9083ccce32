// Why: people test controllers with the runner that they have. The examples of the test server run with `node:test`, Mocha,
// `vitest` and `jest` in a folder that has only the tarballs, and type-check there.
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { ensureInstalled, localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

/** Runners and types, by the folder that has them. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  ".": ["@kubernetes/client-node", "mocha", "@types/mocha", "@types/node", "typescript"],
  "tools/runners": ["jest", "@jest/globals", "vitest"],
};

const compilerOptions = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  types: ["node", "mocha"],
  module: "nodenext",
  rewriteRelativeImportExtensions: true,
  strict: true,
  // Types of the runners are not ours.
  skipLibCheck: true,
  outDir: "out",
};

const RUNNERS = {
  "node:test": ["--test", "node.test.ts"],
  mocha: ["node_modules/mocha/bin/mocha.js", "mocha.test.ts"],
  vitest: ["node_modules/vitest/vitest.mjs", "run", "vitest.test.ts"],
  jest: ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "jest.test.mjs"],
} as const;

describe("the packed test server", function () {
  this.timeout(600_000);
  let user: Tree;

  const must = async (command: string, args: readonly string[], cwd = user.path): Promise<string> => {
    const { ok, output } = await run(command, [...args], { cwd });
    if (!ok) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
    return output;
  };

  before(async () => {
    await ensureInstalled(join(root, "tools/runners"));
    user = tree({
      "package.json": JSON.stringify({
        name: "user",
        private: true,
        type: "module",
        jest: { testEnvironment: "node", testMatch: ["**/*.test.mjs"], transform: {} },
      }),
      "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*.ts"] }),
    });
    const tarballs = join(user.path, "tarballs");
    await must("npm", ["run", "pack", "--", tarballs], root);
    const files = readdirSync(tarballs).map((name) => join(tarballs, name));
    await must("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...files]);
    cpSync(join(root, "examples/testing"), user.path, { recursive: true });
    for (const [folder, names] of Object.entries(TOOLS))
      for (const name of names) link(join(root, folder, "node_modules", name), join(user.path, "node_modules", name));
  });
  after(() => user?.[Symbol.dispose]());

  it("type-checks with the examples of all runners", async () => {
    await must("tsc", ["-p", "."]);
  });

  for (const [runner, args] of Object.entries(RUNNERS))
    it(`runs the example with ${runner}, which ends by itself`, async () => {
      const output = await must(localNode, args);
      expect(output).to.match(/\b3 (passing|passed)|pass 3\b/);
      expect(output).not.to.match(/did not exit|open handle|MaxListeners/i);
    });
});

/** Links a tool, unless a package depends on it and npm has installed it. */
function link(from: string, to: string): void {
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}
