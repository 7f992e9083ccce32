// Requests to the shard itself, without /clusters/: from system:masters, probes, readers of metrics, and clients in a
// cluster, whose token names the logical cluster.
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const METRICS_RULES = [{ nonResourceURLs: ["/metrics", "/flagz"], verbs: ["get"] }];
const RBAC = "rbac.authorization.k8s.io";

/** Grants a subject the right to read metrics, by the roles of root. */
async function give(server: Workspaces, name: string, subject: object): Promise<void> {
  const base = `/clusters/root/apis/${RBAC}/v1` as const;
  const meta = { apiVersion: `${RBAC}/v1`, metadata: { name } };
  const role = await server.send(
    `POST ${base}/clusterroles`,
    { ...meta, kind: "ClusterRole", rules: METRICS_RULES },
    { user: "root" },
  );
  expect(role.status, role.text).to.equal(201);
  const binding = await server.send(
    `POST ${base}/clusterrolebindings`,
    {
      ...meta,
      kind: "ClusterRoleBinding",
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
      subjects: [subject],
    },
    { user: "root" },
  );
  expect(binding.status, binding.text).to.equal(201);
}

const bob = { kind: "User", apiGroup: RBAC, name: "bob" };

describe("requests without /clusters/", () => {
  it("allow probes to all clients, in every workspace too", async () => {
    await using server = await startWorkspaces();
    for (const path of [
      "/healthz",
      "/livez",
      "/readyz",
      "/clusters/root/healthz",
      "/clusters/nothing/livez",
      "/clusters/system:admin/readyz",
    ])
      for (const headers of [{}, { authorization: "" }]) {
        const answer = await server.get(path, { user: "alice", headers });
        // Node sends an empty header: invalid credentials are rejected, except by probes of the process.
        if (headers.authorization === "" && path !== "/livez" && path !== "/readyz") continue;
        expect([answer.status, answer.text], path).to.deep.equal([200, "ok"]);
        expect(answer.headers["content-type"]).to.equal("text/plain; charset=utf-8");
      }
    expect((await server.get("/readyz?verbose", { user: "nobody" })).text).to.contain("[+]clusters ok");
    const anonymous = await fetch(`${server.url}/clusters/root/healthz`);
    expect([anonymous.status, await anonymous.text()]).to.deep.equal([200, "ok"]);
    const refused = await fetch(`${server.url}/clusters/root/version`);
    expect([refused.status, await refused.json()])
      .to.have.nested.property("1.message")
      .that.matches(/^forbidden: User "system:anonymous" cannot get path "\/version": access denied$/);
  });

  it("show discovery to system:masters only", async () => {
    await using server = await startWorkspaces();
    for (const path of [
      "/",
      "/version",
      "/api",
      "/api/v1",
      "/apis",
      "/apis/apps",
      "/apis/rbac.authorization.k8s.io/v1",
      "/openapi/v2",
      "/openapi/v3",
      "/nothing",
    ]) {
      const code = path === "/nothing" || path === "/apis/apps" ? 404 : 200;
      expect((await server.get(path, { user: "root" })).status, path).to.equal(code);
      for (const user of ["admin", "alice"])
        expect(outcome(await server.get(path, { user })), path).to.deep.equal([
          403,
          "Forbidden",
          `forbidden: User "${user === "admin" ? "kcp-admin" : user}" cannot get path "${path}": access denied`,
        ]);
    }
    const lost = await server.get("/api/v1/configmaps", { user: "root" });
    expect(outcome(lost)).to.deep.equal([
      404,
      "NotFound",
      "objects exist only in logical clusters: use a path below /clusters/<name or path>",
    ]);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    expect((await server.send("POST /api/v1/namespaces/default/configmaps", map, { user: "root" })).status).to.equal(
      404,
    );
    expect((await server.get("/api/v1/configmaps", { user: "admin" })).status).to.equal(403);
    const may = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { nonResourceAttributes: { path: "/x", verb: "get" } },
    };
    const reviews = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    expect((await server.send(reviews, may, { user: "root" })).body.status).to.deep.equal({
      allowed: true,
      reason: "access granted",
    });
    expect((await server.send(reviews, may, { user: "alice" })).status).to.equal(403);
  });

  it("return metrics to system:masters and users with a role in root, and never in a workspace", async () => {
    await using server = await startWorkspaces();
    expect((await server.get("/metrics", { user: "root" })).text).to.contain("apiserver_request_total");
    expect(outcome(await server.get("/metrics", { user: "bob" }))).to.deep.equal([
      403,
      "Forbidden",
      'forbidden: User "bob" cannot get path "/metrics": access denied',
    ]);
    await give(server, "metrics", bob);
    await expectSoon(async () => (await server.get("/metrics", { user: "bob" })).status === 200);
    for (const [user, cluster] of [
      ["root", "root"],
      ["bob", "root"],
      ["alice", "nothing"],
      ["root", "system:admin"],
    ] as const)
      expect(outcome(await server.get(`/clusters/${cluster}/metrics`, { user }))).to.deep.equal([
        501,
        undefined,
        "shard-level endpoint not available at workspace scope",
      ]);
    expect((await server.get("/clusters/*/metrics", { user: "root" })).status).to.equal(404);
  });

  it("show pages of the process to system:masters and users with a role in root, and never in a workspace", async () => {
    const component = { name: "test", version: "1.0.0", flags: { v: "2" } };
    await using server = await startWorkspaces(undefined, { component });
    for (const path of ["/statusz", "/flagz"]) {
      expect((await server.get(path, { user: "root" })).text).to.match(/^\ntest (status|flag)z\nWarning: /);
      for (const user of ["bob", "alice"]) expect((await server.get(path, { user })).status, user).to.equal(403);
      expect((await fetch(server.url + path)).status).to.equal(403);
      for (const user of ["root", "alice"])
        expect(outcome(await server.get(`/clusters/root${path}`, { user }))).to.deep.equal([
          ...[501, undefined, "shard-level endpoint not available at workspace scope"],
        ]);
    }
    await give(server, "pages", bob);
    await expectSoon(async () => (await server.get("/flagz", { user: "bob" })).status === 200);
    expect((await server.get("/statusz", { user: "bob" })).status).to.equal(403);
    await using plain = await startWorkspaces();
    expect((await plain.get("/flagz", { user: "root" })).status).to.equal(404);
  });

  it("go to the logical cluster of a service account's token, for that account only", async () => {
    await using server = await startWorkspaces();
    const accounts = "/clusters/root/api/v1/namespaces/default/serviceaccounts" as const;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "builder" } };
    expect((await server.send(`POST ${accounts}`, account, { user: "admin" })).status).to.equal(201);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { token } = (await server.send(`POST ${accounts}/builder/token`, request, { user: "admin" })).body.status;
    const named = 'User "system:serviceaccount:default:builder"';
    const at = (path: string, headers = {}) => server.get(path, { user: token, headers });
    expect((await at("/api/v1/namespaces/default/configmaps")).body.message).to.contain(`${named} cannot list`);
    expect((await at("/api")).body).to.include({ kind: "APIVersions" });
    expect((await at("/apis/")).body).to.include({ kind: "APIGroupList" });
    expect((await at("/api", { "x-kubernetes-sharded-request": "1" })).status).to.equal(403);
    expect((await at("/healthz")).text).to.equal("ok");
    expect((await at("/metrics")).status).to.equal(403);
    await give(server, "accounts", { kind: "ServiceAccount", name: "builder", namespace: "default" });
    await expectSoon(async () => (await at("/metrics")).status === 200);
    const [head, , signature] = token.split(".");
    const claims = { "kubernetes.io": { clusterName: "root" }, sub: "system:serviceaccount:default:builder" };
    const forged = [head, Buffer.from(JSON.stringify(claims)).toString("base64url"), signature].join(".");
    expect((await server.get("/api", { user: forged })).status).to.equal(401);
  });

  it("go to the logical cluster of clusterAtRoot, except those of service accounts and of the process", async () => {
    let cluster: string | undefined = "root";
    await using server = await startWorkspaces(undefined, { clusterAtRoot: () => cluster });
    const namespaces = () => server.get("/api/v1/namespaces", { user: "admin" });
    expect((await namespaces()).body.items).not.to.have.length(0);
    expect((await server.get("/api/v1/namespaces", { user: "bob" })).status).to.equal(403);
    expect((await server.get("/healthz")).text).to.equal("ok");
    expect((await server.get("/clusters/nowhere/api", { user: "bob" })).status).to.equal(403);
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "builder" } };
    const accounts = "/api/v1/namespaces/default/serviceaccounts" as const;
    expect((await server.send(`POST ${accounts}`, account, { user: "admin" })).status).to.equal(201);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { token } = (await server.send(`POST ${accounts}/builder/token`, request, { user: "admin" })).body.status;
    cluster = "elsewhere";
    expect((await server.get("/api", { user: token })).status).to.equal(200);
    cluster = undefined;
    expect((await namespaces()).status).to.equal(403);
  });
});

async function expectSoon(holds: () => Promise<boolean>): Promise<void> {
  await until(() => holds());
}
