import { createHmac } from "node:crypto";
import { probeTarget, type TargetProblem } from "@virtual-workspaces/kcp/targets";
import { Backoff } from "@virtual-workspaces/transport";
import { Engagement, type ReachOptions, type UsableAccess } from "../client/engaged-space.ts";
import type { SpaceConfig } from "../client/space-access.ts";
import type { Space } from "../kinds/space.ts";

/** Options of {@link SpaceProbes}. */
export interface SpaceProbesOptions extends ReachOptions {
  /** Maximum backoff after a failure, ms. */
  readonly longestWait: number;
  /** Called for a Space that waited for its turn. */
  readonly onTurn: (space: Space) => void;
}

/** Access of an imported Space. */
export interface ImportedAccess {
  readonly config: SpaceConfig;
  /** Digest of the settings and the credential. */
  readonly digest: string;
}

/** Problem of a Space that cannot be connected to. */
export interface SpaceProblem {
  readonly reason: TargetProblem["reason"] | "Refused";
  /** Problem and remedy, without secrets. */
  readonly message: string;
}

/** Result of a probe. */
export type SpaceProbe =
  | { readonly state: "reached" }
  | { readonly state: "failed"; readonly problem: SpaceProblem; readonly retryAfter: number }
  /** Too many probes are running: `onTurn` is called when it is the turn of the Space. */
  | { readonly state: "waiting" };

/** Last probe of a Space. */
interface Probed {
  readonly digest: string;
  readonly backoff: Backoff;
  /** `undefined` after a success. */
  problem?: SpaceProblem;
  /** Earliest time of the next attempt, on the clock of `performance.now()`. */
  again: number;
}

/** Maximum number of probes at a time: a quarter of the manager's workers, so that Spaces without an answer leave most of them free. */
const AT_ONCE = 64;
/** Time limit of an answer, ms. */
const WITHIN = 5_000;
/** First backoff, ms. */
const FIRST = 500;

/**
 * Connections of a manager to imported Spaces, to check address, certificate and credential. Each access is probed until it has
 * succeeded once, so a reached Space costs nothing.
 *
 * Security: a probe connects like every client of a Space, with its rewrite and dialer, so it cannot reach other addresses than these.
 */
export class SpaceProbes {
  readonly #options: SpaceProbesOptions;
  readonly #probed = new Map<string, Probed>();
  readonly #waiting = new Map<string, Space>();
  #running = 0;

  constructor(options: SpaceProbesOptions) {
    this.#options = options;
  }

  /** Sends a request with the access unless it is known to succeed, or has failed a short time ago. @throws the signal's reason */
  async probe(space: Space, { config, digest }: ImportedAccess, signal: AbortSignal): Promise<SpaceProbe> {
    const { uid = "" } = space.metadata;
    const before = this.#probed.get(uid);
    const now = performance.now();
    if (before?.digest === digest) {
      if (before.problem === undefined) return { state: "reached" };
      if (now < before.again) return { state: "failed", problem: before.problem, retryAfter: before.again - now };
    }
    if (this.#running >= AT_ONCE) {
      this.#waiting.set(uid, space);
      return { state: "waiting" };
    }
    const problem = await this.#problem(space, config, signal);
    const probed = before?.digest === digest ? before : { digest, backoff: new Backoff(this.#backoff), again: 0 };
    this.#probed.set(uid, probed);
    if (problem === undefined) {
      delete probed.problem;
      return { state: "reached" };
    }
    const retryAfter = probed.backoff.next();
    probed.problem = problem;
    probed.again = performance.now() + retryAfter;
    return { state: "failed", problem, retryAfter };
  }

  /** Forgets a deleted Space. */
  forget({ metadata: { uid = "" } }: Space): void {
    this.#probed.delete(uid);
    this.#waiting.delete(uid);
  }

  get #backoff(): { readonly first: number; readonly most: number } {
    const { longestWait: most } = this.#options;
    return { first: Math.min(FIRST, most), most };
  }

  async #problem(space: Space, config: SpaceConfig, signal: AbortSignal): Promise<SpaceProblem | undefined> {
    this.#running += 1;
    try {
      const access = { usable: true, space, id: "", config, digests: { server: "", config: "" } } as const;
      const engaged = engagedBy(access, this.#options);
      if (!(engaged instanceof Engagement)) return engaged;
      await using _ = engaged;
      const { client, upstream } = engaged;
      const prefix = client.clusterName === "" ? "" : `/clusters/${client.clusterName}`;
      return await probeTarget(upstream, {
        path: `${prefix}/apis`,
        hasCredential: true,
        mustExist: true,
        within: WITHIN,
        signal,
      });
    } finally {
      this.#running -= 1;
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next[0]);
        this.#options.onTurn(next[1]);
      }
    }
  }
}

/** Returns the connection, or the problem of an address that is invalid or rejected. */
function engagedBy(access: UsableAccess, reach: ReachOptions): Engagement | SpaceProblem {
  try {
    return new Engagement(access, reach);
  } catch (error) {
    return { reason: "Refused", message: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns a digest of an access for its Space's status. Security: keyed by the UID of the Secret, so that it does not help to guess a password. */
export function accessDigest(config: SpaceConfig, secretUid: string): string {
  return createHmac("sha256", secretUid).update(JSON.stringify(config)).digest("base64url");
}
