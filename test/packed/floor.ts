// Why: versions of Node.js treat headers, certificates and HTTP/2 differently. Security: a silently dropped header widens
// access. So the tests of all code that faces untrusted clients also run on the oldest supported Node.js, except those that
// this Node.js cannot parse, against the built packages.
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { installNode, OLDEST } from "./other-nodes.ts";

const TESTS = [
  "anonymous",
  "authn-certificates",
  "authn-jwt",
  "authn-tokens",
  "headers",
  "http2",
  "http2-headers",
  "http2-malformed",
  "http2-streams",
  "identities",
  "impersonation",
  "malformed",
  "request-header",
  "tls-reload",
];

describe("code that faces untrusted clients", function () {
  this.timeout(120_000);
  let folder: Tree;
  let node: string;

  before(async () => {
    folder = tree({ "package.json": '{ "type": "module" }' });
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    node = await installNode(folder, OLDEST);
    await must("node", [join(root, "tools/build.mjs")]);
    writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify(configuration(folder.path)));
    await must("tsc", ["-p", join(folder.path, "tsconfig.json")]);
  });
  after(() => folder[Symbol.dispose]());

  it(`is as safe on Node ${OLDEST}`, async () => {
    const files = TESTS.map((name) => `test/framework/${name}.test.js`);
    const mocha = ["node_modules/mocha/bin/mocha.js", "--no-config", "--require", "./test/_setup/hooks.js"];
    const { ok, output } = await run(node, [...mocha, "--timeout", "20000", ...files], { cwd: folder.path });
    expect(ok, output).to.equal(true);
    expect(Number(/(\d+) passing/.exec(output)?.[1])).to.be.above(300);
  });
});

/** Compiled, since the tests read sources with a condition that the packed tests do without. */
function configuration(outDir: string): object {
  const files = ["test/_setup/hooks.ts", ...TESTS.map((name) => `test/framework/${name}.test.ts`)];
  return {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      target: "es2022",
      noCheck: true,
      erasableSyntaxOnly: false,
      allowJs: true,
      rootDir: root,
      outDir,
      typeRoots: [join(root, "node_modules/@types")],
      types: ["node", "mocha"],
    },
    files: files.map((file) => join(root, file)),
  };
}

async function must(command: string, args: readonly string[]): Promise<void> {
  const { ok, output } = await run(command, [...args], { cwd: root });
  if (!ok) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
}
