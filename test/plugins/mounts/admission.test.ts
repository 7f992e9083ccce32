// The webhook that authorizes writers of Mounts, with the requests of a kcp 0.32.
import { readFileSync } from "node:fs";
import { mountAdmission } from "@virtual-workspaces/mounts";
import { Upstream } from "@virtual-workspaces/transport";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Answer, type CallOptions, outcome } from "../../_support/plain.ts";
import { grant, makeAdmin, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";
import { refTo } from "./support/mounted.ts";

const REVIEWS = "/services/mount-admission/apis/admission.k8s.io/v1/admissionreviews";
const recorded = JSON.parse(readFileSync(new URL("recorded/admission-reviews.json", import.meta.url), "utf8"));
const root = { user: "root" };
const AWAY = "http://127.0.0.1:1";

// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
type Body = any;

describe("the webhook of mounts", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let team: string;

  before(async () => {
    const own = loopback();
    server = await startWorkspaces(undefined, {
      loopback: own,
      virtualWorkspaces: [mountAdmission({ upstream: own.upstream })],
    });
    team = await makeWorkspace(server, "team");
    await grant(server, team, { user: "alice", verbs: ["get"] });
    await grant(server, team, { user: "bob", verbs: ["create", "update"] });
  });
  after(() => server[Symbol.asyncDispose]());

  /** Returns kcp's request for a new Mount, for another user and our workspace. */
  const creates = (username: string, spec: object = {}): Body => {
    const review = structuredClone(recorded.create);
    review.request.userInfo.username = username;
    review.request.object.metadata.annotations["kcp.io/cluster"] = team;
    Object.assign(review.request.object.spec, spec);
    return review;
  };
  /** Returns kcp's request for an update, whose writer claims that the object is in `root`. */
  const updates = (username: string): Body => {
    const review = structuredClone(recorded.update);
    review.request.userInfo.username = username;
    review.request.oldObject.metadata.annotations["kcp.io/cluster"] = team;
    return review;
  };
  const ask = (review: object, by: CallOptions = root): Promise<Answer> =>
    server.send(`POST ${REVIEWS}?timeout=10s`, review, by);
  const answered = async (review: Body): Promise<unknown[]> => {
    const { status, text, body } = await ask(review);
    expect(status, text).to.equal(201);
    const { apiVersion, kind, response } = body;
    expect({ apiVersion, kind, uid: response.uid }).to.deep.equal({
      ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
      uid: review.request.uid,
    });
    return [response.allowed, response.status?.code, response.status?.message];
  };
  const refused = (field: string, name = "hers"): unknown[] => [
    ...[false, 403],
    `${field}: the author of a Mount must be allowed to get the Secret "default/${name}" that it names`,
  ];
  const YES = [true, undefined, undefined];

  it("allows writes only to users who may get the named Secrets", async () => {
    expect(await answered(creates("alice"))).to.deep.equal(YES);
    expect(await answered(creates("bob"))).to.deep.equal(refused("spec.ref"));
    const far = { ref: { apiVersion: "example.dev/v1", kind: "Remote", name: "far" } };
    expect(await answered(creates("bob", far))).to.deep.equal(YES);
    const beside = { ...far, secretRef: { namespace: "default", name: "beside" } };
    expect(await answered(creates("bob", beside))).to.deep.equal(refused("spec.secretRef", "beside"));
    expect(await answered(creates("alice", { ref: refTo("any") }))).to.deep.equal(YES);
  });

  it("checks every change of the spec, in the object's own workspace, whatever annotation its writer sends", async () => {
    await makeAdmin(server, "root", "bob");
    expect(recorded.update.request.object.metadata.annotations["kcp.io/cluster"]).to.equal("root");
    expect(await answered(updates("bob"))).to.deep.equal(refused("spec.ref"));
    expect(await answered(updates("alice"))).to.deep.equal(YES);
    const same = updates("bob");
    same.request.object.spec = same.request.oldObject.spec;
    expect(await answered(same)).to.deep.equal(YES);
  });

  it("rejects reviews of other objects than Mounts of a workspace", async () => {
    const without = creates("alice");
    delete without.request.object.metadata.annotations;
    const other = creates("alice");
    other.request.resource.resource = "widgets";
    const status = creates("alice");
    status.request.subResource = "status";
    const gone = updates("alice");
    gone.request.object = null;
    const nobody = creates("");
    for (const review of [without, other, status, gone, nobody, {}, { ...creates("alice"), request: undefined }])
      expect((await ask(review)).status, JSON.stringify(review).slice(0, 200)).to.equal(400);
  });

  it("answers only API servers, unless the operator allows all clients", async () => {
    for (const by of [{}, { user: "alice" }, { user: "admin" }])
      expect(outcome(await ask(creates("alice"), by)).slice(0, 2)).to.deep.equal([403, "Forbidden"]);
    const own = loopback();
    await using open = await startWorkspaces(undefined, {
      loopback: own,
      virtualWorkspaces: [mountAdmission({ upstream: own.upstream, anonymous: true })],
    });
    const review = creates("bob");
    review.request.object.metadata.annotations["kcp.io/cluster"] = "root";
    const { status, body } = await open.send(`POST ${REVIEWS}`, review);
    expect([status, body.response.allowed]).to.deep.equal([201, false]);
  });

  it("fails, which prevents the write, while the check is not possible", async () => {
    await using upstream = new Upstream({ url: AWAY });
    await using lone = await startWorkspaces(undefined, {
      virtualWorkspaces: [mountAdmission({ upstream, onError: () => undefined })],
    });
    expect((await lone.send(`POST ${REVIEWS}`, creates("alice"), root)).status).to.equal(503);
  });
});
