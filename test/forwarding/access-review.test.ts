// Authorization through another server.
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { asked } from "../_support/asked.ts";
import { until } from "../_support/until.ts";
import { ALICE, NOTES, startView } from "./access-view.ts";
import { startReviewing, untilChanged } from "./reviewing.ts";

/** Returns alice's permissions. */
const alice = (verbs: readonly string[], cluster = "root") =>
  ({ verbs, to: { kind: "User", name: "alice" }, cluster }) as const;
const group = (name: string) => ({ verbs: ["get"], to: { kind: "Group", name } }) as const;

describe("a SubjectAccessReview", () => {
  it("serves allowed requests and rejects others with 403, without the reason", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["get"]));
    await using view = await startView({ upstream: kube.upstream });
    expect(await view.code()).to.equal(200);
    const refused = await view.get(NOTES);
    expect([refused.status, refused.body.message]).to.deep.equal([
      403,
      'notes.test.dev is forbidden: User "alice" cannot list resource "notes" in API group "test.dev" at the cluster scope',
    ]);
    expect(await view.code(`${NOTES}/first`, "bob")).to.equal(403);
    await using open = await startView({ upstream: kube.upstream, showReason: true });
    expect((await open.get(NOTES)).body.message).to.match(/: RBAC: no secret-role was found$/);
  });

  it("holds the whole caller and request: 300 groups are one review", async () => {
    await using kube = await startReviewing();
    kube.permit(group("group-299-größe"));
    await using view = await startView({ upstream: kube.upstream });
    expect(await view.code()).to.equal(200);
    const { name: user, uid, extra } = ALICE;
    expect(kube.seen.access).to.deep.equal([
      {
        cluster: "root",
        user,
        uid,
        extra,
        groups: [...ALICE.groups, "system:authenticated"],
        resourceAttributes: { verb: "get", group: "test.dev", version: "v1", resource: "notes", name: "first" },
      },
    ]);
  });

  it("is about the subresource, or the path", async () => {
    await using kube = await startReviewing();
    await using view = await startView({ upstream: kube.upstream });
    await view.get(`${NOTES}/first/status`, { user: "bob" });
    await view.get("/services/notes/clusters/root/openapi/v3", { user: "bob" });
    await view.server.send(`DELETE ${NOTES}`, undefined, { user: "bob" });
    const about = kube.seen.access.map(({ resourceAttributes, nonResourceAttributes }) => ({
      ...resourceAttributes,
      ...nonResourceAttributes,
    }));
    const note = { group: "test.dev", version: "v1", resource: "notes" };
    expect(about).to.deep.equal([
      { ...note, verb: "get", name: "first", subresource: "status" },
      { verb: "get", path: "/openapi/v3" },
      { ...note, verb: "deletecollection" },
    ]);
    const { groups: _, uid: __, extra: ___, ...rest } = kube.seen.access[0] ?? {};
    expect(Object.keys(kube.seen.access[0] ?? {})).to.have.members([...Object.keys(rest), "groups"]);
  });

  it("is sent for each part of an impersonation, and for the request itself", async () => {
    await using kube = await startReviewing();
    kube.permit({ verbs: ["impersonate"], to: { kind: "User", name: "bob" } });
    await using view = await startView({ upstream: kube.upstream });
    const headers = { "Impersonate-User": "carol", "Impersonate-Group": "cooks" };
    const codes = [];
    for (const user of ["bob", "alice"] as const) codes.push((await view.get(NOTES, { user, headers })).status);
    expect(codes).to.deep.equal([403, 403]);
    const about = kube.seen.access.map(({ user, resourceAttributes: { verb, resource, name } = {} }) =>
      [user, verb, resource, name].join(" ").trimEnd(),
    );
    expect(about).to.deep.equal([
      "bob impersonate users carol",
      "bob impersonate groups cooks",
      "carol list notes",
      "alice impersonate users carol",
    ]);
  });

  it("is also sent for SelfSubjectAccessReviews", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["patch"]));
    await using view = await startView({ upstream: kube.upstream });
    const path = "/services/notes/clusters/root/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const may = async (verb: string): Promise<unknown> => {
      const spec = { resourceAttributes: { verb, group: "test.dev", resource: "notes", name: "first" } };
      const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
      return (await view.server.send(`POST ${path}`, body)).body.status.allowed;
    };
    expect([await may("patch"), await may("delete")]).to.deep.equal([true, false]);
    expect(kube.seen.access).to.have.length(2);
  });

  it("is sent once for 1,000 concurrent equal requests, and for none of the later ones", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["get"]));
    await using view = await startView({ upstream: kube.upstream });
    const release = kube.hold();
    const codes = Array.from({ length: 1_000 }, () => view.code());
    await until(() => view.access.stats.shared === 999);
    release();
    expect(new Set(await Promise.all(codes))).to.deep.equal(new Set([200]));
    expect(await view.code()).to.equal(200);
    expect(kube.seen.access).to.have.length(1);
    expect(view.access.stats).to.deep.include({ asked: 1, shared: 999, remembered: 1, failed: 0, kept: 1 });
    expect(view.access.stats.duration).to.be.greaterThan(0);
  });

  it("is sent for each of 1,000 users with limited concurrency, and verdicts are limited too", async () => {
    await using kube = await startReviewing();
    kube.permit(group("system:authenticated"));
    await using view = await startView({ upstream: kube.upstream, maximum: 100, inFlight: 50 });
    const release = kube.hold();
    const codes = Array.from({ length: 1_000 }, (_each, at) => view.code(`${NOTES}/first`, `user-${at}`));
    await until(() => view.access.stats.waiting === 950);
    expect(view.access.stats.inFlight).to.equal(50);
    release();
    expect(new Set(await Promise.all(codes))).to.deep.equal(new Set([200]));
    expect(new Set(kube.seen.access.map(({ user }) => user)).size).to.equal(1_000);
    expect(view.access.stats).to.deep.include({ asked: 1_000, kept: 100, inFlight: 0, waiting: 0 });
  }).timeout(30_000);

  it("is cached for its time, after which grants and revocations take effect", async () => {
    await using kube = await startReviewing();
    await using view = await startView({ upstream: kube.upstream, allowCache: 500, denyCache: 250 });
    const began = performance.now();
    expect(await view.code()).to.equal(403);
    kube.permit(alice(["get"]));
    await untilChanged(view.code, { from: 403, to: 200 });
    expect(performance.now() - began).to.be.at.least(250);
    kube.withdraw("alice");
    await untilChanged(view.code, { from: 200, to: 403 });
    expect(performance.now() - began).to.be.at.least(750);
    expect(kube.seen.access).to.have.length(3);
  });

  it("is sent for each request if caching is disabled", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["get"]));
    await using view = await startView({ upstream: kube.upstream, allowCache: 0, denyCache: 0 });
    expect([await view.code(), await view.code()]).to.deep.equal([200, 200]);
    kube.withdraw("alice");
    expect(await view.code()).to.equal(403);
    expect(view.access.stats).to.deep.include({ asked: 3, kept: 0 });
  });

  it("distinguishes users of the same name", async () => {
    await using kube = await startReviewing();
    kube.permit(group("writers"));
    await using upstream = new Upstream(kube.upstream);
    await using access = subjectAccessReview({ upstream });
    const may = async (groups: readonly string[], more: object = {}): Promise<boolean> => {
      const user = authenticatedUser({ name: "alice", groups, ...more });
      const about = { verb: "get", group: "test.dev", version: "v1", resource: "notes" };
      return (await access(asked(user, about))).allowed;
    };
    expect(await may(["writers"])).to.equal(true);
    for (const groups of [["writer", "s"], ['writers","x'], []]) expect(await may(groups)).to.equal(false);
    expect(await may(["writers"])).to.equal(true);
    expect(access.stats.asked).to.equal(4);
    await may(["writers"], { uid: "8" });
    await may(["writers"], { extra: { scopes: ["none"] } });
    expect(access.stats.asked).to.equal(6);
  });
});

