// Why: users apply the printed manifests unread, so they must be what the view means, in an order that works.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { cli } from "./support/dev.ts";

const run = promisify(execFile);
const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];
const NOTICEBOARD = join(root, "examples/over-workspaces/noticeboard.ts");

const object = (kind: string, name: string, more = ""): string =>
  `{ apiVersion: "v1", kind: "${kind}", metadata: { name: "${name}" ${more} } }`;
const FILES = {
  "one.ts": `export const manifests = [${object("Widget", "w")}, ${object("ClusterRole", "r")}, ${object("APIExport", "e")}];`,
  "two.ts": `export const manifests = [${object("Namespace", "n")}, ${object("APIExport", "e")}];`,
  "clash.ts": `export const manifests = [${object("APIExport", "e", ", labels: {}")}];`,
  "none.ts": "export default 1;",
  "single.ts": `export const manifests = ${object("Widget", "w")};`,
  "nameless.ts": `export const manifests = [${object("Widget", "w")}, { apiVersion: "v1", kind: "Widget", metadata: {} }];`,
  "kindless.ts": `export const manifests = [{ metadata: { name: "x" } }];`,
  "text.ts": `export const manifests = ["Widget"];`,
  "rights.ts": `export const permissions = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];`,
  "rightless.ts": `export const permissions = [{ resources: ["configmaps"], verbs: ["list"] }];`,
  "right.ts": `export const permissions = {};`,
  "away.yaml": `{clusters: [{name: a, cluster: {server: "https://127.0.0.1:1/clusters/root"}}], users: [{name: a, user: {}}], contexts: [{name: a, context: {cluster: a, user: a}}], current-context: a}`,
  "throws.ts": `throw new Error("not today");`,
};

