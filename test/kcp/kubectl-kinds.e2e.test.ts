// kcp's kinds in kubectl: tables, explanations and errors.
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../_support/server.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { Program } from "../go/support/program.ts";
import { kcpView, ROOT } from "./support/served.ts";

async function start() {
  const server = await startTls([kcpView()]);
  const home = await kubeconfigHome({ authority: server.authority, port: server.port, contexts: { root: ROOT } });
  const env = { HOME: home.home, KUBECONFIG: home.kubeconfig, KUBERC: "off" };
  /** Returns the output without ages, with stderr after a `!`. */
  const said = async (args: string, stdin = ""): Promise<string> => {
    await using program = new Program(kubectls()[0] ?? "", args.split(" "), env);
    for (const line of stdin.split("\n")) program.say(line);
    program.endInput();
    const { code } = await program.ended;
    const text = program.lines.map((line) => line.replace(/ +\d+m?s$/, " now")).join("\n");
    return `${code} ${text}${program.stderr === "" ? "" : ` ! ${program.stderr.trim()}`}`;
  };
  const close = async (): Promise<void> => {
    await server.close();
    home[Symbol.dispose]();
  };
  return { said, [Symbol.asyncDispose]: close };
}

const manifest = (kind: string, name: string, rest = ""): string =>
  `apiVersion: tenancy.kcp.io/v1alpha1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${rest}`;

describe("kubectl", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("finds kcp's kinds by category and short name, and shows their columns", async () => {
    await using stage = await start();
    expect(await stage.said("get ws")).to.equal("0  ! No resources found");
    const team = manifest("Workspace", "team", "spec:\n  type:\n    name: team\n    path: root\n");
    expect(await stage.said("create -f -", team)).to.equal("0 workspace.tenancy.kcp.io/team created");
    const table = /^0 NAME +TYPE +REGION +PHASE +URL +AGE\nteam +team +Scheduling +now$/;
    expect(await stage.said("get ws")).to.match(table);
    expect(await stage.said("get kcp -o name")).to.equal("0 workspace.tenancy.kcp.io/team");
    const resources = await stage.said("api-resources --categories=kcp --no-headers --sort-by=name");
    expect(
      resources
        .slice(2)
        .split("\n")
        .map((line) => line.split(/ +/).slice(0, 3).join(" ")),
    ).to.deep.equal([
      "logicalclusters core.kcp.io/v1alpha1 false",
      "mounts proxy.kcp.io/v1alpha1 false",
      "partitions topology.kcp.io/v1alpha1 false",
      "partitionsets topology.kcp.io/v1alpha1 false",
      "shards core.kcp.io/v1alpha1 false",
      "workspaceauthenticationconfigurations tenancy.kcp.io/v1alpha1 false",
      "workspaces ws tenancy.kcp.io/v1alpha1",
      "workspacetypes tenancy.kcp.io/v1alpha1 false",
    ]);
  });

  it("explains them", async () => {
    await using stage = await start();
    expect(await stage.said("explain ws.spec.mount.ref.kind")).to.match(
      /FIELD: kind <string>[\s\S]*Kind of the object\./,
    );
    expect(await stage.said("explain ws.metadata.name")).to.match(/FIELD: name <string>/);
    expect(await stage.said("explain shards --recursive")).to.match(/baseURL\t<string> -required-/);
  });

  it("prints validation errors", async () => {
    await using stage = await start();
    expect(await stage.said("create -f -", manifest("WorkspaceType", "any"))).to.equal(
      '1  ! The WorkspaceType "any" is invalid: <nil>: Invalid value: "": "metadata.name" must not validate the schema (not)',
    );
    await stage.said("create -f -", manifest("Workspace", "one", "spec:\n  cluster: abc\n"));
    expect(await stage.said(`patch ws one --type=merge -p {"spec":{"cluster":"def"}}`)).to.equal(
      '1  ! The Workspace "one" is invalid: spec.cluster: Invalid value: "def": cluster is immutable',
    );
    expect(await stage.said("create -f -", manifest("Workspace", "two", "spec:\n  shard: x\n"))).to.match(
      /strict decoding error: unknown field "spec\.shard"/,
    );
  });
});
