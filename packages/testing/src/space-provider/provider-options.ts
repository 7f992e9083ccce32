import type { CheckResult } from "../assertions/report.ts";
import type { Credentials } from "../http/credentials.ts";

/** Deadlines of {@link checkSpaceProvider}, in ms. */
export interface SpaceProviderDeadlines {
  /** Deadline for an answer. @default 15000 */
  readonly answer: number;
  /** Deadline for prompt answers: the first line of a watch, and its line about a change. @default 2000 */
  readonly prompt: number;
  /** Deadline for any line of a watch: providers send one every 30 s. @default 31000 */
  readonly heartbeat: number;
  /** Deadline for a created space to become ready, and for a deleted one to be gone. @default 300000 */
  readonly ready: number;
}

/** Provider, credentials and extent of the checks. */
export interface SpaceProviderCheckOptions extends Credentials {
  /** URL below which `/v1/spaces` is. */
  readonly url: string;
  /** Parent of the spaces that are checked and created, for a provider with a hierarchy. @default none */
  readonly parent?: string;
  /**
   * Creates a space with a unique name, reads its kubeconfigs, and deletes it.
   * @default false: the run only reads, and skips the checks that write
   */
  readonly write?: boolean;
  /** Selects the checks to run, by id: `P2.1`. @default all */
  readonly checks?: (id: string) => boolean;
  readonly deadlines?: Partial<SpaceProviderDeadlines>;
  /** Ends the run, which then deletes its space and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with each result as it arrives; must not throw. */
  readonly onResult?: (result: CheckResult) => void;
}
