// The accessible workspaces of a user as one live tree, read by several users while permissions change.
import { expect } from "chai";
import type { Answer, CallOptions } from "../../../_support/plain.ts";
import { bind, makeAdmin, makeWorkspace } from "../../support/logical-clusters.ts";
import { ClusterClient } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";

const KIND = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const at = (cluster = "*") => `/services/workspaces/clusters/${cluster}` as const;
const tree = (cluster = "*") => `${at(cluster)}${KIND}` as const;
const BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const ACCESS = "system:kcp:workspace:access";
const GROUP = "rbac.authorization.k8s.io";
const alice = { user: "alice" };
const bob = { user: "bob" };
const root = { user: "root" };
const user = (name: string) => ({ apiGroup: GROUP, kind: "User", name });
const group = (name: string) => ({ apiGroup: GROUP, kind: "Group", name });

interface Shown {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

const pathOf = ({ metadata: { name, annotations } }: Shown): string => `${annotations["kcp.io/path"]}:${name}`;

describe("the tree of workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  /** Logical clusters by name: `one` and `two` in the root, `inner` in `one`. */
  const clusters = { one: "", two: "", inner: "" };

  before(async () => {
    server = await startWorkspaces();
    clusters.one = await makeWorkspace(server, "one");
    clusters.two = await makeWorkspace(server, "two");
    clusters.inner = await inside("one", "inner");
  });
  after(() => server[Symbol.asyncDispose]());

  /** Creates a workspace in one of the root's. */
  async function inside(parent: string, name: string): Promise<string> {
    const client = new ClusterClient(server, `root:${parent}`);
    await client.create(KIND, {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name },
      spec: { type: { name: "universal", path: "root" } },
    });
    const { body } = await client.until(`${KIND}/${name}`, ({ body: { status } }) => status?.phase === "Ready");
    return body.spec.cluster;
  }

  const paths = async (who: CallOptions, cluster?: string): Promise<string[]> => {
    const { status, text, body } = await server.get(tree(cluster), who);
    expect(status, text).to.equal(200);
    return body.items.map(pathOf);
  };
  const follow = (who: CallOptions, more = "") => server.watch(`${tree()}?watch=true${more}`, who);
  const remove = async (cluster: string, path: string): Promise<void> => {
    const { status, text } = await server.send(`DELETE /clusters/${cluster}${path}`, undefined, root);
    expect(status, text).to.equal(200);
  };
  const admit = (cluster: string, subject: object, name = "in") =>
    bind(server, cluster, { name, role: ACCESS, subject });

  it("shows all workspaces to users with access to all, as in their parents", async () => {
    expect(await paths(root)).to.deep.equal(["root:one:inner", "root:one", "root:two"].sort(byCluster()));
    expect(await paths(root, "root")).to.deep.equal(["root:one", "root:two"]);
    expect(await paths(root, "root:one"), "by a path").to.deep.equal(["root:one:inner"]);
    const { body: shown } = await server.get(`${tree("root")}/one`, root);
    const { body: own } = await server.get(`/clusters/root${KIND}/one`, root);
    const {
      "kcp.io/path": path,
      "virtual-workspaces.dev/source-version": _,
      ...annotations
    } = shown.metadata.annotations;
    expect(path).to.equal("root");
    const { annotations: ownAnnotations, resourceVersion: _v, managedFields: _f, ...metadata } = own.metadata;
    expect({ ...shown.metadata, annotations, resourceVersion: "" }).to.deep.equal({
      ...metadata,
      annotations: ownAnnotations,
      resourceVersion: "",
    });
    expect([shown.spec, shown.status]).to.deep.equal([own.spec, own.status]);
  });

  /** Compares by logical cluster, the order of lists over all of them. */
  function byCluster() {
    const place = (path: string): string => (path === "root:one:inner" ? clusters.one : `root/${path}`);
    return (one: string, other: string): number => (place(one) < place(other) ? -1 : 1);
  }

