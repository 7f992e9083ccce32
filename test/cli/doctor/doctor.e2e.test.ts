// `virtual-workspaces doctor` on set-ups with one fault each: it names the first fault, and the remedy.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Authority } from "../../_support/certificates.ts";
import { kubectls, needsKubectl } from "../../e2e/support/kubectls.ts";
import { kubectl } from "../../go/support/kubectl.ts";
import { cli } from "../support/dev.ts";
import { Start } from "../support/start.ts";

const V1ALPHA2 = "apis.kcp.io/v1alpha2";
const binding = (name: string, path: string, permissionClaims: readonly object[] = []) => ({
  apiVersion: V1ALPHA2,
  kind: "APIBinding",
  metadata: { name },
  spec: { reference: { export: { path, name } }, permissionClaims },
});
const anExport = (name: string, permissionClaims: readonly object[] = []) => ({
  apiVersion: V1ALPHA2,
  kind: "APIExport",
  metadata: { name },
  spec: { permissionClaims },
});
const mount = (name: string, spec: object) => ({
  apiVersion: "proxy.kcp.io/v1alpha1",
  kind: "Mount",
  metadata: { name },
  spec,
});
const mounted = (name: string, ref: object) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: { mount: { ref } },
});
const MOUNT = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount" };
const SECRET = { apiVersion: "v1", kind: "Secret", namespace: "default" };
/** A Secret with a kubeconfig. */
const secret = (name: string, cluster: object, user: object) => ({
  ...{ apiVersion: "v1", kind: "Secret", metadata: { name } },
  stringData: {
    kubeconfig: JSON.stringify({
      "current-context": "c",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "c", user }],
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
    }),
  },
});
const SECRETS = { group: "", resource: "secrets", verbs: ["get"] };

