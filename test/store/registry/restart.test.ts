// A server that restarts over the same store: clients that resume notice only the delay.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { label, type PlainServer } from "../../_support/plain.ts";
import { NOTES, note, startNotes, versionOf } from "./notes.ts";

const RING = { history: { events: 8 } };

describe("a server restarted over its store", () => {
  let store: Store;
  let server: PlainServer;

  beforeEach(async () => {
    store = memoryStore();
    server = await startNotes(store, RING);
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  async function restart(): Promise<void> {
    await server[Symbol.asyncDispose]();
    server = await startNotes(store, RING);
  }

  const put = async (name: string, n: number): Promise<string> => {
    const { body, status } = await server.send(`PATCH ${NOTES}/${name}?fieldManager=t&force=true`, note(name, n), {
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    expect(status).to.be.oneOf([200, 201]);
    return body.metadata.resourceVersion;
  };

  it("has all objects, and continues their versions", async () => {
    const before = await put("a", 1);
    await restart();
    expect((await server.get(`${NOTES}/a`)).body.metadata.resourceVersion).to.equal(before);
    expect(Number(await put("a", 2))).to.be.above(Number(before));
  });

  it("lets watches resume, including deletions and transitions of selectors", async () => {
    await put("stays", 1);
    await put("leaves", 1);
    const from = await versionOf(server);
    await put("leaves", 2);
    await put("enters", 1);
    await server.send(`DELETE ${NOTES}/stays`);
    const last = await put("other", 5);
    await restart();
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}&fieldSelector=spec.n=1`);
    const events = [await watch.next(), await watch.next(), await watch.next()];
    expect(events.map(label)).to.deep.equal(["DELETED leaves", "ADDED enters", "DELETED stays"]);
    expect(events.map(({ object }) => Number(object.metadata.resourceVersion) - Number(from))).to.deep.equal([1, 2, 3]);
    expect(events[0]?.object["spec"]).to.deep.equal({ n: 1 });
    expect(Number(last) - Number(from)).to.equal(4);
    await put("live", 1);
    expect(await watch.take(1)).to.deep.equal(["ADDED live"]);
  });

  it("delivers everything once to a watch from far back, during writes", async () => {
    const from = await put("n0", 0);
    for (let n = 1; n <= 300; n++) await put(`n${n % 7}`, n);
    await restart();
    const writing = (async () => {
      for (let n = 301; n <= 400; n++) await put(`n${n % 7}`, n);
    })();
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
    const seen: number[] = [];
    while (seen.at(-1) !== 400) seen.push(((await watch.next()).object["spec"] as { n: number }).n);
    await writing;
    expect(seen).to.deep.equal(Array.from({ length: 400 }, (_, at) => at + 1));
  });

  it("lists a past version in pages, with continue tokens of the earlier server", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await put(name, 1);
    const first = await server.get(`${NOTES}?limit=2`);
    const { continue: token, resourceVersion } = first.body.metadata;
    for (const name of ["a", "b", "c"]) await server.send(`DELETE ${NOTES}/${name}`);
    for (let n = 2; n < 20; n++) await put("d", n);
    await restart();
    const second = await server.get(`${NOTES}?limit=2&continue=${token}`);
    expect(summary(second.body)).to.deep.equal([
      ["c", 1],
      ["d", 1],
    ]);
    expect(second.body.metadata.resourceVersion).to.equal(resourceVersion);
    const third = await server.get(`${NOTES}?limit=2&continue=${second.body.metadata.continue}`);
    expect(summary(third.body)).to.deep.equal([["e", 1]]);
    expect(third.body.metadata).not.to.have.property("continue");
    const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    expect((await server.get(`${NOTES}?${exact}`)).body.items).to.have.length(5);
    expect(summary((await server.get(`${NOTES}?${exact}&fieldSelector=metadata.name=b`)).body)).to.deep.equal([
      ["b", 1],
    ]);
  });

  it("answers 410 for compacted versions", async () => {
    const from = await put("a", 1);
    const { body } = await server.get(`${NOTES}?limit=1&resourceVersion=0`);
    for (let n = 2; n < 20; n++) await put("a", n);
    await store.compact(Number(await put("b", 1)));
    await restart();
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
    const { type, object } = await watch.next();
    expect([type, object.code, object.reason]).to.deep.equal(["ERROR", 410, "Expired"]);
    expect(await watch.rest()).to.deep.equal([]);
    const exact = await server.get(`${NOTES}?resourceVersion=${from}&resourceVersionMatch=Exact`);
    expect([exact.status, exact.body.reason]).to.deep.equal([410, "Expired"]);
    expect(body.items).to.have.length(1);
  });
});

function summary({ items }: { items: { metadata: { name: string }; spec: { n: number } }[] }): unknown[] {
  return items.map(({ metadata, spec }) => [metadata.name, spec.n]);
}
