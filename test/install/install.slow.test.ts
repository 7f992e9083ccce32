// Why: what users do first is to install from a registry. The test publishes all packages to one on this machine, and installs
// them into empty folders as the README and the guide say: with npm, npx, pnpm and both generations of Yarn. No install script
// runs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { Registry, USERS } from "../_support/registry.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { typesOf } from "./types.ts";
import { User } from "./user.ts";

const PROGRAM = `
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import quotes from "./quotes.ts";

const authentication = [staticTokens({ secret: { name: "ada" } })];
const server = createServer({ virtualWorkspaces: [quotes], authentication });
const { url } = await server.listen({ port: 0 });
const quote = \`\${url}/services/quotes/clusters/root/apis/example.dev/v1/quotes/ssh\`;
const response = await fetch(quote, { headers: { authorization: "Bearer secret", connection: "close" } });
console.log((await response.json()).spec.text);
await server.close();
process.exit(0);
`;

const FILES = {
  "package.json": JSON.stringify({ name: "user", private: true, type: "module" }),
  "quotes.ts": readFileSync(join(root, "examples/quotes.ts"), "utf8"),
  "serve.ts": PROGRAM,
};

const READY = /^Ready in .* workspaces at https:\S+\/clusters\/root\nok$/;
const TEXT = "Edit is the new ssh.";

describe("packages from a registry", function () {
  this.timeout(300_000);
  let registry: Registry;

  before(async function () {
    needsKubectl.call(this);
    registry = await Registry.start();
    await registry.publishAll();
  });
  after(() => registry?.[Symbol.asyncDispose]());

  it("serve a view after `npm install @virtual-workspaces/framework`", async () => {
    using user = new User(registry, FILES);
    await user.run("npm", "install", "@virtual-workspaces/framework");
    expect(await user.node("serve.ts")).to.equal(TEXT);
  });

  it("serve workspaces with `npx virtual-workspaces start` in an empty folder", async () => {
    using user = new User(registry);
    expect(await user.start("npx", "--yes", "virtual-workspaces", "start")).to.match(READY);
  });

  it("install commands with `npm install --global`", async () => {
    using user = new User(registry);
    const prefix = join(user.path, "prefix");
    await user.run("npm", "install", "--global", `--prefix=${prefix}`, "virtual-workspaces");
    expect(await user.run(join(prefix, "bin/virtual-workspaces"), "--version")).to.match(/^\d+\.\d+\.\d+/);
    expect(await user.run(join(prefix, "bin/kubectl-ws"), "--version")).to.match(/^\d+\.\d+\.\d+/);
    expect(await user.start(join(prefix, "bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `pnpm add`", async () => {
    using user = new User(registry, FILES);

    await user.node(USERS.pnpm, "add", "--ignore-scripts", "virtual-workspaces", "@virtual-workspaces/framework");
    expect(await user.node("serve.ts")).to.equal(TEXT);
    expect(await user.start(join(user.path, "node_modules/.bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `yarn add` of Yarn 1", async () => {
    using user = new User(registry, FILES);
    await user.node(USERS.yarnClassic, "add", "virtual-workspaces", "@virtual-workspaces/framework");
    expect(await user.node("serve.ts")).to.equal(TEXT);
    expect(await user.start(join(user.path, "node_modules/.bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `yarn add` of Yarn 4, with Plug'n'Play", async () => {
    using user = new User(registry, { ...FILES, "yarn.lock": "" });
    await user.node(USERS.yarn, "add", "virtual-workspaces", "@virtual-workspaces/framework");
    expect(await user.node(USERS.yarn, "node", "serve.ts")).to.equal(TEXT);
    expect(await user.start(process.execPath, USERS.yarn, "virtual-workspaces", "start")).to.match(READY);
  });

  typesOf(() => registry);
});
