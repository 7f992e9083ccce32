// Two megabytes of owner references crashed the process, because the message about each of them quoted all. Lookups of
// finalizers were linear, and repeated patches let an object grow to any size.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { computed } from "../_support/cpu.ts";
import { MERGE } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { free: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } },
});
const NOTES = "/services/notes/apis/example.dev/v1/notes";
const note = (metadata: object, spec = {}): object => ({ apiVersion: "example.dev/v1", kind: "Note", metadata, spec });
const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

async function start() {
  const notes = Note.collection();
  const view = { name: "notes", path: "/", authorize: () => allow() } as const;
  const server = await startPlain([defineVirtualWorkspace({ ...view, resources: [Note.serve(notes)] })]);
  return { notes: notes.in(""), server };
}

describe("large metadata", () => {
  it("is rejected with a short message despite many faults", async () => {
    const { server } = await start();
    await using _ = server;
    const owner = { apiVersion: "v1", kind: "A", name: "a", uid: "u", controller: true };
    const wrong = [
      { ownerReferences: many(10_000, () => owner) },
      { ownerReferences: many(10_000, () => ({})) },
      { labels: Object.fromEntries(many(10_000, (at) => [`_${at}`, "%"])) },
      { annotations: Object.fromEntries(many(10_000, (at) => [`_${at}`, ""])) },
      { finalizers: many(10_000, () => "///") },
    ];
    for (const metadata of wrong) {
      const { status, text, body } = await server.send(`POST ${NOTES}`, note({ name: "a", ...metadata }));
      expect(status).to.equal(422);
      expect(body.details.causes.length).to.be.within(1, 1000);
      expect(text.length).to.be.below(4 * 1024 * 1024);
    }
  });

  it("is compared in linear time", async () => {
    const { server } = await start();
    await using _ = server;
    const finalizers = many(60_000, (at) => `a.b/f${at}`);
    expect((await server.send(`POST ${NOTES}`, note({ name: "a", finalizers }))).status).to.equal(201);
    expect((await server.send(`DELETE ${NOTES}/a`)).status).to.equal(200);
    const began = computed();
    const patch = { metadata: { finalizers: finalizers.toReversed() } };
    expect((await server.send(`PATCH ${NOTES}/a`, patch, MERGE)).status).to.equal(200);
    expect(computed() - began, "milliseconds").to.be.below(1500);
  });
});

describe("a growing object", () => {
  it("grows up to the size of a request, and can shrink and be deleted from there", async () => {
    const { server, notes } = await start();
    await using _ = server;
    const piece = "x".repeat(1_500_000);
    expect((await server.send(`POST ${NOTES}`, note({ name: "a" }, { free: { a: piece } }))).status).to.equal(201);
    const grown = await server.send(`PATCH ${NOTES}/a`, { spec: { free: { b: piece, c: piece } } }, MERGE);
    expect([grown.status, grown.body.reason]).to.deep.equal([413, "RequestEntityTooLarge"]);
    expect(grown.body.message).to.match(/the object would have 4500\d+ bytes: limit is 3145728$/);
    notes.set("a", { free: { a: piece, b: piece, c: piece } });
    const hold = { metadata: { finalizers: ["example.dev/held"] } };
    expect((await server.send(`PATCH ${NOTES}/a`, hold, MERGE)).status).to.equal(413);
    expect((await server.send(`PATCH ${NOTES}/a`, { spec: { free: { c: "short" } } }, MERGE)).status).to.equal(200);
    expect((await server.send(`PATCH ${NOTES}/a`, hold, MERGE)).status).to.equal(200);
    expect((await server.send(`DELETE ${NOTES}/a`)).body.metadata).to.have.property("deletionTimestamp");
    expect((await server.send(`PATCH ${NOTES}/a`, { metadata: { finalizers: null } }, MERGE)).status).to.equal(200);
    expect(notes.list()).to.deep.equal([]);
  });
});

describe("a deletecollection of many objects", () => {
  it("leaves time for other requests", async () => {
    const { server, notes } = await start();
    await using _ = server;
    for (let at = 0; at < 3000; at++) notes.set(`n${at}`, {});
    const deleting = server.send(`DELETE ${NOTES}`);
    const seen = new Set<number>();
    const counting = (async () => {
      for (let left = 3000; left > 0; left = notes.list().length) {
        seen.add(left);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const { status, body } = await deleting;
    await counting;
    expect([status, body.items.length]).to.deep.equal([200, 3000]);
    expect(seen.size).to.be.above(2);
  });
});
