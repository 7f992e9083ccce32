// The command writes complete projects, and never over existing files. `projects.slow.test.ts` installs and runs them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { HAS_PTY, Pty } from "../cli/support/pty.ts";

const BIN = join(root, "packages/create-virtual-workspace/src/bin.ts");
const TEMPLATES = readdirSync(join(root, "packages/create-virtual-workspace/templates")).filter(
  (one) => one !== "every",
);
const ENTER = "\r";
const DOWN = "\u001b[B";
const CTRL_C = "\u0003";

const create = (cwd: string, ...args: string[]) => run(localNode, [BIN, ...args], { cwd });

describe("create-virtual-workspace", function () {
  this.timeout(30_000);

  for (const template of TEMPLATES)
    it(`writes the template ${template} with the name of the folder, and says what comes next`, async () => {
      using folder = tree({});
      const { ok, output } = await create(folder.path, "Book Shop", `--template=${template}`);
      expect(ok, output).to.equal(true);
      expect(output).to.match(new RegExp(`^Created book-shop \\(${template}\\): \\d+ files\\.`));
      expect(output).to.contain('  cd "Book Shop"\n  npm install\n  npm run dev');
      const project = join(folder.path, "Book Shop");
      const samples = new Set(["ticket.yaml", "site.yaml"]);
      expect(
        readdirSync(project)
          .filter((file) => !samples.has(file))
          .sort(),
      ).to.eql(
        [
          ".dockerignore",
          ".gitignore",
          "Dockerfile",
          "README.md",
          "package.json",
          "src",
          "test",
          "tsconfig.json",
        ].sort(),
      );
      for (const file of filesOf(project))
        expect(readFileSync(file, "utf8"), file).to.not.match(/my-view|workspace:\*/);
      const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
      expect(manifest).to.include({ name: "book-shop", private: true, type: "module" });
      expect(manifest.scripts).to.include.keys("dev", "start", "test", "check");
      const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
      for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
        if (/virtual-workspaces/.test(name)) expect(range, name).to.equal(`^${version}`);
    });

  it("writes a read-only view when nothing else is said", async () => {
    using folder = tree({});
    const { output } = await create(folder.path, "my-view");
    expect(output).to.match(/^Created my-view \(view\)/);
  });

  it("keeps keys, tokens, kubeconfigs and databases out of commits and images", async () => {
    using folder = tree({});
    await create(folder.path, "shop", "--template=view");
    const project = join(folder.path, "shop");
    await run("git", ["init", "--quiet", project]);
    const kept = ["tls/tls.key", "tls/tokens.csv", "src/shop.db", "src/shop.db-wal", "src/shop.db-shm"];
    const states = ["src/.virtual-workspaces/admin.kubeconfig", ".kcp/admin.kubeconfig"];
    const { output } = await run("git", ["-C", project, "check-ignore", ...kept, ...states, "src/view.ts"]);
    expect(output.trim().split("\n")).to.deep.equal([...kept, ...states]);
    const ignored = readFileSync(join(project, ".dockerignore"), "utf8").split("\n");
    expect(ignored).to.include.members([
      "tls",
      "**/*.db",
      "**/*.db-shm",
      "**/*.db-wal",
      "**/.virtual-workspaces",
      "**/.kcp",
    ]);
  });

  it("takes a template that npm has kept for itself, for lack of two dashes", async () => {
    using folder = tree({});
    const env = { npm_config_template: "controller" };
    const { output } = await run(localNode, [BIN, "shop"], { cwd: folder.path, env });
    expect(output).to.match(/^Created shop \(controller\)/);
  });

  it("uses the current folder for a dot, and keeps what a new repository has", async () => {
    using folder = tree({ "shop/.gitignore": "mine\n", "shop/.git/HEAD": "ref: refs/heads/main\n" });
    const shop = join(folder.path, "shop");
    const { ok, output } = await create(shop, ".");
    expect(ok, output).to.equal(true);
    expect(output)
      .to.match(/^Created shop \(view\)/)
      .and.not.contain("  cd ");
    expect(readFileSync(join(shop, ".gitignore"), "utf8")).to.equal("mine\n");
  });

  it("rejects a folder with other files, and changes nothing", async () => {
    using folder = tree({ "shop/index.ts": "mine", "shop/src/a.ts": "mine" });
    const { ok, output } = await create(folder.path, "shop");
    expect(ok).to.equal(false);
    expect(output).to.equal('create-virtual-workspace: the folder "shop" is not empty (index.ts, src): name a new one');
    expect(readdirSync(join(folder.path, "shop"), { recursive: true }).sort()).to.eql(["index.ts", "src", "src/a.ts"]);
  });

  it("rejects a file in the place of the folder, a name without letters, and an unknown template", async () => {
    using folder = tree({ taken: "" });
    expect((await create(folder.path, "taken")).output).to.match(
      /^create-virtual-workspace: .*taken.*: name a folder$/,
    );
    expect((await create(folder.path, "???")).output).to.equal(
      'create-virtual-workspace: the name of the folder "???" has no letter or digit: use one such as my-view',
    );
    const { ok, output } = await create(folder.path, "shop", "--template=vue");
    expect(ok).to.equal(false);
    expect(output).to.contain("view-over-workspaces").and.contain("'vue'");
    expect(existsSync(join(folder.path, "shop"))).to.equal(false);
  });

  it("names the missing folder outside of a terminal", async () => {
    using folder = tree({});
    const { ok, output } = await create(folder.path);
    expect(ok).to.equal(false);
    expect(output).to.equal("create-virtual-workspace: missing folder: npm create virtual-workspace@latest my-view");
  });

  it("says what each template is", async () => {
    const { ok, output } = await create(root, "--help");
    expect(ok).to.equal(true);
    for (const template of TEMPLATES) expect(output).to.match(new RegExp(`^ {2}${template} +\\w`, "m"));
  });

  (HAS_PTY ? describe : describe.skip)("in a terminal", () => {
    it("asks only for what is missing", async () => {
      using folder = tree({});
      mkdirSync(join(folder.path, "here"));
      await using terminal = new Pty({ command: `cd ${join(folder.path, "here")} && ${localNode} ${BIN} shop` });
      await terminal.shows("What do you write?");
      terminal.type(DOWN);
      await terminal.shows(/[●>] writable-view/);
      terminal.type(ENTER);
      expect(await terminal.ended()).to.equal(0);
      expect(terminal.screen).to.contain("Created shop (writable-view)");
      expect(existsSync(join(folder.path, "here/shop/src/view.ts"))).to.equal(true);
    });

    it("writes nothing after Ctrl-C", async () => {
      using folder = tree({});
      writeFileSync(join(folder.path, "mine"), "");
      await using terminal = new Pty({ command: `cd ${folder.path} && ${localNode} ${BIN} shop` });
      await terminal.shows("What do you write?");
      terminal.type(CTRL_C);
      expect(await terminal.ended()).to.equal(130);
      expect(readdirSync(folder.path)).to.eql(["mine"]);
    });
  });
});

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
