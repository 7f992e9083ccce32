// Informers without faults: each subscriber receives each change once.
import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { type InformerProblem, SharedInformers, withoutManagedFields } from "@virtual-workspaces/client";
import { expect } from "chai";
import { NOTE, Notes, Watched } from "./support.ts";

describe("Informer", () => {
  it("can be started again while it stops", async () => {
    await using server = await Notes.start();
    await using watched = await Watched.synced(server.port);
    const before = watched.informer.events();
    const stopped = watched.informer.stop();
    const after = watched.informer.start().events();
    expect(await before.next()).to.deep.equal({ done: true, value: undefined });
    await stopped;
    await watched.informer.synced;
    server.set("a", "1");
    expect((await after.next()).value).to.deep.include({ type: "added", initial: false });
    expect(watched.told).to.deep.equal(["connected", "synced", "disconnected", "connected", "synced"]);
    void watched.informer.stop();
    const { synced } = watched.informer.start();
    void watched.informer.stop();
    expect(String(await synced.catch(String))).to.match(/stopped before it was synced/);
  });

  it("delivers existing objects, then each change once", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    server.set("b", "1");
    await using watched = await Watched.synced(server.port);
    const { informer } = watched;
    expect(watched.labels.sort()).to.deep.equal(["added a", "added b"]);
    expect(watched.events.every((event) => event.type === "added" && event.initial)).to.equal(true);
    watched.events.length = 0;
    server.set("c", "1");
    server.set("a", "2");
    server.delete("b");
    await watched.until(() => watched.events.length === 3);
    expect(watched.labels).to.deep.equal(["added c", "updated a", "deleted b"]);
    const [, updated, deleted] = watched.events;
    expect(updated?.type === "updated" && [updated.old.spec?.text, updated.object.spec?.text]).to.deep.equal([
      "1",
      "2",
    ]);
    expect(deleted?.type === "deleted" && deleted.finalStateUnknown).to.equal(false);
    expect(watched.versions()).to.deep.equal(server.versions());
    expect(informer.store.get({ name: "a" })?.spec?.text).to.equal("2");
    expect(informer.store.get({ cluster: "other", name: "a" })).to.equal(undefined);
    expect(informer.connected).to.equal(true);
    expect(informer.lastEventAt).to.be.a("date");
    expect(informer.metrics).to.include({
      lists: 0,
      watches: 1,
      added: 3,
      updated: 1,
      deleted: 1,
      objects: 2,
      errors: 0,
    });
    expect(informer.metrics.bytes).to.be.above(1000);
  });

  it("delivers existing objects to late subscribers", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    await using watched = await Watched.synced(server.port);
    const heard: string[] = [];
    const subscription = watched.informer.on({
      added: ({ metadata }, { initial }) => heard.push(`${metadata.name} ${initial}`),
    });
    expect(heard).to.deep.equal(["a true"]);
    server.set("b", "1");
    await watched.until(() => watched.events.length === 2);
    subscription[Symbol.dispose]();
    server.set("c", "1");
    await watched.until(() => watched.events.length === 3);
    expect(heard).to.deep.equal(["a true", "b false"]);
  });

  it("reports exceptions of handlers, transforms and indexers, and continues", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    const problems: [string, InformerProblem][] = [];
    const onProblem = ({ message }: Error, problem: InformerProblem): void => void problems.push([message, problem]);
    await using watched = new Watched(server.port, {
      onProblem,
      transform: (object) => {
        if (object.spec?.text === "bad") throw new Error("no transform");
        return withoutManagedFields(object);
      },
      indexers: {
        text: ({ spec }) => {
          if (spec?.text === "bad") throw new Error("no index");
          return [spec?.text ?? ""];
        },
      },
    });
    watched.informer.on({
      added: () => {
        throw new Error("thrown");
      },
      updated: () => Promise.reject(new Error("rejected")),
    });
    await watched.informer.start().synced;
    expect(problems.map(([message, { during, key }]) => [message, during, key?.name])).to.deep.equal([
      ["thrown", "added", "a"],
    ]);
    expect(watched.informer.store.byIndex("text", "1")).to.have.length(1);
    problems.length = 0;
    server.set("a", "bad");
    await watched.until(() => watched.labels.includes("updated a"));
    expect(watched.informer.store.byIndex("text", "1")).to.have.length(0);
    server.set("a", "2");
    await watched.until(() => watched.events.length === 3);
    expect(watched.informer.store.byIndex("text", "2")).to.have.length(1);
    expect(() => watched.informer.store.byIndex("no", "2")).to.throw('unknown index "no"');
    expect(problems.map(([message]) => message).sort()).to.deep.equal([
      "no index",
      "no transform",
      "rejected",
      "rejected",
    ]);
    expect(watched.informer.metrics.handlerErrors).to.equal(5);
  });

  it("delivers events at the reader's pace, merged per object when it lags", async () => {
    await using server = await Notes.start();
    server.set("old", "1");
    await using watched = await Watched.synced(server.port);
    const events = watched.informer.events({ limit: 3 });
    for (let n = 0; n < 50; n++) server.set("a", String(n));
    server.set("gone", "1");
    server.delete("gone");
    server.delete("old");
    await watched.until(() => watched.labels.includes("deleted old"));
    const seen: string[] = [];
    for await (const { type, key, object } of events) {
      seen.push(`${type} ${key.name} ${object.spec?.text}`);
      if (seen.length === 6) break;
    }
    // The first four events after the initial ones are unmerged; the rest are merged per object.
    expect(seen).to.deep.equal([
      "added old 1",
      "added a 0",
      "updated a 1",
      "updated a 2",
      "updated a 49",
      "deleted old 1",
    ]);
    expect(watched.told.filter((type) => type === "lagging")).to.have.length(1);
    server.set("a", "after");
    await watched.until(() => watched.events.at(-1)?.type === "updated");
    expect(await events.next()).to.deep.equal({ done: true, value: undefined });
  });

  it("ends iterators when it stops, and resumes at its version", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    await using watched = await Watched.synced(server.port);
    const stop = new AbortController();
    await watched.informer.stop();
    expect(watched.informer.connected).to.equal(false);
    server.set("b", "1");
    expect(watched.informer.store.size).to.equal(1);
    watched.events.length = 0;
    watched.informer.start(stop.signal);
    await watched.informer.synced;
    await watched.until(() => watched.events.length === 1);
    expect(watched.labels).to.deep.equal(["added b"]);
    const iterated = (async () => {
      const seen: string[] = [];
      for await (const { key } of watched.informer.events()) seen.push(key.name);
      return seen.sort();
    })();
    stop.abort();
    expect(await iterated).to.deep.equal(["a", "b"]);
    expect(watched.informer.metrics).to.include({ relists: 0, lists: 0 });
  });

  it("can be awaited before it starts, and rejects `synced` if it stops before", async () => {
    await using server = await Notes.start();
    await using watched = new Watched(server.port);
    const { informer } = watched;
    const { synced } = informer;
    informer.start();
    await synced;
    await informer.stop();
    const again = informer.start(AbortSignal.abort()).synced;
    expect(await again.catch((error: Error) => error.message)).to.equal(
      "informer of notes: stopped before it was synced",
    );
    await informer.stop();
    await informer.start().synced;
  });

  it("separates objects of one name in many clusters, and delivers each once", async () => {
    await using server = await Notes.start();
    const clusters = Array.from({ length: 50 }, (_, n) => `c${n}`);
    await using watched = await Watched.synced(server.port, { cluster: "*" });
    for (const cluster of clusters) server.set("same", cluster, cluster);
    await watched.until(() => watched.events.length >= 50);
    for (const cluster of clusters) {
      const object = watched.informer.store.get({ cluster, name: "same" });
      expect([object?.spec?.text, object?.metadata.annotations?.[CLUSTER_ANNOTATION]]).to.deep.equal([
        cluster,
        cluster,
      ]);
      expect(watched.informer.store.list({ cluster })).to.have.length(1);
    }
    for (const cluster of clusters.slice(1)) server.delete("same", cluster);
    await watched.until(() => watched.events.length >= 99);
    expect(watched.informer.store.list().map(({ spec }) => spec?.text)).to.deep.equal(["c0"]);
    expect(watched.events).to.have.length(99);
  });

  it("is shared by all leases of the same kind", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    await using watched = new Watched(server.port);
    await using shared = new SharedInformers(watched.client);
    const first = shared.lease(NOTE);
    const second = shared.lease(NOTE);
    await using other = shared.lease(NOTE, { labels: "a=b" });
    expect(first.informer).to.equal(second.informer);
    expect(other.informer).to.not.equal(first.informer);
    await Promise.all([first.informer.synced, other.informer.synced]);
    expect([first.informer.store.size, other.informer.store.size, shared.size]).to.deep.equal([1, 0, 2]);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(second.informer.connected).to.equal(true);
    await second[Symbol.asyncDispose]();
    expect([second.informer.connected, shared.size]).to.deep.equal([false, 1]);
  });

  it("rejects options out of range", () => {
    const make = (options: object) => () => new Watched(1, options);
    expect(make({ renewEvery: 0 })).to.throw("invalid renewEvery of an informer: use a number from 1 to 3600");
    expect(make({ idle: 10 })).to.throw("idle of an informer");
    expect(make({ pageSize: Number.NaN })).to.throw("pageSize of an informer");
  });
});
