// A process that does nothing has V8 save memory; what comes of it: resting-memory.slow.test.ts.
import { setTimeout as delay } from "node:timers/promises";
import { RestingMemory } from "../../packages/cli/src/process/resting-memory.ts";

describe("memory of a process that rests", () => {
  it("is told to once it does nothing, and no longer when it works", async () => {
    using memory = new RestingMemory({ every: 20 });
    const until = async (rests: boolean, work: () => void): Promise<void> => {
      while (memory.rests !== rests) {
        work();
        await delay(5);
      }
    };
    await until(true, () => undefined);
    await until(false, () => {
      for (const end = performance.now() + 20; performance.now() < end; );
    });
  });
});
