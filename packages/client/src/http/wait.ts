/** The longest that a timer can run, ms. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** Waits. @throws the signal's reason, at once */
export function wait(time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
      Math.min(time, LONGEST_DELAY),
    );
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}
