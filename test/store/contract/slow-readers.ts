import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import type { Reader } from "./reader.ts";
import { type Engine, put, refused, Subject, under } from "./subject.ts";

const EVENTS = 50_000;
const AT_ONCE = 100;
const MEBIBYTE = 1024 * 1024;

/** Returns the bytes in use after garbage collection. */
async function used(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let count = 0; count < 3; count++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function describeSlowReaders(engine: Engine): void {
  describe("slow readers of a watch", () => {
    const subject = Subject.for(engine);

    /** Returns readers that stopped after the first batch, 50 MiB ago. */
    async function stopped(count: number): Promise<Reader[]> {
      const readers = [];
      for (let index = 0; index < count; index++) readers.push(await subject.watch(under("s/")));
      const firsts = readers.map((reader) => reader.next());
      const value = "v".repeat(1024);
      for (let written = 0; written < EVENTS; written += AT_ONCE)
        await subject.done(
          ...Array.from({ length: AT_ONCE }, (_, index) => put(`s/${index}`, `${written + index} ${value}`)),
        );
      await Promise.all(firsts);
      return readers;
    }

    it(`are ${EVENTS} events behind, in bounded memory, and miss none`, async () => {
      const base = await subject.store.head();
      const [slow = expect.fail("no reader"), ...others] = await stopped(4);
      const held = await used();
      for (const reader of others) await reader.leave();
      const perReader = (held - (await used())) / others.length;
      expect(perReader, "what a reader holds that has stopped").to.be.below(16 * MEBIBYTE);

      const history = await subject.watch(under("s/"), { after: base });
      let counted = 0;
      for (const reader of [slow, history]) {
        let expected = reader === slow ? AT_ONCE : 0;
        while (expected < EVENTS) {
          const { events } = await reader.next();
          for (const { entry } of events)
            counted += entry?.value.toString("latin1").startsWith(`${expected++} `) ? 1 : 0;
        }
        await reader.leave();
      }
      expect(counted, "each in its turn").to.equal(2 * EVENTS - AT_ONCE);
    }).timeout(120_000);

    it("retain nothing of the compacted history", async () => {
      const readers = await stopped(2);
      const head = await subject.store.head();
      await subject.store.compact(head);
      const held = await used();
      for (const reader of readers) await reader.leave();
      expect(held - (await used()), "what two readers hold that have stopped").to.be.below(24 * MEBIBYTE);
      const late = await subject.watch(under("s/"), { after: head - 1 });
      await refused("Compacted", () => late.next());
    }).timeout(120_000);
  });
}
