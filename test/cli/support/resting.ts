// Program for resting-memory.slow.test.ts: it creates garbage that V8 keeps under load, reports that, and idles until it is
// killed.
import { RestingMemory } from "../../../packages/cli/src/process/resting-memory.ts";

const resident = (): number => process.memoryUsage.rss() / 2 ** 20;
const rounds = 40;
new RestingMemory({ every: 50 });
let kept: unknown[] = [];
// Survives two young collections, and is garbage afterwards.
for (let round = 0; round < rounds; round++) {
  kept = Array.from({ length: 100_000 }, (_, at) => ({ at, round, text: `${at} of ${round}` }));
  await new Promise((resolve) => setImmediate(resolve));
}
const full = resident();
kept = [];
setInterval(() => process.send?.({ full, now: resident(), kept: kept.length }), 100);
