// The production programs of the templates: they name the view's path, and say in one line why they cannot start.
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { Program } from "../go/support/program.ts";

const BIN = join(root, "packages/create-virtual-workspace/src/bin.ts");

/** A project with the packages of this clone, a certificate and a token file. */
class Project implements Disposable {
  readonly folder: string;
  readonly #tree: Disposable;

  private constructor(folder: string, home: Disposable) {
    this.folder = folder;
    this.#tree = home;
  }

  static async create(template: string): Promise<Project> {
    const home = tree({});
    await run(localNode, [BIN, "shop", `--template=${template}`], { cwd: home.path });
    const folder = join(home.path, "shop");
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const { tls } = await generatedTls({ dir: join(home.path, "generated") });
    mkdirSync(join(folder, "tls"));
    writeFileSync(join(folder, "tls/tls.crt"), tls.cert);
    writeFileSync(join(folder, "tls/tls.key"), tls.key, { mode: 0o600 });
    writeFileSync(join(folder, "tls/tokens.csv"), "secret,ann,1\n", { mode: 0o600 });
    return new Project(folder, home);
  }

  /** Runs a program, which must fail, and returns its output. */
  async fails(program: string, variables: NodeJS.ProcessEnv): Promise<string> {
    const args = ["--conditions=@virtual-workspaces/source", `src/${program}.ts`];
    const env = { ...process.env, HOST: "127.0.0.1", PORT: "0", ...variables };
    const { ok, output } = await run(localNode, args, { cwd: this.folder, env });
    expect(ok, output).to.equal(false);
    return output;
  }

  /** Changes the name of the view. */
  rename(file: string, name: string): void {
    const path = join(this.folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replace('name: "shop"', `name: "${name}"`));
  }

  /** Starts the server, and returns the URL that it prints. */
  async served(variables: Readonly<Record<string, string>>): Promise<string> {
    const args = ["--conditions=@virtual-workspaces/source", "src/server.ts"];
    const env = { HOST: "127.0.0.1", PORT: "0", ...variables };
    await using program = new Program(localNode, args, { cwd: this.folder, ...env });
    const url = /https:\/\/127\.0\.0\.1:\d+\/services\/\S+/;
    return await program.until("the URL", () => url.exec(program.lines.join("\n"))?.[0], 30_000);
  }

  [Symbol.dispose](): void {
    this.#tree[Symbol.dispose]();
  }
}

const LINES = 'name a readable file with lines of token,user,uid or token,user,uid,"group1,group2"';

describe("a production server", function () {
  this.timeout(60_000);

  for (const [template, file] of [
    ["view", "src/view.ts"],
    ["writable-view", "src/view.ts"],
    ["express", "src/app.ts"],
  ] as const)
    it(`of the template ${template} prints the path of a view with another name`, async () => {
      using project = await Project.create(template);
      project.rename(file, "storefront");
      const variables = { TLS_CERT_FILE: "tls/tls.crt", TLS_KEY_FILE: "tls/tls.key" };
      expect(await project.served(variables)).to.match(/\/services\/storefront$/);
    });
});

describe("a production server that cannot start", function () {
  this.timeout(60_000);

  for (const [template, variables] of [
    ["view", "HOST, PORT, TLS_CERT_FILE, TLS_KEY_FILE and TOKEN_FILE"],
    ["writable-view", "HOST, PORT, DATA_DIR, TLS_CERT_FILE, TLS_KEY_FILE and TOKEN_FILE"],
    ["express", "HOST, PORT, TLS_CERT_FILE, TLS_KEY_FILE and TOKEN_FILE"],
  ] as const)
    it(`with the template ${template} says why in one line`, async () => {
      using project = await Project.create(template);
      const files = { TLS_CERT_FILE: "tls/tls.crt", TLS_KEY_FILE: "tls/tls.key" };
      const fails = async (env: NodeJS.ProcessEnv): Promise<string> => {
        const output = await project.fails("server", { ...files, ...env });
        const [, why = output] = /^shop cannot start: (.*)\. Check (.*)\.$/.exec(output) ?? [];
        expect(output).to.equal(`shop cannot start: ${why}. Check ${variables}.`);
        return why;
      };
      expect(await fails({ TOKEN_FILE: "none" })).to.equal(`cannot read the token file none: ENOENT: ${LINES}`);
      expect(await fails({ TOKEN_FILE: "tls" })).to.equal(`cannot read the token file tls: EISDIR: ${LINES}`);
      expect(await fails({ TLS_CERT_FILE: "none" }))
        .to.match(/ENOENT/)
        .and.contain("none");
      // The application of Express uses Node's own server, whose message is OpenSSL's.
      const key = template === "express" ? /DECODER routines/ : /^tls\/tokens\.csv holds no PEM private key/;
      expect(await fails({ TLS_KEY_FILE: "tls/tokens.csv" })).to.match(key);
      expect(await fails({ PORT: "many" })).to.match(/port should be >= 0 and < 65536/);
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      expect(await fails({ PORT: String(port) })).to.contain(`address already in use 127.0.0.1:${port}`);
      other.close();
      if (template === "writable-view")
        expect(await fails({ DATA_DIR: "package.json" })).to.match(/^the store in \S+: it is not a directory/);
    });

  it("with the template controller says why in one line", async () => {
    using project = await Project.create("controller");
    expect(await project.fails("main", { KUBECONFIG: "/none" })).to.equal(
      "shop cannot start: no kubeconfig found: /none does not exist: set KUBECONFIG to a file that exists",
    );
    const bad = join(project.folder, "bad");
    writeFileSync(bad, "clusters: [");
    expect(await project.fails("main", { KUBECONFIG: bad })).to.match(/^shop cannot start: \S+bad: invalid YAML.*$/);
  });
});
