import type { Due } from "./due-heap.ts";
import type { Place } from "./fair-lines.ts";

/** All that a queue knows of a key. */
export interface WorkItem<K> extends Due {
  readonly key: K;
  readonly id: string;
  readonly part: string;
  priority: number;
  /** Its place in line, while it stands there. */
  standing: Place<WorkItem<K>> | undefined;
  /** Added while it was worked on. */
  again: boolean;
  failures: number;
  /** When it was put in line, or work on it began: ms of the clock. */
  since: number;
}

export function newItem<K>(key: K, { id, part }: { id: string; part: string }): WorkItem<K> {
  return { key, id, part, priority: 0, standing: undefined, again: false, failures: 0, since: 0, due: 0, place: -1 };
}