  it("is empty without access, and reveals nothing", async () => {
    expect(await paths(bob)).to.deep.equal([]);
    expect(await paths(bob, clusters.one)).to.deep.equal([]);
    const answers = await Promise.all(
      ["one", "none"].map(async (name) => (await server.get(`${tree("root")}/${name}`, bob)).text),
    );
    expect(answers[0]?.replaceAll('"one\\"', '"none\\"').replace('"name":"one"', '"name":"none"')).to.equal(answers[1]);
    expect((await server.get(`${tree("root")}/none`, root)).status, "who may see all is told").to.equal(404);
  });

  it("adds and removes workspaces with bindings, in open watches that resume", async () => {
    const { body } = await server.get(tree(), alice);
    expect(body.items).to.deep.equal([]);
    await using watch = await follow(alice, `&resourceVersion=${body.metadata.resourceVersion}`);
    await admit(clusters.inner, user("alice"));
    const added = await watch.next();
    expect([added.type, pathOf(added.object as never)]).to.deep.equal(["ADDED", "root:one:inner"]);
    expect(await paths(alice), "though she may not enter its parent").to.deep.equal(["root:one:inner"]);
    expect(await paths(alice, clusters.one)).to.deep.equal(["root:one:inner"]);
    await admit(clusters.two, group("system:authenticated"));
    expect(await watch.take(1)).to.deep.equal(["ADDED two"]);
    await remove(clusters.inner, `${BINDINGS}/in`);
    const deleted = await watch.next();
    expect([deleted.type, deleted.object.metadata.name]).to.deep.equal(["DELETED", "inner"]);
    expect(await paths(alice)).to.deep.equal(["root:two"]);
    await remove(clusters.two, `${BINDINGS}/in`);
    expect(await watch.take(1)).to.deep.equal(["DELETED two"]);
    await using resumed = await follow(alice, `&resourceVersion=${added.object.metadata.resourceVersion}`);
    expect(await resumed.take(3)).to.deep.equal(["ADDED two", "DELETED inner", "DELETED two"]);
    expect(await paths(bob)).to.deep.equal([]);
  });

