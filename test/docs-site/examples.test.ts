// Why: an example that does not compile misleads more than none. The `@example` blocks of all docstrings are type-checked
// together, each as its own module, and the most used exports must have one.
import { globSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";

interface Example {
  readonly file: string;
  /** Code after the docstring. */
  readonly declaration: string;
  readonly modules: readonly string[];
  readonly guides: readonly string[];
}

const sources = globSync("packages/{*,plugins/*}/src/**/*.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/"));
const examples = sources.sort().flatMap((file): Example[] => {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^\/\*\*\n((?: \*.*\n)+?) \*\/\n(.*)/gm)]
    .map(([, comment = "", declaration = ""]) => ({ comment: comment.replace(/^ \* ?/gm, ""), declaration }))
    .filter(({ comment }) => comment.includes("@example"))
    .map(({ comment, declaration }) => ({
      file,
      declaration,
      modules: [...comment.matchAll(/^@example\n```ts\n([\s\S]*?)^```$/gm)].map(([, module = ""]) => module),
      guides: [...comment.matchAll(/^@see docs\/(\S+)$/gm)].map(([, guide = ""]) => guide),
    }));
});

/** Returns the exports that examples/ and the pages import most often, without types. */
function mostUsed(): string[] {
  const uses = new Map<string, number>();
  for (const file of globSync(["examples/**/*.ts", "docs/{tutorials,how-to}/*.md"], { cwd: root }))
    for (const [, list = ""] of readFileSync(join(root, file), "utf8").matchAll(
      /^import \{([^}]*)\} from "@virtual-workspaces\//gm,
    ))
      for (const name of list.split(",").map((each) => each.trim()))
        if (/^\w+$/.test(name)) uses.set(name, (uses.get(name) ?? 0) + 1);
  return [...uses].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

describe("examples in docstrings", () => {
  it("exist for thirty exports, among them the fifteen most imported ones", () => {
    const named = examples.map(({ declaration }) => /(?:function|class|const) (\w+)/.exec(declaration)?.[1]);
    expect(named.length).to.be.at.least(30);
    expect(named).to.include.members(mostUsed().slice(0, 15));
  });

  it("are fenced blocks of TypeScript, and each links to an existing page", () => {
    for (const { file, declaration, modules, guides } of examples) {
      const at = `${file}: ${declaration}`;
      expect(modules, at).to.have.length.above(0);
      expect(guides, at).to.have.length.above(0);
      for (const guide of guides)
        expect(globSync(`docs/${guide.split("#")[0]}`, { cwd: root }), `${at}: ${guide}`).to.have.length(1);
    }
  });

  it("type-check", async () => {
    const modules = examples.flatMap(({ modules }) => modules);
    using folder = tree({
      ...Object.fromEntries(modules.map((module, at) => [`example-${at + 1}.ts`, module])),
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({
        extends: join(root, "tsconfig.base.json"),
        // An example may end with an unused variable.
        compilerOptions: { noEmit: true, skipLibCheck: true, noUnusedLocals: false },
      }),
    });
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    const { ok, output } = await run("tsc", ["-p", folder.path]);
    expect(ok, output).to.equal(true);
  }).timeout(60_000);
});
