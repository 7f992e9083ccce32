import { computed, signal } from "@preact/signals";

const lost = signal<ReadonlySet<object>>(new Set());

/** False while a watch has lost the server and tries to reach it again. */
export const isConnected = computed(() => lost.value.size === 0);

/** Event of the window: the server answers again. */
const BACK = "console-back";

/** Says whether the watch `owner` has lost the server. */
export function setLost(owner: object, isLost: boolean): void {
  if (lost.peek().has(owner) === isLost) return;
  const next = new Set(lost.peek());
  if (isLost) next.add(owner);
  else next.delete(owner);
  lost.value = next;
  // Where one gets through, the others do, too.
  if (!isLost) dispatchEvent(new Event(BACK));
}

const LONGEST = 15_000;

/** Time until the next attempt in milliseconds: doubles from 0.5 s to 15 s, and differs between watches. */
export function backoff(failures: number): number {
  return Math.min(LONGEST, 250 * 2 ** failures) * (0.75 + Math.random() / 2);
}

/** Waits; less if the network or the server is back. */
export function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", done);
      for (const event of ["online", BACK]) removeEventListener(event, done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    stop.addEventListener("abort", done);
    for (const event of ["online", BACK]) addEventListener(event, done);
  });
}
