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
const server = createServer({ tls: false, virtualWorkspaces: [quotes], authentication });
const { url } = await server.listen({ port: 0 });
const quote = \`\${url}/services/quotes/clusters/root/apis/example.dev/v1/quotes/ssh\`;
const response = await fetch(quote, { headers: { authorization: "Bearer secret", connection: "close" } });
console.log((await response.json()).spec.text);
await server.close();
process.exit(0);
`;

/** Prints the errors of features whose package is missing. */
const LACKING = `
import { loadKubeconfig } from "@virtual-workspaces/client";
import { createServer } from "@virtual-workspaces/framework";

const server = createServer({ virtualWorkspaces: [], authentication: [] });
try {
  server.app;
} catch (error) {
  console.log(error.message);
}
await loadKubeconfig({ file: "config" }).catch((error) => console.log(error.message));
process.exit(0);
`;

/** A kubeconfig in YAML, which client-node parsed before. */
const AUTH_PROVIDER = `
apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: https://localhost } }]
users: [{ name: u, user: { auth-provider: { name: oidc, config: {} } } }]
`;

const FILES = {
  "package.json": JSON.stringify({ name: "user", private: true, type: "module" }),
  "quotes.ts": readFileSync(join(root, "examples/quotes.ts"), "utf8"),
  "serve.ts": PROGRAM,
};

/** Returns the arguments of a command that a page shows. */
function shown(page: string, command: string, begins = ""): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const [, args] = new RegExp(`(?:^|\`)${command} (${begins}[^\`#\\n]+)`, "m").exec(text) ?? [];
  if (args === undefined) throw new Error(`${page} does not show ${command}`);
  return args.trim().split(" ");
}

const READY = /^Ready in .* workspaces at https:\S+\/clusters\/root\nok$/;
const GUIDE = "docs/how-to/install.md";
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
    await user.run("npm", ...shown("README.md", "npm", "install @"));
    expect(await user.node("serve.ts")).to.equal(TEXT);
  });

  it("name the package that a feature needs", async () => {
    using user = new User(registry, { ...FILES, "lacking.ts": LACKING, config: AUTH_PROVIDER });
    await user.run("npm", "install", "@virtual-workspaces/framework", "@virtual-workspaces/client");
    expect((await user.node("lacking.ts")).split("\n")).to.deep.equal([
      "server.app is an Express application: install the package express@5 beside this one",
      "config: users[u].user.auth-provider: install the package @kubernetes/client-node beside this one, or use exec instead",
    ]);
  });

  it("serve workspaces with `npx virtual-workspaces start` in an empty folder", async () => {
    using user = new User(registry);
    expect(await user.start("npx", "--yes", ...shown("README.md", "npx", "virtual-workspaces start"))).to.match(READY);
  });

  it("install commands with `npm install --global`", async () => {
    using user = new User(registry);
    const prefix = join(user.path, "prefix");
    await user.run("npm", ...shown(GUIDE, "npm"), `--prefix=${prefix}`);
    expect(await user.run(join(prefix, "bin/virtual-workspaces"), "--version")).to.match(/^\d+\.\d+\.\d+/);
    expect(await user.run(join(prefix, "bin/kubectl-ws"), "--version")).to.match(/^\d+\.\d+\.\d+/);
    expect(await user.start(join(prefix, "bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `pnpm add`", async () => {
    using user = new User(registry, FILES);

    await user.node(USERS.pnpm, ...shown(GUIDE, "pnpm"), "virtual-workspaces");
    expect(await user.node("serve.ts")).to.equal(TEXT);
    expect(await user.start(join(user.path, "node_modules/.bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `yarn add` of Yarn 1", async () => {
    using user = new User(registry, FILES);
    await user.node(USERS.yarnClassic, ...shown(GUIDE, "yarn"), "virtual-workspaces");
    expect(await user.node("serve.ts")).to.equal(TEXT);
    expect(await user.start(join(user.path, "node_modules/.bin/virtual-workspaces"), "start")).to.match(READY);
  });

  it("serve a view and workspaces after `yarn add` of Yarn 4, with Plug'n'Play", async () => {
    using user = new User(registry, { ...FILES, "yarn.lock": "" });
    await user.node(USERS.yarn, ...shown(GUIDE, "yarn"), "virtual-workspaces");
    expect(await user.node(USERS.yarn, "node", "serve.ts")).to.equal(TEXT);
    expect(await user.start(process.execPath, USERS.yarn, "virtual-workspaces", "start")).to.match(READY);
  });

  typesOf(() => registry);
});
