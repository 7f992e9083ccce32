// The completion scripts come from the flag tables. Real shells load them and complete words as they do when Tab is pressed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { cli } from "./support/dev.ts";

const KUBECTL_WS = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/kubectl-ws.ts")];

/** Completions that bash offers for the last word. */
type Complete = (...words: readonly string[]) => readonly string[];

describe("completion in bash", function () {
  this.timeout(60_000);
  const folder = tree({ "view.ts": "", "data/x": "" });
  let virtualWorkspaces: Complete;
  let kubectlWs: Complete;

  before(async () => {
    virtualWorkspaces = completer("_virtual_workspaces", (await cli("completion", "bash")).stdout);
    const script = spawnSync(localNode, [...KUBECTL_WS, "completion", "bash"], { encoding: "utf8" }).stdout;
    kubectlWs = completer("_kubectl_ws", script);
  });

  after(() => folder[Symbol.dispose]());

  function completer(fn: string, script: string): Complete {
    return (...words) => {
      const line = words.map((word) => `'${word}'`).join(" ");
      const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; ${fn} 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = spawnSync("bash", ["--norc", "-c", `${script}\n${ask}`], {
        encoding: "utf8",
        cwd: folder.path,
      });
      return stdout.split("\n").filter((word) => word !== "");
    };
  }

  it("offers the commands, and the flags of a given command", () => {
    expect(virtualWorkspaces("virtual-workspaces", "s")).to.deep.equal(["start", "serve", "store"]);
    expect(virtualWorkspaces("virtual-workspaces", "dev", "--")).to.include.members([
      "--port",
      "--etcd-servers",
      "--help",
    ]);
    expect(virtualWorkspaces("virtual-workspaces", "start", "--root")).to.deep.equal([
      "--root-directory",
      "--root-ca-file",
    ]);
    expect(virtualWorkspaces("virtual-workspaces", "dev", "--root")).to.deep.equal([]);
  });

  it("completes values of flags: files, folders, fixed words", () => {
    expect(virtualWorkspaces("virtual-workspaces", "dev", "--dir", "")).to.deep.equal(["data"]);
    expect(virtualWorkspaces("virtual-workspaces", "serve", "--kubeconfig", "vi")).to.deep.equal(["view.ts"]);
    expect(virtualWorkspaces("virtual-workspaces", "manifests", "--output", "=", "j")).to.deep.equal(["json"]);
    expect(virtualWorkspaces("virtual-workspaces", "store", "b")).to.deep.equal(["backup"]);
    expect(virtualWorkspaces("virtual-workspaces", "dev", "v")).to.deep.equal(["view.ts"]);
  });

  it("offers exactly those flags of kcp's virtual-workspaces that have an effect", () => {
    const recorded = readFileSync(join(root, "test/cli/recorded/kcp-virtual-workspaces-flags.txt"), "utf8").split("\n");
    const offered = virtualWorkspaces("virtual-workspaces", "serve", "--");
    expect(offered.filter((flag) => recorded.includes(flag.slice(2)))).to.have.length.above(25);
    expect(offered).not.to.include("--authentication-skip-lookup");
  });

  it("offers the commands and flags of kubectl ws", () => {
    expect(kubectlWs("kubectl-ws", "cre")).to.deep.equal(["create", "create-context"]);
    expect(kubectlWs("kubectl-ws", "tree", "--w")).to.include.members(["--wide", "--workspace"]);
    expect(kubectlWs("kubectl-ws", "get", "pods", "--output", "j")).to.deep.equal(["json"]);
  });

  it("lists the supported shells when another one is requested", async () => {
    expect(await cli("completion", "csh")).to.deep.equal({
      code: 2,
      stdout: "",
      stderr:
        "virtual-workspaces completion: name one shell: bash, zsh, fish; see virtual-workspaces completion --help\n",
    });
  });
});

describe("kubectl ws help", () => {
  const ws = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(localNode, [...KUBECTL_WS, ...args], { encoding: "utf8" });

  it("prints the help of one command, as --help behind it does", () => {
    const { stdout, status } = ws("help", "create");
    expect(status).to.equal(0);
    expect(stdout)
      .to.match(/^Usage: kubectl ws create <name> \[flags\]\n/)
      .and.include("Examples:");
    expect(stdout).to.include("--location-selector").and.not.include("--overwrite");
    expect(ws("create", "--help").stdout).to.equal(stdout);
  });

  it("prints the help of all commands without one", () => {
    expect(ws("help").stdout).to.equal(ws("--help").stdout);
  });

  it("suggests a command for a misspelled one, and exits with 2", () => {
    const { status, stderr } = ws("help", "creat");
    expect(stderr).to.equal('Error: unknown command "creat": did you mean "create"?; see kubectl ws --help\n');
    expect(status).to.equal(2);
  });
});

const OFFERED_ZSH = join(root, "test/cli/support/offered.zsh");

/** How a shell prints the candidates for the last word of a line, after it has loaded a completion script. */
const SHELLS: Readonly<Record<string, (script: string, line: string) => readonly string[]>> = {
  zsh: (script, line) => ["-f", OFFERED_ZSH, script, line],
  fish: (script, line) => ["--no-config", "-c", `source ${script}; complete -C ${JSON.stringify(line)}`],
};

for (const [shell, argumentsOf] of Object.entries(SHELLS))
  describe(`completion in ${shell}`, function () {
    this.timeout(60_000);
    let folder: ReturnType<typeof tree>;

    before(async function () {
      if (spawnSync(shell, ["--version"]).error !== undefined) return this.skip();
      const ws = spawnSync(localNode, [...KUBECTL_WS, "completion", shell], { encoding: "utf8" }).stdout;
      folder = tree({ "virtual-workspaces": (await cli("completion", shell)).stdout, "kubectl-ws": ws, "view.ts": "" });
    });
    after(() => folder?.[Symbol.dispose]());

    function offered(line: string): readonly string[] {
      const script = join(folder.path, line.split(" ")[0] ?? "");
      const { stdout } = spawnSync(shell, argumentsOf(script, line), { encoding: "utf8", cwd: folder.path });
      const found = stdout.split("\n").map((one) => one.split("\t")[0] ?? "");
      return found.filter((one) => one !== "").sort();
    }

    it("offers the commands, and the flags and actions of the given one", () => {
      expect(offered("virtual-workspaces s")).to.deep.equal(["serve", "start", "store"]);
      expect(offered("virtual-workspaces store b")).to.deep.equal(["backup"]);
      expect(offered("virtual-workspaces dev --data-d")).to.deep.equal(["--data-dir"]);
      expect(offered("virtual-workspaces dev --root")).to.deep.equal([]);
      expect(offered("kubectl-ws cre")).to.deep.equal(["create", "create-context"]);
    });

    it("offers the words that a flag accepts, and files", () => {
      expect(offered("kubectl-ws get pods --output=").map(valueIn)).to.deep.equal(["json", "name", "wide", "yaml"]);
      expect(offered("virtual-workspaces serve --kubeconfig=vie").map(valueIn)).to.deep.equal(["view.ts"]);
    });
  });

/** The value of a candidate: fish repeats the flag before it. */
const valueIn = (candidate: string): string => candidate.replace(/^--[\w-]+=/, "");
