// Why: a file that is mapped counts as resident, but the system takes it back when it likes. What a process costs is what
// is anonymous.
import { readFileSync } from "node:fs";

let sampler: NodeJS.Timeout | undefined;
let peak = 0;

/** Bytes. Where there is no /proc: all that is resident. */
function anonymous(): number {
  try {
    const kib = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
    return Number(kib) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}

function sample(): void {
  peak = Math.max(peak, anonymous());
}

/** Commands of a process that knows its own size. */
export const anonymousMemory = {
  /** Bytes after a collection. Needs `--expose-gc`. */
  anonymous: async (): Promise<number> => {
    for (let round = 0; round < 3; round++) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return anonymous();
  },
  /** Looks every 5 ms from now on. */
  startPeak: (): void => {
    peak = 0;
    sample();
    sampler ??= setInterval(sample, 5);
  },
  /** Bytes, the most that were seen. */
  stopPeak: (): number => {
    clearInterval(sampler);
    sampler = undefined;
    sample();
    return peak;
  },
};
