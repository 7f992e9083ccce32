// Why: a release is made rarely and cannot be taken back. The test makes releases in a copy of the repository, with git and a registry
// on this machine, and interrupts one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { localNode } from "../../tools/install.mjs";
import { manifestsInOrder, setVersions } from "../../tools/release-versions.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { cloneTo } from "../_support/linked-clone.ts";
import { Registry } from "../_support/registry.ts";

/** Packages of the copy: as many as show their order, and few enough to build them often. */
const PACKAGES = ["apimachinery", "transport", "framework"];

const FRAMEWORK = "@virtual-workspaces/framework";

describe("the versions of a release", () => {
  it("are those of all packages, of the ranges among them, and of the lock file", async function () {
    this.timeout(60_000);
    using folder = tree({});
    const clone = join(folder.path, "clone");
    cloneTo(clone);
    setVersions(clone, "0.2.0");
    // Fails if a package.json and the lock file disagree.
    const { ok, output } = await run("npm", ["ci", "--dry-run", "--ignore-scripts", "--offline"], { cwd: clone });
    expect(ok, output).to.equal(true);
    const packages = manifestsInOrder(clone).map(({ manifest }) => manifest);
    expect(packages.map(({ version }) => version)).to.deep.equal(packages.map(() => "0.2.0"));
    const command = packages.find(({ name }) => name === "virtual-workspaces");
    expect(command.dependencies).to.include({ [FRAMEWORK]: "^0.2.0" });
  });
});

