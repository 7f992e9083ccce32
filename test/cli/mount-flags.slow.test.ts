// Flags of `virtual-workspaces start` for the targets of mounted workspaces: trust, client certificate and tokens, as these
// servers see them over real TLS.
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { crd } from "../_support/crd.ts";
import { createAuthority } from "../_support/server.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Mounting } from "../go/support/mounting.ts";
import { kubeconfigOf, linesOf, startTarget, type Target } from "../plugins/mounts/support/mounted.ts";
import type { Answer } from "./support/start.ts";

const KIND = crd("RemoteCluster", {
  scope: "Cluster",
  properties: { status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  version: { subresources: { status: {} } },
});
const RBAC = "rbac.authorization.k8s.io";
const ENTER = [
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: "enter" } },
    rules: [{ verbs: ["access"], nonResourceURLs: ["/"] }],
  },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: "enter" } },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "enter" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "alice" }],
  },
];
const REASON = '{.status.conditions[?(@.type=="Reachable")].reason}';
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Mounts a workspace of `root` on a server, with an object of a foreign kind. */
async function mountAt(mounting: Mounting, name: string, URL: string): Promise<void> {
  const ref = { apiVersion: "example.dev/v1", kind: "RemoteCluster", name };
  await mounting.apply({ ...ref, name: undefined, metadata: { name } });
  const status = JSON.stringify({ status: { phase: "Ready", URL } });
  await mounting.admin("patch", "remotecluster", name, "--subresource=status", "--type=merge", "-p", status);
  const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
  await mounting.apply({ ...workspace, spec: { mount: { ref } } });
  await mounting.turned(name, "Ready");
}

/** Returns the identity headers that a server received last. */
const told = ({ asked }: Target): string[] =>
  linesOf(asked.at(-1) as never).filter((line) => /^(authorization|impersonate|x-remote)/.test(line));

describe("virtual-workspaces start and the targets of mounted workspaces", function () {
  this.timeout(60_000);
  const authority = createAuthority();
  const { cert, key } = authority.client("front-proxy", []);
  const folder = tree({ "ca.crt": authority.ca, "proxy.crt": cert, "proxy.key": key });
  const ca = `--mount-ca-file=${join(folder.path, "ca.crt")}`;
  let stack: AsyncDisposableStack | undefined;
  /** Rejects clients without a certificate. */
  let strict: Target;
  /** Accepts all clients. */
  let open: Target;
  /** Has a certificate of another authority. */
  let stranger: Target;
  let mounting: Mounting;

  before(async function () {
    needsKubectl.call(this);
    stack = new AsyncDisposableStack();
    strict = stack.use(await startTarget(undefined, { authority, strict: true }));
    open = stack.use(await startTarget(undefined, { authority }));
    stranger = stack.use(await startTarget());
    const files = [`cert-file=${join(folder.path, "proxy.crt")}`, `key-file=${join(folder.path, "proxy.key")}`];
    mounting = stack.use(
      await Mounting.start({
        flags: [ca, ...files.map((file) => `--mount-proxy-client-${file}`), "--mount-caller-hosts=localhost"],
        files: { "tokens.csv": "alice-token,alice,1\n" },
      }),
    );
    for (const object of [KIND, ...ENTER]) await mounting.apply(object);
    await mounting.admin("wait", "--for=condition=Established", "crd/remoteclusters.example.dev");
    const targets = { strict, open, stranger };
    for (const [name, { url }] of Object.entries(targets)) await mountAt(mounting, name, `${url}/base`);
  });
  after(async () => {
    await stack?.disposeAsync();
    folder[Symbol.dispose]();
  });
  beforeEach(() => {
    for (const { asked, certificates } of [strict, open, stranger])
      for (const all of [asked, certificates]) all.splice(0);
  });

  const ask = (path: string, token = "alice-token"): Promise<Answer> => mounting.server.get(path, { token });

  it("receive the user with the client certificate, but none of the user's privileged groups", async () => {
    expect(await ask("/clusters/root:strict/api?a=b")).to.deep.equal({ code: 200, body: "GET /base/api?a=b" });
    expect(strict.certificates).to.deep.equal(["front-proxy"]);
    expect(told(strict)).to.deep.equal([
      "x-remote-user: alice",
      "x-remote-uid: 1",
      "x-remote-group: system:authenticated",
    ]);
    const admin = mounting.server.token("kcp-admin");
    expect((await ask("/clusters/root:strict/api", admin)).code).to.equal(200);
    expect(told(strict).filter((line) => !line.startsWith("x-remote-uid:"))).to.deep.equal([
      "x-remote-user: kcp-admin",
      "x-remote-group: system:authenticated",
    ]);
  });

  it("receive no request if another authority issued their certificate, and the log has the reason", async () => {
    const { code, body } = await ask("/clusters/root:stranger/api");
    expect([code, JSON.parse(body).message]).to.deep.equal([
      503,
      "the server that this workspace is mounted on cannot be trusted",
    ]);
    expect(stranger.asked).to.have.length(0);
    const { server } = mounting;
    await server.until("the reason in the log", () => /workspace is unavailable.*self-signed/.test(server.stderr));
  });

  it("receive callers' tokens only if their host is listed, by mounted workspaces too, and at no other name", async () => {
    const identity = { type: "Caller" };
    const secretOf = async (name: string, host: string): Promise<object> => {
      const url = stranger.url.replace("127.0.0.1", host);
      const data = { kubeconfig: base64(kubeconfigOf({ url, authority: stranger.authority }, {})) };
      await mounting.apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" }, data });
      return { apiVersion: "v1", kind: "Secret", namespace: "default", name };
    };
    await mounting.mount("listed", { ref: await secretOf("listed", "localhost"), identity });
    const spec = { ref: await secretOf("unlisted", "127.0.0.1"), identity };
    await mounting.apply({ apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", metadata: { name: "unlisted" }, spec });
    await mounting.admin("wait", "mount/unlisted", `--for=jsonpath=${REASON}=CallerRefused`, "--timeout=20s");
    const listed = new URL(await mounting.admin("get", "mount", "listed", "-o", "jsonpath={.status.URL}")).pathname;
    for (const path of [listed, "/clusters/root:listed"]) {
      expect((await ask(`${path}/api`)).code, path).to.equal(200);
      expect(told(stranger)).to.deep.equal(["authorization: Bearer alice-token"]);
      expect(stranger.certificates.splice(0)).to.deep.equal([""]);
      stranger.asked.splice(0);
    }
    const { code, body } = await ask(`${listed.replace("listed", "unlisted")}/api`);
    expect(code).to.equal(503);
    expect(body).to.include("its host may not receive callers' own tokens");
    expect(stranger.asked).to.have.length(0);
  });

  it("receive no user without the certificate, and no request if they require one", async () => {
    const { server } = mounting;
    expect(await server.end("SIGTERM")).to.equal(0);
    await using again = await Mounting.start({ in: server.folder.path, flags: [ca] });
    const token = again.server.token("kcp-admin");
    expect((await again.server.get("/clusters/root:open/api", { token })).code).to.equal(200);
    expect(told(open)).to.deep.equal([]);
    expect(open.certificates).to.deep.equal([""]);
    expect((await again.server.get("/clusters/root:strict/api", { token })).code).to.equal(503);
    expect(strict.asked).to.have.length(0);
  });
});
