// A store that counts its calls, to detect busy loops.
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "@virtual-workspaces/store";

export interface Counted {
  readonly store: Store;
  readonly counts: { gets: number; commits: number };
  /** Resolves after a while without calls; never, if they do not stop. */
  quiet(): Promise<void>;
}

export function counted(store: Store): Counted {
  const counts = { gets: 0, commits: 0, ranges: 0 };
  const names = { get: "gets", commit: "commits", range: "ranges" } as const;
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name in names) counts[names[name as keyof typeof names]]++;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const asked = (): number => counts.gets + counts.commits + counts.ranges;
  return {
    store: proxy,
    counts,
    async quiet() {
      for (let before = -1; before !== asked(); ) {
        before = asked();
        await delay(300);
      }
    },
  };
}
