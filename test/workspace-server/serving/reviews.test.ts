// Identity and access reviews in a workspace: for users with access, with kcp's texts, and consistent with real requests.
import { expect } from "chai";
import { type Answer, outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { seeded } from "./seeded.ts";

const AUTHZ = "authorization.k8s.io/v1";
const AUTHN = "authentication.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io";
const GRANTED = { allowed: true, reason: "access granted" };
const DENIED = { allowed: false, reason: "access denied" };

/** In `2abc` Alice has access, may read configmaps in default and read `/apis`; in `3def` she has no access. */
async function start() {
  const store = await seeded({ workspace: "org", cluster: "2abc" }, { workspace: "shut", cluster: "3def" });
  const server = await startWorkspaces(store);
  for (const cluster of ["2abc", "3def"]) {
    await post(server, `${cluster}/clusterroles`, {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }],
    });
    await post(server, `${cluster}/namespaces/default/rolebindings`, {
      metadata: { name: "reader" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "reader" },
      subjects: [{ apiGroup: RBAC, kind: "User", name: "alice" }],
    });
  }
  await post(server, "2abc/clusterrolebindings", {
    metadata: { name: "enter" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "system:kcp:workspace:access" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "alice" }],
  });
  const asker = new Asker(server);
  await until(async () => (await asker.who("2abc", "alice")).status === 201);
  return {
    server,
    asker,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

async function post(server: Workspaces, path: `${string}/${string}`, content: object): Promise<void> {
  const [cluster = "", ...rest] = path.split("/");
  const plural = rest.at(-1) as string;
  const kind = { clusterroles: "ClusterRole", rolebindings: "RoleBinding", clusterrolebindings: "ClusterRoleBinding" }[
    plural
  ];
  if (rest.length > 1) {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
    await server.send(`POST /clusters/${cluster}/api/v1/namespaces`, namespace, { user: "root" });
  }
  const body = { apiVersion: `${RBAC}/v1`, kind, ...content };
  const answer = await server.send(`POST /clusters/${cluster}/apis/${RBAC}/v1/${rest.join("/")}`, body, {
    user: "root",
  });
  expect(answer.status, answer.text).to.equal(201);
}

interface Asked {
  readonly spec?: object | undefined;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class Asker {
  readonly #server: Workspaces;

  constructor(server: Workspaces) {
    this.#server = server;
  }

  send(cluster: string, kind: string, { spec, ...asked }: Asked = {}): Promise<Answer> {
    const group = kind === "SelfSubjectReview" ? AUTHN : AUTHZ;
    const place = kind === "LocalSubjectAccessReview" ? "namespaces/default/" : "";
    const body = { apiVersion: group, kind, ...(spec && { spec }) };
    return this.#server.send(`POST /clusters/${cluster}/apis/${group}/${place}${kind.toLowerCase()}s`, body, asked);
  }

  who(cluster: string, user: string): Promise<Answer> {
    return this.send(cluster, "SelfSubjectReview", { user });
  }
}

const maps = (verb: string, namespace = "default") => ({
  resourceAttributes: { verb, resource: "configmaps", namespace },
});

describe("reviews in a workspace", () => {
  it("require access to the workspace", async () => {
    await using held = await start();
    const { asker } = held;
    const known = await asker.who("2abc", "alice");
    expect(known.body.status.userInfo).to.deep.equal({ username: "alice", groups: ["system:authenticated"] });
    expect((await asker.send("2abc", "SelfSubjectAccessReview", { spec: maps("get") })).body.status).to.deep.equal(
      GRANTED,
    );
    expect((await asker.send("2abc", "SelfSubjectAccessReview", { spec: maps("create") })).body.status).to.deep.equal(
      DENIED,
    );
    for (const [kind, plural, spec] of [
      ["SelfSubjectReview", "selfsubjectreviews", undefined],
      ["SelfSubjectAccessReview", "selfsubjectaccessreviews", maps("get")],
      ["SelfSubjectRulesReview", "selfsubjectrulesreviews", { namespace: "default" }],
    ] as const)
      for (const cluster of ["3def", "nothing", "system:admin"]) {
        const group = kind === "SelfSubjectReview" ? "authentication.k8s.io" : "authorization.k8s.io";
        expect(outcome(await asker.send(cluster, kind, { spec })), `${kind} in ${cluster}`).to.deep.equal([
          403,
          "Forbidden",
          `${plural}.${group} is forbidden: User "alice" cannot create resource "${plural}" in API group "${group}" at the cluster scope: access denied`,
        ]);
      }
    for (const kind of ["SubjectAccessReview", "LocalSubjectAccessReview"])
      expect((await asker.send("2abc", kind, { spec: { ...maps("get"), user: "alice" } })).status).to.equal(403);
    const { resources } = (await held.server.get(`/clusters/2abc/apis/${AUTHZ}`)).body;
    expect(resources.map(({ name }: { name: string }) => name)).to.deep.equal([
      "localsubjectaccessreviews",
      "selfsubjectaccessreviews",
      "selfsubjectrulesreviews",
      "subjectaccessreviews",
    ]);
  });

  it("return granted, denied, or denied finally where that applies", async () => {
    await using held = await start();
    const { asker } = held;
    const about = async (cluster: string, spec: object, kind = "SubjectAccessReview") =>
      (await asker.send(cluster, kind, { spec, user: "root" })).body.status;
    const alice = { user: "alice", groups: ["system:authenticated"] };
    expect(await about("2abc", { ...maps("get"), ...alice })).to.deep.equal(GRANTED);
    expect(await about("2abc", { ...maps("get"), ...alice }, "LocalSubjectAccessReview")).to.deep.equal(GRANTED);
    expect(await about("2abc", { ...maps("get", "other"), ...alice })).to.deep.equal(DENIED);
    expect(await about("3def", { ...maps("get"), ...alice })).to.deep.equal(DENIED);
    // As in kcp, denial in a missing logical cluster is final for service accounts, but not for users.
    expect(await about("nothing", { ...maps("get"), ...alice })).to.deep.equal(DENIED);
    const account = { ...maps("get"), user: "system:serviceaccount:a:b" };
    expect(await about("nothing", account)).to.deep.equal({ ...DENIED, denied: true });
    const status = {
      resourceAttributes: { verb: "update", group: "apis.kcp.io", resource: "apibindings", subresource: "status" },
    };
    expect(await about("2abc", { ...status, user: "x", groups: ["system:kcp:admin"] })).to.deep.equal({
      ...DENIED,
      denied: true,
    });
    const own = await asker.send("2abc", "SelfSubjectAccessReview", { spec: status, user: "admin" });
    expect(own.body.status).to.deep.equal({ ...DENIED, denied: true });
  });

  it("reject empty reviews with Kubernetes' text", async () => {
    await using held = await start();
    const { asker } = held;
    const message = async (kind: string, spec: object | undefined) => (await asker.send("2abc", kind, { spec })).body;
    expect((await message("SelfSubjectAccessReview", {})).message).to.equal(
      'SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
    expect(await message("SelfSubjectRulesReview", {})).to.include({ code: 400, message: "no namespace on request" });
  });

  it("skip the workspace's access check in deep reviews, for system:masters only", async () => {
    await using held = await start();
    const { asker, server } = held;
    const headers = { "x-kcp-internal-deep-subjectaccessreview": "true" };
    const spec = { ...maps("get"), user: "alice", groups: ["system:authenticated"] };
    const asks = async (asked: Asked, cluster = "3def") =>
      (await asker.send(cluster, "SubjectAccessReview", { spec, ...asked })).body.status;
    expect(await asks({ user: "root", headers })).to.deep.equal(GRANTED);
    expect(await asks({ user: "root" })).to.deep.equal(DENIED);
    expect(await asks({ user: "root", headers: { "x-kcp-internal-deep-subjectaccessreview": "1" } })).to.deep.equal(
      DENIED,
    );
    expect(await asks({ user: "admin", headers })).to.deep.equal(DENIED);
    expect(await asks({ user: "root", headers }, "2abc")).to.deep.equal(GRANTED);
    expect((await server.get("/clusters/3def/api/v1/namespaces/default/configmaps", { headers })).status).to.equal(403);
    const local = await asker.send("3def", "LocalSubjectAccessReview", { spec, user: "root", headers });
    expect(local.body.status).to.deep.equal(DENIED);
  });

  it("agree with real requests, and list the allowed rules", async () => {
    await using held = await start();
    const { asker, server } = held;
    const cases = [
      [
        "GET",
        "get",
        "/api/v1/namespaces/default/configmaps/a",
        { resource: "configmaps", namespace: "default", name: "a" },
      ],
      ["GET", "list", "/api/v1/namespaces/default/configmaps", { resource: "configmaps", namespace: "default" }],
      ["GET", "list", "/api/v1/configmaps", { resource: "configmaps" }],
      [
        "DELETE",
        "delete",
        "/api/v1/namespaces/default/configmaps/a",
        { resource: "configmaps", namespace: "default", name: "a" },
      ],
      ["POST", "create", "/api/v1/namespaces/default/configmaps", { resource: "configmaps", namespace: "default" }],
      ["GET", "list", "/api/v1/namespaces/default/secrets", { resource: "secrets", namespace: "default" }],
      ["GET", "list", "/apis/tenancy.kcp.io/v1alpha1/workspaces", { group: "tenancy.kcp.io", resource: "workspaces" }],
      [
        "GET",
        "get",
        "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster",
        { group: "core.kcp.io", resource: "logicalclusters", name: "cluster" },
      ],
      [
        "PUT",
        "update",
        "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster/status",
        { group: "core.kcp.io", resource: "logicalclusters", name: "cluster", subresource: "status" },
      ],
      [
        "POST",
        "create",
        `/apis/${AUTHZ}/selfsubjectaccessreviews`,
        { group: "authorization.k8s.io", resource: "selfsubjectaccessreviews" },
      ],
      [
        "POST",
        "create",
        `/apis/${AUTHZ}/subjectaccessreviews`,
        { group: "authorization.k8s.io", resource: "subjectaccessreviews" },
      ],
      ["GET", "get", "/api", undefined],
      ["GET", "get", "/version", undefined],
      ["GET", "get", "/openapi/v2", undefined],
      ["GET", "get", "/healthz", undefined],
      ["GET", "get", "/nothing", undefined],
    ] as const; // prettier-ignore
    let allowed = 0;
    for (const [user, name] of [
      ["alice", "alice"],
      ["admin", "kcp-admin"],
      ["bob", "bob"],
      ["root", "shard-admin"],
    ] as const)
      for (const cluster of ["root", "2abc", "3def"])
        for (const [method, verb, path, attributes] of cases) {
          const what = `${user} ${method} ${path} in ${cluster}`;
          const body = method === "POST" || method === "PUT" ? {} : undefined;
          const dry = method === "DELETE" ? "?dryRun=nonsense" : "";
          const answer = await server.send(`${method} /clusters/${cluster}${path}${dry}` as "GET /", body, { user });
          const served = answer.status !== 403;
          if (served) allowed++;
          const spec =
            attributes === undefined
              ? { nonResourceAttributes: { verb, path } }
              : { resourceAttributes: { verb, ...attributes } };
          const groups = { alice: [], bob: [], admin: ["system:kcp:admin"], root: ["system:masters"] }[user];
          const sar = { ...spec, user: name, groups: [...groups, "system:authenticated"] };
          const { body: told } = await asker.send(cluster, "SubjectAccessReview", { spec: sar, user: "root" });
          expect(told.status.allowed, what).to.equal(served);
          const own = await asker.send(cluster, "SelfSubjectAccessReview", { spec, user });
          if (own.status === 201) expect(own.body.status.allowed, `${what}, of oneself`).to.equal(served);
          else expect([own.status, served && path !== "/healthz"], what).to.deep.equal([403, false]);
        }
    expect(allowed).to.be.above(60);
    const rules = (await asker.send("2abc", "SelfSubjectRulesReview", { spec: { namespace: "default" } })).body.status;
    expect(rules.resourceRules).to.deep.include({ verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] });
    expect(rules.incomplete).to.equal(false);
    const elsewhere = (await asker.send("2abc", "SelfSubjectRulesReview", { spec: { namespace: "other" } })).body
      .status;
    expect(JSON.stringify(elsewhere.resourceRules)).to.not.contain("configmaps");
    const all = (await asker.send("2abc", "SelfSubjectRulesReview", { spec: { namespace: "x" }, user: "admin" })).body
      .status;
    expect(all.resourceRules).to.deep.include({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
  });
});
