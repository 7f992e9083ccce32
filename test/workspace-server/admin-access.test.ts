// Access of administrators: a kubeconfig that kubectl reads, and the parts that survive a restart.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "@virtual-workspaces/framework";
import {
  AdminAccess,
  type AdminAccessOptions,
  ensureRootDirectory,
  servingCertificate,
} from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { parse } from "yaml";
import { run } from "../../tools/run.mjs";
import { testLog } from "../_setup/log.ts";
import { type Tree, tree } from "../_setup/tree.ts";
import { whoami } from "../_support/whoami.ts";

const PLACE = {
  server: "https://127.0.0.1:6443",
  ca: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
};

describe("admin access", () => {
  let folder: Tree;
  let options: AdminAccessOptions;
  beforeEach(() => {
    folder = tree({});
    options = {
      kubeconfig: join(folder.path, "admin.kubeconfig"),
      tokenStore: join(folder.path, ".admin-token-store"),
    };
  });
  afterEach(() => folder[Symbol.dispose]());

  async function start(more: Partial<AdminAccessOptions> = {}): Promise<AdminAccess> {
    const access = await AdminAccess.load({ ...options, ...more });
    access.write(PLACE);
    return access;
  }
  const text = (): string => readFileSync(options.kubeconfig, "utf8");
  const tokens = (): Record<string, string> =>
    Object.fromEntries(
      parse(text()).users.map(({ name, user }: { name: string; user: { token: string } }) => [name, user.token]),
    );
  async function failure(): Promise<string> {
    const error = await start().catch((thrown: Error) => thrown);
    return error instanceof Error ? error.message : "none";
  }

  it("uses kcp's contexts, users and groups", async () => {
    const access = await start({ users: [{ name: "user", workspace: "root" }] });
    const config = parse(text());
    expect(config["current-context"]).to.equal("root");
    const contexts = config.contexts.map(({ name, context }: { name: string; context: object }) => ({
      name,
      ...context,
    }));
    expect(contexts).to.deep.equal([
      { name: "base", cluster: "base", user: "kcp-admin" },
      { name: "root", cluster: "root", user: "kcp-admin" },
      { name: "shard-base", cluster: "base", user: "shard-admin" },
      { name: "system:admin", cluster: "system:admin", user: "shard-admin" },
      { name: "user", cluster: "root", user: "user" },
    ]);
    const clusters = config.clusters.map(({ name, cluster }: { name: string; cluster: { server: string } }) => [
      name,
      cluster.server,
    ]);
    expect(clusters).to.deep.equal([
      ["base", "https://127.0.0.1:6443"],
      ["root", "https://127.0.0.1:6443/clusters/root"],
      ["system:admin", "https://127.0.0.1:6443/clusters/system:admin"],
    ]);
    const groups: Record<string, unknown> = {};
    for (const [name, token] of Object.entries(tokens())) {
      const user = await access.authenticator.authenticateToken(token);
      expect(user).to.include({ name });
      groups[name] = user?.groups;
    }
    expect(groups).to.deep.equal({
      "kcp-admin": ["system:kcp:admin", "system:authenticated"],
      "shard-admin": ["system:masters", "system:authenticated"],
      user: ["system:authenticated"],
    });
    expect(await access.authenticator.authenticateToken("")).to.equal(undefined);
    expect(await access.authenticator.authenticateToken("nobody")).to.equal(undefined);
  });

  it("keeps the token of shard-admin, stores only its hash elsewhere, and renews the other token", async () => {
    await start({ users: [{ name: "user", workspace: "root" }] });
    const before = tokens();
    const hash = createHash("sha256")
      .update(before["shard-admin"] ?? "")
      .digest();
    expect(readFileSync(options.tokenStore).equals(hash)).to.equal(true);
    const access = await start();
    const after = tokens();
    expect(after["shard-admin"]).to.equal(before["shard-admin"]);
    expect(after["kcp-admin"]).not.to.equal(before["kcp-admin"]);
    expect(after).not.to.have.property("user");
    for (const name of ["kcp-admin", "user"])
      expect(await access.authenticator.authenticateToken(before[name] ?? ""), name).to.equal(undefined);
    const modes = readdirSync(folder.path).map((name) => [name, statSync(join(folder.path, name)).mode & 0o777]);
    expect(modes).to.deep.equal([
      [".admin-token-store", 0o600],
      ["admin.kubeconfig", 0o600],
    ]);
  });

  it("keeps all tokens and the server URL on request, but none of a kubeconfig of another origin", async () => {
    const users = [{ name: "user", workspace: "root" }];
    const first = await start({ users, keep: true });
    expect(first.lastServer).to.equal(undefined);
    const before = tokens();
    const second = await start({ users, keep: true });
    expect(tokens()).to.deep.equal(before);
    expect(second.lastServer).to.equal(PLACE.server);
    for (const [name, token] of Object.entries(before))
      expect(await second.authenticator.authenticateToken(token)).to.include({ name });
    rmSync(options.tokenStore);
    const third = await start({ users, keep: true });
    expect(third.lastServer).to.equal(undefined);
    for (const name of Object.keys(before)) expect(tokens()[name], name).not.to.equal(before[name]);
  });

  it("fails with a working remedy when the kubeconfig is lost or has another token", async () => {
    await start();
    const whole = text();
    const empty = `cannot create the 'admin.kubeconfig' file with an empty token for the shard-admin user: put ${options.kubeconfig} back, or remove ${options.tokenStore} to have a new token made`;
    const stale = `admin token in file "${options.kubeconfig}" is not valid anymore. Remove file "${options.tokenStore}" and restart kcp`;
    rmSync(options.kubeconfig);
    expect(await failure()).to.equal(empty);
    expect(existsSync(options.kubeconfig)).to.equal(false);
    writeFileSync(options.kubeconfig, "apiVersion: v1\nkind: Config\n");
    expect(await failure()).to.equal(empty);
    writeFileSync(options.kubeconfig, "users: [{name: shard-admin, user: {token: forged}}]");
    expect(await failure()).to.equal(stale);
    writeFileSync(options.kubeconfig, "users: [\n  a: {");
    expect(await failure()).to.match(/invalid kubeconfig ".*admin\.kubeconfig": restore the previous file/);
    writeFileSync(options.kubeconfig, whole);
    expect(await failure()).to.equal("none");
    writeFileSync(options.tokenStore, "short");
    expect(await failure()).to.equal(stale);
    rmSync(options.tokenStore);
    const before = tokens()["shard-admin"];
    expect(await failure()).to.equal("none");
    expect(tokens()["shard-admin"]).not.to.equal(before);
  });

  it("recovers after a crash from a kubeconfig without a hash and from a partial file", async () => {
    await start();
    rmSync(options.tokenStore);
    writeFileSync(`${options.kubeconfig}.${process.pid}.new`, "half");
    expect(await failure()).to.equal("none");
    expect(readdirSync(folder.path).sort()).to.deep.equal([".admin-token-store", "admin.kubeconfig"]);
  });

  it("names the file that cannot be written, and leaves no partial file", async () => {
    const below = { kubeconfig: join(folder.path, "no", "admin.kubeconfig"), tokenStore: options.tokenStore };
    const error = await start(below).catch((thrown: Error) => thrown);
    expect(error).to.have.property("message", `cannot write file "${below.kubeconfig}": ENOENT`);
    expect(readdirSync(folder.path)).to.deep.equal([]);
    mkdirSync(options.kubeconfig);
    expect(await failure()).to.equal(`cannot write file "${options.kubeconfig}": EISDIR`);
    mkdirSync(options.tokenStore);
    expect(await failure()).to.equal(`cannot read file "${options.tokenStore}": EISDIR`);
    expect(readdirSync(folder.path).sort()).to.deep.equal([".admin-token-store", "admin.kubeconfig"]);
  });

  it("works with kubectl, which verifies the server with the CA in the kubeconfig", async function () {
    this.timeout(60_000);
    if (!(await run("kubectl", ["version", "--client"])).ok) this.skip();
    const { ca, certFile, keyFile } = await servingCertificate({
      dir: folder.path,
      hosts: ["localhost"],
      addresses: ["127.0.0.1"],
    });
    const access = await AdminAccess.load({ ...options, users: [{ name: "user", workspace: "root" }] });
    const server = createServer({
      virtualWorkspaces: [whoami()],
      authentication: [access.authenticator],
      tls: { certFile, keyFile },
      log: testLog().log,
    });
    const { port } = await server.listen({ port: 0 });
    try {
      access.write({ server: `https://127.0.0.1:${port}`, ca });
      const kubectl = (...args: string[]): ReturnType<typeof run> =>
        run("kubectl", ["--kubeconfig", options.kubeconfig, ...args]);
      expect((await kubectl("config", "current-context")).output).to.equal("root");
      for (const [context, name] of [
        ["base", "kcp-admin"],
        ["shard-base", "shard-admin"],
      ] as const) {
        const { output } = await kubectl("--context", context, "get", "--raw", "/services/who/");
        expect(JSON.parse(output)).to.include({ name });
      }
    } finally {
      await server.close();
    }
  });
});

describe("the root directory", () => {
  it("is created with access for its owner only, and rejects a file", () => {
    using folder = tree({ file: "" });
    const dir = join(folder.path, "a", ".kcp");
    ensureRootDirectory(dir);
    ensureRootDirectory(dir);
    expect(statSync(dir).mode & 0o777).to.equal(0o700);
    const file = join(folder.path, "file");
    expect(() => ensureRootDirectory(file)).to.throw(`"${file}" is a file, please delete or select another location`);
    expect(() => ensureRootDirectory(join(file, "x"))).to.throw(/ENOTDIR/);
  });
});
