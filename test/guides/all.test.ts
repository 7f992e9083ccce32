// Why: a guide whose listings do not run misleads more than none. This file type-checks all listings together. The files
// beside it serve or run each listing unchanged, with the commands below it, concurrently.
import { globSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { listings } from "./support/guide.ts";
import { isSession } from "./support/session.ts";

const guides = globSync("docs/{tutorials,how-to}/*.md", { cwd: root }).map((file) =>
  file.replace(/^docs\/|\.md$/g, ""),
);

/** Returns the modules of a page with their paths. Those of a session share a folder, so that they can import each other. */
function modulesOf(name: string, text: string): (readonly [path: string, module: string])[] {
  if (!isSession(text)) return listings(text).map(({ module }, at) => [`${name}-${at + 1}.ts`, module]);
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.map((block, at) => {
    const [, path] = /^\/\/ ([\w./-]+\.ts)\n/.exec(block) ?? [];
    const isLast = path !== undefined && !blocks.slice(at + 1).some((later) => later.startsWith(`// ${path}\n`));
    return [`${name}/${isLast ? path : `block-${at + 1}.ts`}`, block];
  });
}

/** The page that test/e2e/guide.test.ts runs step by step. */
const STEP_BY_STEP = "tutorials/first-view";

describe("guides", () => {
  it("each have one test file that runs them", () => {
    const files = globSync("test/guides/*.e2e.test.ts", { cwd: root });
    const run = files.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/"((?:tutorials|how-to)\/[\w-]+)"/g)].map(([, name]) => name),
    );
    expect([...run, STEP_BY_STEP].sort()).to.deep.equal(guides.sort());
  });

  it("limit a server to this machine where a target on this machine is allowed", () => {
    // Otherwise the server's own URL has another address of the machine, which the rule does not match.
    const lines = guides.flatMap((name) =>
      [...readFileSync(join(root, `docs/${name}.md`), "utf8").matchAll(/^\$ .*--mount-allow=127\.0\.0\.1.*$/gm)].map(
        ([line]) => `${name}: ${line}`,
      ),
    );
    expect(lines).to.have.length.above(3);
    expect(lines.filter((line) => !line.includes("--bind-address=127.0.0.1"))).to.deep.equal([]);
  });

  it("wait for each job that they kill, so that the next one gets its number, and its port and folder are free", () => {
    const lines = guides.flatMap((name) =>
      [...readFileSync(join(root, `docs/${name}.md`), "utf8").matchAll(/^\$ kill .*$/gm)].map(
        ([line]) => `${name}: ${line}`,
      ),
    );
    expect(lines).to.have.length.above(10);
    expect(lines.filter((line) => !/ && wait(?: %\d)?$/.test(line))).to.deep.equal([]);
  });

  it("have listings that type-check", async () => {
    const modules = guides
      .filter((name) => name !== STEP_BY_STEP)
      .flatMap((name) => modulesOf(basename(name), readFileSync(join(root, `docs/${name}.md`), "utf8")));
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
