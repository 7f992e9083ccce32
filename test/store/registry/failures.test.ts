// Failing stores: clients get useful errors, nothing is lost, and watches resume.
import type { StoreErrorCode } from "@virtual-workspaces/store";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import type { Answer, PlainServer } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { FailingStore } from "./failing-store.ts";
import { NOTES, note, startNotes, versionOf } from "./notes.ts";

const told = ({ status, headers, body }: Answer): unknown[] => [status, body.reason, headers["retry-after"]];

describe("a failing store", () => {
  let store: FailingStore;
  let server: PlainServer;
  let troubles: string[];

  beforeEach(async () => {
    store = new FailingStore();
    troubles = [];
    server = await startNotes(store, { linger: 0, onError: (error) => troubles.push((error as Error).message) });
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const OUTCOMES: readonly (readonly [StoreErrorCode, ...unknown[]])[] = [
    ["Unavailable", 503, "ServiceUnavailable", "1"],
    ["Closed", 503, "ServiceUnavailable", "1"],
    ["Unknown", 504, "Timeout", "1"],
    ["TooLarge", 413, "RequestEntityTooLarge", undefined],
    ["NoSpace", 507, undefined, undefined],
  ];
  for (const [code, ...expected] of OUTCOMES) {
    it(`rejects writes with the status of ${code}, and stores nothing`, async () => {
      store.fail("commit", code);
      const answer = await server.send(`POST ${NOTES}`, note("a", 1));
      expect(told(answer)).to.deep.equal(expected);
      expect(answer.body).to.include({ kind: "Status", status: "Failure" });
      store.mend();
      expect((await server.get(`${NOTES}/a`)).status).to.equal(404);
    });
  }

  it("reveals no internal details to clients", async () => {
    store.fail("commit", "Denied");
    const { status, body } = await server.send(`POST ${NOTES}`, note("a", 1));
    expect([status, body.message.includes("fails by a test")]).to.deep.equal([500, false]);
    expectFault(/commit fails by a test/);
  });

  it("rejects reads while it is unavailable, and none when it is back", async () => {
    await server.send(`POST ${NOTES}`, note("a", 1));
    for (const call of ["get", "range", "head"] as const) store.fail(call, "Unavailable");
    for (const path of [`${NOTES}/a`, NOTES, `${NOTES}?watch=true`])
      expect(told(await server.get(path)), path).to.deep.equal([503, "ServiceUnavailable", "1"]);
    store.mend();
    expect((await server.get(`${NOTES}/a`)).status).to.equal(200);
    expect((await server.get(NOTES)).body.items).to.have.length(1);
  });

  it("acknowledges a write whose response was lost if it was committed, and else reports an unknown outcome", async () => {
    store.fail("commit", "Unknown", { times: 1, done: true });
    const created = await server.send(`POST ${NOTES}`, note("a", 1));
    expect(created.status).to.equal(201);
    expect((await server.get(`${NOTES}/a`)).body).to.deep.equal(created.body);
    store.fail("commit", "Unknown", { times: 1, done: true });
    expect(told(await server.send(`DELETE ${NOTES}/a`))).to.deep.equal([504, "Timeout", "1"]);
    expect((await server.get(`${NOTES}/a`)).status).to.equal(404);
  });

  it("reports an unknown outcome if the response was lost and the read fails too", async () => {
    store.fail("commit", "Unknown", { times: 1, done: true });
    store.fail("get", "Unavailable");
    expect(told(await server.send(`POST ${NOTES}`, note("a", 1)))).to.deep.equal([504, "Timeout", "1"]);
    store.mend();
    expect((await server.get(`${NOTES}/a`)).status).to.equal(200);
  });

  it("does not close watches, which resume", async () => {
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${await versionOf(server)}`);
    store.fail("watch", "Unavailable", { times: 2 });
    store.cut("Unavailable");
    await server.send(`POST ${NOTES}`, note("a", 1));
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    expect(troubles).to.deep.equal(["cut by a test", "watch fails by a test", "watch fails by a test"]);
  });

  it("ends watches with 410 after a compaction of missed events, and lists the current state", async () => {
    await server.send(`POST ${NOTES}`, note("a", 1));
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${await versionOf(server)}`);
    store.cut("Compacted");
    const { object } = await watch.next();
    expect([object.code, object.reason]).to.deep.equal([410, "Expired"]);
    await server.send(`POST ${NOTES}`, note("b", 1));
    expect((await server.get(NOTES)).body.items).to.have.length(2);
  });

  it("is read as soon as it is back, however long it was unavailable", async () => {
    await using _watch = await server.watch(`${NOTES}?watch=true`);
    store.fail("watch", "Unavailable");
    store.cut("Unavailable");
    await until(() => troubles.length >= 6);
    store.mend();
    const began = performance.now();
    await server.send(`POST ${NOTES}`, note("a", 1));
    expect((await server.get(NOTES)).body.items).to.have.length(1);
    expect(performance.now() - began).to.be.below(1000); // the next regular attempt would follow after at least 1.6 s
  }).timeout(20_000);

  it("keeps no lease of a rejected write", async () => {
    await using brief = await startNotes(store, { ttl: 3600 });
    expect((await brief.send(`POST ${NOTES}`, note("a", 1))).status).to.equal(201);
    for (let at = 0; at < 3; at++) expect((await brief.send(`POST ${NOTES}`, note("a", 1))).status).to.equal(409);
    const left = await Promise.all(
      store.leases.map((id) =>
        store.remaining(id).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    expect(left).to.deep.equal([1, 0, 0, 0]);
  });

  it("is watched only while there are readers", async () => {
    const watch = await server.watch(`${NOTES}?watch=true`);
    expect(store.watching).to.equal(1);
    await watch[Symbol.asyncDispose]();
    await until(() => store.watching <= 0);
    await server.send(`POST ${NOTES}`, note("a", 1));
    await using again = await server.watch(`${NOTES}?watch=true`);
    expect(await again.take(1)).to.deep.equal(["ADDED a"]);
    expect(store.watching).to.equal(1);
  });
});