  it("follows changes of roles and bindings, also those for all workspaces", async () => {
    const role = { apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name: "door" } };
    const rules = (verbs: string[]) => ({ rules: [{ nonResourceURLs: ["/"], verbs }] });
    await new ClusterClient(server, clusters.one).create(ROLES, { ...role, ...rules(["get"]) });
    await bind(server, clusters.one, { name: "door", role: "door", subject: user("bob") });
    await using watch = await follow(bob);
    const patch = (verbs: string[]) => new ClusterClient(server, clusters.one).patch(`${ROLES}/door`, rules(verbs));
    await patch(["access"]);
    expect(await watch.take(1)).to.deep.equal(["ADDED one"]);
    await patch(["get"]);
    expect(await watch.take(1)).to.deep.equal(["DELETED one"]);
    await patch(["*"]);
    expect(await watch.take(1)).to.deep.equal(["ADDED one"]);
    await remove(clusters.one, `${ROLES}/door`);
    expect(await watch.take(1)).to.deep.equal(["DELETED one"]);
    await remove(clusters.one, `${BINDINGS}/door`);
    await admit("system:admin", user("bob"), "test");
    expect((await watch.take(3)).sort()).to.deep.equal(["ADDED inner", "ADDED one", "ADDED two"]);
    expect(await paths(bob)).to.have.length(3);
    await remove("system:admin", `${BINDINGS}/test`);
    expect(await paths(bob), "at once").to.deep.equal([]);
    expect((await watch.take(3)).sort()).to.deep.equal(["DELETED inner", "DELETED one", "DELETED two"]);
  });

  it("shows workspaces as they come, change and go", async () => {
    const four = await makeWorkspace(server, "four");
    await admit(four, user("bob"));
    await using watch = await follow(bob);
    expect(await watch.take(1)).to.deep.equal(["ADDED four"]);
    await new ClusterClient(server).patch(`${KIND}/four`, { metadata: { labels: { color: "red" } } });
    const changed = await watch.next();
    expect([changed.type, changed.object.metadata.labels?.["color"]]).to.deep.equal(["MODIFIED", "red"]);
    expect((await server.get(`${tree()}?labelSelector=color%3Dred`, bob)).body.items).to.have.length(1);
    await remove("root", `${KIND}/four`);
    const seen = await watch.until(({ type }) => type === "DELETED");
    expect(seen.at(-1)?.object.metadata.name).to.equal("four");
    expect(await paths(bob)).to.deep.equal([]);
  });

  it("shows service accounts their own workspace, and those that grant them access", async () => {
    const client = new ClusterClient(server, clusters.inner);
    const account = "/api/v1/namespaces/default/serviceaccounts";
    await client.create(account, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } });
    const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { status } = await client.create(`${account}/robot/token`, asked);
    const robot = { user: status.token as string };
    expect(await paths(robot)).to.deep.equal(["root:one:inner"]);
    await using watch = await follow(robot);
    expect(await watch.take(1)).to.deep.equal(["ADDED inner"]);
    await admit(clusters.two, { kind: "ServiceAccount", name: "robot", namespace: "default" }, "namesake");
    expect(await paths(robot), "one of its name there is another").to.deep.equal(["root:one:inner"]);
    await admit(clusters.two, user(`system:kcp:serviceaccount:${clusters.inner}:default:robot`), "global");
    expect(await watch.take(1)).to.deep.equal(["ADDED two"]);
    for (const name of ["namesake", "global"]) await remove(clusters.two, `${BINDINGS}/${name}`);
    expect(await watch.take(1)).to.deep.equal(["DELETED two"]);
  });

  it("shows an impersonated user's workspaces, limited to the impersonator's", async () => {
    const as = (name: string, who = alice): CallOptions => ({
      ...who,
      headers: { "impersonate-user": name, "impersonate-group": "system:authenticated" },
    });
    await makeAdmin(server, clusters.two, "alice");
    await admit(clusters.one, user("bob"));
    expect(await paths(as("bob", root))).to.deep.equal(["root:one"]);
    expect((await server.get(tree(), as("bob"))).status, "in all of them").to.equal(403);
    expect((await server.get(tree(clusters.one), as("bob"))).status, "where she may not").to.equal(403);
    expect(await paths(as("bob"), clusters.two), "bob of two is nobody in one").to.deep.equal([]);
    expect((await server.get(tree("root"), as("bob"))).status).to.equal(403);
    const warrant = JSON.stringify({ user: "bob", groups: ["system:authenticated"] });
    const headers = { "impersonate-user": "carol", "impersonate-group": "system:authenticated" };
    const warranted = { ...headers, "impersonate-extra-authorization.kcp.io%2Fwarrant": warrant };
    expect(await paths({ ...root, headers })).to.deep.equal([]);
    expect(await paths({ ...root, headers: warranted }), "by a warrant").to.deep.equal(["root:one"]);
    for (const name of ["test-admin", "test-access"]) await remove(clusters.two, `${BINDINGS}/${name}`);
    await remove(clusters.one, `${BINDINGS}/in`);
  });

  it("rejects unauthenticated users", async () => {
    await using strict = await startWorkspaces(undefined, { nameless: false });
    for (const path of [tree(), tree("root"), `${at("root")}/apis`])
      expect([(await fetch(server.url + path)).status, (await fetch(strict.url + path)).status]).to.deep.equal([
        403, 401,
      ]);
    expect((await strict.get(tree(), { user: "stranger" })).status).to.equal(401);
  });

  it("is read-only", async () => {
    await admit(clusters.one, user("alice"));
    const object = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "x" }, spec: {} };
    const one = `${tree("root")}/one` as const;
    const writes = [
      `POST ${tree("root")}`,
      `PUT ${one}`,
      `PATCH ${one}`,
      `DELETE ${one}`,
      `DELETE ${tree("root")}`,
    ] as const;
    for (const who of [alice, root])
      for (const write of writes) expect((await server.send(write, object, who)).status, write).to.equal(405);
    const { body } = await server.get(`${at("root")}/apis/tenancy.kcp.io/v1alpha1`, alice);
    expect(body.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs])).to.deep.equal([
      ["workspaces", ["get", "list", "watch"]],
      ["workspaces/status", ["get"]],
    ]);
    const status = await Promise.all([alice, bob].map(async (who) => (await server.get(`${one}/status`, who)).status));
    expect(status).to.deep.equal([200, 403]);
    expect((await server.send(`PUT ${one}/status`, object, root)).status).to.equal(405);
    for (const path of [`${at(clusters.one)}/api/v1/secrets`, `${at(clusters.one)}/api/v1/namespaces`])
      expect((await server.get(path, alice)).status, path).to.be.oneOf([403, 404]);
    await remove(clusters.one, `${BINDINGS}/in`);
  });

  it("resolves names and paths of workspaces", async () => {
    const code = async (cluster: string): Promise<number> => (await server.get(tree(cluster), root)).status;
    expect([await code("root:none"), await code("a::b"), await code("nowhere"), await code("ROOT")]).to.deep.equal([
      404, 400, 200, 400,
    ]);
  });

  it("agrees with its access reviews, for each user and workspace", async () => {
    await admit(clusters.inner, user("alice"));
    await admit(clusters.two, group("system:authenticated"));
    const places = [
      ["root", "one", clusters.one],
      ["root", "two", clusters.two],
      [clusters.one, "inner", clusters.inner],
      ["root", "none", "nowhere"],
    ] as const;
    const review = async (who: CallOptions, cluster: string, spec: object): Promise<boolean> => {
      const [kind, plural] =
        "user" in spec ? ["SubjectAccessReview", "subject"] : ["SelfSubjectAccessReview", "selfsubject"];
      const path = `POST ${at(cluster)}/apis/authorization.k8s.io/v1/${plural}accessreviews` as const;
      const { status, text, body } = await server.send(
        path,
        { apiVersion: "authorization.k8s.io/v1", kind, spec },
        who,
      );
      expect(status, text).to.equal(201);
      return body.status.allowed;
    };
    for (const name of ["root", "admin", "alice", "bob"]) {
      const who = { user: name };
      const listed: readonly Shown[] = (await server.get(tree(), who)).body.items;
      for (const [parent, workspace, cluster] of places) {
        const shown = listed.some(
          ({ metadata }) => metadata.name === workspace && metadata.annotations["kcp.io/cluster"] === parent,
        );
        const get = { verb: "get", group: "tenancy.kcp.io", resource: "workspaces", name: workspace };
        const answers = {
          get: (await server.get(`${tree(parent)}/${workspace}`, who)).status === 200,
          review: workspace === "none" ? shown : await review(who, parent, { resourceAttributes: get }),
          enter:
            workspace === "none"
              ? shown
              : await review(who, cluster, { nonResourceAttributes: { verb: "access", path: "/" } }),
          entered:
            workspace === "none" ? shown : (await server.get(`/clusters/${cluster}/version`, who)).status === 200,
        };
        expect(answers, `${name} ${workspace}`).to.deep.equal({
          get: shown,
          review: shown,
          enter: shown,
          entered: shown,
        });
        if (name === "root" || name === "admin") continue;
        const about = { user: name, groups: ["system:authenticated"], resourceAttributes: get };
        expect(await review(root, parent, about), `of ${name}`).to.equal(shown);
      }
      for (const verb of ["list", "watch"])
        expect(
          await review(who, "*", { resourceAttributes: { verb, group: "tenancy.kcp.io", resource: "workspaces" } }),
        ).to.equal(true);
    }
    const asked: Answer = await server.send(
      `POST ${at("root")}/apis/authorization.k8s.io/v1/subjectaccessreviews`,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "bob", nonResourceAttributes: { verb: "access", path: "/" } },
      },
      alice,
    );
    expect(asked.status, "about others asks who may there").to.equal(403);
  });
});
