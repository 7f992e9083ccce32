// Recent events are in memory, older ones in the store: clients that resume see no difference.
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { NOTES, Note, serve, versionOf } from "./notes.ts";

const WRITTEN = 300;
/** Minimum number of events in memory, of any age. */
const KEPT = 100;

describe("the events of objects in a store", () => {
  it("leave memory with age, except the last ones, and are still delivered", async () => {
    await using store = memoryStore();
    const notes = Note.collection(persistent(store, { history: { age: 0.02 } }));
    await using server = await serve([Note.serve(notes)]);
    using lease = await notes.cache();
    const { cache } = lease;
    const from = await versionOf(server);
    const part = notes.in("root");
    for (let n = 1; n <= WRITTEN; n++) await part.set("a", { n });
    await until(() => cache.next - cache.first === KEPT);
    // The watch continues in memory: an open one receives new events.
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
    const seen = await watch.until(({ object }) => numberOf(object) === WRITTEN);
    expect(seen.map(({ object }) => numberOf(object))).to.deep.equal(
      Array.from({ length: WRITTEN }, (_, at) => at + 1),
    );
    await part.set("a", { n: 0 });
    expect((await watch.next()).type).to.equal("MODIFIED");
    const exact = await server.get(`${NOTES}?resourceVersion=${Number(from) + 2}&resourceVersionMatch=Exact`);
    expect(exact.body.items.map(numberOf)).to.deep.equal([2]);
  });

  it("stay in memory while they are recent", async () => {
    await using store = memoryStore();
    const notes = Note.collection(persistent(store, { history: { age: 3600 } }));
    using lease = await notes.cache();
    const part = notes.in("root");
    for (let n = 1; n <= WRITTEN; n++) await part.set("a", { n });
    await until(() => lease.cache.next - lease.cache.first === WRITTEN);
  });

  it("require a history with an age", async () => {
    await using store = memoryStore();
    for (const age of [0, -1, Number.NaN])
      expect(() => persistent(store, { history: { age } })(Note), String(age)).to.throw(RangeError, "history.age");
  });
});

const numberOf = (object: object): number | undefined =>
  (object as { readonly spec?: { readonly n?: number } }).spec?.n;
