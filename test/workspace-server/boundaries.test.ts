// Why: workspaces must keep others out. Alice has all rights in `one`, Bob in `two`. Each tries to get from there into the
// other one over HTTP, by every means that a URL, a header, a token or an object offers.
import { expect } from "chai";
import { crd } from "../_support/crd.ts";
import type { Answer, CallOptions } from "../_support/plain.ts";
import { define, makeAdmin, makeWorkspace } from "./support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const WIDGETS = "/apis/example.dev/v1/widgets";
const SECRET = "only-in-";

const map = (name: string, data: object, metadata = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
const widget = (name: string, annotations = {}) => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name, annotations },
});
const WIDGET = crd("Widget", { scope: "Cluster" });

describe("access from one workspace to another", function () {
  this.timeout(30_000);
  let server: Workspaces;
  /** Logical clusters of the two workspaces. */
  const clusters = { one: "", two: "" };
  const one = (path: string) => `/clusters/${clusters.one}${path}` as const;
  const two = (path: string) => `/clusters/${clusters.two}${path}` as const;
  const alice = { user: "alice" };
  const bob = { user: "bob" };

  before(async () => {
    server = await startWorkspaces();
    for (const [name, user] of [
      ["one", "alice"],
      ["two", "bob"],
    ] as const) {
      const cluster = await makeWorkspace(server, name);
      clusters[name] = cluster;
      await makeAdmin(server, cluster, user);
      await define(server, cluster, [WIDGET]);
      const of = `${SECRET}${name}`;
      for (const kept of ["a", "b", "kept"])
        await made(server.send(`POST /clusters/${cluster}${MAPS}`, map(kept, { of }), { user }));
      await made(server.send(`POST /clusters/${cluster}${WIDGETS}`, widget("kept", { of }), { user }));
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } };
      await made(server.send(`POST /clusters/${cluster}${ACCOUNTS}`, account, { user }));
      await made(
        server.send(
          `POST /clusters/${cluster}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`,
          {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "ClusterRoleBinding",
            metadata: { name: "robots" },
            roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
            subjects: [{ kind: "ServiceAccount", namespace: "default", name: "robot" }],
          },
          { user },
        ),
      );
    }
  });

  after(() => server[Symbol.asyncDispose]());

  const made = async (asked: Promise<Answer>): Promise<Answer> => {
    const answer = await asked;
    expect(answer.status, answer.text).to.equal(201);
    return answer;
  };
  const refused = async (asked: Promise<Answer>, ...codes: readonly number[]): Promise<void> => {
    const { status, text } = await asked;
    expect(status, text).to.be.oneOf(codes);
    expect(text).not.to.include(`${SECRET}two`);
  };
  const WRITES = ["POST", "PUT", "PATCH", "DELETE"] as const;
  /** Expects that all requests to a place are rejected, in any form of the place. */
  const allRefused = async (place: string, how: CallOptions, ...codes: readonly number[]): Promise<void> => {
    for (const path of [MAPS, `${MAPS}/kept`, WIDGETS, "/api", "/openapi/v2", "/apis/example.dev/v1"])
      await refused(server.get(place + path, how), ...codes);
    for (const method of WRITES) {
      const path = method === "POST" ? MAPS : `${MAPS}/kept`;
      await refused(server.send(`${method} ${place}${path}` as `${string} /${string}`, map("x", {}), how), ...codes);
    }
    expect((await server.get(two(`${MAPS}/kept`), bob)).body.data).to.deep.equal({ of: `${SECRET}two` });
  };

  it("is denied by logical cluster name, whatever the caller's rights in their own", async () => {
    expect((await server.get(one(MAPS), alice)).status).to.equal(200);
    await allRefused(two(""), alice, 403);
  });

  it("is denied by path, without revealing whether the workspace exists", async () => {
    expect((await server.get(`/clusters/root:two${MAPS}`, bob)).text).to.include(`${SECRET}two`);
    await allRefused("/clusters/root:two", alice, 403);
    await refused(server.get(`/clusters/two:none${MAPS}`, alice), 403, 404);
    const texts = [clusters.two, "none"].map(async (name) => {
      const { status, text } = await server.get(`/clusters/${name}${MAPS}`, alice);
      return [status, text];
    });
    const [there, missing] = await Promise.all(texts);
    expect(there).to.deep.equal(missing);
  });

  it("is denied through the wildcard, for reads and writes", async () => {
    await allRefused("/clusters/*", alice, 403, 405);
    await refused(server.get("/clusters/*/apis/example.dev/v1/widgets:identity", alice), 403, 404);
  });

  it("is denied by ambiguous URLs", async () => {
    const { one: mine, two: theirs } = clusters;
    const ways = [
      `/clusters/${mine}/..%2F${theirs}${MAPS}`,
      `/clusters/${mine}/../${theirs}${MAPS}`,
      `/clusters/${mine}%2F..%2F${theirs}${MAPS}`,
      `/clusters/${mine}/%2e%2e/${theirs}${MAPS}`,
      `/clusters/${mine}//clusters/${theirs}${MAPS}`,
      `/clusters/${mine}${MAPS}/..%2F..%2F..%2F..%2F..%2F..%2F${theirs}${MAPS}`,
      `/clusters/${mine}/api/v1/namespaces/..%2f..%2f..%2f..%2f${theirs}%2fapi%2fv1%2fnamespaces%2fdefault/configmaps`,
      `/clusters/${mine}%00${theirs}${MAPS}`,
      `/clusters/${mine},${theirs}${MAPS}`,
      `/clusters/${mine}%3B${theirs}${MAPS}`,
      `/clusters/%2A${MAPS}`,
      `/clusters/${MAPS}`,
      `/clusters/${mine}:${MAPS}`,
      `/clusters/:${theirs}${MAPS}`,
    ];
    for (const way of ways) await refused(server.get(way, alice), 400, 403, 404);
  });

  it("is denied with identity headers of someone else", async () => {
    const names = ["x-remote-user", "x-forwarded-user", "x-kcp-user"];
    for (const name of names) {
      await refused(server.get(two(MAPS), { ...alice, headers: { [name]: "bob" } }), 401, 403);
      await refused(server.get(two(MAPS), { headers: { authorization: "", [name]: "bob" } }), 401, 403);
    }
    const groups = { "x-remote-user": "alice", "x-remote-group": "system:masters" };
    await refused(server.get(two(MAPS), { ...alice, headers: groups }), 401, 403);
    for (const headers of [
      { "impersonate-user": "bob" },
      { "impersonate-user": "alice", "impersonate-group": "system:masters" },
      { "impersonate-user": "alice", "impersonate-extra-authentication.kcp.io%2Fscopes": `cluster:${clusters.two}` },
      { "impersonate-user": "system:serviceaccount:default:robot" },
    ])
      await refused(server.get(two(MAPS), { ...alice, headers }), 403);
  });

  it("is denied to users impersonated in a workspace, who stay limited to it", async () => {
    const be = (headers: Record<string, string>): CallOptions => ({ ...alice, headers });
    const groups = { "impersonate-user": "bob", "impersonate-group": "system:authenticated" };
    expect((await server.get(one(MAPS), be(groups))).status, "bob has no rights in one").to.equal(403);
    for (const group of ["system:masters", "system:kcp:admin", "system:kcp:logical-cluster-admin"])
      await refused(server.get(one(MAPS), be({ "impersonate-user": "bob", "impersonate-group": group })), 403);
    const scoped = {
      "impersonate-user": "alice",
      "impersonate-extra-authentication.kcp.io%2Fscopes": `cluster:${clusters.two}`,
    };
    expect((await server.get(one(MAPS), be(scoped))).status, "alice of two is nobody in one").to.equal(403);
    const warrant = JSON.stringify({ user: "bob", groups: ["system:authenticated"] });
    const warranted = { "impersonate-user": "x", "impersonate-extra-authorization.kcp.io%2Fwarrant": warrant };
    await refused(server.get(two(MAPS), be(warranted)), 403);
    for (const url of [one(MAPS), `/clusters/root:one${MAPS}`] as const) {
      expect((await server.get(url, be({ "impersonate-user": "alice" }))).status, url).to.equal(200);
      await refused(server.get(url, be({ "impersonate-user": "bob", "impersonate-group": "system:masters" })), 403);
    }
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/clusters/root:one/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const { body } = await made(server.send(`POST ${path}`, review, be({ "impersonate-user": "alice" })));
    expect(body.status.userInfo.extra).to.deep.equal({ "authentication.kcp.io/scopes": [`cluster:${clusters.one}`] });
  });

  it("is denied to a service account with the name of one in the other workspace", async () => {
    const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { body } = await made(server.send(`POST ${one(ACCOUNTS)}/robot/token`, asked, alice));
    const robot = { user: body.status.token as string };
    expect((await server.get(one(MAPS), robot)).status).to.equal(200);
    for (const place of [two(""), "/clusters/root:two", "/clusters/*"]) await allRefused(place, robot, 403, 405);
    await refused(server.send(`POST ${two(ACCOUNTS)}/robot/token`, asked, robot), 403);
    await refused(server.send(`POST ${two(ACCOUNTS)}/robot/token`, asked, alice), 403);
  });

  it("is denied to objects that claim another logical cluster, with every write method", async () => {
    const forged = { "kcp.io/cluster": clusters.two };
    const sent = (type: string) => ({ ...alice, headers: { "content-type": type } });
    const cases = [
      { at: MAPS, object: map("forged", {}, { annotations: forged }) },
      { at: WIDGETS, object: widget("forged", forged) },
    ];
    for (const { at, object } of cases) {
      const path = one(`${at}/forged`);
      const patch = { metadata: { annotations: forged } };
      const first = await server.send(`POST ${one(at)}`, object, alice);
      const metadata = { ...object.metadata, resourceVersion: first.body.metadata.resourceVersion };
      const answers = [
        first,
        await server.send(`PUT ${path}`, { ...object, metadata }, alice),
        await server.send(`PATCH ${path}`, patch, sent("application/merge-patch+json")),
        await server.send(`PATCH ${path}?fieldManager=f&force=true`, object, sent("application/apply-patch+yaml")),
        await server.send(
          `PATCH ${path}`,
          [{ op: "replace", path: "/metadata/annotations/kcp.io~1cluster", value: clusters.two }],
          sent("application/json-patch+json"),
        ),
        await server.get(path, alice),
      ];
      for (const { status, body, text } of answers) {
        expect(status, text).to.be.oneOf([200, 201]);
        expect(body.metadata.annotations["kcp.io/cluster"]).to.equal(clusters.one);
      }
      expect((await server.get(two(`${at}/forged`), bob)).status).to.equal(404);
      expect((await server.get(two(at), bob)).text).not.to.include("forged");
    }
    const { body } = await server.get("/clusters/*/api/v1/configmaps?fieldSelector=metadata.name=forged", {
      user: "root",
    });
    const places = body.items.map(({ metadata }: { metadata: { annotations: object } }) => metadata.annotations);
    expect(places).to.deep.equal([{ "kcp.io/cluster": clusters.one }]);
  });

  it("is denied with another list's continue token or resource version", async () => {
    const first = await server.get(two(`${MAPS}?limit=1`), bob);
    const token = encodeURIComponent(first.body.metadata.continue);
    for (const path of [one(`${MAPS}?limit=5&continue=${token}`), one(`/api/v1/configmaps?continue=${token}`)]) {
      const { status, text } = await server.get(path, alice);
      expect(status, text).to.be.oneOf([200, 400, 410]);
      expect(text).not.to.include(`${SECRET}two`);
    }
    const version = (await server.get(two(MAPS), bob)).body.metadata.resourceVersion as string;
    await using watch = await server.watch(one(`${MAPS}?watch=true&resourceVersion=${version}`), alice);
    await made(server.send(`POST ${two(MAPS)}`, map("later", {}), bob));
    await made(server.send(`POST ${one(MAPS)}`, map("mine", {}), alice));
    expect(await watch.take(1)).to.deep.equal(["ADDED mine"]);
    const at = await server.get(one(`${MAPS}?resourceVersion=${version}&resourceVersionMatch=Exact`), alice);
    expect(at.text).not.to.include(`${SECRET}two`);
    await refused(server.get(two(`${MAPS}?watch=true&resourceVersion=${version}`), alice), 403);
  });

  it("is denied through owner references, which neither block, reveal nor are revealed by the owner", async () => {
    const owner = await made(server.send(`POST ${two(MAPS)}`, map("owner", {}), bob));
    const { uid } = owner.body.metadata;
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true };
    await server.send(`POST ${one(MAPS)}`, map("owned", {}, { ownerReferences: [reference] }), alice);
    const { resourceVersion } = owner.body.metadata;
    await using watch = await server.watch(two(`${MAPS}?watch=true&resourceVersion=${resourceVersion}`), bob);
    const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Foreground" };
    const deleted = await server.send(`DELETE ${two(MAPS)}/owner`, options, bob);
    expect(deleted.status, deleted.text).to.equal(200);
    const seen = await watch.until(({ type, object }) => type === "DELETED" && object.metadata.name === "owner");
    expect(JSON.stringify([deleted.text, seen])).not.to.include("owned");
  });

  it("is denied to kinds that the workspace does not define", async () => {
    const three = await makeWorkspace(server, "three");
    const { status } = await server.get(`/clusters/${three}${WIDGETS}`, { user: "root" });
    expect(status).to.equal(404);
    const groups = await server.get(`/clusters/${three}/apis`, { user: "root" });
    expect(groups.text).not.to.include("example.dev");
    expect((await server.get(one("/apis"), alice)).text).to.include("example.dev");
  });
});