describe("npm run release", function () {
  this.timeout(600_000);
  let registry: Registry;
  let folder: Tree;
  let clone: string;
  let env: Readonly<Record<string, string>> = {};

  before(async () => {
    registry = await Registry.start();
    folder = tree({});
    clone = join(folder.path, "clone");
    cloneTo(clone);
    // The checks have tests of their own: here they pass or fail at once.
    checks("exit 0");
    keepPackages();
    await git("init", "--quiet", "--initial-branch=main");
    await git("config", "user.name", "Ada");
    await git("config", "user.email", "ada@example.com");
    await commit();
  });
  after(async () => {
    folder[Symbol.dispose]();
    await registry[Symbol.asyncDispose]();
  });

  function keepPackages(): void {
    for (const name of readdirSync(join(clone, "packages")))
      if (!PACKAGES.includes(name)) rmSync(join(clone, "packages", name), { recursive: true });
    edit("tsconfig.build.json", () =>
      JSON.stringify({ files: [], references: PACKAGES.map((name) => ({ path: `packages/${name}` })) }),
    );
  }

  async function git(...args: readonly string[]): Promise<string> {
    const { ok, output } = await run("git", [...args], { cwd: clone });
    if (!ok) throw new Error(`git ${args.join(" ")}:\n${output}`);
    return output;
  }

  async function commit(): Promise<void> {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "chore: change");
  }

  function edit(file: string, change: (text: string) => string): void {
    const path = join(clone, file);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }

  const checks = (command: string): void =>
    edit("package.json", (text) => text.replace(/"check": "[^"]*"/, `"check": "${command}"`));

  const release = (...args: readonly string[]): ReturnType<typeof run> =>
    run(localNode, [join(clone, "tools/release.mjs"), ...args], { cwd: clone, env: { ...registry.env, ...env } });

  async function refused(message: RegExp, ...args: readonly string[]): Promise<void> {
    const { ok, output } = await release(...args);
    expect({ ok, output }).to.have.property("output").that.matches(message);
    expect(ok).to.equal(false);
    expect(await git("tag", "--list")).to.not.contain("9.9.9");
  }

  async function inRegistry(name: string, field: string): Promise<unknown> {
    const { output } = await run("npm", ["view", name, field, "--json", "--prefer-online"], { env: registry.env });
    return JSON.parse(output);
  }

  it("rejects an invalid version, and publishing without provenance", async () => {
    await refused(/^invalid version "next": use one such as 0\.2\.0/, "next");
    await refused(/^provenance needs a CI service.*--no-provenance$/, "9.9.9", "--publish");
  });

  it("rejects uncommitted changes", async () => {
    writeFileSync(join(clone, "new.txt"), "");
    await refused(/^the working tree has changes: commit them/, "9.9.9");
    await git("clean", "--quiet", "--force");
  });

  it("rejects a branch that is not main", async () => {
    await git("switch", "--quiet", "--create", "topic");
    await refused(/^the branch is "topic": releases are made on main/, "9.9.9");
    await git("switch", "--quiet", "main");
  });

  it("rejects a changelog without entries", async () => {
    edit("CHANGELOG.md", (text) => text.replace(/^- /gm, ""));
    await commit();
    await refused(/^CHANGELOG\.md has no entries under Unreleased/, "9.9.9");
    await git("revert", "--no-edit", "HEAD");
  });

  it("rejects when the checks fail", async () => {
    checks("echo lint fails; exit 1");
    await commit();
    await refused(/^npm run check --silent failed:\nlint fails/, "9.9.9");
    await git("revert", "--no-edit", "HEAD");
  });

  it("rejects a version with a tag on another commit", async () => {
    await git("tag", "v9.9.8", "HEAD~1");
    await refused(/^the tag v9\.9\.8 exists on another commit/, "9.9.8");
  });

  it("shows what it would do, and changes nothing", async () => {
    const { ok, output } = await release("0.2.0");
    expect(ok, output).to.equal(true);
    expect(output.match(/^would publish {2}\S+@0\.2\.0$/gm) ?? output).to.have.length(PACKAGES.length);
    expect(output).to.match(/Nothing was changed\. Release with --publish\.$/);
    expect(await git("status", "--porcelain")).to.equal("");
    expect(await git("log", "-1", "--format=%s")).to.not.contain("release");
  });

  it("continues after it was interrupted, and publishes all packages in step", async () => {
    const args = [join(clone, "tools/release.mjs"), "0.2.0", "--publish", "--no-provenance"];
    const first = spawn(localNode, args, {
      cwd: clone,
      env: { ...process.env, ...registry.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(first, "close");
    for await (const line of createInterface(first.stdout)) if (line.startsWith("published")) break;
    first.kill("SIGKILL");
    await closed;

    // `npm publish` of the interrupted release may still run, and be through between the list and the publication.
    using programs = tree({
      npm: '#!/bin/sh\nif [ "$1" = publish ]; then PATH="$REST" npm "$@"; fi\nPATH="$REST" exec npm "$@"\n',
    });
    chmodSync(join(programs.path, "npm"), 0o755);
    const rest = process.env["PATH"] ?? "";
    env = { REST: rest, PATH: `${programs.path}${delimiter}${rest}` };
    const { ok, output } = await release("0.2.0", "--publish", "--no-provenance");
    env = {};
    expect(ok, output).to.equal(true);
    expect(output).to.match(/^was there {2}@virtual-workspaces\/\S+@0\.2\.0$/m);
    expect(output.match(/^(?:was there|published) .*@0\.2\.0$/gm)).to.have.length(PACKAGES.length);
    expect(output).to.match(/Now push: git push origin main v0\.2\.0$/);

    expect(await inRegistry(FRAMEWORK, "dist-tags")).to.deep.equal({ latest: "0.2.0" });
    const dependencies = (await inRegistry(FRAMEWORK, "dependencies")) as Readonly<Record<string, string>>;
    expect(dependencies).to.include({ "@virtual-workspaces/apimachinery": "^0.2.0" });
    expect(await git("log", "-1", "--format=%s", "v0.2.0")).to.equal("chore(release): v0.2.0");
    expect(await git("status", "--porcelain")).to.equal("");
    const today = new Date().toISOString().slice(0, 10);
    expect(await git("show", "v0.2.0:CHANGELOG.md")).to.contain(`## Unreleased\n\n## 0.2.0 - ${today}\n`);
  });

  it("rejects a version that exists", async () => {
    edit("README.md", (text) => `${text}\n`);
    edit("CHANGELOG.md", (text) => text.replace("## Unreleased\n", "## Unreleased\n\n- A change\n"));
    await commit();
    await refused(/^the tag v0\.2\.0 exists on another commit/, "0.2.0");
    await git("tag", "--delete", "v0.2.0");
    await refused(/^CHANGELOG\.md has the version 0\.2\.0: use the next version$/, "0.2.0");
    using other = tree({ "package.json": JSON.stringify({ name: FRAMEWORK, version: "9.9.9" }) });
    await registry.publish(other.path, "--tag=other");
    await refused(/^@virtual-workspaces\/framework@9\.9\.9 is in the registry: use the next version$/, "9.9.9");
  });

  it("publishes a pre-release under the tag next, and keeps the entries of the changelog", async () => {
    const { ok, output } = await release("0.3.0-rc.1", "--publish", "--no-provenance");
    expect(ok, output).to.equal(true);
    expect(await inRegistry(FRAMEWORK, "dist-tags")).to.include({ latest: "0.2.0", next: "0.3.0-rc.1" });
    expect(readFileSync(join(clone, "CHANGELOG.md"), "utf8")).to.contain("## Unreleased\n\n- A change\n");
  });
});
