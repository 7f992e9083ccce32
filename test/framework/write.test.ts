// Writes of clients, beyond the comparison of the differential suite with Kubernetes' own server: hooks, failures, and calls
// of storages.
import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
} from "@virtual-workspaces/framework";
import type { ServeOptions } from "@virtual-workspaces/framework/resource";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { APPLY, MERGE } from "../_support/patches.ts";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string", maxLength: 20 }, size: { type: "integer", default: 1 } },
  },
  status: { type: "object", properties: { seen: { type: "boolean" } } },
});
type NoteOptions = ServeOptions<KubeObject & { spec: { text: string; size?: number } }>;

const NOTES = "/services/notes/clusters/root/apis/example.dev/v1/notes";

const note = (name: string, text = "hello", metadata: object = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Note",
  metadata: { name, ...metadata },
  spec: { text },
});

async function start(
  options: NoteOptions = {},
  {
    storage = Note.collection(),
    authorize = () => allow(),
  }: {
    storage?: Storage<never>;
    authorize?: (request: AuthorizeRequest) => ReturnType<typeof allow>;
  } = {},
): Promise<PlainServer> {
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize,
    resources: [Note.serve(storage as never, options as never)],
  });
  return startPlain([view]);
}

describe("writes", () => {
  it("store nothing when they are rejected", async () => {
    await using server = await start();
    const refused = [
      await server.send(`POST ${NOTES}`, note("a", "x".repeat(21))),
      await server.send(`POST ${NOTES}?dryRun=All`, note("a")),
      await server.send(`POST ${NOTES}?fieldValidation=Strict`, { ...note("a"), bogus: 1 }),
      await server.send(`POST ${NOTES}`, "{"),
      await server.send(`PATCH ${NOTES}/a?fieldManager=m&dryRun=All`, JSON.stringify(note("a")), APPLY),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([422, 201, 400, 400, 201]);
    expect((await server.get(NOTES)).body.items).to.deep.equal([]);
  });

  it("report invalid metadata of a new object before its content, as Kubernetes does", async () => {
    await using server = await start();
    const { body } = await server.send(`POST ${NOTES}`, note("Bad", "x".repeat(21), { labels: { a: "b c" } }));
    const fields = body.details.causes.map(({ field }: { field: string }) => field);
    expect(fields).to.deep.equal(["metadata.name", "metadata.labels", "spec.text"]);
  });

  it("to all logical clusters at once are 405", async () => {
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources: [Note.serve(Note.collection())],
    });
    await using server = await startPlain([view]);
    const all = NOTES.replace("root", "*");
    for (const [method, name] of [
      ["POST", ""],
      ["PUT", "/a"],
      ["PATCH", "/a"],
      ["DELETE", "/a"],
      ["DELETE", ""],
    ]) {
      const { status, body } = await server.send(
        `${method} ${all}${name}` as `${string} /`,
        note("a"),
        method === "PATCH" ? MERGE : {},
      );
      expect(status, method ?? "").to.equal(405);
      expect(body.message).to.contain("in the `*` logical cluster");
    }
  });

  it("are authorized by what they do: an apply that creates is a create", async () => {
    const asked: string[] = [];
    await using server = await start(
      {},
      {
        authorize: ({ verb, name }) => {
          asked.push(`${verb} ${name}`);
          return verb === "create" ? deny("no more of them") : allow();
        },
      },
    );
    const applied = await server.send(`PATCH ${NOTES}/a?fieldManager=m`, JSON.stringify(note("a")), APPLY);
    expect(outcome(applied).slice(0, 2)).to.deep.equal([403, "Forbidden"]);
    expect(applied.body.message).to.contain('User "alice" cannot create resource "notes"');
    expect((await server.send(`POST ${NOTES}`, note("a"))).status).to.equal(403);
    expect(asked).to.deep.equal(["patch a", "create a", "create "]);
    expect((await server.get(NOTES)).body.items).to.deep.equal([]);
  });

  it("belong to the logical cluster in the URL, whatever the object says", async () => {
    await using server = await start();
    const foreign = note("a", "x", { annotations: { "kcp.io/cluster": "other" } });
    const { body } = await server.send(`POST ${NOTES}`, foreign);
    expect(body.metadata.annotations).to.deep.equal({ "kcp.io/cluster": "root" });
    expect((await server.get(NOTES.replace("root", "other"))).body.items).to.deep.equal([]);
  });

  it("keep the version and cause no event when they change nothing", async () => {
    await using server = await start();
    const { body: created } = await server.send(`POST ${NOTES}`, note("a"));
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${created.metadata.resourceVersion}`);
    const { body: same } = await server.send(`PUT ${NOTES}/a`, created);
    expect(same.metadata.resourceVersion).to.equal(created.metadata.resourceVersion);
    await server.send(`PATCH ${NOTES}/a`, { spec: { text: "other" } }, MERGE);
    expect((await watch.next()).object["spec"]).to.deep.equal({ text: "other", size: 1 });
  });

  it("of many clients at once are all done, one after the other", async () => {
    await using server = await start();
    await server.send(`POST ${NOTES}`, note("a"));
    const names = Array.from({ length: 40 }, (_, at) => `l${at}`);
    const patch = (name: string) => server.send(`PATCH ${NOTES}/a`, { metadata: { labels: { [name]: "x" } } }, MERGE);
    const codes = (await Promise.all(names.map(patch))).map(({ status }) => status);
    expect(new Set(codes)).to.deep.equal(new Set([200]));
    expect(Object.keys((await server.get(`${NOTES}/a`)).body.metadata.labels).sort()).to.deep.equal(names.sort());
  });
});

describe("admit", () => {
  it("receives the object to store; its result is stored, pruned and defaulted again", async () => {
    const seen: unknown[] = [];
    await using server = await start({
      admit: ({ operation, object, oldObject, subresource, user, params, dryRun }) => {
        seen.push([operation, object?.spec, oldObject?.spec, subresource, user.name, params, dryRun]);
        if (object === undefined) return undefined;
        return { ...object, spec: { text: `${object.spec.text}!`, bogus: 1 } } as typeof object;
      },
    });
    const { body } = await server.send(`POST ${NOTES}?dryRun=All`, note("a"));
    expect(body.spec).to.deep.equal({ text: "hello!", size: 1 });
    await server.send(`POST ${NOTES}`, note("a"));
    await server.send(`PATCH ${NOTES}/a`, { spec: { size: 2 } }, MERGE);
    await server.send(`DELETE ${NOTES}/a`);
    const at = [{ cluster: "root" }] as const;
    expect(seen).to.deep.equal([
      ["CREATE", { text: "hello", size: 1 }, undefined, "", "alice", ...at, true],
      ["CREATE", { text: "hello", size: 1 }, undefined, "", "alice", ...at, false],
      ["UPDATE", { text: "hello!", size: 2 }, { text: "hello!", size: 1 }, "", "alice", ...at, false],
      ["DELETE", undefined, { text: "hello!!", size: 1 }, "", "alice", ...at, false],
    ]);
  });

  it("rejects with the ApiError that it throws; anything else is 500 without its message", async () => {
    let thrown: Error = ApiError.forbidden({ resource: { group: "example.dev", resource: "notes" }, message: "full" });
    await using server = await start({
      admit: ({ warn }) => {
        warn("think twice");
        throw thrown;
      },
    });
    const refused = await server.send(`POST ${NOTES}`, note("a"));
    expect(outcome(refused)).to.deep.equal([403, "Forbidden", "notes.example.dev is forbidden: full"]);
    expect(refused.headers["warning"]).to.equal('299 - "think twice"');
    thrown = new Error("secret");
    const broken = await server.send(`POST ${NOTES}`, note("a"));
    expect(outcome(broken).slice(0, 2)).to.deep.equal([500, "InternalError"]);
    expect(broken.body.message).to.match(UNEXPECTED).and.include(broken.headers["audit-id"]);
    expect(broken.text).not.to.contain("secret");
    expectFault(/secret/);
    expect((await server.get(NOTES)).body.items).to.deep.equal([]);
  });

  it("is called again after a race, with the then current object", async () => {
    const notes = Note.collection();
    notes.in("root").set("a", { text: "first" });
    const seen: unknown[] = [];
    await using server = await start(
      {
        admit: ({ oldObject }) => {
          seen.push(oldObject?.spec.text);
          if (seen.length === 1) notes.in("root").set("a", { text: "second" });
        },
      },
      { storage: notes as never },
    );
    const patched = await server.send(`PATCH ${NOTES}/a`, { metadata: { labels: { x: "y" } } }, MERGE);
    expect([patched.status, patched.body.spec.text]).to.deep.equal([200, "second"]);
    expect(seen).to.deep.equal(["first", "second"]);
  });
});
