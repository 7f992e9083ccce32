// The memory of an informer does not grow with time: not with changes, lists or slow readers.
import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { startRelay } from "../../_support/relay.ts";
import { Notes, Watched } from "./support.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

async function held(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const MIB = 2 ** 20;

describe("the memory of an informer", () => {
  it("holds only its objects after many lists, changes and a reader that never reads", async () => {
    await using server = await Notes.start({ history: { events: 10 } });
    await using relay = await startRelay(server.port);
    for (let n = 0; n < 1000; n++) server.set(`n${n}`, `${n} `.repeat(200));
    await using watched = await Watched.synced(relay.port);
    const reader = watched.informer.events({ limit: 10 });
    const round = async (index: number): Promise<void> => {
      const { relists } = watched.informer.metrics;
      relay.cut();
      await watched.until(() => watched.told.at(-1) !== "synced");
      for (let n = 0; n < 50; n++) server.set(`n${(index * 50 + n) % 1000}`, `${index} ${n} `.repeat(100));
      // Objects that are created and deleted while nothing is read leave nothing.
      server.set(`passing-${index}`, "x".repeat(10_000));
      server.delete(`passing-${index}`);
      await watched.until(() => watched.informer.metrics.relists > relists || watched.informer.connected);
      await watched.until(() => watched.events.length > 0);
      watched.events.length = 0;
      watched.lifecycle.length = 0;
    };
    for (let n = 0; n < 30; n++) await round(n);
    const before = await held();
    for (let n = 0; n < 60; n++) await round(n);
    expect((await held()) - before).to.be.below(2 * MIB);
    expect(watched.informer.store.size).to.equal(1000);
    expect(watched.informer.metrics.relists).to.be.above(30);
    await reader.return?.();
  }).timeout(60_000);

  it("does not retain delivered events of a reader that never quite catches up", async () => {
    await using server = await Notes.start({ history: { events: 10 } });
    await using watched = await Watched.synced(server.port);
    const reader = watched.informer.events();
    const change = async (n: number): Promise<void> => {
      server.set("a", `${n} `.repeat(5000));
      await watched.until(() => watched.events.length > 0);
      watched.events.length = 0;
    };
    await change(0);
    await change(1);
    const before = await held();
    for (let n = 2; n < 600; n++) {
      await change(n);
      await reader.next();
    }
    // All events would be at least 12 MiB.
    expect((await held()) - before).to.be.below(3 * MIB);
    await reader.return?.();
  }).timeout(30_000);

  it("holds no listener of a signal after a start and a stop", async () => {
    await using server = await Notes.start();
    const { signal } = new AbortController();
    await using watched = new Watched(server.port);
    for (let n = 0; n < 20; n++) {
      watched.informer.start(signal);
      await watched.informer.stop();
    }
    expect(getEventListeners(signal, "abort")).to.have.length(0);
  });
});
