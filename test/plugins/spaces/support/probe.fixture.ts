// Preloaded into a server: after SIGUSR2 it collects garbage and reports on stderr what the process holds.
import { readdirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function report(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    collect();
    await nextTurn();
  }
  const kinds = process.getActiveResourcesInfo();
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const held = {
    timers: count("Timeout"),
    sockets: count("TCPSocketWrap"),
    children: count("ProcessWrap"),
    files: readdirSync("/proc/self/fd").length,
    bytes: heapUsed + arrayBuffers,
  };
  process.stderr.write(`held ${JSON.stringify(held)}\n`);
}

process.on("SIGUSR2", () => void report());