describe("the target of a SubjectAccessReview", () => {
  it("is the request's logical cluster, each with its own verdict; all clusters at once are denied", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["get", "list"]));
    await using view = await startView({ upstream: kube.upstream });
    expect(await view.code(NOTES)).to.equal(200);
    expect(await view.code(NOTES.replace("root", "other"))).to.equal(403);
    expect(await view.code(NOTES.replace("root", "*"))).to.equal(403);
    expect(kube.seen.access.map(({ cluster }) => cluster)).to.deep.equal(["root", "other"]);
  });

  it("may be set, also for all clusters at once", async () => {
    await using kube = await startReviewing();
    kube.permit(alice(["list"], "all"));
    await using view = await startView({
      upstream: kube.upstream,
      cluster: ({ params }) => (params.cluster === "*" ? "all" : undefined),
    });
    expect(await view.code(NOTES.replace("root", "*"))).to.equal(200);
    expect(await view.code(NOTES)).to.equal(403);
    expect(kube.seen.access.map(({ cluster }) => cluster)).to.deep.equal(["all"]);
  });

  it("may be one of several servers, with separate verdicts", async () => {
    await using east = await startReviewing();
    await using west = await startReviewing();
    west.permit(alice(["get"]));
    await using one = new Upstream(east.upstream);
    await using other = new Upstream(west.upstream);
    let asked: Upstream = other;
    await using view = await startView({ upstream: () => asked });
    expect(await view.code()).to.equal(200);
    asked = one;
    expect(await view.code()).to.equal(403);
    asked = other;
    expect(await view.code()).to.equal(200);
    expect([east.seen.access.length, west.seen.access.length]).to.deep.equal([1, 1]);
  });

  it("may have other attributes than the request, or none, which denies it", async () => {
    await using kube = await startReviewing();
    await using view = await startView({
      upstream: kube.upstream,
      attributes: ({ verb, name }) =>
        name === "first" ? undefined : { verb, resource: "exports", subresource: "content", name: "x", group: "y.dev" },
    });
    expect(await view.code()).to.equal(403);
    expect(await view.code(NOTES)).to.equal(403);
    expect(kube.seen.access.map(({ resourceAttributes }) => resourceAttributes)).to.deep.equal([
      { verb: "list", group: "y.dev", resource: "exports", subresource: "content", name: "x" },
    ]);
  });

  it("is rejected if it is not a valid path", async () => {
    await using kube = await startReviewing();
    await using upstream = new Upstream(kube.upstream);
    for (const cluster of ["a/../b", "..", "A", "root?", "root:"]) {
      await using access = subjectAccessReview({ upstream, cluster: () => cluster });
      const ask = (): unknown => access(asked(authenticatedUser({ name: "alice" }), { verb: "get" }));
      expect(ask, cluster).to.throw("use the name of a logical cluster or a workspace path");
    }
  });
});
