// Events that the store has and the cache does not: clients see no difference in any form, and can detect truncation.
import { converted } from "@virtual-workspaces/framework";
import { memoryStore, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { APPLY } from "../../_support/patches.ts";
import { type Answer, label, type PlainServer, type WatchEvent } from "../../_support/plain.ts";
import { ALL_NOTES, NOTES, Note, note, Second, serve, startNotes, versionOf } from "./notes.ts";

const FORGETS: PersistentOptions = { history: { events: 2 } };
const TABLE = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
const METADATA = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };

/** Creates any number of versions. */
const put = (server: PlainServer, name: string, spec: { n: number; big?: string }): Promise<Answer> =>
  server.send(`PATCH ${NOTES}/${name}?fieldManager=t&force=true`, note(name, spec.n, spec.big), APPLY);

describe("history in the store but not in the cache", () => {
  let store: Store;
  let server: PlainServer;

  beforeEach(async () => {
    store = memoryStore();
    server = await startNotes(store, FORGETS);
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  it("is delivered like cached events, for every selector and in every form", async () => {
    const from = await versionOf(server);
    for (let n = 0; n < 40; n++) {
      if (n % 5 === 4) await server.send(`DELETE ${NOTES}/n${n % 4}`);
      else await put(server, `n${n % 4}`, { n: n % 3 });
    }
    await server.send(`POST ${NOTES.replace("root", "other") as "/"}`, note("elsewhere", 1));
    await put(server, "last", { n: 1 });
    await using remembers = await startNotes(store);
    for (const place of [NOTES, ALL_NOTES]) {
      for (const selector of ["", "&fieldSelector=spec.n=1", "&fieldSelector=metadata.name!=n1"]) {
        for (const headers of [{}, TABLE, METADATA]) {
          const path = `${place}?watch=true&resourceVersion=${from}${selector}`;
          const told = await Promise.all(
            [server, remembers].map(async (one) => {
              await using watch = await one.watch(path, { headers });
              return await watch.until((event) => nameOf(event) === "last");
            }),
          );
          expect(withoutAges(told[0]), path).to.deep.equal(withoutAges(told[1]));
          expect(told[0]?.length).to.be.above(3);
        }
      }
    }
  });

  it("is delivered in other versions of the kind too", async () => {
    const kept = Note.collection(persistent(store, FORGETS));
    const second = converted({
      from: kept,
      to: Second,
      read: ({ spec }) => ({ spec: { count: spec.n } }),
      write: ({ spec }) => ({ spec: { n: spec.count ?? 0 } }),
    });
    await using both = await serve([Note.serve(kept), Second.serve(second)]);
    const from = await versionOf(both);
    for (let n = 0; n < 10; n++) await put(both, "a", { n });
    const path = NOTES.replace("v1", "v2");
    await using watch = await both.watch(`${path}?watch=true&resourceVersion=${from}`);
    const events = await watch.until(({ object }) => (object["spec"] as { count: number }).count === 9);
    expect(events).to.have.length(10);
    const exact = await both.get(`${path}?resourceVersion=${Number(from) + 3}&resourceVersionMatch=Exact`);
    expect(exact.body.items.map(({ spec }: { spec: unknown }) => spec)).to.deep.equal([{ count: 2 }]);
  });

  it("is delivered up to the server's shutdown; the next server delivers the rest", async () => {
    const from = await versionOf(server);
    const big = "x".repeat(100_000);
    for (let n = 1; n <= 100; n++) await put(server, "a", { n, big });
    const watch = await server.watch(`${NOTES}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`);
    const first = await watch.next();
    const stopping = server[Symbol.asyncDispose]();
    const seen = [first, ...(await watch.rest())];
    await stopping;
    expect(seen.length).to.be.below(100);
    server = await startNotes(store, FORGETS);
    await using next = await server.watch(
      `${NOTES}?watch=true&resourceVersion=${seen.at(-1)?.object.metadata.resourceVersion}`,
    );
    const rest = await next.until((event) => numberOf(event) === 100);
    expect([...seen, ...rest].filter(({ type }) => type !== "BOOKMARK").map(numberOf)).to.deep.equal(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  it("is never complete if the store closes meanwhile", async () => {
    const from = await versionOf(server);
    const big = "x".repeat(100_000);
    for (let n = 1; n <= 100; n++) await put(server, "a", { n, big });
    await using watch = await server.watch(`${NOTES}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`);
    const first = await watch.next();
    await store[Symbol.asyncDispose]();
    const events = [first, ...(await watch.rest())];
    expect(events.length).to.be.below(100);
    const { type, object } = events.at(-1) as WatchEvent;
    expect([type, object.code]).to.deep.equal(["ERROR", 503]);
    expect(events.slice(0, -1).map(numberOf)).to.deep.equal(
      Array.from({ length: events.length - 1 }, (_, at) => at + 1),
    );
  });

  it("lets a slow watch resume instead of listing again", async () => {
    await put(server, "a", { n: 0 });
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${await versionOf(server)}`);
    const big = "x".repeat(500_000);
    for (let n = 1; n <= 60; n++) await put(server, "a", { n, big });
    const seen = await watch.rest();
    expect(seen.map(label)).not.to.include("ERROR 410");
    expect(seen.length).to.be.below(60);
    await using next = await server.watch(
      `${NOTES}?watch=true&resourceVersion=${seen.at(-1)?.object.metadata.resourceVersion}`,
    );
    const rest = await next.until((event) => numberOf(event) === 60);
    expect([...seen, ...rest].map(numberOf)).to.deep.equal(Array.from({ length: 60 }, (_, at) => at + 1));
  });
});

const numberOf = ({ object }: WatchEvent): number => (object["spec"] as { n: number } | undefined)?.n ?? Number.NaN;

function nameOf({ object }: WatchEvent): string | undefined {
  const rows = object["rows"] as { object: WatchEvent["object"] }[] | undefined;
  return (rows?.[0]?.object ?? object).metadata.name;
}

/** Ages advance during the comparison. */
function withoutAges(events: readonly WatchEvent[] | undefined): unknown {
  return JSON.parse(JSON.stringify(events).replaceAll(/"\d+[smh]"/g, '"age"'));
}
