import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { type Engine, put, Subject, under } from "./subject.ts";

const EVENTS = 50_000;
const AT_ONCE = 100;
const MEBIBYTE = 1024 * 1024;

export function describeSlowReaders(engine: Engine): void {
  describe("slow readers of a watch", () => {
    const subject = Subject.for(engine);

    it(`are ${EVENTS} events behind, in bounded memory, and miss none`, async () => {
      setFlagsFromString("--expose-gc");
      const collect: () => void = runInNewContext("gc");
      const used = async (): Promise<number> => {
        for (let count = 0; count < 3; count++) {
          collect();
          await new Promise(setImmediate);
        }
        const { heapUsed, external } = process.memoryUsage();
        return heapUsed + external;
      };

      const base = await subject.store.head();
      const readers = [];
      for (let count = 0; count < 4; count++) readers.push(await subject.watch(under("s/")));
      const firsts = readers.map((reader) => reader.next());
      const value = "v".repeat(1024);
      for (let written = 0; written < EVENTS; written += AT_ONCE)
        await subject.done(
          ...Array.from({ length: AT_ONCE }, (_, index) => put(`s/${index}`, `${written + index} ${value}`)),
        );
      await Promise.all(firsts);

      const [slow, ...others] = readers;
      const held = await used();
      for (const reader of others) await reader.leave();
      const perReader = (held - (await used())) / others.length;
      expect(perReader, "what a reader holds that has stopped").to.be.below(16 * MEBIBYTE);

      const history = await subject.watch(under("s/"), { after: base });
      let counted = 0;
      for (const reader of [slow ?? expect.fail("no reader"), history]) {
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
  });
}
