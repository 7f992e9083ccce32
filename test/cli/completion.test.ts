// Completion uses the tables of flags: the tests run the scripts in bash, as the Tab key does.
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

  it("lists the supported shells", async () => {
    for (const shell of ["zsh", "fish"])
      expect((await cli("completion", shell)).stdout, shell).to.include("--root-directory".slice(2));
    expect(await cli("completion", "csh")).to.deep.equal({
      code: 2,
      stdout: "",
      stderr:
        "virtual-workspaces completion: name one shell: bash, zsh, fish; see virtual-workspaces completion --help\n",
    });
  });
});
