// The system gets the memory of a start or a load peak back while the process is idle. V8 waits for eight seconds.
import { fork } from "node:child_process";
import { once } from "node:events";

describe("memory of an idle process", () => {
  it("goes back to the system", async () => {
    const file = new URL("support/resting.ts", import.meta.url);
    const child = fork(file);
    const ended = once(child, "exit");
    try {
      for (;;) {
        const [{ full, now }] = (await once(child, "message")) as [{ readonly full: number; readonly now: number }];
        if (now < full * 0.7) break;
      }
    } finally {
      child.kill();
      await ended;
    }
  }).timeout(60_000);
});
