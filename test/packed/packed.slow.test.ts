// Why: users have the tarballs, not this repository. The test type-checks and runs the view of thirty lines, and a view with
// writes, in a folder outside of the clone: as TypeScript and as built JavaScript, on the oldest supported Node.js, on the
// current one and on the newest. It also follows pages with the installed commands.
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Session, sectionsOf } from "../guides/support/session.ts";
import { installNode, NEWEST, OLDEST, TOO_OLD } from "./other-nodes.ts";
import { Program } from "./program.ts";
// Includes these tests, because both build the packages, which must not happen at the same time.
import "./floor.ts";
import "./runners.ts";

const QUOTE = "/services/quotes/clusters/root/apis/example.dev/v1/quotes/ssh";
const BOARDS = "/services/boards/clusters/root/apis/example.dev/v1/boards";
const NOTES = "/services/notes/clusters/root/apis/example.dev/v1/namespaces/default/notes";
const APPLY = "application/apply-patch+yaml";

const serve = `
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { lmdbStore } from "@virtual-workspaces/store";
import { boards } from "./boards.ts";
import notes from "./notes.ts";
import quotes from "./quotes.ts";

process.on("worker", () => console.log("a thread"));
const authentication = [staticTokens({ secret: { name: "ada" } })];
await using store = await lmdbStore({ dir: "data" });
const server = createServer({ tls: false, virtualWorkspaces: [quotes, boards, notes({ store })], authentication });
const { url } = await server.listen({ port: 0 });
console.log(url);
await new Promise((resolve) => process.once("SIGTERM", resolve));
await server.close();
`;

const strict = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  types: ["node"],
  strict: true,
  skipLibCheck: false,
};
const options = {
  nodenext: { ...strict, module: "nodenext", rewriteRelativeImportExtensions: true, outDir: "out" },
  bundler: {
    ...strict,
    module: "preserve",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    noEmit: true,
  },
};

/** Runs a program until it exits, and fails with its output. */
async function must(command: string, args: string[], cwd: string): Promise<void> {
  const { ok, output } = await run(command, args, { cwd });
  if (!ok) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
}

/** A page for this test: what other pages do not run. */
const COMMANDS = "test/packed/commands.md";

const LOADED = "loaded";

/** Imports each entry, and prints how that failed. */
const IMPORT_ALL = `
const messages = {};
for (const entry of process.argv.slice(2))
  try {
    await import(entry);
    messages[entry] = "${LOADED}";
  } catch (error) {
    messages[entry] = String(error.message);
  }
console.log(JSON.stringify(messages));
`;

/** Entries that are not tested: the check itself, and those that need an optional package. */
const OTHERS: ReadonlySet<string> = new Set([
  "@virtual-workspaces/transport/node-version",
  "@virtual-workspaces/framework/http-proxy",
  "@virtual-workspaces/framework/panel",
  "@virtual-workspaces/spaces/client-node",
]);

/** The entries of all packages but apimachinery, which runs in browsers too. */
function entriesIn(folder: string): readonly string[] {
  const scope = join(folder, "node_modules/@virtual-workspaces");
  return readdirSync(scope)
    .filter((name) => name !== "apimachinery")
    .flatMap((name) => {
      const { exports } = JSON.parse(readFileSync(join(scope, name, "package.json"), "utf8")) as {
        readonly exports: Readonly<Record<string, unknown>>;
      };
      return Object.keys(exports).map((path) => join("@virtual-workspaces", name, path));
    })
    .filter((entry) => !OTHERS.has(entry));
}

/** Whether a program has run before: all share the folder of the notes. */
let keptBefore = false;

