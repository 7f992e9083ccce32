// Compares the queue with a simple model of maps and sets that are searched in full.
import { WorkQueue } from "@virtual-workspaces/client/queue";
import { expect } from "chai";
import fc from "fast-check";
import { ManualClock } from "../../_support/manual-clock.ts";

type Step =
  | { readonly do: "add"; readonly key: string; readonly priority: number }
  | { readonly do: "after"; readonly key: string; readonly ms: number }
  | { readonly do: "done" | "cancel"; readonly key: string }
  | { readonly do: "get" }
  | { readonly do: "pass"; readonly ms: number };

/** Model: the state of each key. */
class Model {
  readonly line = new Map<string, number>();
  readonly later = new Map<string, number>();
  readonly working = new Set<string>();
  readonly again = new Set<string>();
  now = 0;

  add(key: string, priority: number): void {
    this.later.delete(key);
    if (this.working.has(key)) this.again.add(key);
    else this.line.set(key, Math.max(priority, this.line.get(key) ?? priority));
  }

  after(key: string, ms: number): void {
    if (ms === 0) {
      this.add(key, 0);
      return;
    }
    if (this.line.has(key) || this.again.has(key)) return;
    this.later.set(key, Math.min(this.now + ms, this.later.get(key) ?? Number.POSITIVE_INFINITY));
  }

  done(key: string): void {
    if (this.working.delete(key) && this.again.delete(key)) this.line.set(key, 0);
  }

  cancel(key: string): void {
    for (const place of [this.line, this.later, this.again]) place.delete(key);
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [key, due] of [...this.later]) if (due <= this.now) this.add(key, 0);
  }
}

const key = fc.constantFrom("a/1", "a/2", "a/3", "b/1", "b/2", "c/1");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), key, priority: fc.constantFrom(0, 0, 5) }) },
  fc.record({ do: fc.constant("after" as const), key, ms: fc.constantFrom(0, 1, 5, 20) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("get" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("done" as const), key }) },
  fc.record({ do: fc.constant("cancel" as const), key }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 4, 30) }),
);

describe("WorkQueue compared with a model", () => {
  it("delivers each added key to one worker at a time, and keeps nothing else in memory", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const clock = new ManualClock();
        const queue = new WorkQueue<string>({ id: (text) => text, part: (text) => text.slice(0, 1), clock });
        const model = new Model();
        for (const each of steps) {
          if (each.do === "add") {
            queue.add(each.key, each);
            model.add(each.key, each.priority);
          } else if (each.do === "after") {
            queue.addAfter(each.key, each.ms);
            model.after(each.key, each.ms);
          } else if (each.do === "pass") {
            clock.advance(each.ms);
            model.pass(each.ms);
          } else if (each.do !== "get") {
            queue[each.do](each.key);
            model[each.do](each.key);
          } else if (model.line.size > 0) {
            const got = (await queue.get()) ?? "";
            expect(model.working.has(got), "is not worked on").to.equal(false);
            expect([...model.line.keys()]).to.include(got);
            model.line.delete(got);
            model.working.add(got);
          }
          const { depth, delayed, working } = queue.metrics;
          expect({ depth, delayed, working }).to.eql({
            depth: model.line.size,
            delayed: model.later.size,
            working: model.working.size,
          });
          const all = new Set([...model.line.keys(), ...model.later.keys(), ...model.working]);
          expect(queue.size, "keys in memory").to.equal(all.size);
        }
        for (const each of model.working) queue.done(each);
        await queue.shutdown();
        expect([queue.size, clock.timers]).to.eql([0, 0]);
      }),
      { numRuns: 300 },
    );
  });

  it("makes no cluster wait for more than one key of each other cluster", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(key, { minLength: 1, maxLength: 60 }), async (keys) => {
        const queue = new WorkQueue<string>({ id: (text) => text, part: (text) => text.slice(0, 1) });
        for (const [n, each] of keys.entries()) queue.add(`${each}/${n}`);
        const order: string[] = [];
        while (queue.metrics.depth > 0) order.push((await queue.get())?.slice(0, 1) ?? "");
        for (const part of new Set(order)) {
          const turns = order.flatMap((each, at) => (each === part ? [at] : []));
          for (const [n, at] of turns.entries())
            expect(at - (turns[n - 1] ?? -1), order.join("")).to.be.at.most(new Set(order).size);
        }
      }),
    );
  });
});
