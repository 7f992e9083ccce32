import { type CacheLease, type Minter, WatchCache } from "@virtual-workspaces/framework";
import type { APIResourceSchema } from "@virtual-workspaces/kcp";
import type { ApiModel } from "../model/model.ts";
import type { ShownSchema, ShownSchemas } from "./shown-schema.ts";
import { wantedSchemas } from "./wanted.ts";

export interface ConsumerOptions {
  readonly cluster: string;
  readonly model: Pick<ApiModel, "bindings" | "export" | "schema">;
  readonly minter: Minter;
  readonly shown: ShownSchemas;
  /** Resolves when the model has what the workspace had bound when this was called. */
  readonly confirm: () => Promise<void>;
  /** Called when nobody has read for a while. */
  readonly onIdle: () => void;
  /** How long it outlives its last reader, so that clients resume, ms. */
  readonly linger: number;
}

/**
 * The schemas of what one workspace has bound, live, with a line of versions of its own: what comes and goes there is
 * decided by its bindings, by exports and by schemas, which no server counts together. Kept while somebody reads, and a
 * while longer.
 */
export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #cache: WatchCache;
  /** What is shown, as the model has it. */
  #shown: ReadonlyMap<string, APIResourceSchema> = new Map();
  #by: ReadonlySet<string> = new Set();
  #stale = true;
  #holders = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ConsumerOptions) {
    const { minter } = options;
    this.#options = options;
    this.#cache = new WatchCache({ version: minter.next(), minter });
  }

  lease(): CacheLease {
    clearTimeout(this.#idle);
    this.#holders += 1;
    this.#refresh();
    let held = true;
    return {
      cache: this.#cache,
      confirm: async () => {
        await this.#options.confirm();
        this.#refresh();
      },
      [Symbol.dispose]: () => {
        if (held) this.#release();
        held = false;
      },
    };
  }

  /** Whether an export or schema, as one text, has to do with what is shown. */
  isMadeFrom(text: string): boolean {
    return this.#by.has(text);
  }

  /** Looks at everything anew at the end of the turn, or before the next read if that is sooner. */
  renew(): void {
    if (this.#stale) return;
    this.#stale = true;
    queueMicrotask(() => this.#refresh());
  }

  #release(): void {
    this.#holders -= 1;
    const { onIdle, linger } = this.#options;
    if (this.#holders === 0) this.#idle = setTimeout(onIdle, linger).unref();
  }

  #refresh(): void {
    if (!this.#stale) return;
    this.#stale = false;
    const { schemas, by } = wantedSchemas(this.#options.model, this.#options.cluster);
    const before = this.#shown;
    this.#shown = schemas;
    this.#by = by;
    for (const name of before.keys()) if (!schemas.has(name)) this.#delete(name);
    for (const name of [...schemas.keys()].sort()) this.#place(schemas.get(name), before.get(name));
  }

  #place(schema: APIResourceSchema | undefined, before: APIResourceSchema | undefined): void {
    if (schema === undefined || schema === before) return;
    const { shown, minter, cluster } = this.#options;
    const now = (): ShownSchema => shown.at(minter.next(), schema, cluster);
    let next = now();
    if (before !== undefined && this.#cache.get(next.key)?.uid !== next.uid) {
      // Another schema of that name: its coming is a version of its own, so that who has seen only the going resumes there.
      this.#delete(next.key.name);
      next = now();
    }
    this.#cache.set(next);
  }

  #delete(name: string): void {
    const { cluster, minter } = this.#options;
    this.#cache.delete({ cluster, namespace: "", name }, minter.next());
  }
}
