import { expect } from "chai";
import { EtcdKeys } from "../../../packages/store/src/etcd/conversion.ts";
import { EtcdWatch } from "../../../packages/store/src/etcd/etcd-watch.ts";
import { Event, KeyValue, WatchResponse } from "../../../packages/store/src/etcd/generated/rpc.ts";
import { refused } from "../contract/subject.ts";

const keys = new EtcdKeys("/p/");
const host = { wanted: () => {}, drained: () => {}, incomplete: () => {}, left: () => {} };
const follow = (after: number, previous = false): EtcdWatch =>
  new EtcdWatch({ from: "a", to: "b" }, { after, previous }, { keys, host });

function happened(revisions: readonly number[], fragment = false): WatchResponse {
  const events = revisions.map((modRevision) =>
    Event.fromPartial({ kv: { key: keys.encode("a"), value: Buffer.from("v"), createRevision: 2, modRevision } }),
  );
  return WatchResponse.fromPartial({ events, fragment });
}

describe("EtcdWatch", () => {
  it("fails with Compacted instead of losing an event that contradicts concluded progress", async () => {
    const watch = follow(10);
    const reader = watch[Symbol.asyncIterator]();
    watch.goal = 20;
    watch.progress(20, false);
    expect((await reader.next()).value).to.deep.equal({ revision: 20, events: [] });
    watch.receive(happened([15]));
    await refused("Compacted", () => reader.next());
    expect((await reader.next()).done).to.equal(true);
  });

  it("resumes where the order of events is certain, not at concluded progress", () => {
    const watch = follow(10);
    watch.progress(20, false);
    expect([watch.reached, watch.sure]).to.deep.equal([20, 10]);
    watch.progress(30, true);
    expect([watch.reached, watch.sure]).to.deep.equal([30, 30]);
    watch.receive(happened([31]));
    expect([watch.reached, watch.sure]).to.deep.equal([31, 31]);
  });

  it("delivers nothing twice if etcd starts with a known revision", async () => {
    const watch = follow(10);
    watch.receive(happened([10, 11]));
    const { value } = await watch[Symbol.asyncIterator]().next();
    expect(value?.revision).to.equal(11);
  });

  it("delivers a revision once all its fragments have arrived", async () => {
    const watch = follow(10);
    const reader = watch[Symbol.asyncIterator]();
    watch.receive(happened([11, 12, 12], true));
    expect((await reader.next()).value?.revision).to.equal(11);
    watch.goal = 12;
    watch.progress(12, true);
    watch.receive(happened([12, 13]));
    const { value } = await reader.next();
    expect([value?.revision, value?.events.length]).to.deep.equal([12, 3]);
    expect((await reader.next()).value?.revision).to.equal(13);
  });

  const made = Event.fromPartial({
    kv: KeyValue.fromPartial({ key: keys.encode("a"), createRevision: 11, modRevision: 11 }),
  });

  it("fails if etcd repeatedly omits previous entries", async () => {
    const watch = follow(10, true);
    watch.receive(WatchResponse.fromPartial({ events: [made] }));
    watch.receive(happened([12]));
    watch.receive(happened([12]));
    const reader = watch[Symbol.asyncIterator]();
    expect((await reader.next()).value?.events[0]?.previous).to.equal(undefined);
    await refused("Compacted", () => reader.next());
  });

  it("requests events again that lack previous entries, as etcd may send for a new watch", async () => {
    const asked: number[] = [];
    const incomplete = ({ sure }: EtcdWatch): void => void asked.push(sure);
    const watch = new EtcdWatch(
      { from: "a", to: "b" },
      { after: 10, previous: true },
      { keys, host: { ...host, incomplete } },
    );
    watch.receive(WatchResponse.fromPartial({ events: [made] }));
    // The same events and later ones arrive again.
    watch.receive(happened([12, 13]));
    expect(asked).to.deep.equal([11]);
    const { events } = happened([12, 13]);
    const prevKv = KeyValue.fromPartial({ key: keys.encode("a"), value: Buffer.from("before"), modRevision: 11 });
    watch.receive(WatchResponse.fromPartial({ events: [made, ...events.map((event) => ({ ...event, prevKv }))] }));
    const reader = watch[Symbol.asyncIterator]();
    const batches = [await reader.next(), await reader.next(), await reader.next()].map(({ value }) => value);
    expect(batches.map((batch) => batch?.revision)).to.deep.equal([11, 12, 13]);
    expect(String(batches[1]?.events[0]?.previous?.value)).to.equal("before");
    expect(asked).to.have.length(1);
  });

  it("keeps a bounded number of unread progress batches", async () => {
    const watch = follow(10);
    for (let revision = 11; revision < 1000; revision++) {
      watch.goal = revision;
      watch.progress(revision, true);
    }
    const reader = watch[Symbol.asyncIterator]();
    expect((await reader.next()).value?.revision).to.equal(999);
    const next = reader.next();
    watch.end();
    expect((await next).done).to.equal(true);
  });
});
