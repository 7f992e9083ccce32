// Storages that only store objects: what the framework does for them, and how it calls them.
import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { type Authorizer, allow, defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import type { DeleteOptions, PatchOptions, Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { APPLY, MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const Row = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Row",
  scope: "Cluster",
  spec: { type: "object", properties: { n: { type: "integer" } } },
});
const ROWS = "/services/rows/apis/example.dev/v1/rows";
const row = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: "example.dev/v1",
  kind: "Row",
  metadata: { name, ...metadata },
  spec: { n: 1 },
});

async function start(storage: Storage, authorize: Authorizer<unknown> = () => allow()): Promise<PlainServer> {
  const resources = [Row.serve(storage as never)];
  return startPlain([defineVirtualWorkspace({ name: "rows", path: "/", authorize, resources })]);
}

/** A table of rows, as an author would write it: versions count up, and a stale write is a conflict. */
class Table implements Storage {
  readonly rows = new Map<string, KubeObject>();
  readonly asked: string[] = [];
  #version = 0;

  get(_scope: unknown, { name }: { name: string }): KubeObject | undefined {
    return this.rows.get(name);
  }

  list() {
    return { items: this.rows.values(), resourceVersion: String(this.#version) };
  }

  create(_scope: unknown, object: KubeObject): KubeObject {
    this.asked.push(`create ${object.metadata.name}`);
    return this.#keep(object);
  }

  update(_scope: unknown, object: KubeObject): KubeObject {
    const { name = "", resourceVersion } = object.metadata;
    this.asked.push(`update ${name} at ${resourceVersion}`);
    this.#at(name, resourceVersion);
    return this.#keep(object);
  }

  delete(_scope: unknown, { name }: { name: string }, { preconditions }: DeleteOptions): undefined {
    this.asked.push(`delete ${name} at ${preconditions?.resourceVersion}`);
    this.#at(name, preconditions?.resourceVersion);
    this.rows.delete(name);
  }

  #at(name: string, version: string | undefined): void {
    if (this.rows.get(name)?.metadata.resourceVersion !== version)
      throw ApiError.conflict({ group: "example.dev", resource: "rows" }, name, "stale");
  }

  #keep(object: KubeObject): KubeObject {
    this.#version += 1;
    const kept = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.rows.set(object.metadata.name ?? "", kept);
    return kept;
  }
}

