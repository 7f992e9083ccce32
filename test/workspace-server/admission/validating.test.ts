// Validating webhooks of a workspace, called over HTTPS.
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { makeAdmin, makeNamespace, makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { WebhookServer } from "./support/webhook.ts";

const user = "root";

describe("validating webhooks", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let webhooks: WebhookServer;
  let cluster: string;
  let count = 0;

  before(async () => {
    webhooks = await WebhookServer.start();
    server = await startConfigured();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  const validate = (...hooks: readonly object[]) =>
    configure(server, cluster, { kind: "Validating", name: "test", webhooks: hooks });
  const send = (call: string, body?: unknown) => {
    const [method, path] = call.split(" ");
    return server.send(`${method} /clusters/${cluster}/${path}`, body, { user });
  };

  it("get an AdmissionReview with the requester and kcp's annotation of the logical cluster", async () => {
    await makeAdmin(server, cluster, "alice");
    await validate(hook(webhooks, "/review"));
    expect((await makeMap(server, cluster, { name: "a", data: { a: "b" }, user: "alice" })).status).to.equal(201);
    const [request, ...others] = webhooks.calls("/review");
    expect(others).to.deep.equal([]);
    const { uid, object, userInfo, query, sent, ...rest } = request;
    expect(uid).to.match(/^[0-9a-f-]{36}$/);
    expect(query).to.deep.equal({ timeout: "10s" });
    expect([sent.apiVersion, sent.kind]).to.deep.equal(["admission.k8s.io/v1", "AdmissionReview"]);
    expect(object.metadata.annotations).to.deep.equal({ "kcp.io/cluster": cluster });
    expect([object.apiVersion, object.kind, object.data]).to.deep.equal(["v1", "ConfigMap", { a: "b" }]);
    expect(userInfo).to.deep.include({ username: "alice", groups: ["system:authenticated"] });
    const kind = { group: "", version: "v1", kind: "ConfigMap" };
    const resource = { group: "", version: "v1", resource: "configmaps" };
    expect(rest).to.deep.include({ kind, resource, requestKind: kind, requestResource: resource, operation: "CREATE" });
    expect(rest).to.deep.include({ name: "a", namespace: "default", oldObject: null, dryRun: false });
    expect(rest.options).to.deep.include({ kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" });
    const stored = await send(`GET ${MAPS}/a`);
    expect(stored.body.metadata.annotations).to.deep.equal({ "kcp.io/cluster": cluster });
  });

  it("reject a request with their code, reason and message", async () => {
    await validate(hook(webhooks, "/reject"));
    const answers: unknown[] = [];
    for (const status of [
      { code: 409, reason: "Conflict", message: "not now" },
      { message: "no" },
      { reason: "Forbidden" },
      { code: 200, retryAfterSeconds: 1 },
      undefined,
    ]) {
      webhooks.at("/reject", () => ({ allowed: false, ...(status && { status }) }));
      answers.push(outcome(await makeMap(server, cluster, { name: "a" })));
    }
    const denied = 'admission webhook "reject.example.dev" denied the request';
    expect(answers).to.deep.equal([
      [409, "Conflict", `${denied}: not now`],
      [400, undefined, `${denied}: no`],
      [400, "Forbidden", `${denied}: Forbidden`],
      [400, undefined, `${denied} without explanation`],
      [400, undefined, `${denied} without explanation`],
    ]);
    expect((await send(`GET ${MAPS}/a`)).status).to.equal(404);
  });

  it("are called for updates, patches and deletes with the objects before and after", async () => {
    const rules = [
      { operations: ["UPDATE", "DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] },
    ];
    await validate(hook(webhooks, "/change", { rules }));
    await makeMap(server, cluster, { name: "a", data: { n: "1" } });
    const { body } = await send(`GET ${MAPS}/a`);
    await send(`PUT ${MAPS}/a`, { ...body, data: { n: "2" } });
    await send(`DELETE ${MAPS}/a?gracePeriodSeconds=0&dryRun=All`);
    await send(`DELETE ${MAPS}/a`);
    const told = webhooks
      .calls("/change")
      .map(({ operation, object, oldObject, options, dryRun }) => [
        operation,
        object?.data.n,
        oldObject.data.n,
        oldObject.metadata.annotations["kcp.io/cluster"] === cluster,
        options.kind,
        dryRun,
      ]);
    expect(told).to.deep.equal([
      ["UPDATE", "2", "1", true, "UpdateOptions", false],
      ["DELETE", undefined, "2", true, "DeleteOptions", true],
      ["DELETE", undefined, "2", true, "DeleteOptions", false],
    ]);
  });

  it("are called at the same time, and all of them must allow", async () => {
    const both = Promise.withResolvers<void>();
    let here = 0;
    const wait = async () => {
      here += 1;
      if (here === 2) both.resolve();
      await both.promise;
      return {};
    };
    webhooks.at("/one", wait).at("/two", wait);
    await validate(hook(webhooks, "/one"), hook(webhooks, "/two"));
    expect((await makeMap(server, cluster, { name: "a" })).status).to.equal(201);
    webhooks.at("/two", () => ({ allowed: false }));
    webhooks.at("/one", () => ({}));
    expect((await makeMap(server, cluster, { name: "b" })).status).to.equal(400);
  });

  it("run after the schema: a request that is invalid anyway is not sent to them", async () => {
    await validate(hook(webhooks, "/invalid"));
    expect((await makeMap(server, cluster, { name: "A B" })).status).to.equal(422);
    expect(webhooks.calls("/invalid")).to.deep.equal([]);
  });

  it("support dry run without side effects only", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["configmaps"] }];
    await validate(hook(webhooks, "/dry", { rules, sideEffects: "NoneOnDryRun" }));
    expect((await makeMap(server, cluster, { name: "a", query: "?dryRun=All" })).status).to.equal(201);
    expect(webhooks.calls("/dry").map(({ dryRun }) => dryRun)).to.deep.equal([true]);
    expect((await send(`GET ${MAPS}/a`)).status).to.equal(404);
  });

  it("match rules by group, version, resource, subresource, scope and operation", async () => {
    const rule = (more: object) => ({
      rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], ...more }],
    });
    await validate(
      hook(webhooks, "/cluster", rule({ scope: "Cluster" })),
      hook(webhooks, "/namespaced", rule({ scope: "Namespaced" })),
      hook(webhooks, "/status", rule({ resources: ["*/status"] })),
      hook(webhooks, "/all", rule({ resources: ["*/*"] })),
      hook(webhooks, "/version", rule({ apiVersions: ["v1beta1"] })),
      hook(webhooks, "/group", rule({ apiGroups: ["coordination.k8s.io"] })),
      hook(webhooks, "/update", rule({ operations: ["UPDATE"] })),
    );
    await makeMap(server, cluster, { name: "a" });
    await makeNamespace(server, cluster, "one");
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" } };
    await send("POST apis/coordination.k8s.io/v1/namespaces/default/leases", lease);
    const { body } = await send("GET api/v1/namespaces/one");
    const updated = await send("PUT api/v1/namespaces/one/status", body);
    expect(updated.status, updated.text).to.equal(200);
    const told = ["/cluster", "/namespaced", "/status", "/all", "/version", "/group", "/update"].map((path) => [
      path,
      ...webhooks.calls(path).map(({ resource, subResource = "" }) => `${resource.resource}/${subResource}`),
    ]);
    expect(told).to.deep.equal([
      ["/cluster", "namespaces/"],
      ["/namespaced", "configmaps/", "leases/"],
      ["/status", "namespaces/status"],
      ["/all", "configmaps/", "namespaces/", "leases/", "namespaces/status"],
      ["/version"],
      ["/group", "leases/"],
      ["/update"],
    ]);
  });

  it("match labels of the object before or after the request, and of its namespace", async () => {
    const rules = [
      { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps", "namespaces"] },
    ];
    const selector = { matchLabels: { judged: "yes" } };
    await validate(
      hook(webhooks, "/object", { rules, objectSelector: selector }),
      hook(webhooks, "/namespace", { rules, namespaceSelector: selector }),
    );
    const labels = { judged: "yes" };
    await makeMap(server, cluster, { name: "a" });
    await makeMap(server, cluster, { name: "b", labels });
    const { body } = await send(`GET ${MAPS}/b`);
    await send(`PUT ${MAPS}/b`, { ...body, metadata: { ...body.metadata, labels: {} } });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "judged", labels } };
    await send("POST api/v1/namespaces", namespace);
    await send("POST api/v1/namespaces/judged/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c" },
    });
    const told = (path: string) => webhooks.calls(path).map(({ operation, name }) => `${operation} ${name}`);
    expect(told("/object")).to.deep.equal(["CREATE b", "UPDATE b", "CREATE judged"]);
    expect(told("/namespace")).to.deep.equal(["CREATE judged", "CREATE c"]);
  });

  it("do not judge configurations, or other workspaces' objects", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }];
    await validate(hook(webhooks, "/exempt", { rules }));
    const path = "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    const { body } = await send(`GET ${path}/test`);
    expect(
      (await send(`PUT ${path}/test`, { ...body, webhooks: [{ ...body.webhooks[0], timeoutSeconds: 1 }] })).status,
    ).to.equal(200);
    expect((await makeMap(server, "root", { name: `other-${count}` })).status).to.equal(201);
    expect((await send(`DELETE ${path}/test`)).status).to.equal(200);
    expect((await makeMap(server, cluster, { name: "a" })).status).to.equal(201);
    expect(webhooks.calls("/exempt")).to.deep.equal([]);
  });

  it("judge reviews, as in Kubernetes", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["authorization.k8s.io"], apiVersions: ["*"], resources: ["*"] }];
    webhooks.at("/reviews", () => ({ allowed: false }));
    await validate(hook(webhooks, "/reviews", { rules }));
    const about = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
    const spec = { resourceAttributes: { verb: "get", resource: "secrets" } };
    const review = await send("POST apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { ...about, spec });
    expect([review.status, webhooks.calls("/reviews")[0].kind.kind]).to.deep.equal([400, "SelfSubjectAccessReview"]);
  });

  it("keep their connections", async () => {
    await validate(hook(webhooks, "/kept"));
    await makeMap(server, cluster, { name: "a" });
    const { connections } = webhooks;
    for (const name of ["b", "c", "d"]) await makeMap(server, cluster, { name });
    expect(webhooks.connections).to.equal(connections);
    expect(webhooks.calls("/kept")).to.have.length(4);
  });
});
