import { expect } from "chai";
import { type WorkerError, WorkerPool, type WorkerPoolOptions } from "../../packages/framework/src/util/worker/pool.ts";
import type { Order } from "./fixtures/worker.ts";

interface Echo {
  readonly value: unknown;
  readonly orders: number;
}

const LONG = { budget: 8000 };
const echo = (value: unknown): Order => ({ do: "echo", value });

function pool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<Order, Echo> {
  return new WorkerPool({ module: new URL("./fixtures/worker.ts", import.meta.url), name: "test", ...options });
}

/** Returns the error that a promise rejects with. */
async function faultOf(run: Promise<unknown>): Promise<WorkerError> {
  try {
    await run;
  } catch (error) {
    return error as WorkerError;
  }
  throw new Error("it was answered");
}

describe("WorkerPool", () => {
  it("answers every message, with as many threads as allowed", async () => {
    await using workers = pool({ size: 2 });
    const runs = Array.from({ length: 12 }, (_, at) => workers.run(echo(at), LONG));
    const replies = await Promise.all(runs);
    expect(replies.map(({ value }) => value)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(Math.max(...replies.map(({ orders }) => orders))).to.be.greaterThan(1);
  });

  it("stops a task that exceeds its budget, and runs the next one in a new thread", async () => {
    await using workers = pool();
    const spun = faultOf(workers.run({ do: "spin" }, { budget: 50 }));
    const next = workers.run(echo("next"), LONG);
    expect((await spun).fault).to.equal("overrun");
    expect(await next).to.deep.equal({ value: "next", orders: 1 });
  });

  it("counts the CPU time of a task, not its wait for the processor, but limits that too", async () => {
    await using workers = pool();
    await workers.run(echo("warm"), LONG);
    expect((await workers.run({ do: "sleep", ms: 200 }, { budget: 100 })).value).to.equal("slept");
    expect((await faultOf(workers.run({ do: "sleep", ms: 5000 }, { budget: 20 }))).fault).to.equal("overrun");
  });

  it("does not stop a task whose reply waits behind a stall of this thread", async () => {
    await using workers = pool();
    await workers.run(echo("warm"), LONG);
    const reply = workers.run(echo("prompt"), { budget: 50 });
    const until = performance.now() + 200;
    while (performance.now() < until);
    expect((await reply).value).to.equal("prompt");
  });

  it("rejects tasks that do not fit into the queue", async () => {
    await using workers = pool({ queue: 1 });
    const first = workers.run(echo(1), LONG);
    const second = workers.run(echo(2), LONG);
    const third = await faultOf(workers.run(echo(3), LONG));
    expect([third.fault, third.message]).to.deep.equal(["busy", "test: 1 tasks are waiting already"]);
    expect([(await first).value, (await second).value]).to.deep.equal([1, 2]);
  });

  it("drops a waiting task whose caller has stopped waiting, which makes room", async () => {
    await using workers = pool({ queue: 1 });
    const leaving = new AbortController();
    const first = workers.run(echo(1), LONG);
    const second = faultOf(workers.run(echo(2), { ...LONG, signal: leaving.signal }));
    leaving.abort(new Error("left"));
    const third = workers.run(echo(3), LONG);
    expect((await second).message).to.equal("left");
    expect([(await first).value, await third]).to.deep.equal([1, { value: 3, orders: 2 }]);
    const late = workers.run(echo(4), { ...LONG, signal: leaving.signal });
    expect((await faultOf(late)).message).to.equal("left");
  });

  it("reports the exception of a task, and keeps the thread", async () => {
    await using workers = pool();
    const { fault, cause } = await faultOf(workers.run({ do: "throw" }, LONG));
    expect([fault, (cause as Error).message]).to.deep.equal(["failed", "thrown"]);
    expect((await workers.run(echo(1), LONG)).orders).to.equal(2);
  });

  it("reports a message that cannot be sent, and keeps the thread", async () => {
    await using workers = pool({ queue: 0 });
    const unsendable = echo(Symbol("unsendable"));
    expect((await faultOf(workers.run(unsendable, LONG))).fault).to.equal("failed");
    expect((await workers.run(echo(1), LONG)).orders).to.equal(1);
    const both = [faultOf(workers.run(unsendable, LONG)), workers.run(echo(2), LONG)] as const;
    expect([(await both[0]).fault, (await both[1]).orders]).to.deep.equal(["failed", 2]);
  });

  for (const order of [{ do: "exit" }, { do: "swell" }] as const) {
    it(`survives a thread that dies: ${order.do}`, async () => {
      await using workers = pool({ heapMiB: 32 });
      expect((await faultOf(workers.run(order, LONG))).fault).to.equal("failed");
      expect((await workers.run(echo(1), LONG)).orders).to.equal(1);
    });
  }

  it("ends an idle thread", async () => {
    await using workers = pool({ idle: 0 });
    expect((await workers.run(echo(1), LONG)).orders).to.equal(1);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    for (let orders = 0, ms = 1; orders !== 1; ms *= 2) {
      await pause(ms);
      ({ orders } = await workers.run(echo(2), LONG));
    }
  });

  it("reports a module that cannot be loaded", async () => {
    await using workers = pool({ module: new URL("./fixtures/none.ts", import.meta.url) });
    expect((await faultOf(workers.run(echo(1), LONG))).fault).to.equal("failed");
  });

  it("fails all tasks when it is closed, and later ones", async () => {
    const workers = pool();
    const faults = [faultOf(workers.run({ do: "spin" }, LONG)), faultOf(workers.run(echo(1), LONG))];
    await workers[Symbol.asyncDispose]();
    faults.push(faultOf(workers.run(echo(2), LONG)));
    expect((await Promise.all(faults)).map(({ fault }) => fault)).to.deep.equal(["ended", "ended", "ended"]);
  });
});
