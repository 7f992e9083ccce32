// Claimed objects: workspaces grant them to the export's provider, and may withdraw them.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { APIS } from "../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { ALL, MAPS, map, namesOf, Provider, startViewed } from "./support/provider.ts";

const root = { user: "root" };
const EVERYWHERE = "/api/v1/configmaps";
const NO = [403, "Forbidden"];
const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };
const EVENTS = { group: "", resource: "events", identityHash: "", verbs: ["get", "list"] };
const SECRETS = { group: "", resource: "secrets", identityHash: "", verbs: ["get"] };
const REVIEWS = { ...CLAIM, group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: ["create"] };
const BINDINGS = { ...CLAIM, group: "apis.kcp.io", resource: "apibindings", verbs: ["*"] };
const accepted = (claim: object, selector: object = ALL): object => ({ ...claim, selector, state: "Accepted" });
const rejected = (claim: object): object => ({ ...claim, selector: ALL, state: "Rejected" });

describe("claimed resources", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let willing: string;
  let unwilling: string;

  before(async () => {
    server = await startViewed();
    const permissionClaims = [CLAIM, EVENTS, SECRETS, REVIEWS];
    provider = await Provider.make(server, "provider", { permissionClaims });
    willing = await provider.consumer(
      "willing",
      permissionClaims.map((claim) => accepted(claim)),
    );
    unwilling = await provider.consumer("unwilling", permissionClaims.map(rejected));
    for (const cluster of [willing, unwilling]) await provider.post(cluster, MAPS, map("mine"));
  });

  after(() => server[Symbol.asyncDispose]());

  const mine = (names: string[]): string[] => names.filter((name) => !name.endsWith("kube-root-ca.crt"));

  it("appear exactly where the claim is accepted", async () => {
    expect(mine(namesOf(await provider.get(EVERYWHERE)))).to.deep.equal([`${willing}/mine`]);
    expect(mine(namesOf(await provider.in(willing).get(MAPS)))).to.deep.equal([`${willing}/mine`]);
    for (const path of [MAPS, `${MAPS}/mine`, `${MAPS}?watch=true`])
      expect(outcome(await provider.in(unwilling).get(path)).slice(0, 2)).to.deep.equal(NO);
    expect((await provider.get(MAPS)).status).to.equal(400);
    expect((await provider.in().watch(`${MAPS}?watch=true`)).status).to.equal(400);
  });

  it("can be written like others, and are visible to the provider afterwards", async () => {
    const there = provider.in(willing);
    const made = await there.send(`POST ${MAPS}`, map("made"));
    expect(made.status, made.text).to.equal(201);
    expect((await there.send(`PUT ${MAPS}/made`, { ...made.body, data: { a: "b" } })).status).to.equal(200);
    expect((await there.send(`PATCH ${MAPS}/made`, { data: { c: "d" } }, MERGE)).body.data).to.deep.equal({
      a: "b",
      c: "d",
    });
    const strategic = { headers: { "content-type": "application/strategic-merge-patch+json" } };
    expect((await there.send(`PATCH ${MAPS}/made`, { data: { c: null } }, strategic)).status).to.equal(200);
    expect((await there.get(`${MAPS}/made`)).body.data).to.deep.equal({ a: "b" });
    const { headers } = await there.get(`${MAPS}/made`, { headers: { accept: "application/yaml" } });
    expect(headers["content-type"]).to.equal("application/yaml");
    expect((await there.send(`DELETE ${MAPS}/made`)).status).to.equal(200);
    await there.send(`POST ${MAPS}`, map("one"));
    expect((await there.send(`DELETE ${MAPS}`)).status).to.equal(200);
    expect(mine(namesOf(await there.get(MAPS)))).to.deep.equal([]);
    await provider.post(willing, MAPS, map("mine"));
    expect(mine((await server.get(`/clusters/${unwilling}${MAPS}`, root)).body.items.map(nameOf))).to.deep.equal([
      "mine",
    ]);
  });

  it("allow only the verbs that both sides list", async () => {
    const there = provider.in(willing);
    expect((await there.get("/api/v1/namespaces/default/secrets/none")).status).to.equal(404);
    for (const path of ["/api/v1/secrets", "/api/v1/secrets?watch=true"])
      expect(outcome(await there.get(path)).slice(0, 2)).to.deep.equal(NO);
    expect(outcome(await there.send("DELETE /api/v1/namespaces/default/secrets/none")).slice(0, 2)).to.deep.equal(NO);
  });

  it("of events appear in both of their groups", async () => {
    for (const path of ["/api/v1/events", "/apis/events.k8s.io/v1/events"]) {
      expect((await provider.in(willing).get(path)).status, path).to.equal(200);
      expect((await provider.get(path)).status, path).to.equal(200);
      expect((await provider.in(willing).watch(`${path}?watch=true`)).status, path).to.equal(403);
    }
  });

  it("of events may use either group, or both, for clients that write to one and then to the other", async () => {
    const both = ["", "events.k8s.io"].map((group) => ({ ...EVENTS, group, verbs: ["*"] }));
    const teller = await Provider.make(server, "teller", { permissionClaims: both });
    const cluster = await makeWorkspace(server, "told");
    const event = { involvedObject: { namespace: "default" }, reason: "Made", message: "before" };
    const path = "/api/v1/namespaces/default/events";
    await teller.post(cluster, path, { apiVersion: "v1", kind: "Event", metadata: { name: "before" }, ...event });
    await teller.bind(
      cluster,
      both.map((claim) => accepted(claim)),
    ); // resolves when the claims are applied
    for (const events of [path, "/apis/events.k8s.io/v1/events"])
      expect(namesOf(await teller.in(cluster).get(events))).to.deep.equal([`${cluster}/before`]);
  });

  it("of reviews return the workspace's decision on its users", async () => {
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const spec = { user: "bob", resourceAttributes: { verb: "get", resource: "secrets" } };
    const asked = await provider
      .in(willing)
      .send(`POST ${path}`, { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec });
    expect([asked.status, asked.body.status.allowed]).to.deep.equal([201, false]);
    expect((await provider.in(unwilling).send(`POST ${path}`, { spec })).status).to.equal(403);
    expect((await provider.in(willing).get(path)).status).to.be.oneOf([403, 405]);
  });

  it("disappear with DELETED events when the claim is withdrawn, and return with it", async () => {
    const cluster = await provider.consumer("fickle", [
      accepted(CLAIM),
      rejected(EVENTS),
      rejected(SECRETS),
      rejected(REVIEWS),
    ]);
    await provider.post(cluster, MAPS, map("here"));
    const { resourceVersion } = (await provider.get(EVERYWHERE)).body.metadata;
    await using watch = await provider.watch(`${EVERYWHERE}?watch=true&resourceVersion=${resourceVersion}`);
    await using there = await provider.in(cluster).watch(`${MAPS}?watch=true&resourceVersion=0`);
    expect(await there.take(1)).to.deep.equal(["ADDED here"]);
    const set = (first: object) =>
      server.send(
        `PATCH /clusters/${cluster}${APIS}/apibindings/widgets`,
        { spec: { permissionClaims: [first, rejected(EVENTS), rejected(SECRETS), rejected(REVIEWS)] } },
        { ...MERGE, ...root },
      );
    expect((await set(rejected(CLAIM))).status).to.equal(200);
    await watch.until(({ type, object }) => type === "DELETED" && object.metadata?.name === "here");
    // A client that may no longer list gets an error then.
    const last = (await there.rest()).at(-1);
    expect(last?.type).to.be.oneOf(["ERROR", "DELETED"]);
    expect((await provider.in(cluster).get(MAPS)).status).to.equal(403);
    await set(accepted(CLAIM));
    await watch.until(({ type, object }) => type === "ADDED" && object.metadata?.name === "here");
  });

  it("of bindings include those to the export itself, and accepted ones", async () => {
    const other = await Provider.make(server, "binder", { permissionClaims: [BINDINGS] });
    const cluster = await other.consumer("claimed", [accepted(BINDINGS)]);
    const path = `${APIS}/apibindings`;
    const names = await untilAnswer(
      () => other.in(cluster).get(path),
      (answer) => answer.body.items.length > 1,
    );
    expect(namesOf(names)).to.include(`${cluster}/widgets`);
    const labels = { by: "provider" };
    const patched = await other.in(cluster).send(`PATCH ${path}/widgets`, { metadata: { labels } }, MERGE);
    expect([patched.status, patched.body.metadata.labels.by]).to.deep.equal([200, "provider"]);
    const without = await other.consumer("unclaimed", [rejected(BINDINGS)]);
    expect(namesOf(await other.in(without).get(path))).to.deep.equal([`${without}/widgets`]);
    expect((await other.in(without).send(`PATCH ${path}/widgets`, { metadata: { labels } }, MERGE)).status).to.equal(
      403,
    );
  });
});

function nameOf({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return metadata.name;
}
