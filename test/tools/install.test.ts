import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { isInstalled, remedyFor, root } from "../../tools/install.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

const install = `import(${JSON.stringify(`${root}/tools/install.mjs`)}).then((m) => m.ensureInstalled(process.cwd()))`;
const lock = (packages: object): string =>
  JSON.stringify({ name: "clone", lockfileVersion: 3, packages: { "": {}, ...packages } });

/** Runs the installation in `clone` with an unreachable registry. */
function installOffline(clone: Tree): { readonly status: number | null; readonly stderr: string } {
  const env = {
    ...process.env,
    npm_config_registry: "http://127.0.0.1:9/",
    npm_config_fetch_retries: "0",
    npm_config_cache: join(clone.path, "cache"),
  };
  return spawnSync(process.execPath, ["-e", install], { cwd: clone.path, env, encoding: "utf8" });
}

describe("installation", () => {
  it("reports what it fetches, and names the remedy when no registry is reachable", function () {
    this.timeout(30_000);
    const packages = { "node_modules/no-such": { version: "1.0.0", integrity: "sha512-AA==" } };
    using clone = tree({
      "package.json": JSON.stringify({ name: "clone", dependencies: { "no-such": "1.0.0" } }),
      "package-lock.json": lock(packages),
    });
    const { status, stderr } = installOffline(clone);
    expect(stderr).to.match(/^Fetching 1 packages of package-lock\.json/);
    expect(stderr).to.contain("the package registry cannot be reached");
    expect(stderr).to.match(/The whole log: .*\.log/);
    expect(status).to.equal(1);
  });

  it("installs, and does nothing the second time", () => {
    using clone = tree({
      "package.json": JSON.stringify({ name: "clone", dependencies: { dep: "file:dep" } }),
      "package-lock.json": lock({ dep: {}, "node_modules/dep": { resolved: "dep", link: true } }),
      "dep/package.json": JSON.stringify({ name: "dep" }),
    });
    expect(installOffline(clone).status).to.equal(0);
    expect(existsSync(join(clone.path, "node_modules/.lock-stamp"))).to.equal(true);
    expect(installOffline(clone)).to.include({ status: 0, stderr: "" });
  });

  it("trusts npm's own record, and notices a newer lock file", () => {
    const one = { "node_modules/a": { version: "1.0.0", integrity: "sha512-one" } };
    using clone = tree({ "package-lock.json": lock(one), "node_modules/.package-lock.json": lock(one) });
    expect(isInstalled(clone.path)).to.equal(true);
    writeFileSync(
      join(clone.path, "package-lock.json"),
      lock({ "node_modules/a": { version: "1.0.1", integrity: "sha512-two" } }),
    );
    expect(isInstalled(clone.path)).to.equal(false);
  });

  it("ignores packages for other platforms", () => {
    const other = { "node_modules/b": { version: "1.0.0", integrity: "sha512-b", os: ["plan9"] } };
    using clone = tree({ "package-lock.json": lock(other) });
    mkdirSync(join(clone.path, "node_modules"));
    writeFileSync(join(clone.path, "node_modules/.package-lock.json"), lock({}));
    expect(isInstalled(clone.path)).to.equal(true);
  });

  const remedies: readonly (readonly [string, RegExp])[] = [
    ["npm error code ENOSPC", /disk is full/],
    ["npm error code EACCES", /cannot be written/],
    ["npm error code ENOTFOUND", /cannot be reached/],
    ["npm error code SELF_SIGNED_CERT_IN_CHAIN", /cafile/],
    ["npm error code ETARGET", /lacks a version/],
    ["npm error code EINTEGRITY", /cache clean/],
    ["npm error code EUSAGE", /disagree/],
    ["npm error code EWHATEVER", /log/],
  ];
  for (const [log, remedy] of remedies) it(`has a remedy for ${log}`, () => expect(remedyFor(log)).to.match(remedy));
});
