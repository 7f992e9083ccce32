import type { SpacePhase } from "../kinds/space.ts";

/**
 * Observed state of the physical space. `unprovided`: its SpaceProviderDesc does not exist. `unknown`: the provider has not reported it
 * yet. For an imported Space, `absent` is one without access, and `initializing` one that its access has not reached yet.
 */
export type Seen = "unprovided" | "unknown" | "absent" | "initializing" | "ready";

/** Facts about a Space that determine its row. */
export interface Situation {
  readonly type: "managed" | "unmanaged" | "imported";
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly seen: Seen;
  /** Whether the physical space has existed before. */
  readonly was: boolean;
  /** Whether its phase has been other than `Initializing`. */
  readonly answered: boolean;
  /** Whether it has the finalizer, so that the physical space is created and deleted with it. */
  readonly held: boolean;
  /** Whether the manager created it for a discovered space. */
  readonly discovered: boolean;
  /** Whether its name matches the prefix for discovery. */
  readonly wanted: boolean;
}

/**
 * Steps in order. A failure skips the rest and is retried. The steps `hold` and `release` set the finalizer, `publish` and `withdraw` the
 * Secrets. `create` and `remove` call the provider; `remove` waits until the space is gone. `drop` deletes the Space object.
 */
export type Step = "hold" | "release" | "create" | "remove" | "publish" | "withdraw" | "drop";

/** Reason of the condition; `Ready` if there is no problem. */
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
  | "Connecting"
  | "NotReached"
  | "Deleting"
  | "Gone";

/** Row of the table, which applies if all of `when` matches. `keep` leaves the phase unchanged. */
export interface Row {
  readonly when: Partial<Situation>;
  readonly reason: Reason;
  readonly phase: SpacePhase | "keep";
  readonly steps: readonly Step[];
}

/** States of a Space; the first matching row applies. Rows match the current state and not events, so missed events have no effect. */
export const TABLE: readonly Row[] = [
  // Managed: the Space object determines the physical space.
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
  // Unmanaged: the physical space determines the Space object.
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
  // Imported: the creator of the object supplies its access.
  row({ type: "imported", deleting: true }, "Gone", "keep", []),
  row({ type: "imported", seen: "unknown" }, "Unknown", "keep", []),
  row({ type: "imported", seen: "absent" }, "AccessMissing", "NotReady", []),
  row({ type: "imported", seen: "initializing", answered: true }, "NotReached", "NotReady", []),
  row({ type: "imported", seen: "initializing" }, "Connecting", "Initializing", []),
  row({ type: "imported", seen: "ready" }, "Ready", "Ready", []),
];

/** Returns the row of a situation. @throws Error without a match, which is an error in the table */
export function rowOf(situation: Situation): Row {
  const found = TABLE.find(({ when }) =>
    Object.entries(when).every(([name, value]) => situation[name as keyof Situation] === value),
  );
  if (found === undefined) throw new Error(`no row of the table matches ${JSON.stringify(situation)}`);
  return found;
}

function row(
  when: Partial<Situation>,
  ...[reason, phase, steps]: readonly [Reason, Row["phase"], readonly Step[]]
): Row {
  return { when, reason, phase, steps };
}
