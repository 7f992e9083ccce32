// What is measured: how long the main thread runs without a break. CPU time of the thread, so that a busy machine, which
// takes turns away from it, does not count.

let timer: NodeJS.Timeout | undefined;
let longest = 0;
let last = 0;

const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

function tick(): void {
  const now = cpu();
  longest = Math.max(longest, now - last);
  last = now;
}

/** Commands of a process whose stalls are measured. */
export const stalls = {
  /** Begins to look. */
  watchStalls: (): void => {
    clearInterval(timer);
    longest = 0;
    last = cpu();
    timer = setInterval(tick, 1);
  },
  /** The longest time that nothing else could be done since, ms. */
  longestStall: (): number => {
    tick();
    clearInterval(timer);
    return longest / 1000;
  },
};
