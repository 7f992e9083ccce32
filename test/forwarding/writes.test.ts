// Writes through a forwarding view: the upstream executes them with all options of the client. differential.test.ts compares
// the responses with Kubernetes.
import { type Authorizer, allow, defineResource, deny } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { outcome } from "../_support/plain.ts";
import { as, type Chain, startChain } from "./support.ts";

const start = (more: object = {}): Promise<Chain> =>
  startChain({ resource: Note, kept: Note.collection({ garbageCollected: true }), ...more });

const note = (name: string, text = "one", metadata = {}) => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name, ...metadata },
  spec: { text },
});

const ann = as({ name: "ann" });
const typed = (type: string, more = {}) => ({ headers: { ...ann.headers, "content-type": type, ...more } });
const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";

describe("a write through a forwarding view", () => {
  it("has the caller's program or chosen name as field manager, and never ours", async () => {
    await using chain = await start();
    const { front, path } = chain;
    const agent = { headers: { ...ann.headers, "user-agent": "kubectl/v1.37 (linux)" } };
    const made = await front.send(`POST ${path}`, note("a"), agent);
    expect(made.status).to.equal(201);
    expect(made.body.metadata.managedFields[0].manager).to.equal("kubectl");
    const named = await front.send(`PATCH ${path}/a?fieldManager=painter`, { spec: { text: "two" } }, typed(MERGE));
    expect(named.body.metadata.managedFields.map(({ manager }: { manager: string }) => manager)).to.include("painter");
    const bare = await front.send(`PUT ${path}/a`, { ...named.body, spec: { text: "three" } }, ann);
    expect(bare.body.metadata.managedFields.at(-1).manager).to.equal("unknown");
  });

  it("is one request with the client's bytes, and returns the upstream's bytes", async () => {
    await using chain = await start();
    const { front, behind, path, upstream } = chain;
    const text = ` {"kind":"Note", "apiVersion":"test.dev/v1","metadata":{"name":"a"},"spec":{"text":"1.0e3"}} `;
    const made = await front.send(`POST ${path}`, text, ann);
    expect(made.status).to.equal(201);
    expect(upstream.stats.requests).to.equal(1);
    const kept = await behind.get(`${path}/a`, { headers: { authorization: "Bearer forwarder" } });
    expect(made.text).to.equal(kept.text);
    await front.send(`PUT ${path}/a`, { ...made.body, spec: { text: "two" } }, ann);
    expect(upstream.stats.requests).to.equal(2);
    await front.send(`PATCH ${path}/a`, [{ op: "remove", path: "/spec/text" }], typed("application/json-patch+json"));
    await front.send(`PATCH ${path}/a?fieldManager=x&force=true`, note("a"), typed(APPLY));
    await front.send(`DELETE ${path}/a`, undefined, ann);
    expect(upstream.stats.requests).to.equal(5);
  });

  it("stays an apply: its fields belong to the applier, who can change them again", async () => {
    await using chain = await start();
    const { front, path } = chain;
    const apply = (text: string, query = "fieldManager=painter") =>
      front.send(`PATCH ${path}/a?${query}`, note("a", text), typed(APPLY));
    expect((await apply("one")).status).to.equal(201);
    const second = await apply("two");
    expect([second.status, second.body.metadata.managedFields.length]).to.deep.equal([200, 1]);
    const { manager, operation } = second.body.metadata.managedFields[0];
    expect([manager, operation]).to.deep.equal(["painter", "Apply"]);
    const conflict = await apply("three", "fieldManager=other");
    expect(outcome(conflict).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    expect(conflict.body.details.causes[0].field).to.equal(".spec.text");
    expect((await apply("three", "fieldManager=other&force=true")).status).to.equal(200);
  });

  it("applies the caller's field validation and dry run", async () => {
    await using chain = await start();
    const { front, behind, path } = chain;
    const odd = { ...note("a"), spec: { text: "x", 'wröng "one"': 1 } };
    const strict = await front.send(`POST ${path}?fieldValidation=Strict`, odd, ann);
    expect([strict.status, strict.body.message]).to.deep.equal([
      400,
      'Note in version "v1" cannot be handled as a Note: strict decoding error: unknown field "spec.wröng "one""',
    ]);
    const warned = await front.send(`POST ${path}?dryRun=All`, odd, ann);
    expect(warned.status).to.equal(201);
    expect(Buffer.from(String(warned.headers["warning"]), "latin1").toString()).to.equal(
      '299 - "unknown field \\"spec.wröng \\"one\\"\\""',
    );
    const quiet = await front.send(`POST ${path}?dryRun=All&fieldValidation=Ignore`, odd, ann);
    expect(quiet.headers["warning"]).to.equal(undefined);
    const there = await behind.get(path, { headers: { authorization: "Bearer forwarder" } });
    expect(there.body.items).to.deep.equal([]);
  });

  it("gets a generated name at the upstream", async () => {
    await using chain = await start();
    const unnamed = { ...note(""), metadata: { generateName: "draft-" } };
    const made = await chain.front.send(`POST ${chain.path}`, unnamed, ann);
    expect(made.status).to.equal(201);
    expect(made.body.metadata.name).to.match(/^draft-\w{5}$/);
  });

  it("deletes with all options", async () => {
    await using chain = await start();
    const { front, path } = chain;
    const { body: made } = await front.send(`POST ${path}`, note("a"), ann);
    const stale = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "another" } };
    const refused = await front.send(`DELETE ${path}/a`, stale, ann);
    expect(outcome(refused).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    const tried = await front.send(`DELETE ${path}/a?dryRun=All`, undefined, ann);
    expect(tried.status).to.equal(200);
    const held = await front.send(`DELETE ${path}/a?propagationPolicy=Foreground`, undefined, ann);
    expect(held.body.metadata.finalizers).to.deep.equal(["foregroundDeletion"]);
    const freed = await front.send(`PATCH ${path}/a`, { metadata: { finalizers: null } }, typed(MERGE));
    expect(freed.status).to.equal(200);
    const gone = await front.send(`DELETE ${path}/a`, undefined, ann);
    expect(outcome(gone).slice(0, 2)).to.deep.equal([404, "NotFound"]);
    await front.send(`POST ${path}`, note("a"), ann);
    const last = await front.send(`DELETE ${path}/a`, undefined, ann);
    expect([last.body.kind, last.body.details.name, last.body.details.uid === made.metadata.uid]).to.deep.equal([
      "Status",
      "a",
      false,
    ]);
  });

  it("deletes many objects at once by selector", async () => {
    await using chain = await start();
    const { front, path, upstream } = chain;
    for (const name of ["a", "b", "c"])
      await front.send(`POST ${path}`, note(name, "x", { labels: { of: name === "b" ? "bob" : "ann" } }), ann);
    const before = upstream.stats.requests;
    const gone = await front.send(`DELETE ${path}?labelSelector=of%20in%20(ann,eve)`, undefined, ann);
    expect(gone.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "a",
      "c",
    ]);
    expect(upstream.stats.requests).to.equal(before + 1);
    const left = await front.get(path, ann);
    expect(left.body.items.length).to.equal(1);
    const table = { headers: { ...ann.headers, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };
    const rest = await front.send(`DELETE ${path}`, undefined, table);
    expect([rest.body.kind, rest.body.rows.length]).to.deep.equal(["Table", 1]);
  });

  it("is authorized by the upstream for the caller", async () => {
    const rule: Authorizer<unknown> = ({ user }) => (user.name === "ann" ? allow() : deny("ann alone"));
    await using chain = await start({ behindRule: rule });
    const refused = await chain.front.send(`POST ${chain.path}`, note("a"), as({ name: "bob" }));
    expect(outcome(refused)).to.deep.equal([
      403,
      "Forbidden",
      'notes.test.dev is forbidden: User "bob" cannot create resource "notes" in API group "test.dev" at the cluster scope: ann alone',
    ]);
    expect((await chain.front.send(`POST ${chain.path}`, note("a"), ann)).status).to.equal(201);
  });

  it("is also authorized as a create here if it may create an object", async () => {
    const authorize: Authorizer<unknown> = ({ verb }) => (verb === "create" ? deny("no creates") : allow());
    await using chain = await start({ authorize });
    const { front, behind, path, upstream } = chain;
    const admin = { headers: { authorization: "Bearer forwarder" } };
    const refusals = [
      await front.send(`PATCH ${path}/a?fieldManager=x`, note("a"), typed(APPLY)),
      await front.send(`PUT ${path}/a`, note("a"), ann),
    ];
    expect(refusals.map(({ status, body }) => [status, /no creates/.test(body.message)])).to.deep.equal([
      [403, true],
      [403, true],
    ]);
    expect(upstream.stats.requests).to.equal(2); // two reads, no write
    await behind.send(`POST ${path}`, note("a"), admin);
    expect(
      (await front.send(`PATCH ${path}/a?fieldManager=x&force=true`, note("a", "b"), typed(APPLY))).status,
    ).to.equal(200);
    const { body } = await front.get(`${path}/a`, ann);
    expect((await front.send(`PUT ${path}/a`, { ...body, spec: { text: "c" } }, ann)).status).to.equal(200);
  });

  it("runs admission of this server, if any", async () => {
    const seen: unknown[] = [];
    const admit = ({ operation, object }: { operation: string; object?: { spec?: { text?: string } } }) => {
      seen.push([operation, object?.spec?.text]);
      return undefined;
    };
    await using chain = await start({ serve: { admit, verbs: ["get", "list", "create", "update", "delete"] } });
    const { front, path } = chain;
    const made = await front.send(`POST ${path}`, note("a"), ann);
    expect(made.status).to.equal(201);
    const { resourceVersion } = made.body.metadata;
    const put = await front.send(`PUT ${path}/a`, note("a", "two", { resourceVersion }), ann);
    expect([put.status, put.body.spec.text, put.body.metadata.generation]).to.deep.equal([200, "two", 2]);
    await front.send(`DELETE ${path}/a`, undefined, ann);
    expect(seen).to.deep.equal([
      ["CREATE", "one"],
      ["UPDATE", "two"],
      ["DELETE", undefined],
    ]);
  });

  it("forwards YAML as YAML", async () => {
    await using chain = await start();
    const yaml = "apiVersion: test.dev/v1\nkind: Note\nmetadata: {name: a}\nspec: {text: hello}\n";
    const made = await chain.front.send(`POST ${chain.path}`, yaml, typed("application/yaml"));
    expect([made.status, made.body.spec.text]).to.deep.equal([201, "hello"]);
    const wrong = await chain.front.send(`POST ${chain.path}`, "x", typed("text/plain"));
    expect(outcome(wrong).slice(0, 2)).to.deep.equal([415, "UnsupportedMediaType"]);
  });

  it("of a subresource goes to the upstream's subresource", async () => {
    const Machine = defineResource({
      ...{ group: "test.dev", version: "v1", kind: "Machine", scope: "Namespaced" },
      spec: { type: "object", properties: { replicas: { type: "integer" } } },
      status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
      subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
    } as never) as unknown as typeof Note;
    await using chain = await start({ resource: Machine, kept: Machine.collection() });
    const { front } = chain;
    const path = "/services/notes/apis/test.dev/v1/namespaces/ns/machines" as const;
    const machine = { apiVersion: "test.dev/v1", kind: "Machine", metadata: { name: "m" }, spec: { replicas: 1 } };
    await front.send(`POST ${path}`, machine, ann);
    const status = await front.send(
      `PATCH ${path}/m/status`,
      { status: { phase: "Up" }, spec: { replicas: 9 } },
      typed(MERGE),
    );
    expect([status.body.status, status.body.spec]).to.deep.equal([{ phase: "Up" }, { replicas: 1 }]);
    const scale = await front.send(`PATCH ${path}/m/scale`, { spec: { replicas: 3 } }, typed(MERGE));
    expect([scale.status, scale.body.kind, scale.body.spec]).to.deep.equal([200, "Scale", { replicas: 3 }]);
    const put = await front.send(`PUT ${path}/m/scale`, { ...scale.body, spec: { replicas: 4 } }, ann);
    expect([put.status, put.body.kind, put.body.spec]).to.deep.equal([200, "Scale", { replicas: 4 }]);
  });
});
