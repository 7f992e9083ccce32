// An idle process makes V8 save memory. resting-memory.slow.test.ts measures the effect.
import { setTimeout as delay } from "node:timers/promises";
import { RestingMemory } from "../../packages/cli/src/process/resting-memory.ts";

describe("RestingMemory", () => {
  it("optimizes for size while the process is idle, and not under load", async () => {
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