describe("packed packages", function () {
  this.timeout(300_000);
  let user: Tree;
  /** Node.js of other versions, by version. */
  const nodes = new Map<string, string>();

  before(async () => {
    user = tree({
      "package.json": JSON.stringify({ name: "user", private: true, type: "module" }),
      "serve.ts": serve,
      "import-all.mjs": IMPORT_ALL,
      "nodenext.json": JSON.stringify({ compilerOptions: options.nodenext, files: ["serve.ts"] }),
      "bundler.json": JSON.stringify({ compilerOptions: options.bundler, files: ["serve.ts"] }),
    });
    const tarballs = join(user.path, "tarballs");
    await must("npm", ["run", "pack", "--", tarballs], root);
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    await must("npm", [...install, ...readdirSync(tarballs).map((name) => join(tarballs, name))], user.path);
    copyFileSync(join(root, "examples/quotes.ts"), join(user.path, "quotes.ts"));
    copyFileSync(join(root, "examples/notes.ts"), join(user.path, "notes.ts"));
    copyFileSync(join(root, "test/packed/boards.fixture.ts"), join(user.path, "boards.ts"));

    for (const version of [...TOO_OLD, OLDEST, NEWEST]) nodes.set(version, await installNode(user, version));
  });

  after(() => user[Symbol.dispose]());

  it("contain the license, but neither sources nor build information", () => {
    const framework = join(user.path, "node_modules/@virtual-workspaces/framework");
    expect(readFileSync(join(framework, "LICENSE"), "utf8")).to.contain("Apache License");
    expect(() => readFileSync(join(framework, "src/index.ts"))).to.throw(/ENOENT/);
    expect(() => readFileSync(join(framework, "dist/.tsbuildinfo"))).to.throw(/ENOENT/);
  });

  for (const resolution of ["nodenext", "bundler"]) {
    it(`type-check under ${resolution}, libraries included`, async () => {
      await must("tsc", ["-p", `${resolution}.json`], user.path);
    });
  }

  for (const [version, node] of [
    [OLDEST, () => nodes.get(OLDEST) ?? ""],
    ["24", () => localNode],
    [NEWEST, () => nodes.get(NEWEST) ?? ""],
  ] as const) {
    for (const entry of ["serve.ts", "out/serve.js"]) {
      it(`serve ${entry} on Node ${version}`, async () => {
        await using program = await Program.start(node(), entry, user.path);
        expect(await program.send("GET", QUOTE)).to.have.nested.property("body.spec.text", "Edit is the new ssh.");
        await writeBoards(program);
        await keepNote(program);
        expect(await program.stop()).to.deep.equal([0, null]);
      });
    }
  }

  // With each of these a view, a controller, an agent, a mount and `kubectl ws` are run as users run them.
  for (const version of [OLDEST, NEWEST])
    for (const page of ["docs/tutorials/first-controller.md", "docs/tutorials/cluster-behind-a-firewall.md", COMMANDS])
      describe(`on Node ${version}, ${page}`, () => {
        let session: Session;
        before(function () {
          needsKubectl.call(this);
          const node = `"${nodes.get(version)}" --disable-warning=ExperimentalWarning`;
          const modules = join(user.path, "node_modules");
          session = new Session({ node, modules, command: "virtual-workspaces/dist/bin.js" });
        });
        after(() => session?.[Symbol.asyncDispose]());

        for (const { title, steps } of sectionsOf(readFileSync(join(root, page), "utf8")))
          it(title, async () => {
            for (const step of steps) await session.follow(step);
          });
      });

  for (const version of TOO_OLD) {
    const sentence = `needs Node.js 24.11 or newer, and `;

    it(`throw one sentence when they are imported on Node ${version}`, async () => {
      const { ok, output } = await run(nodes.get(version) ?? "", ["import-all.mjs", ...entriesIn(user.path)], {
        cwd: user.path,
      });
      expect(ok, output).to.equal(true);
      const messages = JSON.parse(output) as Readonly<Record<string, string>>;
      expect(Object.keys(messages)).to.have.length.above(30);
      for (const [entry, message] of Object.entries(messages)) {
        // A subpath without connections, such as framework/tls, may load on any Node.js, but never fails otherwise.
        const isMain = entry.split("/").length === 2;
        if (isMain || message !== LOADED) expect(message, entry).to.include(sentence);
      }
      expect(Object.values(messages).filter((message) => message === LOADED)).to.have.length.below(8);
    });

    it(`print one sentence as commands on Node ${version}`, async () => {
      for (const program of ["bin.js", "kubectl-ws.js", "kubectl-create-workspace.js", "kubectl_complete-ws.js"]) {
        const file = join(user.path, "node_modules/virtual-workspaces/dist", program);
        const { ok, output } = await run(nodes.get(version) ?? "", [file]);
        expect(ok, program).to.equal(false);
        expect(output.trim().split("\n"), program).to.have.length(1);
        expect(output, program).to.include(sentence);
      }
    });
  }

  it("run here on the versions that they name", async () => {
    for (const [version, node] of nodes) expect((await run(node, ["--version"])).output).to.equal(`v${version}`);
    expect((await run(localNode, ["--version"])).output).to.match(/^v24\./);
  });
});

/** Creates a note for all later programs. */
async function keepNote(program: Program): Promise<void> {
  const note = { apiVersion: "example.dev/v1", kind: "Note", metadata: { name: "n" }, spec: { text: "kept" } };
  const created = await program.send("POST", NOTES, { type: "application/json", body: note });
  expect(created.status).to.equal(keptBefore ? 409 : 201);
  keptBefore = true;
  expect(await program.send("GET", `${NOTES}/n`)).to.have.nested.property("body.spec.text", "kept");
}

/** Sends writes that need modules which are loaded at that moment. */
async function writeBoards(program: Program): Promise<void> {
  const board = (spec: object): object => ({
    apiVersion: "example.dev/v1",
    kind: "Board",
    metadata: { name: "b" },
    spec: { code: "A-1", ...spec },
  });
  const places = Array.from({ length: 400 }, (_, at) => at);
  const apply = `${BOARDS}/b?fieldManager=test`;

  const wrong = await program.send("POST", BOARDS, { type: "application/json", body: board({ code: "a-1" }) });
  expect(wrong.status, "a pattern").to.equal(422);
  expect(wrong.body).to.have.nested.property("details.causes[0].field", "spec.code");

  const text = "long ".repeat(8000);
  const yaml = `apiVersion: example.dev/v1\nkind: Board\nmetadata: {name: b}\nspec:\n  code: A-1\n  text: "${text}"\n`;
  const created = await program.send("POST", BOARDS, { type: "application/yaml", body: yaml });
  expect(created.status, "long YAML").to.equal(201);
  expect(created.body).to.have.nested.property("spec.text", text);
  expect(program.threads, "threads for YAML").to.equal(1);

  const moved = await program.send("PATCH", apply, { type: APPLY, body: board({ code: "A-2" }) });
  expect(moved.status, "a conflict of managers").to.equal(409);
  const forced = await program.send("PATCH", `${apply}&force=true`, { type: APPLY, body: board({ code: "A-2" }) });
  expect(forced.status, "a light rule").to.equal(422);
  expect(forced.body).to.have.property("message").that.contains("a board keeps its code");
  expect(program.threads, "threads for a light rule").to.equal(1);

  const twice = await program.send("PATCH", apply, { type: APPLY, body: board({ places: [...places.slice(1), 1] }) });
  expect(twice.status, "a heavy rule").to.equal(422);
  expect(twice.body).to.have.property("message").that.contains("no place twice");
  expect(program.threads, "threads for a heavy rule").to.equal(2);
  const applied = await program.send("PATCH", apply, { type: APPLY, body: board({ places }) });
  expect(applied.status, "an apply").to.equal(200);
  expect(applied.body).to.have.nested.property("metadata.managedFields").that.has.length(2);
}
