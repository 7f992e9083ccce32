// Informers with a network and a server that fail as real ones do.

import { isApiError } from "@virtual-workspaces/apimachinery";
import { allow, deny } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Random } from "../../_support/random.ts";
import { startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
import { Notes, QUICK, Watched } from "./support.ts";
import { startWire } from "./wire.ts";

const SHORT = { renewEvery: 1, idle: 1500 } as const;

describe("an informer under faults", () => {
  it("detects a dead connection within the idle deadline, and misses no event", async () => {
    await using server = await Notes.start();
    await using wire = await startWire(server.port);
    server.set("a", "1");
    await using watched = await Watched.synced(wire.port, SHORT);
    // Waits for a renewed watch, not the one with the initial list.
    await until(() => watched.informer.metrics.watches >= 2);
    server.set("a", "2");
    await watched.until(() => watched.events.length === 2);
    wire.deaden();
    const began = performance.now();
    server.set("b", "1");
    server.delete("a");
    await watched.until(() => watched.events.length === 4);
    expect(performance.now() - began).to.be.below(5000);
    expect(watched.labels).to.deep.equal(["added a", "updated a", "added b", "deleted a"]);
    expect(watched.informer.metrics).to.include({ relists: 0, lists: 0, expired: 0 });
    const { gapSeconds } = watched.informer.metrics;
    expect(gapSeconds).to.be.above(0).and.below(3);
  }).timeout(20_000);

  it("gives up a server that accepts connections and never answers, and reconnects when it does", async () => {
    await using server = await Notes.start();
    await using wire = await startWire(server.port);
    await using watched = await Watched.synced(wire.port, SHORT);
    wire.deaden({ all: true });
    await watched.until(() => watched.lifecycle.filter(({ type }) => type === "error").length >= 2);
    const errors = watched.lifecycle.flatMap((event) => (event.type === "error" ? [event.error.message] : []));
    expect(errors.at(-1)).to.equal("the server did not answer a watch request within 1500 ms");
    expect(watched.informer.connected).to.equal(false);
    wire.revive();
    server.set("a", "1");
    await watched.until(() => watched.labels.includes("added a"));
  }).timeout(20_000);

  it("renews watches without an event", async () => {
    await using server = await Notes.start();
    await using watched = await Watched.synced(server.port, SHORT);
    const count = (): number => watched.informer.metrics.watches;
    await until(() => count() >= 4);
    server.set("a", "1");
    await watched.until(() => watched.events.length === 1);
    expect(watched.told).to.deep.equal(["connected", "synced"]);
    expect(watched.informer.metrics).to.include({ errors: 0, lists: 0, relists: 0 });
    expect(watched.informer.metrics.gapSeconds).to.be.below(0.5);
  }).timeout(20_000);

  it("relists once after 410, with events only for the differences", async () => {
    await using server = await Notes.start({ history: { events: 5 } });
    await using relay = await startRelay(server.port);
    for (const name of ["kept", "changed", "gone", "replaced"]) server.set(name, "1");
    await using watched = await Watched.synced(relay.port, { backoff: { first: 300, most: 1000 } });
    watched.events.length = 0;
    relay.cut();
    await watched.until(() => watched.told.includes("disconnected"));
    server.set("changed", "2");
    server.delete("gone");
    server.delete("replaced");
    server.set("replaced", "2");
    server.set("new", "1");
    for (let n = 0; n < 20; n++) server.set("much", String(n));
    await watched.until(() => watched.told.includes("relisted"));
    expect(watched.labels.sort()).to.deep.equal([
      "added much",
      "added new",
      "added replaced",
      "deleted gone",
      "deleted replaced",
      "updated changed",
    ]);
    for (const event of watched.events) {
      if (event.type === "deleted")
        expect([event.finalStateUnknown, event.object.spec?.text]).to.deep.equal([true, "1"]);
      if (event.type === "added") expect(event.initial).to.equal(false);
    }
    const after = watched.told.slice(2).filter((type) => type !== "connected" && type !== "disconnected");
    expect(after).to.deep.equal(["error", "expired", "relisted"]);
    expect(watched.informer.metrics).to.include({ relists: 1, expired: 1, suppressed: 1 });
    expect(watched.versions()).to.deep.equal(server.versions());
  });

  it("loses and repeats no event in 1,000 reconnects", async () => {
    await using server = await Notes.start({ history: { events: 100_000 } });
    await using relay = await startRelay(server.port);
    const random = new Random(7);
    await using watched = await Watched.synced(relay.port, { backoff: { first: 1, most: 2 } });
    /** Every version of each object, with "gone" at its end. */
    const truth = new Map<string, string[]>();
    const write = (): void => {
      const name = `n${random.below(20)}`;
      const line = truth.get(name) ?? [];
      truth.set(name, line);
      if (server.versions().has(name) && random.chance(0.3)) {
        server.delete(name);
        line.push("gone");
      } else line.push(server.set(name, String(random.next())).metadata.resourceVersion ?? "");
    };
    const cuts = (): number => watched.told.filter((type) => type === "disconnected").length;
    for (let round = 1; round <= 1000; round++) {
      random.many(random.below(4), write);
      if (random.chance(0.5)) await new Promise((resolve) => setImmediate(resolve));
      relay.cut();
      random.many(random.below(3), write);
      await watched.until(() => cuts() >= round && watched.informer.connected);
    }
    write();
    await watched.until(() => [...truth].every(([name, line]) => line.length === told(watched, name).length));
    for (const [name, line] of truth) expect(told(watched, name), name).to.deep.equal(line);
    expect(watched.versions()).to.deep.equal(server.versions());
    expect(watched.informer.metrics).to.include({ relists: 0, expired: 0, lists: 0 });
  }).timeout(60_000);

  it("retries while forbidden, reports it, and recovers", async () => {
    let allowed = true;
    await using server = await Notes.start({ authorize: () => (allowed ? allow() : deny("revoked")) });
    await using relay = await startRelay(server.port);
    server.set("a", "1");
    await using watched = await Watched.synced(relay.port);
    allowed = false;
    relay.cut();
    const refused = (): number =>
      watched.lifecycle.filter((event) => event.type === "error" && isApiError(event.error) && event.error.code === 403)
        .length;
    await watched.until(() => refused() > 3);
    expect(watched.informer.store.size).to.equal(1);
    server.set("b", "1");
    allowed = true;
    await watched.until(() => watched.labels.includes("added b"));
    expect(watched.labels).to.deep.equal(["added a", "added b"]);
  });

  it("recovers after the server restarts on the same port with other objects", async () => {
    await using stack = new AsyncDisposableStack();
    const first = stack.use(await Notes.start());
    first.set("old", "1");
    first.set("both", "1");
    const watched = stack.use(await Watched.synced(first.port));
    const { port } = first;
    await first[Symbol.asyncDispose]();
    await watched.until(() => watched.told.includes("disconnected"));
    const second = await Notes.start({ port });
    stack.use(second);
    second.set("both", "2");
    second.set("new", "2");
    await watched.until(() => watched.labels.includes("deleted old") && watched.labels.includes("added new"));
    expect(watched.versions()).to.deep.equal(second.versions());
    // Another object of that name: one is deleted, the other added.
    expect(watched.labels.filter((label) => label.endsWith("both"))).to.deep.equal([
      "added both",
      "deleted both",
      "added both",
    ]);
    expect(watched.informer.metrics.relists).to.equal(1);
  }).timeout(20_000);

  it("leaves no connection and no timer behind when it is stopped in any state", async () => {
    await using server = await Notes.start();
    await using wire = await startWire(server.port);
    for (let n = 0; n < 5; n++) {
      const watched = new Watched(wire.port, QUICK);
      watched.informer.start();
      if (n > 0) await watched.informer.synced;
      await watched.informer.stop();
      await until(() => wire.open <= 1);
      await watched[Symbol.asyncDispose]();
      await until(() => wire.open <= 0);
    }
  });
});

/** Versions of an object in events, with "gone" for its deletion. */
function told(watched: Watched, name: string): string[] {
  return watched.events
    .filter(({ key }) => key.name === name)
    .map(({ type, object }) => (type === "deleted" ? "gone" : (object.metadata.resourceVersion ?? "")));
}
