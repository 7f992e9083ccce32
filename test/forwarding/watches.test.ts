// forward(): watches share one upstream watch, resume from its history, and survive its failures.
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { label } from "../_support/plain.ts";
import { startRelay } from "../_support/relay.ts";
import { until } from "../_support/until.ts";
import { credentialed, MEMOS, Memo, type MemoContent, startHere, startThere, type There } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;

/** @param content text and selection */
function set(
  { memos }: There,
  name: string,
  content: string | { readonly text: string; readonly in: string } = "",
): void {
  if (typeof content === "string") memos.in("root", "a").set(name, { text: content });
  else memos.in("root", "a").set(name, { text: content.text }, { labels: { in: content.in } });
}

describe("a forwarded watch", () => {
  it("delivers the upstream's changes with its versions, byte for byte", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream });
    set(there, "x");
    const list = await here.server.get(ALL);
    const query = `?watch=true&resourceVersion=${list.body.metadata.resourceVersion}`;
    await using own = await there.server.watch(ALL + query);
    await using watch = await here.server.watch(ALL + query);
    set(there, "y", "ä");
    set(there, "x", "2");
    there.memos.in("root", "a").delete("y");
    const told = await watch.until(({ type }) => type === "DELETED");
    expect(told).to.deep.equal(await own.until(({ type }) => type === "DELETED"));
    expect(told.map(label)).to.deep.equal(["ADDED y", "MODIFIED x", "DELETED y"]);
  });

  it("begins with existing objects and the bookmark of initial events, even without any", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream });
    const query = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using empty = await here.server.watch(ALL + query);
    expect((await empty.next()).object.metadata?.annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
    set(there, "x");
    await using full = await here.server.watch(ALL + query);
    expect((await full.take(2)).map((text) => text.trim())).to.deep.equal(["ADDED x", "BOOKMARK"]);
  });

  it("waits for initial events from a version that only the upstream has reached", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream });
    await using first = await here.server.watch(`${ALL}?watch=true&labelSelector=a%3Db`);
    // The upstream advances with changes outside of the selection.
    set(there, "x");
    const { body } = await there.server.get(ALL);
    await using second = await here.server.watch(
      `${ALL}?watch=true&labelSelector=a%3Db&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=${body.metadata.resourceVersion}`,
    );
    expect(second.status).to.equal(200);
    expect((await second.next()).type).to.equal("BOOKMARK");
    void first;
  });

  it("shares an upstream watch with equal callers and selections only", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream });
    set(there, "x");
    const watchesThere = (): number => there.asked.filter(({ verb }) => verb === "watch").length;
    const open = [];
    for (let i = 0; i < 20; i++) open.push(await here.server.watch(`${ALL}?watch=true`));
    for (const watch of open) expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    await until(() => watchesThere() > 0);
    expect([here.memos.state.watches, watchesThere()]).to.deep.equal([1, 1]);
    open.push(await here.server.watch(`${ALL}?watch=true`, { user: "bob" }));
    open.push(await here.server.watch(`${ALL}?watch=true&labelSelector=a%3Db`));
    open.push(await here.server.watch(`${MEMOS}/namespaces/a/memos?watch=true`));
    expect(here.memos.state.watches).to.equal(4);
    for (const watch of open) await watch[Symbol.asyncDispose]();
  });

  it("is shared by all callers with our own identity", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream, identity: "none" });
    set(there, "x");
    await using one = await here.server.watch(`${ALL}?watch=true`);
    await using two = await here.server.watch(`${ALL}?watch=true`, { user: "bob" });
    expect([await one.take(1), await two.take(1)]).to.deep.equal([["ADDED x"], ["ADDED x"]]);
    expect(here.memos.state.watches).to.equal(1);
    expect(there.asked.every(({ user }) => user === "admin")).to.equal(true);
  });

  it("delivers objects that enter and leave its selection", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream });
    await using watch = await here.server.watch(`${ALL}?watch=true&labelSelector=in%3Dyes`);
    set(there, "x", { text: "1", in: "yes" });
    set(there, "x", { text: "2", in: "no" });
    set(there, "x", { text: "3", in: "yes" });
    expect(await watch.take(3)).to.deep.equal(["ADDED x", "DELETED x", "ADDED x"]);
  });

  it("resumes before the cache began, from the upstream's history, and continues live", async () => {
    await using there = await startThere();
    const { body } = await there.server.get(ALL);
    const from = body.metadata.resourceVersion as string;
    set(there, "x", "1");
    set(there, "x", "2");
    set(there, "y", "1");
    there.memos.in("root", "a").delete("x");
    await using here = await startHere({ upstream: there.upstream });
    // The cache begins now, after all that.
    await using late = await here.server.watch(`${ALL}?watch=true`);
    expect(await late.take(1)).to.deep.equal(["ADDED y"]);
    await using watch = await here.server.watch(`${ALL}?watch=true&resourceVersion=${from}`);
    await using own = await there.server.watch(`${ALL}?watch=true&resourceVersion=${from}`);
    const past = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
    expect(past.map(label)).to.deep.equal(["ADDED x", "MODIFIED x", "ADDED y", "DELETED x"]);
    expect(past).to.deep.equal([await own.next(), await own.next(), await own.next(), await own.next()]);
    set(there, "z");
    set(there, "z", "2");
    expect(await watch.take(2)).to.deep.equal(["ADDED z", "MODIFIED z"]);
    set(there, "z", "3");
    expect(await watch.take(1)).to.deep.equal(["MODIFIED z"]);
  });

  it("ends with 410 if the upstream no longer has the version", async () => {
    await using there = await startThere({ memos: Memo.collection({ history: { events: 4 } }) as never });
    const { body } = await there.server.get(ALL);
    for (let i = 0; i < 20; i++) set(there, "x", `${i}`);
    await using here = await startHere({ upstream: there.upstream });
    await using watch = await here.server.watch(`${ALL}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
  });

  it("delivers transformed objects", async () => {
    await using there = await startThere();
    const show = (memo: { spec: MemoContent["spec"] }): never => ({ ...memo, spec: { text: "shown" } }) as never;
    await using here = await startHere({ upstream: there.upstream, transform: { show } });
    await using watch = await here.server.watch(`${ALL}?watch=true&labelSelector=in%3Dyes`);
    set(there, "x", { text: "hidden", in: "yes" });
    expect((await watch.next()).object).to.deep.include({ spec: { text: "shown" } });
  });
});

describe("an object whose transform throws", () => {
  it("fails its list and get, ends the watch that reaches it, and is never shown untransformed", async () => {
    await using there = await startThere();
    const show = (memo: { spec: MemoContent["spec"] }): never => {
      if (memo.spec.text === "bad") throw new Error("not that one");
      return memo as never;
    };
    await using here = await startHere({ upstream: there.upstream, transform: { show } });
    set(there, "x");
    await using watch = await here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    set(there, "y", "bad");
    expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 500"]);
    expect((await here.server.get(ALL)).status).to.equal(500);
    expect((await here.server.get(`${MEMOS}/namespaces/a/memos/y`)).status).to.equal(500);
    expect((await here.server.get(`${MEMOS}/namespaces/a/memos/x`)).status).to.equal(200);
    expectFault(/request failed/);
  });
});

describe("a forwarded watch of a failing upstream", () => {
  it("stays open, loses nothing, and reports the failure once", async () => {
    await using there = await startThere();
    await using relay = await startRelay(Number(new URL(there.server.url).port));
    await using here = await startHere({ upstream: credentialed(`http://127.0.0.1:${relay.port}/services/memos`) });
    await using watch = await here.server.watch(`${ALL}?watch=true`);
    set(there, "x");
    expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    await until(() => there.asked.some(({ verb }) => verb === "watch"));
    relay.cut();
    set(there, "y");
    there.memos.in("root", "a").delete("x");
    expect(await watch.take(2)).to.deep.equal(["ADDED y", "DELETED x"]);
    expect(here.errors.length).to.equal(1);
    expect(here.memos.state.failing).to.equal(0);
  });

  it("ends with 410 when the caller loses permission, is then rejected, and recovers", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream, renewEvery: 1_000 });
    set(there, "x");
    await using watch = await here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    there.barred.add("alice");
    const told = await watch.rest();
    expect(told.map(label)).to.deep.equal(["ERROR 410"]);
    expect(told[0]?.object.message).to.contain("cannot be read any more");
    expect((await here.server.get(`${ALL}?watch=true`)).status).to.equal(403);
    there.barred.clear();
    await using again = await here.server.watch(`${ALL}?watch=true`);
    expect(await again.take(1)).to.deep.equal(["ADDED x"]);
  });

  it("is rejected for callers who may only list, without repeated requests, and accepted once they may watch", async () => {
    await using there = await startThere();
    await using here = await startHere({ upstream: there.upstream, renewEvery: 1_000 });
    set(there, "x");
    there.barred.add("watch");
    // Not known yet: the initial list succeeds.
    await using first = await here.server.watch(`${ALL}?watch=true`);
    expect(label((await first.rest()).at(-1) as never)).to.equal("ERROR 410");
    const statusNow = async (): Promise<number> => (await here.server.get(`${ALL}?watch=true&timeoutSeconds=1`)).status;
    expect([await statusNow(), await statusNow()]).to.deep.equal([403, 403]);
    there.barred.clear();
    let status = 403;
    while (status === 403) {
      await using watch = await here.server.watch(`${ALL}?watch=true`);
      status = watch.status;
      if (status === 200) expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
      else await delay(50);
    }
  });
});
