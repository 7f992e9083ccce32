// Why: exports share objects only with the workspaces that bind them. Bob exports, Carol binds; Alice has all rights in her
// own workspace, knows the identity hash and all names, and tries to reach the objects. She also tries the logical clusters
// of the system, and names that resemble others.
import { expect } from "chai";
import type { Answer, CallOptions } from "../_support/plain.ts";
import { binding, configMap, paths, widget, widgetExport, widgetSchema } from "./faults/support/tree.ts";
import { makeAdmin, makeWorkspace } from "./support/logical-clusters.ts";
import { ClusterClient } from "./support/objects.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const WIDGETS = "/apis/example.dev/v1/widgets";
const SECRET = "carols-secret";
const alice = { user: "alice" };

describe("access from a workspace to objects that exports share", function () {
  this.timeout(30_000);
  let server: Workspaces;
  /** Logical clusters of Alice, Carol and Bob. */
  const clusters = { own: "", consumer: "", provider: "" };
  let identity = "";

  before(async () => {
    server = await startWorkspaces(undefined, { users: ["carol"] });
    for (const [name, user] of [
      ["own", "alice"],
      ["provider", "bob"],
      ["consumer", "carol"],
    ] as const) {
      clusters[name] = await makeWorkspace(server, name);
      await makeAdmin(server, clusters[name], user);
    }
    const provider = new ClusterClient(server, clusters.provider);
    await provider.create(paths.SCHEMAS, widgetSchema());
    await provider.create(paths.EXPORTS, widgetExport("widgets"));
    const { body } = await provider.until(`${paths.EXPORTS}/widgets`, (answer) => answer.body.status?.identityHash);
    identity = body.status.identityHash;
    const consumer = new ClusterClient(server, clusters.consumer);
    await consumer.create(paths.BINDINGS, binding("widgets", "root:provider"));
    await consumer.until(`${paths.BINDINGS}/widgets`, (answer) => answer.body.status?.phase === "Bound");
    const annotations = { of: SECRET };
    await consumer.create(WIDGETS, { ...widget("kept"), metadata: { name: "kept", annotations } });
    await consumer.create(paths.MAPS, configMap("kept", { annotations }));
  });

  after(() => server[Symbol.asyncDispose]());

  const own = (path: string) => `/clusters/${clusters.own}${path}` as const;
  const refused = async (asked: Promise<Answer>, ...codes: readonly number[]): Promise<void> => {
    const { status, text } = await asked;
    expect(status, text).to.be.oneOf(codes);
    expect(text).not.to.include(SECRET);
  };
  const post = (path: string, body: object, how: CallOptions = alice) => server.send(`POST ${own(path)}`, body, how);

  it("is denied by identity hash, bound or not, in one's own, another or all workspaces", async () => {
    const named = `${WIDGETS}:${identity}`;
    const { text } = await server.get(`/clusters/${clusters.consumer}${named}`, { user: "root" });
    expect(text, "it is the right one").to.include(SECRET);
    const one = `/apis/example.dev/v1/widgets:${identity}/kept`;
    for (const path of [named, one, `${named}?watch=true`]) await refused(server.get(own(path), alice), 404);
    for (const place of [clusters.consumer, "root:consumer", "*"])
      for (const path of [named, one]) await refused(server.get(`/clusters/${place}${path}`, alice), 403, 404);
    await refused(post(named, widget("x")), 404, 405);
  });

  it("is denied through a kind, schema or export of the same name", async () => {
    await post(paths.SCHEMAS, widgetSchema());
    await post(paths.EXPORTS, widgetExport("widgets"));
    const mine = new ClusterClient(server, clusters.own);
    const { body } = await mine.until(`${paths.EXPORTS}/widgets`, (answer) => answer.body.status?.identityHash);
    expect(body.status.identityHash).not.to.equal(identity);
    await mine.create(paths.BINDINGS, binding("own", clusters.own));
    await mine.until(`${paths.BINDINGS}/own`, (answer) => answer.body.status?.phase === "Bound");
    const listed = await server.get(own(WIDGETS), alice);
    expect(listed.body.items).to.deep.equal([]);
    await refused(server.get(own(`${WIDGETS}:${identity}`), alice), 404);
  });

  it("is denied to an export that pretends to have the identity", async () => {
    const claimed = { ...widgetExport("forged"), status: { identityHash: identity } };
    await post(paths.EXPORTS, claimed);
    const mine = new ClusterClient(server, clusters.own);
    const { body } = await mine.until(`${paths.EXPORTS}/forged`, (answer) => answer.body.status?.identityHash);
    expect(body.status.identityHash).not.to.equal(identity);
    const status = { status: { identityHash: identity } };
    const headers = { "content-type": "application/merge-patch+json" };
    await refused(server.send(`PATCH ${own(`${paths.EXPORTS}/forged/status`)}`, status, { ...alice, headers }), 403);
    // A Secret of another workspace is not found.
    const spec = {
      spec: { identity: { secretRef: { namespace: "kcp-system", name: `${clusters.provider}/widgets` } } },
    };
    await server.send(`PATCH ${own(`${paths.EXPORTS}/forged`)}`, spec, { ...alice, headers });
    const after = await mine.get(`${paths.EXPORTS}/forged`);
    expect(after.body.status.identityHash).not.to.equal(identity);
  });

  it("is denied through a permission claim that no binding has accepted", async () => {
    const claims = [
      { group: "", resource: "configmaps", verbs: ["*"] },
      { group: "example.dev", resource: "widgets", identityHash: identity, verbs: ["*"] },
    ];
    const spec = { resources: [], permissionClaims: claims };
    const made = await post(paths.EXPORTS, { ...widgetExport("claiming"), spec });
    expect(made.status, made.text).to.equal(201);
    const consumer = new ClusterClient(server, clusters.consumer);
    for (const path of [`${WIDGETS}/kept`, `${paths.MAPS}/kept`]) {
      const { labels = {} } = (await consumer.get(path)).body.metadata;
      const claimed = Object.keys(labels).filter((name) => name.startsWith("claimed.internal.apis.kcp.io/"));
      expect(claimed, path).to.have.length(path.includes("configmaps") ? 1 : 0);
    }
  });

  it("is denied for the logical clusters of the system", async () => {
    const system = ["admin", "bound-crds", "system-crds", "shard", "cache:server", "any"];
    for (const name of system.map((each) => `system:${each}`))
      for (const path of [
        paths.MAPS,
        paths.CRDS,
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/api",
        "/openapi/v2",
      ]) {
        await refused(server.get(`/clusters/${name}${path}`, alice), 403, 404);
        await refused(server.send(`POST /clusters/${name}${path}`, configMap("x"), alice), 403, 404, 405);
      }
  });

  it("is denied by names that resemble another workspace's", async () => {
    const path = `${paths.MAPS}/kept`;
    const names = [
      "root%3Aconsumer",
      "root%253Aconsumer",
      "ROOT:consumer",
      "root:Consumer",
      "root::consumer",
      ":root:consumer",
      "root:consumer:",
      "root:own:..:consumer",
      "root:own%2F..%2Fconsumer",
      clusters.consumer.toUpperCase(),
      `${clusters.consumer}.`,
      `${clusters.consumer}%20`,
      `%20${clusters.consumer}`,
      `${clusters.consumer}%00`,
      `${clusters.own}%0a${clusters.consumer}`,
      `.%2F${clusters.consumer}`,
    ];
    for (const name of names) await refused(server.get(`/clusters/${name}${path}`, alice), 400, 403, 404);
    for (const prefix of ["/Clusters", "//clusters", "/clusters/", "/clusters/.", "/./clusters", "/%63lusters"])
      await refused(server.get(`${prefix}/${clusters.consumer}${path}` as "/", alice), 301, 400, 403, 404);
  });
});
