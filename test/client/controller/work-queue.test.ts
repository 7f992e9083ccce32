import { WorkQueue } from "@virtual-workspaces/client/queue";
import { expect } from "chai";
import { ManualClock } from "../../_support/manual-clock.ts";

const queueOf = (options: object = {}) => {
  const clock = new ManualClock();
  const queue = new WorkQueue<string>({ id: (key) => key, part: (key) => key.split("/")[0] ?? "", clock, ...options });
  return { clock, queue };
};

/** Returns the keys in the order in which one worker receives them. */
async function order(queue: WorkQueue<string>): Promise<string[]> {
  const keys: string[] = [];
  while (queue.metrics.depth > 0) {
    const key = (await queue.get()) ?? "";
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe("WorkQueue", () => {
  it("holds a key once, however often it is added", async () => {
    const { queue } = queueOf();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(queue.metrics).to.include({ depth: 2, adds: 2 });
    expect(await order(queue)).to.eql(["a", "b"]);
    expect(queue.size).to.equal(0);
  });

  it("delivers a key again that was added while a worker held it, once the worker is done", async () => {
    const { queue } = queueOf();
    queue.add("a");
    await queue.get();
    queue.add("a");
    queue.add("a");
    const next = queue.get();
    queue.add("b");
    expect(await next).to.equal("b");
    const again = queue.get();
    queue.done("a");
    expect(await again).to.equal("a");
    queue.done("a");
    expect(queue.metrics).to.include({ depth: 0, working: 1 });
  });

  it("serves clusters in turn: ten thousand keys of one delay a key of another by one", async () => {
    const { queue } = queueOf();
    for (let n = 0; n < 10_000; n++) queue.add(`noisy/${n}`);
    queue.add("quiet/1");
    queue.add("quiet/2");
    expect((await order(queue)).slice(0, 5)).to.eql(["noisy/0", "quiet/1", "noisy/1", "quiet/2", "noisy/2"]);
  });

  it("serves a higher priority first, and raises that of a queued key", async () => {
    const { queue } = queueOf();
    queue.add("low", { priority: -100 });
    queue.add("raised", { priority: -100 });
    queue.add("plain");
    queue.add("high", { priority: 10 });
    queue.add("raised", { priority: 5 });
    queue.add("high", { priority: -10 });
    expect(await order(queue)).to.eql(["high", "raised", "plain", "low"]);
  });

  it("delays a key until the earliest of its requested times", async () => {
    const { queue, clock } = queueOf();
    queue.addAfter("a", 1000);
    queue.addAfter("a", 300);
    queue.addAfter("a", 2000);
    queue.addAfter("b", 200);
    clock.advance(199);
    expect(queue.metrics).to.include({ depth: 0, delayed: 2 });
    clock.advance(101);
    expect(await order(queue)).to.eql(["b", "a"]);
    clock.advance(5000);
    expect(queue.metrics).to.include({ depth: 0, delayed: 0, adds: 2 });
    expect(clock.timers).to.equal(0);
  });

  it("cancels the delay of a key that is added without one", async () => {
    const { queue, clock } = queueOf();
    queue.addAfter("a", 1000);
    queue.add("a");
    expect(await order(queue)).to.eql(["a"]);
    expect(clock.timers).to.equal(0);
    expect(queue.size).to.equal(0);
  });

  it("doubles the backoff with each failure, up to the maximum, until forget", () => {
    const { queue } = queueOf({ rateLimit: { perSecond: Number.POSITIVE_INFINITY } });
    const delays = Array.from({ length: 20 }, () => queue.addRateLimited("a"));
    expect(delays.slice(0, 4)).to.eql([5, 10, 20, 40]);
    expect(delays.slice(17)).to.eql([655_360, 1_000_000, 1_000_000]);
    expect(queue.failures("a")).to.equal(20);
    queue.forget("a");
    expect(queue.addRateLimited("a")).to.equal(5);
    void queue.shutdown();
  });

  it("adds jitter if configured", () => {
    const { queue } = queueOf({ rateLimit: { jitter: 0.5, base: 100 }, random: () => 0.5 });
    expect(queue.addRateLimited("a")).to.equal(125);
    void queue.shutdown();
  });

  it("retries ten keys a second after a burst of a hundred", () => {
    const { queue, clock } = queueOf();
    const delays = Array.from({ length: 103 }, (_, n) => queue.addRateLimited(`${n}`));
    expect(delays.slice(98)).to.eql([5, 5, 100, 200, 300]);
    clock.advance(1300);
    expect(queue.addRateLimited("later")).to.equal(5);
    void queue.shutdown();
  });

  it("cancels a key with its failures", async () => {
    const { queue, clock } = queueOf();
    queue.add("in line");
    queue.addAfter("waits", 100);
    queue.addRateLimited("failed");
    queue.add("worked on", { priority: 1 });
    await queue.get();
    queue.add("worked on");
    for (const key of ["in line", "waits", "failed", "worked on", "unknown"]) queue.cancel(key);
    expect(queue.size).to.equal(1);
    queue.done("worked on");
    clock.advance(1000);
    expect(queue.metrics).to.include({ depth: 0, delayed: 0, working: 0 });
    expect(queue.size).to.equal(0);
  });

  it("drops waiting keys at shutdown, which resolves when workers are done", async () => {
    const { queue, clock } = queueOf();
    queue.add("a");
    queue.add("b");
    queue.addAfter("c", 10);
    await queue.get();
    queue.add("a");
    let isOver = false;
    const over = queue.shutdown().then(() => {
      isOver = true;
    });
    queue.add("d");
    expect(await queue.get()).to.equal(undefined);
    expect(isOver).to.equal(false);
    queue.done("a");
    await over;
    expect(await queue.get()).to.equal(undefined);
    expect([queue.size, clock.timers]).to.eql([0, 0]);
  });

  it("drains: delivers queued keys and those added while held, but no new ones", async () => {
    const { queue } = queueOf();
    queue.add("a");
    await queue.get();
    queue.add("a");
    queue.add("b");
    const over = queue.shutdown({ drain: true });
    queue.add("c");
    queue.done("a");
    expect(await order(queue)).to.have.members(["a", "b"]);
    await over;
  });

  it("ends waiting workers when its signal aborts", async () => {
    const abort = new AbortController();
    const { queue } = queueOf({ signal: abort.signal });
    const waiting = [queue.get(), queue.get()];
    abort.abort();
    expect(await Promise.all(waiting)).to.eql([undefined, undefined]);
    await queue.shutdown();
  });

  it("yields to the event loop between keys of workers that never await", async () => {
    const { queue } = queueOf();
    for (let at = 0; at < 8; at++) queue.add(String(at));
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    for (let at = 0; at < 8; at++) {
      const key = await queue.get();
      for (const end = performance.now() + 11; performance.now() < end; );
      queue.done(key ?? "");
    }
    clearInterval(others);
    expect(turns).to.be.greaterThan(3);
  });

  it("measures waiting and working times", async () => {
    const { queue, clock } = queueOf();
    queue.add("a");
    clock.advance(2000);
    await queue.get();
    clock.advance(500);
    const { waited, unfinished, longestRunning, worked } = queue.metrics;
    expect([waited.count, waited.sum, unfinished, longestRunning, worked.count]).to.eql([1, 2, 0.5, 0.5, 0]);
    queue.done("a");
    expect(queue.metrics.worked).to.deep.include({ count: 1, sum: 0.5 });
    expect(queue.metrics.worked.buckets.map(({ count }) => count)).to.eql([0, 0, 0, 1, 1, 1, 1]);
  });
});
