// Clients that leave out metadata.managedFields with a parameter of Accept (KEP-5958).
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { EncodedBytes } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import fc from "fast-check";
import { ManagedFieldsCuts } from "../../packages/framework/src/encode/scan-metadata.ts";
import { Note } from "../_support/note.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const DROP = { headers: { accept: "application/json;drop=metadata.managedFields" } };
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const META = "g=meta.k8s.io;v=v1";

const note = (name: string) => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name, labels: { a: "b" } },
  spec: { text: "managedFields" },
});
const managed = (object: KubeObject): boolean => object.metadata.managedFields !== undefined;
/** Returns an object without what a client left out. */
function stripped({ metadata: { managedFields: _managed, ...metadata }, ...rest }: KubeObject): object {
  return { ...rest, metadata };
}

describe("Accept with drop=metadata.managedFields", () => {
  let server: PlainServer;

  beforeEach(async () => {
    const notes = Note.collection();
    server = await startPlain([
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [Note.serve(notes)],
      }),
    ]);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("answers reads and writes without it, and keeps what is stored", async () => {
    const made = await server.send(`POST ${NOTES}`, note("a"), DROP);
    expect([made.status, managed(made.body)]).to.deep.equal([201, false]);
    const whole = await server.get(`${NOTES}/a`);
    expect(managed(whole.body)).to.equal(true);
    const got = await server.get(`${NOTES}/a`, DROP);
    expect(got.headers["content-type"]).to.equal("application/json");
    expect(got.body).to.deep.equal(stripped(whole.body));
    const { body: list } = await server.get(NOTES, DROP);
    expect(list.items).to.deep.equal([stripped(whole.body)]);

    // Writing back what was read without the field keeps the owners.
    const updated = await server.send(`PUT ${NOTES}/a`, { ...got.body, spec: { text: "new" } }, DROP);
    expect([updated.status, managed(updated.body)]).to.deep.equal([200, false]);
    expect((await server.get(`${NOTES}/a`)).body.metadata.managedFields).to.have.length(1);
    const merge = { headers: { ...DROP.headers, "content-type": "application/merge-patch+json" } };
    const patched = await server.send(`PATCH ${NOTES}/a`, { spec: { text: "newer" } }, merge);
    expect([patched.body.spec.text, managed(patched.body)]).to.deep.equal(["newer", false]);
    const { body: gone } = await server.send(`DELETE ${NOTES}`, undefined, DROP);
    expect(gone.items.map(managed)).to.deep.equal([false]);
  });

  it("writes events without it, beside a watch that has it", async () => {
    await server.send(`POST ${NOTES}`, note("a"));
    const whole = await server.watch(`${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    const bare = await server.watch(
      `${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      DROP,
    );
    await server.send(`POST ${NOTES}`, note("b"));
    await server.send(`DELETE ${NOTES}/a`);
    for (const type of ["ADDED", "ADDED", "DELETED"]) {
      const [theirs, ours] = [await whole.next(), await bare.next()];
      expect([theirs.type, ours.type, managed(theirs.object)]).to.deep.equal([type, type, true]);
      expect(ours.object).to.deep.equal(stripped(theirs.object));
    }
    await whole[Symbol.asyncDispose]();
    await bare[Symbol.asyncDispose]();
  });

  it("leaves it out of metadata and YAML, but not out of tables, as in Kubernetes", async () => {
    await server.send(`POST ${NOTES}`, note("a"));
    const as = (form: string) => ({
      headers: { accept: `application/json;as=${form};${META};drop=metadata.managedFields` },
    });
    const { body: partial } = await server.get(`${NOTES}/a`, as("PartialObjectMetadata"));
    expect([partial.kind, partial.metadata.name, managed(partial)]).to.deep.equal([
      "PartialObjectMetadata",
      "a",
      false,
    ]);
    const { body: list } = await server.get(NOTES, as("PartialObjectMetadataList"));
    expect(list.items.map(managed)).to.deep.equal([false]);
    const { body: table } = await server.get(NOTES, as("Table"));
    expect(managed(table.rows[0].object)).to.equal(true);
    const { text } = await server.get(`${NOTES}/a`, {
      headers: { accept: "application/yaml;drop=metadata.managedFields" },
    });
    expect(text).to.include("text: managedFields").and.not.include("managedFields:");
  });

  it("skips a clause that drops something else, and answers 406 when no clause is left", async () => {
    await server.send(`POST ${NOTES}`, note("a"));
    const other = await server.get(`${NOTES}/a`, {
      headers: { accept: "application/json;drop=spec, application/json" },
    });
    expect(managed(other.body)).to.equal(true);
    const none = await server.get(`${NOTES}/a`, { headers: { accept: "application/json;drop=spec" } });
    expect([none.status, none.body.reason]).to.deep.equal([406, "NotAcceptable"]);
  });

  it("leaves it out of lists that a storage has as bytes", async () => {
    const items = ["a", "b"].map((name) => ({
      ...note(name),
      metadata: { managedFields: [{ manager: "x" }], name, resourceVersion: "1" },
    }));
    const body = Buffer.from(JSON.stringify({ kind: "NoteList", apiVersion: "test.dev/v1", metadata: {}, items }));
    const view = defineVirtualWorkspace({
      name: "bytes",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Note.serve({ list: () => ({ body }), get: () => undefined })],
    });
    await using bytes = await startPlain([view]);
    const path = NOTES.replace("notes", "bytes");
    expect((await bytes.get(path)).text).to.equal(body.toString());
    const dropped = await bytes.get(path, DROP);
    expect(dropped.body.items).to.deep.equal(items.map((item) => stripped(item as KubeObject)));
  });
});

describe("managedFields cut out of bytes", () => {
  const name = fc.constantFrom("managedFields", "metadata", "name", 'a"', "managed\\Fields");
  const members = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  const objects = fc.record(
    { kind: fc.constant("Note"), metadata: fc.oneof(members, fc.constant(null)), spec: members },
    { requiredKeys: [] },
  );

  it("leaves the same object as a parser that deletes them", () => {
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 1), (object, indent) => {
        const bytes = Buffer.from(JSON.stringify(object, undefined, indent));
        const expected = JSON.parse(bytes.toString());
        if (expected.metadata) delete expected.metadata.managedFields;
        const cuts = new ManagedFieldsCuts();
        for (const without of [cuts.without(bytes), cuts.without(bytes)])
          expect(JSON.parse(without.toString())).to.deep.equal(expected);
      }),
    );
  });

  it("leaves no copy of a name that occurs twice or is escaped", () => {
    const cuts = new ManagedFieldsCuts();
    const one = '"managedFields":[1]';
    for (const inner of [
      `${one},${one}`,
      `${one},"a":1,${one}`,
      `"a":1,${one},${one},"b":2`,
      `"managed\\u0046ields":[]`,
    ]) {
      const text = cuts.without(Buffer.from(`{"metadata":{${inner}},"metadata":{${inner}}}`)).toString();
      expect(text).to.not.match(/managed/);
      expect(JSON.parse(text)).to.have.keys("metadata");
    }
  });

  it("shares the bytes of an object that has none", () => {
    const bytes = Buffer.from(JSON.stringify(note("a")));
    const encoded = new EncodedBytes(bytes, { definition: Note, scope: { cluster: "root" } });
    expect(new ManagedFieldsCuts().without(encoded.bytes)).to.equal(bytes);
  });
});
