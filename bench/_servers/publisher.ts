import { sharedNow } from "./tick.ts";

/** Commands of a server that `publish`es the nth change. */
export function publisher(publish: (n: number) => void): {
  readonly publishOne: () => void;
  readonly publishEvery: (plan: { readonly period: number; readonly count: number }) => Promise<Float64Array>;
} {
  let published = 0;
  return {
    publishOne: () => publish(++published),
    /** @returns when each was published */
    publishEvery: ({ period, count }) => {
      const times: number[] = [];
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          times.push(sharedNow());
          publish(++published);
          if (times.length < count) return;
          clearInterval(timer);
          resolve(Float64Array.from(times));
        }, period);
      });
    },
  };
}
