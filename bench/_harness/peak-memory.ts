let sampler: NodeJS.Timeout | undefined;
let peak = { rss: 0, arrayBuffers: 0 };

function sample(): void {
  const { arrayBuffers } = process.memoryUsage();
  peak = {
    rss: Math.max(peak.rss, process.memoryUsage.rss()),
    arrayBuffers: Math.max(peak.arrayBuffers, arrayBuffers),
  };
}

/** Commands of a process that watches its own size, every 5 ms. */
export const peakMemory = {
  startSampling: (): void => {
    peak = { rss: 0, arrayBuffers: 0 };
    sample();
    sampler ??= setInterval(sample, 5);
  },
  /** Bytes, the largest that were seen. */
  stopSampling: (): typeof peak => {
    clearInterval(sampler);
    sampler = undefined;
    sample();
    return peak;
  },
};
