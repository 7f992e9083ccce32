import type { SpacePhase } from "../kinds/space.ts";

/**
 * What is behind a Space, as far as is known. `unprovided`: its SpaceProviderDesc is not there. `unknown`: nobody has said yet. Of an imported one
 * `ready` or `absent`: whether there is access.
 */
export type Seen = "unprovided" | "unknown" | "absent" | "initializing" | "ready";

/** How it stands with a Space. */
export interface Situation {
  readonly type: "managed" | "unmanaged" | "imported";
  /** It has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly seen: Seen;
  /** It has been seen before. */
  readonly was: boolean;
  /** Its phase has been another than `Initializing`. */
  readonly answered: boolean;
  /** It has the finalizer: what is behind it is made, and deleted, with it. */
  readonly held: boolean;
  /** The manager has made it, of a space that it found. */
  readonly discovered: boolean;
  /** It is such as are to be discovered: by its name. */
  readonly wanted: boolean;
}

/**
 * What is done, in order; what fails stops the next, and is done again. `hold`, `release`: the finalizer. `create`, `remove`: at the provider; `remove` stops the
 * next until it is gone. `publish`, `withdraw`: the Secrets. `drop`: this object.
 */
export type Step = "hold" | "release" | "create" | "remove" | "publish" | "withdraw" | "drop";

/** Why a Space is as it is; `Ready` for one that is. */
export type Reason =
  | "Ready"
  | "Unknown"
  | "Creating"
  | "Initializing"
  | "NotReady"
  | "Vanished"
  | "NotFound"
  | "ProviderNotFound"
  | "AccessMissing"
  | "Deleting"
  | "Gone";

/** One row: where all of `when` holds, this is so. `keep`: the phase stays. */
export interface Row {
  readonly when: Partial<Situation>;
  readonly reason: Reason;
  readonly phase: SpacePhase | "keep";
  readonly steps: readonly Step[];
}

/** The states of a Space, in order: the first row that fits. Told by what there is and not by what has happened, so that it does not matter what was missed. */
export const TABLE: readonly Row[] = [
  // Managed: the object comes first.
  row({ type: "managed", deleting: true, held: false }, "Gone", "keep", []),
  row({ type: "managed", deleting: true, seen: "unprovided" }, "ProviderNotFound", "NotReady", []),
  row({ type: "managed", deleting: true }, "Deleting", "NotReady", ["remove", "withdraw", "release"]),
  row({ type: "managed", seen: "unprovided" }, "ProviderNotFound", "NotReady", []),
  row({ type: "managed", seen: "unknown" }, "Unknown", "keep", []),
  row({ type: "managed", seen: "absent", was: true }, "Vanished", "NotReady", ["hold", "withdraw"]),
  row({ type: "managed", seen: "absent" }, "Creating", "Initializing", ["hold", "create"]),
  row({ type: "managed", seen: "initializing", answered: true }, "NotReady", "NotReady", ["hold"]),
  row({ type: "managed", seen: "initializing" }, "Initializing", "Initializing", ["hold"]),
  row({ type: "managed", seen: "ready" }, "Ready", "Ready", ["hold", "publish"]),
  // Unmanaged: what is behind it comes first.
  row({ type: "unmanaged", deleting: true }, "Gone", "keep", ["release"]),
  row({ type: "unmanaged", discovered: true, wanted: false }, "Gone", "NotReady", ["drop"]),
  row({ type: "unmanaged", discovered: true, seen: "absent" }, "Gone", "NotReady", ["drop"]),
  row({ type: "unmanaged", discovered: true, seen: "unprovided" }, "Gone", "NotReady", ["drop"]),
  row({ type: "unmanaged", seen: "unprovided" }, "ProviderNotFound", "NotReady", ["release"]),
  row({ type: "unmanaged", seen: "unknown" }, "Unknown", "keep", ["release"]),
  row({ type: "unmanaged", seen: "absent", was: true }, "Vanished", "NotReady", ["release", "withdraw"]),
  row({ type: "unmanaged", seen: "absent" }, "NotFound", "NotReady", ["release"]),
  row({ type: "unmanaged", seen: "initializing", answered: true }, "NotReady", "NotReady", ["release"]),
  row({ type: "unmanaged", seen: "initializing" }, "Initializing", "Initializing", ["release"]),
  row({ type: "unmanaged", seen: "ready" }, "Ready", "Ready", ["release", "publish"]),
  // Imported: whoever made the object says how to reach it.
  row({ type: "imported", deleting: true }, "Gone", "keep", []),
  row({ type: "imported", seen: "unknown" }, "Unknown", "keep", []),
  row({ type: "imported", seen: "absent" }, "AccessMissing", "NotReady", []),
  row({ type: "imported", seen: "ready" }, "Ready", "Ready", []),
];

/** The row of a situation. @throws Error where there is none: the table is not complete */
export function rowOf(situation: Situation): Row {
  const found = TABLE.find(({ when }) =>
    Object.entries(when).every(([name, value]) => situation[name as keyof Situation] === value),
  );
  if (found === undefined) throw new Error(`no row of the table fits ${JSON.stringify(situation)}`);
  return found;
}

function row(
  when: Partial<Situation>,
  ...[reason, phase, steps]: readonly [Reason, Row["phase"], readonly Step[]]
): Row {
  return { when, reason, phase, steps };
}
