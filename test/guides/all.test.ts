// Why: a guide whose listings do not run misleads more than none. Here all listings are type-checked together; the files beside
// this one serve or run each as it stands, with the commands below it, side by side.
import { globSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { listings } from "./support/guide.ts";

const guides = globSync("docs/{tutorials,how-to}/*.md", { cwd: root }).map((file) =>
  file.replace(/^docs\/|\.md$/g, ""),
);

/** The one that test/e2e/guide.test.ts runs step by step. */
const STEP_BY_STEP = "tutorials/first-view";

describe("guides", () => {
  it("are each run by one test file", () => {
    const files = globSync("test/guides/*.e2e.test.ts", { cwd: root });
    const run = files.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/"((?:tutorials|how-to)\/[\w-]+)"/g)].map(([, name]) => name),
    );
    expect([...run, STEP_BY_STEP].sort()).to.deep.equal(guides.sort());
  });

  it("have listings that type-check", async () => {
    const modules = guides
      .filter((name) => name !== STEP_BY_STEP)
      .flatMap((name) =>
        listings(readFileSync(join(root, `docs/${name}.md`), "utf8")).map(
          ({ module }, at) => [`${basename(name)}-${at + 1}.ts`, module] as const,
        ),
      );
    using folder = tree({
      ...Object.fromEntries(modules),
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({
        extends: join(root, "tsconfig.base.json"),
        // As in the tsconfig.json of the root.
        compilerOptions: { noEmit: true, skipLibCheck: true },
      }),
    });
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    const { ok, output } = await run("tsc", ["-p", folder.path]);
    expect(ok, output).to.equal(true);
  }).timeout(60_000);
});
