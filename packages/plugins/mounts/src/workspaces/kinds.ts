import { isApiError, type KindReference, parseApiVersion } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import type { MountReference } from "./contract.ts";

/** A kind that is looked for: in a logical cluster, by a reference. */
export interface Sought {
  readonly cluster: string;
  readonly ref: Pick<MountReference, "apiVersion" | "kind">;
}

interface Looked {
  /** When it was first not there, ms. */
  readonly since: number;
  readonly asked: number;
  readonly answer: Promise<KindReference | undefined>;
}

/** For how long a kind that was not there is not asked for again by others, ms. */
const FRESH = 500;
/** The least and the most that is waited before a kind that is not there is looked for again, though nobody tells, ms. */
const WAITS = [1000, 60_000] as const;

/**
 * The kinds of mount objects, as each logical cluster serves them: looked for once, and again where they were not there, or may
 * have gone. Memory: a few hundred bytes for each kind in each logical cluster where a Workspace is mounted by one.
 */
export class MountKinds {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #clusters = new Map<string, Map<string, Looked>>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** `undefined` where it is not served. @throws ApiError 400 on what cannot be a kind, and what the server answers */
  async find(sought: Sought): Promise<KindReference | undefined> {
    const known = this.#of(sought.cluster);
    const text = textOf(sought);
    const before = known.get(text);
    const found = await before?.answer;
    const now = performance.now();
    if (before !== undefined && (found !== undefined || now - before.asked < FRESH)) return found;
    // Another may have asked meanwhile.
    const other = known.get(text);
    if (other !== undefined && other !== before) return other.answer;
    const answer = this.#look(sought);
    const looked = { since: before?.since ?? now, asked: now, answer };
    known.set(text, looked);
    answer.catch(() => {
      if (known.get(text) === looked) known.delete(text);
    });
    return answer;
  }

  /** How long to wait before one that is not there is looked for again, ms: the longer it was not, the longer. */
  patience(sought: Sought): number {
    const [least, most] = WAITS;
    const since = this.#clusters.get(sought.cluster)?.get(textOf(sought))?.since;
    return since === undefined ? least : Math.min(most, Math.max(least, performance.now() - since));
  }

  /** What is served in a logical cluster may have changed, or nobody asks any more. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  async #look({ cluster, ref: { apiVersion, kind } }: Sought): Promise<KindReference | undefined> {
    const { group, version } = parseApiVersion(apiVersion);
    const client = this.#client.cluster(cluster);
    const found = await client
      .discovery()
      .look({ group, version, kind }, { signal: this.#signal })
      .catch((error: unknown) => {
        // The logical cluster itself is going.
        if (isApiError(error) && (error.code === 403 || error.code === 404)) return undefined;
        throw error;
      });
    return found && { group, version, kind, plural: found.plural, scope: found.scope };
  }

  #of(cluster: string): Map<string, Looked> {
    const known = this.#clusters.get(cluster) ?? new Map<string, Looked>();
    this.#clusters.set(cluster, known);
    return known;
  }
}

function textOf({ ref: { apiVersion, kind } }: Sought): string {
  return JSON.stringify([apiVersion, kind]);
}
