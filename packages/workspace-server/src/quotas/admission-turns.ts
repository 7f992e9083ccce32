import { createHash, randomInt, randomUUID } from "node:crypto";
import type { Condition, Store } from "@virtual-workspaces/store";
import { sleep } from "@virtual-workspaces/transport";

/** Number of turns: logical clusters share them, so that the store keeps a bounded number of records. */
const TURNS = 256;

/** Longest wait after a lost turn, in ms: it doubles from the first on. */
const WAIT = { first: 8, most: 256 } as const;

/** Right of this process to create objects in limited logical clusters. */
interface Turn {
  readonly key: string;
  /** Revision of the record that gave it; `undefined` without it. */
  revision: number | undefined;
  /** Number of times that it was lost since the last creation. */
  losses: number;
  taking: Promise<void> | undefined;
}

/** Options of {@link AdmissionTurns}. */
export interface AdmissionTurnsOptions {
  readonly store: Pick<Store, "commit">;
  /** Waits until everything up to a revision is counted. */
  readonly caughtUp: (revision: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Lets one of several processes over a store at a time create objects in a limited logical cluster. A process takes its turn
 * by writing a record, then waits until it has counted everything before that. Each creation has the record's revision as a
 * condition: once another process has taken the turn, the creations of this one fail, are counted again, and retried. While
 * one process creates, a turn costs no write.
 */
export class AdmissionTurns {
  readonly #options: AdmissionTurnsOptions;
  readonly #turns = new Map<string, Turn>();
  readonly #process = randomUUID();

  constructor(options: AdmissionTurnsOptions) {
    this.#options = options;
  }

  /** Returns the condition under which an object may be created; takes the turn first unless this process has it. */
  async take(cluster: string, signal: AbortSignal): Promise<Condition> {
    const turn = this.#of(cluster);
    for (;;) {
      if (turn.revision !== undefined) return { key: turn.key, modRevision: turn.revision };
      turn.taking ??= this.#take(turn, signal).finally(() => {
        turn.taking = undefined;
      });
      // Fails by the signal of the request that began it: the next one tries again.
      await turn.taking.catch((error: unknown) => {
        if (signal.aborted || !isAbort(error)) throw error;
      });
    }
  }

  /** Takes the turn again: no earlier creation of this process succeeds from now on. */
  async retake(cluster: string, signal: AbortSignal): Promise<void> {
    this.#of(cluster).revision = undefined;
    await this.take(cluster, signal);
  }

  /** Notes that a creation failed because another process has taken the turn. */
  lost(cluster: string, { modRevision }: Condition): void {
    const turn = this.#of(cluster);
    if (turn.revision !== modRevision) return;
    turn.revision = undefined;
    turn.losses++;
  }

  /** Notes that a creation succeeded. */
  used(cluster: string): void {
    this.#of(cluster).losses = 0;
  }

  #of(cluster: string): Turn {
    const slot = createHash("sha256").update(cluster).digest().readUInt8(0) % TURNS;
    const key = `~quota/${slot.toString(16).padStart(2, "0")}`;
    let turn = this.#turns.get(key);
    if (turn === undefined) {
      turn = { key, revision: undefined, losses: 0, taking: undefined };
      this.#turns.set(key, turn);
    }
    return turn;
  }

  async #take(turn: Turn, signal: AbortSignal): Promise<void> {
    // The other process needs time for its creations before this one takes the turn again.
    if (turn.losses > 0)
      await sleep(1 + randomInt(Math.min(WAIT.first * 2 ** (turn.losses - 1), WAIT.most)), { signal });
    signal.throwIfAborted();
    const value = Buffer.from(this.#process);
    const operations = [{ type: "put", key: turn.key, value }] as const;
    const { revision } = await this.#options.store.commit({ conditions: [], operations }, { signal });
    await this.#options.caughtUp(revision, signal);
    turn.revision = revision;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}
