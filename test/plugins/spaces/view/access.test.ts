// Authorization of the view: which callers may use which Spaces, and with which identity Spaces are called.
import { expect } from "chai";
import type { Answer } from "../../../_support/plain.ts";
import { until } from "../../../_support/until.ts";
import { grant } from "../../../workspace-server/support/logical-clusters.ts";
import { Lent } from "../support/lent.ts";
import { MAPS, Viewed } from "../support/viewed.ts";

const root = { user: "root" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = { apiGroup: "rbac.authorization.k8s.io" };
const ROLE = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" };
const MENUS = `${MAPS}?fieldSelector=metadata.name%3Dmenu`;

describe("view of Spaces", function () {
  this.timeout(60_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start("one", "two");
    viewed = await Viewed.over(lent);
    for (const space of ["one", "two"]) await lent.put(space, "menu");
    const namespaces = lent.management.server;
    const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
    await namespaces.send("POST /clusters/root:mgmt/api/v1/namespaces", team, root);
    // A third Space in another namespace for the same workspace as the first one.
    const kubeconfig = lent.management.kubeconfig("root:one");
    for (const scope of ["incluster", "external"]) await lent.management.keep(`${scope}-three`, { kubeconfig }, "team");
    await lent.management.make("team", "three", { Type: "imported" });
    await viewed.engaged(3);
    await grant(lent.management.server, "root:mgmt", { user: "alice", verbs: ["access"] });
  });
  after(async () => {
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  /** Grants a verb on all or some Spaces of a namespace. */
  async function allow(
    user: string,
    verbs: readonly string[],
    names: readonly string[] = [],
  ): Promise<() => Promise<void>> {
    const { server } = lent.management;
    const name = `${user}-${verbs.join("-")}-${names.join("-")}`;
    const metadata = { name, namespace: "team" };
    const rule = { apiGroups: ["space.kubestellar.io"], resources: ["spaces/proxy"], verbs };
    const rules = [{ ...rule, ...(names.length > 0 && { resourceNames: names }) }];
    const at = `/clusters/root:mgmt${RBAC}/namespaces/team`;
    const role = await server.send(`POST ${at}/roles`, { ...ROLE, metadata, rules }, root);
    expect(role.status, role.text).to.equal(201);
    const subjects = [{ ...GROUP, kind: "User", name: user }];
    const roleRef = { ...GROUP, kind: "Role", name };
    const binding = { ...ROLE, kind: "RoleBinding", metadata, roleRef, subjects };
    const bound = await server.send(`POST ${at}/rolebindings`, binding, root);
    expect(bound.status, bound.text).to.equal(201);
    return async () => {
      await server.send(`DELETE ${at}/rolebindings/${name}`, undefined, root);
      await server.send(`DELETE ${at}/roles/${name}`, undefined, root);
    };
  }

  it("gives users without rights no access, and does not show which Spaces exist", async () => {
    for (const at of ["*/*", "-/*", "*/one", "-/one", "-/nowhere", "nobody/*"])
      for (const path of ["/api/v1", "/version", MENUS, "/openapi/v3"]) {
        const { status, body } = await viewed.get(path, at, "bob");
        expect([status, body.reason], `${at}${path}`).to.eql([403, "Forbidden"]);
      }
    expect((await viewed.get("/version", "-/nowhere")).status).to.equal(404);
    expect((await viewed.server.get(`/services/spaces/-/one${MENUS}`, { user: "stranger" })).status).to.equal(401);
  });

  it("shows the Spaces of a namespace to users who may list them there, together and one by one", async () => {
    const withdraw = await allow("alice", ["get", "list", "watch"]);
    // A Space that lists leave out is named only to users who may see it.
    await lent.management.make("default", "hidden", { Type: "imported" });
    await until(async () => (await viewed.get(MENUS)).headers["warning"]?.includes("default/hidden"));
    const { body, headers } = await viewed.get(MENUS, "*/*", "alice");
    expect(body.items).to.have.length(1);
    expect(headers["warning"]).to.equal(undefined);
    await lent.remove("hidden");
    expect(await viewed.names(MENUS, "*/*", "alice")).to.eql(["team/three menu"]);
    expect((await viewed.get(MENUS, "-/three", "alice")).status).to.equal(200);
    expect((await viewed.get(MENUS, "-/one", "alice")).status).to.equal(403);
    expect((await viewed.get(`${MAPS}/menu`, "*/*", "alice")).status).to.equal(200);
    await withdraw();
    expect((await viewed.get(MENUS, "*/*", "alice")).status).to.equal(403);
  });

  it("authorizes each request by its verb", async () => {
    const withdraw = await allow("alice", ["get", "list"]);
    const headers = { "content-type": "application/merge-patch+json" };
    const alice = { user: "alice", headers };
    for (const at of ["*/*", "-/three"] as const) {
      const patched = await viewed.server.send(`PATCH /services/spaces/${at}${MAPS}/menu`, { data: {} }, alice);
      expect(patched.status, at).to.equal(403);
      expect((await viewed.get(`${MENUS}&watch=1`, at, "alice")).status).to.equal(403);
    }
    await withdraw();
  });

  it("opens no terminal for read-only users, although a WebSocket starts with a GET", async () => {
    const path = "/services/spaces/-/three/api/v1/namespaces/default/pods/shell/exec?command=sh";
    const headers = { connection: "Upgrade", upgrade: "websocket" };
    const asked = async (): Promise<Answer> => viewed.server.get(path, { user: "alice", headers });
    const withdraw = await allow("alice", ["get", "list", "watch"]);
    expect((await asked()).body.message).to.match(/^pods "shell" is forbidden: User "alice" cannot /);
    await withdraw();
    const writing = await allow("alice", ["create"]);
    // The workspace rejects the request, since it has no terminals.
    expect((await asked()).body.message).to.match(/^virtual workspace clusters does not take upgrades/);
    await writing();
  });

  it("gives users with rights to a single Space that Space, and no list", async () => {
    const withdraw = await allow("alice", ["get", "list"], ["three"]);
    expect((await viewed.get(MENUS, "-/three", "alice")).status).to.equal(200);
    expect((await viewed.get(MENUS, "*/three", "alice")).status).to.equal(403);
    await withdraw();
  });

  it("ends watches of users whose rights are withdrawn, across Spaces and in one", async () => {
    const withdraw = await allow("alice", ["get", "list", "watch"]);
    const { body } = await viewed.get(MENUS, "*/*", "alice");
    await using several = await viewed.watch(
      `${MENUS}&watch=1&resourceVersion=${body.metadata.resourceVersion}`,
      "*/*",
      "alice",
    );
    await using one = await viewed.watch(`${MENUS}&watch=1`, "-/three", "alice");
    expect((await one.next()).type).to.equal("ADDED");
    await withdraw();
    const ended = await several.next();
    expect([ended.type, ended.object.code]).to.eql(["ERROR", 410]);
    await one.rest();
  });

  it("answers reviews of a user's identity and rights itself", async () => {
    const withdraw = await allow("alice", ["list"]);
    const at = "POST /services/spaces/*/*/apis";
    const who = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const review = await viewed.server.send(`${at}/authentication.k8s.io/v1/selfsubjectreviews`, who, {
      user: "alice",
    });
    expect(review.body.status?.userInfo?.username, review.text).to.equal("alice");
    for (const [verb, allowed] of [
      ["list", true],
      ["delete", false],
    ] as const) {
      const spec = { resourceAttributes: { verb, version: "v1", resource: "configmaps", namespace: "default" } };
      const may = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
      const { body } = await viewed.server.send(`${at}/authorization.k8s.io/v1/selfsubjectaccessreviews`, may, {
        user: "alice",
      });
      expect(body.status.allowed, verb).to.equal(allowed);
    }
    await withdraw();
  });

  it("calls a Space with the credential of its Secret, and shows it to no one", async () => {
    const { body } = await viewed.server.send(
      "POST /services/spaces/-/one/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { user: "root", headers: { "X-Remote-User": "mallory", "X-Remote-Group": "system:masters" } },
    );
    expect(body.status.userInfo.username).to.equal("shard-admin");
  });

  it("calls a Space as the caller with impersonation", async () => {
    await using own = await Viewed.over(lent, { identity: "impersonate" });
    await grant(lent.management.server, "root:mgmt", { user: "bob", verbs: ["get", "list", "watch", "create"] });
    await own.engaged(3);
    const refused = await own.get(MENUS, "*/*", "bob");
    expect([refused.status, refused.body.reason]).to.eql([403, "Forbidden"]);
    // The RBAC rules grant access to one of the two workspaces.
    await grant(lent.management.server, "root:two", { user: "bob", verbs: ["get", "list", "watch"] });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const who = await own.server.send(`POST /services/spaces/-/two${path}`, review, { user: "bob" });
    expect(who.body.status?.userInfo?.username, who.text).to.equal("bob");
    expect((await own.get(MENUS, "-/one", "bob")).body.message).to.include('User "bob" cannot list');
    expect(await own.names(MENUS, "*/*", "bob")).to.eql(["default/two menu"]);
  });
});