describe("virtual-workspaces doctor", function () {
  this.timeout(120_000);
  let server: Start;

  before(async function () {
    needsKubectl.call(this);
    const files = { "tokens.csv": "root-token,admin,1,system:kcp:admin\nbob-token,bob,2\ncarol-token,carol,3\n" };
    server = await Start.ready({ flags: ["--batteries-included=+mounts", "--mount-allow=127.0.0.1"], files });
    await create(binding("proxy.kcp.io", "root"));
    await run("wait", "apibinding/proxy.kcp.io", "--for=jsonpath={.status.phase}=Bound");
    await create({
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name: "lab" },
      spec: { type: { name: "universal", path: "root" } },
    });
    await run("wait", "ws/lab", "--for=jsonpath={.status.phase}=Ready");
  });
  after(() => server?.[Symbol.asyncDispose]());

  async function run(...args: string[]): Promise<void> {
    const { code, stderr } = await kubectl(kubectls()[0] ?? "", server.home, args);
    expect(code, `${args.join(" ")}: ${stderr}`).to.equal(0);
  }
  async function create(object: object, ...flags: string[]): Promise<void> {
    const file = join(server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    await run("create", "-f", file, ...flags);
  }
  const url = (path: string): string => `${server.url}${path}`;

  /** Returns the exit code, and the last step with its remedy. */
  async function doctor(...args: string[]): Promise<readonly [code: number, last: string]> {
    const { code, stdout, stderr } = await cli("doctor", "--kubeconfig", server.home.kubeconfig, ...args);
    const lines = (stdout + stderr).trimEnd().split("\n");
    const at = lines.findIndex((line) => line.startsWith("FAILED"));
    return [code ?? -1, at === -1 ? lines.join("\n") : lines.slice(at).join("\n")];
  }
  async function fails(args: readonly string[], ...said: readonly (string | RegExp)[]): Promise<void> {
    const [code, last] = await doctor(...args);
    expect(code, last).to.equal(1);
    for (const one of said)
      if (typeof one === "string") expect(last).to.contain(one);
      else expect(last).to.match(one);
  }

  it("finds no fault in a correct workspace, view, export and mount", async () => {
    await create(mount("link", { type: "Workspace", path: "root:lab" }));
    await create(mounted("link", { ...MOUNT, name: "link" }));
    await run("wait", "ws/link", "--for=jsonpath={.status.phase}=Ready");
    for (const args of [
      [],
      [url("/clusters/root:lab")],
      [url("/services/apiexport/root/proxy.kcp.io/clusters/*")],
      ["export", "proxy.kcp.io"],
      ["export", "root:tenancy.kcp.io"],
      ["mount", "link"],
    ]) {
      const [code, said] = await doctor(...args);
      expect([args, code, said]).to.deep.equal([args, 0, said]);
      expect(
        said.split("\n").every((line) => /^(ok {6}|- {7})/.test(line)),
        said,
      ).to.equal(true);
    }
    const { stdout } = await cli("doctor", "--kubeconfig", server.home.kubeconfig, "mount", "link", "-o", "json");
    const steps = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(steps.at(-1)).to.deep.equal({
      title: "the target answers and authenticates the user",
      result: "ok",
      detail: "as kcp-admin",
    });
  });

  it("reports a missing server, and an untrusted one", async () => {
    await fails(["--server=https://127.0.0.1:1"], "connection refused by 127.0.0.1:1", "start the server");
    await fails(["--server=https://nowhere.invalid"], "cannot resolve the host name nowhere.invalid", "check the host");
    const other = join(server.folder.path, "other-ca.crt");
    writeFileSync(other, Authority.root("other").cert);
    await fails(
      [`--certificate-authority=${other}`],
      "is not trusted",
      "certificate-authority of the kubeconfig does not match",
    );
    await fails(["--tls-server-name=other.example"], "has other names", "use one of these names");
  });

  it("reports rejected credentials, and since when a token is expired", async () => {
    await fails(["--token=nobodys"], "the server rejects the credentials: 401", "log in again, or select another user");
    const claims = Buffer.from(JSON.stringify({ exp: 1_700_000_000 })).toString("base64url");
    const token = `eyJhbGciOiJub25lIn0.${claims}.c2VjcmV0`;
    await fails([`--token=${token}`], "the token expired at 2023-11-14T22:13:20.000Z: log in again");
    const [, said] = await doctor(`--token=${token}`);
    expect(said).to.not.contain(claims).and.not.contain("c2VjcmV0");
  });

  it("reports the missing rule of a user without access, with a remedy that works", async () => {
    const asked = [url("/clusters/root:lab"), "--token=bob-token"];
    await fails(asked, `no rule of root:lab gives "bob" the verb "access" for "/"`);
    const [, said] = await doctor(...asked);
    const [, remedy = ""] = /run: kubectl (.*)$/m.exec(said) ?? [];
    await run(...remedy.split(" "));
    const [code, now] = await doctor(...asked);
    expect(code, now).to.equal(0);
    await fails(
      [url("/clusters/root:nope")],
      "there is nothing at this path: ",
      "check each name in the path of the URL",
    );
    await fails([url("/clusters/root:lbb")], 'did you mean "root:lab"?');
    // Suggestions never name what the caller may not list.
    const child = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "vault" }, spec: {} };
    writeFileSync(join(server.folder.path, "child.json"), JSON.stringify(child));
    await run("create", "-f", join(server.folder.path, "child.json"), `--server=${url("/clusters/root:lab")}`);
    await fails([url("/clusters/root:lab:valut")], 'did you mean "root:lab:vault"?');
    const [, toCarol] = await doctor(url("/clusters/root:lab:valut"), "--as=carol");
    expect(toCarol).to.include("FAILED").and.not.include("vault");
  });

  it("reports the faults of an export", async () => {
    await fails(["export", "proxy.kcp.oi"], 'did you mean "proxy.kcp.io"?');
    await fails([url("/services/apiexport/root/proxy.kcp.oi/clusters/*")], 'did you mean "proxy.kcp.io"?');
    await fails([url("/services/apiexprot/root/proxy.kcp.io/clusters/*")], "did you mean /services/apiexport?");
    await fails(["export", "nope"], "/clusters/root has no APIExport nope", "kubectl get apiexports");
    await create(anExport("claiming", [SECRETS]));
    await create(anExport("lonely"));
    await run("wait", "apiexport/lonely", "--for=jsonpath={.status.identityHash}");
    await fails(["export", "lonely"], "the APIExportEndpointSlice lonely has no endpoints", "bind the export");
    await create(binding("claiming", "root", [{ ...SECRETS, state: "Rejected", selector: { matchAll: true } }]));
    await run("wait", "apibinding/claiming", "--for=jsonpath={.status.phase}=Bound");
    await run("wait", "apiexportendpointslice/claiming", "--for=jsonpath={.status.endpoints[0].url}");
    await fails(["export", "claiming"], "the claim for secrets is Rejected", "accept it in spec.permissionClaims");
    await fails(["export", "claiming", "--token=bob-token"], "FAILED");
  });

  it("reports why a mounted workspace is not ready", async () => {
    await fails(["mount", "lbb"], 'did you mean "lab"?');
    await fails(["mount", "nope"], 'workspaces.tenancy.kcp.io "nope" not found', "kubectl get workspaces");
    await fails(["mount", "lab"], "workspace lab is not mounted", "examine it by its URL");
    await create(mount("later", { type: "Workspace", path: "root:not-yet" }));
    await create(mounted("later", { ...MOUNT, name: "later" }));
    await run("wait", "mount/later", "--for=jsonpath={.status.phase}");
    await fails(
      ["mount", "later"],
      'its status.phase is "Unknown": workspace "root:not-yet" not found: check spec.path\n',
      "look at the workspace at spec.path of the Mount, and at its own mount",
    );
    await create(mount("bare", { ref: { ...SECRET, name: "bare" } }));
    await create(mounted("bare", { ...MOUNT, name: "bare" }));
    await run("wait", "mount/bare", "--for=jsonpath={.status.phase}");
    await fails(
      ["mount", "bare"],
      'its status.phase is "Unknown": Secret "default/bare" (spec.ref) not found\n',
      "correct the Secret and the key that the message names",
    );
    await create(secret("down", { server: "https://127.0.0.1:1" }, { token: "any" }));
    await create(mount("down", { ref: { ...SECRET, name: "down" }, identity: { type: "Fixed" } }));
    await create(mounted("down", { ...MOUNT, name: "down" }));
    await run("wait", "mount/down", "--for=condition=Ready=false");
    await fails(
      ["mount", "down"],
      'its status.phase is "Connecting": cannot reach the target: check that it runs',
      "start the target, or correct its URL in the Secret, or the network",
    );
  });

  it("names the rights that the user at the target of a mount lacks", async () => {
    await run("create", "serviceaccount", "mounter");
    const { stdout: token } = await kubectl(kubectls()[0] ?? "", server.home, ["create", "token", "mounter"]);
    const { url } = server;
    const ca = readFileSync(server.path("apiserver.crt")).toString("base64");
    await create(
      secret("mine", { server: `${url}/clusters/root`, "certificate-authority-data": ca }, { token: token.trim() }),
    );
    await create(mount("mine", { ref: { ...SECRET, name: "mine" } }));
    await create(mounted("mine", { ...MOUNT, name: "mine" }));
    await run("wait", "ws/mine", "--for=jsonpath={.status.phase}=Ready");
    await fails(
      ["mount", "mine"],
      "cannot impersonate",
      "at the target, give system:serviceaccount:default:mounter the verb impersonate on users, groups and serviceaccounts, and on all resources (*) of the group authentication.k8s.io",
    );
    const path = `${url}/clusters/root:lab`;
    await create(secret("fixed", { server: path, "certificate-authority-data": ca }, { token: "carol-token" }));
    await create(mount("fixed", { ref: { ...SECRET, name: "fixed" }, identity: { type: "Fixed" } }));
    await create(mounted("fixed", { ...MOUNT, name: "fixed" }));
    await run("wait", "ws/fixed", "--for=jsonpath={.status.phase}=Ready");
    await fails(
      ["mount", "fixed"],
      'the target denies access: forbidden: User "carol" cannot get',
      "at the target, give carol this permission",
    );
  });

  it("sends a user without access to a mounted workspace to its parent, and never to the target", async () => {
    const parent = `--server=${url("/clusters/root:lab")}`;
    await create(binding("proxy.kcp.io", "root"), parent);
    await run("wait", "apibinding/proxy.kcp.io", "--for=jsonpath={.status.phase}=Bound", parent);
    const ca = readFileSync(server.path("apiserver.crt")).toString("base64");
    const target = { server: url("/clusters/root"), "certificate-authority-data": ca };
    await create(secret("remote", target, { token: "root-token" }), parent);
    await create(mount("remote", { ref: { ...SECRET, name: "remote" }, identity: { type: "Fixed" } }), parent);
    await create(mounted("remote", { ...MOUNT, name: "remote" }), parent);
    await run("wait", "ws/remote", "--for=jsonpath={.status.phase}=Ready", parent);
    const asked = [url("/clusters/root:lab:remote"), "--token=carol-token"];
    const flags = [`--server=${asked[0]}`, "--token=carol-token"];
    const { stderr } = await kubectl(kubectls()[0] ?? "", server.home, ["get", "configmaps", ...flags]);
    expect(stderr).to.match(/^Warning: .* cannot get path "\/api": workspace access not permitted$/m);
    await fails(asked, `no rule of root:lab, the parent of the mount, gives "carol" the verb "access" for "/"`);
    const [, said] = await doctor(...asked);
    const [, remedy = ""] = /an administrator of root:lab run: kubectl (.*)$/m.exec(said) ?? [];
    await run(...remedy.split(" "));
    const [code, now] = await doctor(...asked);
    expect(code, now).to.equal(0);

    const [again, skipped] = await doctor("mount", "root:lab:remote", "--token=carol-token");
    expect(again, skipped).to.equal(0);
    expect(skipped).to.match(
      /^- {7}the workspace exists and is mounted: workspaces.tenancy.kcp.io "remote" is forbidden: .*; to check this, use a user who may get Workspaces in this workspace$/m,
    );
    expect(skipped).to.contain("-       its mount object exists and is Ready: the Workspace is not known\n");
    expect(skipped).to.contain("-       the workspace has taken over its status: the Workspace is not known\n");
    expect(skipped).to.contain("ok      the target answers and authenticates the user: as admin, who is carol here");

    await run("delete", "secret", "remote", parent);
    await run("wait", "mount/remote", "--for=condition=Ready=false", parent);
    await fails(
      ["mount", "root:lab:remote", "--token=carol-token"],
      'the target answers and authenticates the user: 503: the workspace root:lab:remote is mounted on Mount "remote"',
      'Secret "default/remote" (spec.ref) not found\n',
    );
  });

  it("skips what a plain user may not read, and still checks the target", async () => {
    const ca = readFileSync(server.path("apiserver.crt")).toString("base64");
    const target = { server: url("/clusters/root"), "certificate-authority-data": ca };
    await create(secret("open", target, { token: "root-token" }));
    await create(mount("open", { ref: { ...SECRET, name: "open" }, identity: { type: "Fixed" } }));
    await create(mounted("open", { ...MOUNT, name: "open" }));
    await run("wait", "ws/open", "--for=jsonpath={.status.phase}=Ready");
    const [code, said] = await doctor("mount", "open", "--token=bob-token");
    expect(code, said).to.equal(0);
    expect(said).to.match(
      /^- {7}its mount object exists and is Ready: mounts.proxy.kcp.io "open" is forbidden: .*; to check this, use a user who may get mounts in this workspace$/m,
    );
    expect(said).to.contain("ok      the workspace has taken over its status: ");
    expect(said).to.contain("ok      the target answers and authenticates the user: as admin, who is bob here");
  });

  it("sends a plain user to an administrator when the target does not answer", async () => {
    await create(mount("empty", { ref: { ...SECRET, name: "empty" } }));
    await create(mounted("empty", { ...MOUNT, name: "empty" }));
    await run("wait", "mount/empty", "--for=jsonpath={.status.phase}");
    const remedy = "have a user who may get Workspaces and their mount objects in this workspace run the same command";
    await fails(["mount", "empty", "--token=bob-token"], "the workspace has taken over its status: ", remedy);
    await fails(
      ["mount", "empty", "--token=bob-token"],
      'the mount "empty" is not ready: Unknown since ',
      'Secret "default/empty" (spec.ref) not found\n',
    );
  });

  it("reports a wrong URL in the Secret of a mount", async () => {
    const ca = readFileSync(server.path("apiserver.crt")).toString("base64");
    for (const [name, path, condition, found, remedy] of [
      [
        "lost",
        url("/clusters/root:nope"),
        "Ready",
        '404: workspaces.tenancy.kcp.io "root:nope" not found',
        "correct the path of the URL in the Secret",
      ],
      [
        "plain",
        server.url.replace("https:", "http:"),
        "Ready=false",
        "does not answer like a Kubernetes API server",
        "correct the URL in the Secret (scheme, port, path)",
      ],
    ] as const) {
      await create(secret(name, { server: path, "certificate-authority-data": ca }, { token: "root-token" }));
      await create(mount(name, { ref: { ...SECRET, name }, identity: { type: "Fixed" } }));
      await create(mounted(name, { ...MOUNT, name }));
      await run("wait", `mount/${name}`, `--for=condition=${condition}`);
      await run("wait", `ws/${name}`, `--for=condition=WorkspaceMount${condition}`);
      await fails(["mount", name], found, remedy);
    }
  });

  it("offers to correct the URL when the target hides whether its logical cluster exists", async () => {
    const ca = readFileSync(server.path("apiserver.crt")).toString("base64");
    const target = { server: url("/clusters/rot"), "certificate-authority-data": ca };
    await create(secret("rot", target, { token: "carol-token" }));
    const orElse = "; or, if this logical cluster does not exist at the target, correct the URL in the Secret";
    for (const [name, identity, found] of [
      ["rot-fixed", "Fixed", "cannot get"],
      ["rot-impersonating", "Impersonate", "cannot impersonate"],
    ] as const) {
      await create(mount(name, { ref: { ...SECRET, name: "rot" }, identity: { type: identity } }));
      await create(mounted(name, { ...MOUNT, name }));
      await run("wait", `ws/${name}`, "--for=jsonpath={.status.phase}=Ready");
      await fails(
        ["mount", name],
        `the target denies access: `,
        `User "carol" ${found}`,
        "at the target, give carol",
        orElse,
      );
    }
  });

  it("sends a user from inside a mount that is not ready to its parent", async () => {
    await create(mount("away", { type: "Workspace", path: "root:not-yet" }));
    await create(mounted("away", { ...MOUNT, name: "away" }));
    await run("wait", "mount/away", "--for=jsonpath={.status.phase}");
    await fails(
      [url("/clusters/root:away")],
      'FAILED  the user has access: 503: the workspace root:away is mounted on Mount "away", which is not ready',
      "go to the workspace that contains the mount (kubectl ws ..), and run: virtual-workspaces doctor mount away",
    );
  });

  it("says that an impersonated user counts only in the workspace of the impersonation", async () => {
    await create(mount("as", { type: "Workspace", path: "root:lab" }));
    await create(mounted("as", { ...MOUNT, name: "as" }));
    await run("wait", "ws/as", "--for=jsonpath={.status.phase}=Ready");
    await fails(["mount", "as", "--as=bob"], "with --as the user counts only in this workspace");
  });

  it("reports a mount object that is missing", async () => {
    await create(mount("short-lived", { type: "Workspace", path: "root:lab" }));
    await create(mounted("orphan", { ...MOUNT, name: "short-lived" }));
    await run("delete", "mount", "short-lived");
    await fails(["mount", "orphan"], "Mount short-lived does not exist", "create it: the workspace becomes Ready");
  });

  it("prints the usage for an invalid command line", async () => {
    for (const args of [["export"], ["mount"], ["a", "b"], ["nothing"], ["-w", "x"], ["-o", "yaml"]]) {
      const { code, stderr } = await cli("doctor", ...args);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.contain("doctor");
    }
  });
});
