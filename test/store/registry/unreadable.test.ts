// An unreadable entry fails only the requests that show it.
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { PlainServer } from "../../_support/plain.ts";
import { ALL_NOTES, NOTES, Note, note, startNotes, versionOf } from "./notes.ts";

const OTHER = "/services/notes/clusters/other/apis/test.dev/v1/notes";
const KEY = "test.dev/notes/other//bad";

describe("an unreadable entry of a store", () => {
  let store: Store;
  let server: PlainServer;
  let troubles: string[];

  beforeEach(async () => {
    store = memoryStore();
    troubles = [];
    server = await startNotes(store, { onError: (error) => troubles.push((error as Error).message) });
    await server.send(`POST ${NOTES}`, note("good", 1));
    await server.send(`POST ${OTHER}`, note("bad", 1));
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const damage = (value: Buffer): Promise<unknown> =>
    store.commit({ conditions: [], operations: [{ type: "put", key: KEY, value }] });

  const WAYS = {
    empty: Buffer.alloc(0),
    cut: Buffer.from([1, 255, 0, 0]),
    garbled: Buffer.from(`\x01\x02\0\0\0\0\0\0\0{]`),
  };
  for (const [how, value] of Object.entries(WAYS)) {
    it(`(${how}) is an error in its own requests, and in no others`, async () => {
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${await versionOf(server)}`);
      await using all = await server.watch(`${ALL_NOTES}?watch=true&resourceVersion=${await versionOf(server)}`);
      await damage(value);
      for (const path of [`${OTHER}/bad`, OTHER, ALL_NOTES]) {
        const { status, body } = await server.get(path);
        expect([status, body.reason], path).to.deep.equal([500, "InternalError"]);
        expect(body.message).to.match(/the stored object notes\.test\.dev other\/bad is damaged: restore a backup/);
      }
      expect((await server.get(NOTES)).body.items).to.have.length(1);
      await server.send(`POST ${NOTES}`, note("new", 1));
      expect(await watch.take(1)).to.deep.equal(["ADDED new"]);
      expect((await all.next()).object.code).to.equal(500);
      expect(troubles).to.deep.equal([
        `the stored object notes.test.dev other/bad is damaged: restore a backup, or delete the object through the code that serves the kind`,
      ]);
    });
  }

  it("can be deleted by the author's code, as its message says", async () => {
    await damage(Buffer.alloc(0));
    expect((await server.get(ALL_NOTES)).status).to.equal(500);
    expect(
      await Note.collection(persistent(store, { onError: () => undefined }))
        .in("other")
        .delete("bad"),
    ).to.equal(true);
    expect((await server.get(ALL_NOTES)).body.items).to.have.length(1);
    expect((await server.send(`POST ${OTHER}`, note("bad", 2))).status).to.equal(201);
  });
});