describe("virtual-workspaces manifests", function () {
  this.timeout(60_000);

  it("prints what a view needs, for kubectl", async () => {
    const { code, stdout, stderr } = await cli("manifests", NOTICEBOARD);
    expect([code, stderr]).to.deep.equal([0, ""]);
    const [crd, ...others] = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(others).to.deep.equal([]);
    expect(crd).to.include({ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" });
    expect(crd.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.endpoints).to.include({
      "x-kubernetes-list-type": "map",
    });
    const list = JSON.parse((await cli("manifests", NOTICEBOARD, "-o", "json")).stdout);
    expect(list).to.deep.equal({ apiVersion: "v1", kind: "List", items: [crd] });
  });

  it("puts dependencies first, and prints each object of several views once", async () => {
    using folder = tree(FILES);
    const names = async (...args: readonly string[]): Promise<string[]> => {
      const { stdout, stderr } = await cli("manifests", ...args, "-o=json");
      expect(stderr).to.equal("");
      return JSON.parse(stdout).items.map(({ kind, metadata }: { kind: string; metadata: { name: string } }) =>
        [kind, metadata.name].join(" "),
      );
    };
    const files = ["one.ts", "two.ts"].map((name) => join(folder.path, name));
    expect(await names(...files)).to.deep.equal(["Namespace n", "APIExport e", "ClusterRole r", "Widget w"]);
  });

  for (const [args, why, code] of [
    [
      ["none.ts"],
      /none\.ts has no export "manifests"\. Write `export const manifests: Manifests = \[ … \]`, with the type from @virtual-workspaces\/workspaces\./,
      1,
    ],
    [["single.ts"], /single\.ts: its export "manifests" is not a list\. Write /, 1],
    [["nameless.ts"], /nameless\.ts: manifests\[1\] of kind Widget has no metadata\.name/, 1],
    [["kindless.ts"], /kindless\.ts: manifests\[0\] has no apiVersion or no kind/, 1],
    [["text.ts"], /text\.ts: manifests\[0\] is not an object/, 1],
    [["throws.ts"], /cannot load \S*throws\.ts: Error: not today/, 1],
    [["one.ts", "clash.ts"], /clash\.ts: its APIExport\.v1 e differs from that of \S+one\.ts/, 1],
    [["nowhere.ts"], /nowhere\.ts is neither a file nor a package in /, 1],
    [["@virtual-workspaces/nothing"], /@virtual-workspaces\/nothing is neither a file nor a package in /, 1],
    [["@nobody/nothing"], /@nobody\/nothing is neither a file nor a package in /, 1],
    [[], /name files of views, or packages, as in virtual-workspaces manifests \.\/view\.ts; see/, 2],
    [["--rbac", "one.ts"], /--rbac needs --user or --group: set it to the user of the kubeconfig of serve/, 2],
    [
      ["--rbac", "--user=a", "one.ts"],
      /one\.ts has no export "permissions"\. Write `export const permissions: P.* from @virtual-workspaces\/workspaces, and a rule for each right of the view, or `\[\]` if it needs none/,
      1,
    ],
    [["--rbac", "--user=a", "right.ts"], /right\.ts: its export "permissions" is not a list\. Write /, 1],
    [["--rbac", "--user=a", "rightless.ts"], /rightless\.ts: permissions\[0\] is no rule of a ClusterRole: give it/, 1],
    [["--timeout=1s", "one.ts"], /--timeout has no effect without --apply: set both/, 2],
    [["--apply", "--kubeconfig=away.yaml", "--timeout=1s", "one.ts"], /cannot apply the manifests within 1 s: /, 1],
    [["--user=a", "one.ts"], /--user has no effect without --rbac: set both/, 2],
    [["one.ts", "-o", "xml"], /invalid value "xml" for --output: use yaml or json/, 2],
  ] as const)
    it(`${args.join(" ") || "nothing"}: reports the problem`, async () => {
      using folder = tree(FILES);
      const placed = (arg: string): string => (Object.hasOwn(FILES, arg) ? join(folder.path, arg) : arg);
      const inFolder = args.map((arg) => arg.replace(/[^=]+$/, placed));
      const said = await cli("manifests", ...inFolder);
      expect(said.stderr)
        .to.match(why)
        .and.not.match(/node:internal|packages\/cli/);
      expect([said.code, said.stdout]).to.deep.equal([code, ""]);
    });

  it("prints the rights of serve, with those of its views", async () => {
    using folder = tree(FILES);
    const words = ["--rbac", "--group=views", "--user=a,b", "--name=narrow", "-o=json"];
    const { items } = JSON.parse((await cli("manifests", ...words, join(folder.path, "rights.ts"))).stdout);
    const [role, binding] = items;
    expect(items).to.have.length(2);
    expect([role.kind, role.metadata, binding.kind, binding.metadata]).to.deep.equal([
      ...["ClusterRole", { name: "narrow" }, "ClusterRoleBinding", { name: "narrow" }],
    ]);
    expect(role.rules.at(-1)).to.deep.equal({ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] });
    expect(role.rules.slice(0, -1)).to.deep.equal(
      JSON.parse((await cli("manifests", "--rbac", "--user=a", "-o=json")).stdout).items[0].rules,
    );
    const subjects = binding.subjects.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`);
    expect(subjects).to.deep.equal(["User a", "User b", "Group views"]);
    expect(binding.roleRef).to.deep.equal({
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "narrow",
    });
  });

  it("finds packages from the working directory", async () => {
    using folder = tree({
      "package.json": "{}",
      "node_modules/mine/package.json": JSON.stringify({ name: "mine", type: "module", exports: "./index.js" }),
      "node_modules/mine/index.js": `export const manifests = [${object("Namespace", "here")}, ${object("Widget", "w")}];`,
    });
    const { stdout } = await run(localNode, [...BINARY, "manifests", "mine"], { cwd: folder.path });
    expect(stdout).to.equal(
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: here\n---\napiVersion: v1\nkind: Widget\nmetadata:\n  name: w\n",
    );
  });

  it("finds this project's packages in a folder without packages", async () => {
    using folder = tree({});
    const { stdout } = await run(localNode, [...BINARY, "manifests", "@virtual-workspaces/front-proxy", "-o=json"], {
      cwd: folder.path,
    });
    const [{ metadata }] = JSON.parse(stdout).items;
    expect(metadata.name).to.equal("pathmappings.proxy.kcp.io");
  });
});
