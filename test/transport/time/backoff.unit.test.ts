// The delays between attempts, as numbers; and a loop that retries with them.
import { Backoff, backoffDelay, type Clock, retry, sleep } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { thrown } from "../../_support/raw.ts";

const NONE = { jitter: [1, 1] } as const;

/** A clock that fires at once, and records its delays. */
function instantClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    after(ms, ring) {
      waits.push(ms);
      queueMicrotask(ring);
      return { [Symbol.dispose]: () => undefined };
    },
  };
}

describe("Backoff", () => {
  it("doubles up to the longest delay", () => {
    const backoff = new Backoff({ first: 100, most: 1_000, ...NONE });
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.next())).to.deep.equal([100, 200, 400, 800, 1_000, 1_000]);
    expect(backoff.failures).to.equal(6);
  });

  it("starts again after a success", () => {
    const backoff = new Backoff({ first: 100, ...NONE });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.failures).to.equal(0);
    expect(backoff.next()).to.equal(100);
  });

  it("grows by another factor", () => {
    const backoff = new Backoff({ first: 1, most: 50, factor: 5, ...NONE });
    expect([1, 2, 3, 4].map(() => backoff.next())).to.deep.equal([1, 5, 25, 50]);
  });

  it("multiplies each delay by a random number: from a half to one by default", () => {
    for (const [random, delay] of [
      [0, 50],
      [0.5, 75],
      [1, 100],
    ] as const)
      expect(new Backoff({ first: 100, random: () => random }).next()).to.equal(delay);
    const around = { first: 100, most: 100, jitter: [0.75, 1.25] } as const;
    expect(backoffDelay(9, { ...around, random: () => 0 })).to.equal(75);
    expect(backoffDelay(9, { ...around, random: () => 1 })).to.equal(125);
    for (let round = 0; round < 100; round++) expect(new Backoff({ first: 100 }).next()).to.be.within(50, 100);
  });

  it("stays at the longest delay after any number of failures", () => {
    expect(backoffDelay(100_000, { first: 1, most: 60_000, ...NONE })).to.equal(60_000);
  });

  it("waits for as long as the server asks, up to 5 minutes", () => {
    const backoff = new Backoff({ first: 100, ...NONE });
    expect(backoff.next({ retryAfter: 7_000 })).to.equal(7_000);
    expect(backoff.next({ retryAfter: 1 })).to.equal(200);
    expect(backoff.next({ retryAfter: 1e9 })).to.equal(300_000);
  });

  it("subtracts the time spent waiting, but not from the server's delay", () => {
    const backoff = new Backoff({ first: 100, ...NONE });
    expect(backoff.next({ waited: 60 })).to.equal(40);
    expect(backoff.next({ waited: 1_000 })).to.equal(0);
    expect(backoff.next({ waited: 1_000, retryAfter: 500 })).to.equal(500);
  });
});

describe("sleep", () => {
  it("resolves after the delay, by the given clock", async () => {
    const clock = instantClock();
    await sleep(5_000, { clock });
    expect(clock.waits).to.deep.equal([5_000]);
    await sleep(1);
    await sleep(-1);
  });

  it("resolves as soon as the signal aborts, whatever the clock", async () => {
    const never: Clock = { now: () => 0, after: () => ({ [Symbol.dispose]: () => undefined }) };
    for (const clock of [undefined, never]) {
      const ending = new AbortController();
      const wait = sleep(Number.POSITIVE_INFINITY, { signal: ending.signal, clock });
      ending.abort();
      await wait;
      await sleep(60_000, { signal: ending.signal, clock });
    }
  });
});

describe("retry", () => {
  /** Fails this many times, and then returns the number of calls. */
  const worksAfter = (failures: number): (() => Promise<number>) => {
    let calls = 0;
    return async () => {
      if (++calls > failures) return calls;
      throw new Error(`failure ${calls}`);
    };
  };

  it("repeats until success, with the delays of its policy between", async () => {
    const clock = instantClock();
    const backoff = new Backoff({ first: 10, ...NONE });
    const told: string[] = [];
    const delayAfter = (error: unknown, failures: number): number => {
      told.push(`${failures}: ${(error as Error).message}`);
      return backoff.next();
    };
    expect(await retry(worksAfter(3), { clock, delayAfter })).to.equal(4);
    expect(clock.waits).to.deep.equal([10, 20, 40]);
    expect(told).to.deep.equal(["1: failure 1", "2: failure 2", "3: failure 3"]);
  });

  it("ends with the error of the policy", async () => {
    const delayAfter = (error: unknown, failures: number): number => {
      if (failures === 2) throw error;
      return 0;
    };
    expect(((await thrown(retry(worksAfter(5), { delayAfter }))) as Error).message).to.equal("failure 2");
  });

  it("ends with the signal's reason during a delay, and with the error of an attempt that the signal ended", async () => {
    const ending = new AbortController();
    const { signal } = ending;
    const waiting = retry(worksAfter(5), { signal, delayAfter: () => 60_000 });
    const reason = new Error("enough");
    setImmediate(() => ending.abort(reason));
    expect(await thrown(waiting)).to.equal(reason);
    const late = retry(worksAfter(5), { signal, delayAfter: () => expect.fail("no further attempt") });
    expect(((await thrown(late)) as Error).message).to.equal("failure 1");
  });
});
