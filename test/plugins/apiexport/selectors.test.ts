// Claims with a selector: objects that a provider writes must match it, or are rejected.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { type Answer, outcome } from "../../_support/plain.ts";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { MAPS, map, namesOf, Provider, startViewed } from "./support/provider.ts";

const root = { user: "root" };
const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };
const APPLY = { headers: { "content-type": "application/apply-patch+yaml" } };
const JSON_PATCH = { headers: { "content-type": "application/json-patch+json" } };
const HASH = /^claimed\.internal\.apis\.kcp\.io\//;

describe("a claim with a selector", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  /** Workspace that grants the provider objects with its label. */
  let labelled: string;
  /** Workspace that grants objects in one of two tiers. */
  let tiered: string;

  before(async () => {
    server = await startViewed();
    provider = await Provider.make(server, "provider", { permissionClaims: [CLAIM] });
    const accepted = (selector: object): object[] => [{ ...CLAIM, selector, state: "Accepted" }];
    labelled = await provider.consumer("labelled", accepted({ matchLabels: { of: "provider" } }));
    const matchExpressions = [{ key: "tier", operator: "In", values: ["a", "b"] }];
    tiered = await provider.consumer("tiered", accepted({ matchExpressions }));
  });

  after(() => server[Symbol.asyncDispose]());

  const direct = (name: string): Promise<Answer> => server.get(`/clusters/${labelled}${MAPS}/${name}`, root);
  const labelsOf = ({ body }: Answer): Record<string, string> =>
    Object.fromEntries(Object.entries<string>(body.metadata.labels ?? {}).filter(([key]) => !HASH.test(key)));
  const forbidden = (answer: Answer, text: string): void => {
    expect(outcome(answer).slice(0, 2), answer.text).to.deep.equal([403, "Forbidden"]);
    expect(answer.body.message).to.include(text);
  };
  const PROTECTED = "protected label of must have value provider";
  const UNMATCHED = "object does not match required labels";

  it("adds missing labels on create, and rejects other values", async () => {
    const there = provider.in(labelled);
    const made = await there.send(`POST ${MAPS}?fieldManager=me`, map("bare"));
    expect([made.status, labelsOf(made), made.body.data]).to.deep.equal([201, { of: "provider" }, { of: "bare" }]);
    expect(made.body.metadata.managedFields.map(({ manager }: { manager: string }) => manager)).to.deep.equal(["me"]);
    expect((await there.send(`POST ${MAPS}`, map("bare"))).status).to.equal(409);
    expect((await there.send(`POST ${MAPS}`, map("with", { of: "provider", x: "y" }))).status).to.equal(201);
    forbidden(await there.send(`POST ${MAPS}`, map("other", { of: "me" })), PROTECTED);
    expect((await direct("other")).status).to.equal(404);
    const { name: _name, ...metadata } = { name: "", generateName: "made-" };
    const generated = await there.send(`POST ${MAPS}`, { ...map(""), metadata });
    expect([generated.status, labelsOf(generated)]).to.deep.equal([201, { of: "provider" }]);
    expect(generated.body.metadata.name).to.match(/^made-/);
    const tried = await there.send(`POST ${MAPS}?dryRun=All`, map("tried"));
    expect([tried.status, labelsOf(tried), (await direct("tried")).status]).to.deep.equal([
      201,
      { of: "provider" },
      404,
    ]);
    expect(namesOf(await there.get(MAPS))).to.include(`${labelled}/bare`);
  });

  it("keeps the labels through updates and all kinds of patches", async () => {
    const there = provider.in(labelled);
    const { body } = await there.send(`POST ${MAPS}`, map("kept"));
    const { labels: _labels, ...metadata } = body.metadata;
    const put = await there.send(`PUT ${MAPS}/kept`, { ...body, metadata, data: { by: "put" } });
    expect([put.status, labelsOf(put), put.body.data]).to.deep.equal([200, { of: "provider" }, { by: "put" }]);
    const none = { metadata: { labels: null }, data: { by: "merge" } };
    const merged = await there.send(`PATCH ${MAPS}/kept`, none, MERGE);
    expect([merged.status, labelsOf(merged), merged.body.data]).to.deep.equal([
      200,
      { of: "provider" },
      { by: "merge" },
    ]);
    const removed = await there.send(`PATCH ${MAPS}/kept`, [{ op: "remove", path: "/metadata/labels/of" }], JSON_PATCH);
    expect([removed.status, labelsOf(removed)]).to.deep.equal([200, { of: "provider" }]);
    forbidden(await there.send(`PATCH ${MAPS}/kept`, { metadata: { labels: { of: "x" } } }, MERGE), PROTECTED);
    forbidden(await there.send(`PUT ${MAPS}/kept`, map("kept", { of: "x" })), PROTECTED);
    expect(labelsOf(await direct("kept"))).to.deep.equal({ of: "provider" });
  });

  it("keeps an apply an apply, with the labels", async () => {
    const there = provider.in(labelled);
    const apply = (data: object, labels?: object) =>
      there.send(`PATCH ${MAPS}/applied?fieldManager=me`, { ...map("applied", labels), data }, APPLY);
    const made = await apply({ a: "1" });
    expect([made.status, labelsOf(made)]).to.deep.equal([201, { of: "provider" }]);
    const again = await apply({ b: "2" });
    expect([again.status, labelsOf(again), again.body.data]).to.deep.equal([200, { of: "provider" }, { b: "2" }]);
    const own = again.body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === "me");
    expect([own.operation, Object.keys(own.fieldsV1["f:data"])]).to.deep.equal(["Apply", ["f:b"]]);
    forbidden(await apply({ b: "3" }, { of: "me" }), PROTECTED);
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n";
    expect(
      (await there.send(`PATCH ${MAPS}/yaml?fieldManager=me`, yaml.replace("applied", "yaml"), APPLY)).status,
    ).to.equal(403);
    const labelledYaml = `${yaml}  labels: {of: provider}\n`;
    expect((await there.send(`PATCH ${MAPS}/applied?fieldManager=me`, labelledYaml, APPLY)).status).to.equal(200);
  });

  it("prevents reading, changing, deleting and taking over other objects", async () => {
    const there = provider.in(labelled);
    await provider.post(labelled, MAPS, map("private", { secret: "yes" }));
    expect((await there.get(`${MAPS}/private`)).status).to.equal(404);
    expect(namesOf(await there.get(MAPS))).to.not.include(`${labelled}/private`);
    const mine = { metadata: { labels: { of: "provider" } } };
    expect((await there.send(`PATCH ${MAPS}/private`, mine, MERGE)).status).to.equal(404);
    expect((await there.send(`PUT ${MAPS}/private`, map("private", { of: "provider" }))).status).to.equal(404);
    expect((await there.send(`DELETE ${MAPS}/private`)).status).to.equal(404);
    const whole = map("private", { of: "provider" });
    const applied = await there.send(`PATCH ${MAPS}/private?fieldManager=me&force=true`, whole, APPLY);
    expect(outcome(applied).slice(0, 2)).to.deep.equal([409, "AlreadyExists"]);
    expect((await there.send(`DELETE ${MAPS}`)).status).to.equal(200);
    expect(labelsOf(await direct("private"))).to.deep.equal({ secret: "yes" });
  });

  it("allows nothing without a binding of the export, even to administrators", async () => {
    const unbound = await makeWorkspace(server, "unbound");
    const made = await provider.in(unbound).send(`POST ${MAPS}`, map("one"), root);
    forbidden(made, "could not find suitable apibinding in target logical cluster");
    expect((await server.get(`/clusters/${unbound}${MAPS}/one`, root)).status).to.equal(404);
    expect((await provider.in(labelled).send(`POST ${MAPS}`, map("by-root"), root)).status).to.equal(201);
    expect(labelsOf(await direct("by-root"))).to.deep.equal({ of: "provider" });
  });

  it("rejects objects without a matching label when it allows several values", async () => {
    const there = provider.in(tiered);
    forbidden(await there.send(`POST ${MAPS}`, map("one")), UNMATCHED);
    expect((await there.send(`POST ${MAPS}`, map("one", { tier: "a" }))).status).to.equal(201);
    expect((await there.send(`PATCH ${MAPS}/one`, { metadata: { labels: { tier: "b" } } }, MERGE)).status).to.equal(
      200,
    );
    forbidden(await there.send(`PATCH ${MAPS}/one`, { metadata: { labels: { tier: "c" } } }, MERGE), UNMATCHED);
    forbidden(await there.send(`PATCH ${MAPS}/one`, { metadata: { labels: null } }, MERGE), UNMATCHED);
    expect((await there.send(`DELETE ${MAPS}/one`)).status).to.equal(200);
  });
});
