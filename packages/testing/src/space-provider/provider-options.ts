import type { CheckResult } from "../assertions/report.ts";
import type { Credentials } from "../http/credentials.ts";

/** How long {@link checkSpaceProvider} waits, ms. */
export interface SpaceProviderDeadlines {
  /** For an answer. @default 15000 */
  readonly answer: number;
  /** For what must come at once: the first line of a watch, and what it says of a change. @default 2000 */
  readonly prompt: number;
  /** For any line of a watch: providers say something every 30 s. @default 31000 */
  readonly heartbeat: number;
  /** For a space that is made to be ready, and for one that is deleted to be gone. @default 300000 */
  readonly ready: number;
}

/** Which provider, as whom, and how far to go. */
export interface SpaceProviderCheckOptions extends Credentials {
  /** What `/v1/spaces` is below. */
  readonly url: string;
  /** Below which space those are that are looked at and made, where the provider has a hierarchy. @default none */
  readonly parent?: string;
  /**
   * Makes a space of a name that nobody else has, reads its kubeconfigs, and deletes it.
   * @default false: it only reads, and skips the checks that need that
   */
  readonly write?: boolean;
  /** Which checks are made, by their ids: `P2.1`. @default all */
  readonly checks?: (id: string) => boolean;
  readonly deadlines?: Partial<SpaceProviderDeadlines>;
  /** Ends the run; it then rejects with the signal's reason, when what it has made is deleted. */
  readonly signal?: AbortSignal;
  /** Told of each result as it comes; must not throw. */
  readonly onResult?: (result: CheckResult) => void;
}
