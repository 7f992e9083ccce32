// Why: a burst of writes must not cause a reconcile for each of them, since each reads the store.
import { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { expect } from "chai";
import { ObjectCounts } from "../../../packages/workspace-server/src/bindings/cached/object-counts.ts";

const key = { cluster: "one", namespace: "", name: "flavors" };

describe("ObjectCounts", () => {
  it("reports the first of many changes, and again after the next count", async () => {
    const changed: string[] = [];
    // biome-ignore lint/suspicious/noExplicitAny: events of a feed
    let feed: any;
    let now = 0;
    const on = (handlers: unknown) => {
      feed = handlers;
      return { [Symbol.dispose]() {} };
    };
    using counts = new ObjectCounts({ feed: { on }, clock: { now: () => now } } as never, ({ name }) => {
      changed.push(name);
    });
    const objects = { space: "flavors", countIn: async () => ({ byNamespace: new Map([["", 3]]) }) };
    const count = () =>
      counts.of(key, { objects: objects as never, labels: new LabelSelector([]) }, new AbortController().signal);
    expect(await count()).to.deep.equal({ count: 3, again: undefined });
    const made = { space: "flavors", key: { cluster: "one", namespace: "", name: "a" }, isNew: true };
    for (let at = 0; at < 100; at++) feed.set(made);
    expect(changed).to.deep.equal(["flavors"]);
    now = 400;
    expect(await count()).to.deep.equal({ count: 3, again: 600 });
    now = 1_000;
    expect(await count()).to.deep.equal({ count: 3, again: undefined });
    feed.deleted(made);
    expect(changed).to.deep.equal(["flavors", "flavors"]);
  });
});
