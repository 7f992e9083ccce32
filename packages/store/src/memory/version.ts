import type { Change, KeptEvent } from "../engine/change.ts";
import type { Entry } from "../store.ts";

/** What a key's value was from a revision on. */
export interface Version {
  readonly modRevision: number;
  /** `undefined`: it was deleted. */
  readonly entry: Entry | undefined;
  /** What it was before, as far as the history goes. */
  older: Version | undefined;
}

/** An event that leads to the version that it made. */
export interface VersionEvent extends KeptEvent {
  readonly version: Version;
}

/** What the history keeps of a revision. */
export interface VersionChange extends Change {
  readonly events: readonly VersionEvent[];
}

/** What it was at a revision. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version !== undefined && version.modRevision > revision) version = version.older;
  return version;
}