describe("a storage of rows", () => {
  it("has every verb, and metadata as Kubernetes sets it", async () => {
    const table = new Table();
    await using server = await start(table);
    const { body: discovery } = await server.get("/services/rows/apis/example.dev/v1");
    const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update"];
    expect(discovery.resources[0].verbs).to.deep.equal(verbs);
    const { status, body } = await server.send(`POST ${ROWS}`, { ...row(""), metadata: { generateName: "r-" } });
    expect(status).to.equal(201);
    const { metadata } = body;
    expect(metadata.name).to.match(/^r-[a-z0-9]{5}$/);
    expect(metadata).to.include({ generation: 1, resourceVersion: "1" });
    expect(metadata.uid).to.match(/^[0-9a-f-]{36}$/);
    expect(metadata.creationTimestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(metadata.managedFields).to.have.length(1);
    const put = await server.send(`PUT ${ROWS}/${metadata.name}`, { ...body, spec: { n: 2 } });
    expect(put.body.metadata).to.include({ generation: 2, resourceVersion: "2", uid: metadata.uid });
    expect((await server.send(`PUT ${ROWS}/${metadata.name}`, body)).status).to.equal(409);
  });

  it("rejects a create of a name that is taken before the storage could replace the row", async () => {
    const table = new Table();
    await using server = await start(table);
    const { body: first } = await server.send(`POST ${ROWS}`, row("a"));
    const { status, body } = await server.send(`POST ${ROWS}`, { ...row("a"), spec: { n: 2 } });
    expect([status, body.reason, body.message]).to.deep.equal([
      409,
      "AlreadyExists",
      'rows.example.dev "a" already exists',
    ]);
    expect(table.asked).to.deep.equal(["create a"]);
    expect((await server.get(`${ROWS}/a`)).body).to.deep.equal(first);
  });

  it("only deletes objects that nothing blocks", async () => {
    const table = new Table();
    await using server = await start(table);
    await server.send(`POST ${ROWS}`, row("a", { finalizers: ["example.dev/f"] }));
    const marked = await server.send(`DELETE ${ROWS}/a`);
    expect([marked.status, marked.body.metadata.deletionGracePeriodSeconds]).to.deep.equal([200, 0]);
    const released = await server.send(`PATCH ${ROWS}/a`, { metadata: { finalizers: null } }, MERGE);
    expect(released.status).to.equal(200);
    expect(table.asked).to.deep.equal(["create a", "update a at 1", "delete a at 2"]);
    expect((await server.get(`${ROWS}/a`)).status).to.equal(404);
  });

  it("is not called for dry runs, nor for writes that change nothing", async () => {
    const table = new Table();
    await using server = await start(table);
    await server.send(`POST ${ROWS}`, row("a"));
    table.asked.length = 0;
    expect((await server.send(`POST ${ROWS}?dryRun=All`, row("b"))).status).to.equal(201);
    expect((await server.send(`POST ${ROWS}?dryRun=All`, row("a"))).status).to.equal(409);
    expect((await server.send(`PATCH ${ROWS}/a?dryRun=All`, { spec: { n: 3 } }, MERGE)).body.spec.n).to.equal(3);
    expect((await server.send(`PATCH ${ROWS}/a`, { spec: { n: 1 } }, MERGE)).status).to.equal(200);
    expect((await server.send(`DELETE ${ROWS}/a?dryRun=All`)).body.status).to.equal("Success");
    expect((await server.send(`DELETE ${ROWS}?dryRun=All`)).body.items).to.have.length(1);
    expect(table.asked).to.deep.equal([]);
  });

  it("answers a patch with a conflict at once when an update is one and the row stays the same", async () => {
    const table = new Table();
    await using server = await start(table);
    await server.send(`POST ${ROWS}`, row("a"));
    table.update = (_scope, object) => {
      table.asked.push("update");
      throw ApiError.conflict({ group: "example.dev", resource: "rows" }, object.metadata.name ?? "", "always");
    };
    table.asked.length = 0;
    const { status, body } = await server.send(`PATCH ${ROWS}/a`, { spec: { n: 2 } }, MERGE);
    expect([status, body.message]).to.deep.equal([
      409,
      'Operation cannot be fulfilled on rows.example.dev "a": always',
    ]);
    expect(table.asked).to.have.length(1);
  });
});

describe("a storage with fewer methods", () => {
  it("has the verbs that its methods support", async () => {
    const all = new Table();
    const methods = {
      get: all.get.bind(all),
      list: all.list.bind(all),
      create: all.create.bind(all),
      update: all.update.bind(all),
      delete: all.delete.bind(all),
    };
    const verbsOf = (...names: (keyof typeof methods)[]): readonly string[] =>
      Row.serve(Object.fromEntries(names.map((name) => [name, methods[name]])) as never).verbs;
    expect(verbsOf("create")).to.deep.equal(["create"]);
    expect(verbsOf("update", "delete")).to.deep.equal([]);
    expect(verbsOf("get", "update")).to.deep.equal(["get", "patch", "update"]);
    expect(verbsOf("get", "delete")).to.deep.equal(["delete", "get"]);
    expect(verbsOf("get", "list", "delete")).to.deep.equal(["delete", "deletecollection", "get", "list"]);
    await using server = await start({ create: methods.create } as Storage);
    expect((await server.send(`POST ${ROWS}`, row("a"))).status).to.equal(201);
    expect((await server.send(`PUT ${ROWS}/a`, row("a"))).status).to.equal(405);
  });
});

describe("a storage with a lifecycle of its own", () => {
  it("receives writes unchanged, with dry run and delete options", async () => {
    const asked: unknown[] = [];
    const there = row("a", { resourceVersion: "7", uid: "u", finalizers: ["example.dev/f"] });
    await using server = await start({
      lifecycle: "storage",
      get: () => there,
      create: (_scope, object, { dryRun, fieldManager }) => {
        asked.push(["create", object.metadata.uid, dryRun, fieldManager]);
        return there;
      },
      update: (_scope, object, { dryRun }) => {
        asked.push(["update", object.metadata.resourceVersion, object.metadata.generation, dryRun]);
        return there;
      },
      delete: (_scope, { name }, { dryRun, propagationPolicy, preconditions, gracePeriodSeconds }) => {
        asked.push(["delete", name, dryRun, propagationPolicy, preconditions, gracePeriodSeconds]);
        return there;
      },
    });
    await server.send(`POST ${ROWS}?dryRun=All&fieldManager=me`, row("b"));
    await server.send(`PATCH ${ROWS}/a?dryRun=All`, { spec: { n: 5 } }, MERGE);
    const options = { propagationPolicy: "Foreground", preconditions: { uid: "u" }, gracePeriodSeconds: 3 };
    const deleted = await server.send(`DELETE ${ROWS}/a`, options);
    expect(deleted.body.kind).to.equal("Row");
    expect(asked).to.deep.equal([
      ["create", undefined, true, "me"],
      ["update", "7", undefined, true],
      ["delete", "a", false, "Foreground", { uid: "u" }, 3],
    ]);
  });

  it("can receive patches unparsed, apply included", async () => {
    const asked: unknown[] = [];
    await using server = await start({
      get: () => row("a"),
      patch: (_scope, { name }, { contentType, patch, force, fieldManager, dryRun }: PatchOptions) => {
        asked.push([name, contentType, patch.toString(), force, fieldManager, dryRun]);
        return { object: row("a"), created: true };
      },
    });
    const answer = await server.send(`PATCH ${ROWS}/a?fieldManager=me&force=true&dryRun=All`, "spec: {n: 1}", APPLY);
    expect(answer.status).to.equal(201);
    expect(asked).to.deep.equal([["a", "application/apply-patch+yaml", "spec: {n: 1}", true, "me", true]]);
  });

  it("does not receive an apply that creates from a caller who may not create", async () => {
    const APPLY = { headers: { "content-type": "application/apply-patch+yaml; charset=utf-8" } };
    const table = new Table();
    const asked: string[] = [];
    const storage: Storage = Object.assign(table, {
      patch: (_scope: unknown, { name }: { name: string }, { contentType }: PatchOptions) => {
        asked.push(`${name} ${contentType}`);
        return { object: row(name) };
      },
    });
    await using server = await start(storage, ({ verb, user }) =>
      verb === "create" && user.name !== "admin" ? deny("no more of them") : allow(),
    );
    const refused = await server.send(`PATCH ${ROWS}/a?fieldManager=m`, "spec: {}", APPLY);
    expect([refused.status, refused.body.message]).to.deep.equal([
      403,
      'rows.example.dev "a" is forbidden: User "alice" cannot create resource "rows" in API group "example.dev" at the cluster scope: no more of them',
    ]);
    expect(asked).to.deep.equal([]);
    await server.send(`PATCH ${ROWS}/a?fieldManager=m`, "spec: {}", { ...APPLY, user: "admin" });
    table.rows.set("b", row("b"));
    await server.send(`PATCH ${ROWS}/b?fieldManager=m`, "spec: {}", APPLY);
    await server.send(`PATCH ${ROWS}/c`, {}, MERGE);
    expect(asked).to.deep.equal([
      "a application/apply-patch+yaml",
      "b application/apply-patch+yaml",
      "c application/merge-patch+json",
    ]);
  });

  it("cannot be served with an admit that would never be called, or without a way to read objects", () => {
    const storage = { get: () => row("a"), patch: () => ({ object: row("a") }) };
    const admit = (): undefined => undefined;
    expect(() => Row.serve(storage as never, { admit })).to.throw(
      "rows: its storage applies patches itself, so admit would not see the result",
    );
    expect(Row.serve(storage as never, { admit, verbs: ["get"] }).verbs).to.deep.equal(["get"]);
    expect(Row.serve({ patch: storage.patch } as never).verbs).to.deep.equal([]);
  });
});
