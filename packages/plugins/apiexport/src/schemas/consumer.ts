import { type CacheLease, type Minter, WatchCache } from "@virtual-workspaces/framework/storage";
import type { APIBinding, APIExport, APIResourceSchema } from "@virtual-workspaces/kcp";
import type { ApiModel, ModelChange } from "../model/api-model.ts";
import { isBound } from "../model/bindings.ts";
import type { ShownSchema, ShownSchemas } from "./shown-schemas.ts";

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

/** The schemas of what a workspace has bound, and what they were found by. */
interface BoundSchemaSet {
  /** By name. */
  readonly schemas: ReadonlyMap<string, APIResourceSchema>;
  /** The exports and schemas that were asked for, there or not, as {@link changeKey} has them. */
  readonly by: ReadonlySet<string>;
}

interface Candidate {
  readonly schema: APIResourceSchema;
  readonly cluster: string;
  /** Whether the workspace has the resource by it. */
  readonly bound: boolean;
}

/**
 * The schemas that the exports of a workspace's bindings name now. A binding counts once it is Bound, and says itself
 * where its export is.
 *
 * Providers may call their schemas alike. A name that there is twice is one resource, of which a workspace has one: that
 * one is shown; and should it have neither, that of the logical cluster whose name is the first.
 */
function wantedSchemas(model: Pick<ApiModel, "bindings" | "export" | "schema">, consumer: string): BoundSchemaSet {
  const by = new Set<string>();
  const found = new Map<string, Candidate>();
  for (const binding of model.bindings(consumer)) {
    const key = exportOf(binding);
    if (key === undefined) continue;
    by.add(changeKey({ of: "export", ...key }));
    for (const resource of resourcesOf(model.export(key))) {
      const name = resource.schema;
      by.add(changeKey({ of: "schema", cluster: key.cluster, name }));
      const schema = model.schema({ cluster: key.cluster, name });
      if (schema === undefined) continue;
      const bound = isBound(binding, { group: resource.group, resource: resource.name });
      const candidate = { schema, cluster: key.cluster, bound };
      const other = found.get(name);
      if (other === undefined || isBefore(candidate, other)) found.set(name, candidate);
    }
  }
  return { schemas: new Map([...found].map(([name, { schema }]) => [name, schema])), by };
}

/** An export or schema as one text. */
export function changeKey({ of, cluster, name }: ModelChange): string {
  return `${of} ${cluster}/${name}`;
}

function exportOf({ spec, status }: APIBinding): { readonly cluster: string; readonly name: string } | undefined {
  const { name } = spec.reference?.export ?? {};
  const { phase, apiExportClusterName: cluster } = status ?? {};
  return phase === "Bound" && name && cluster ? { cluster, name } : undefined;
}

function resourcesOf(exported: APIExport | undefined): NonNullable<NonNullable<APIExport["spec"]>["resources"]> {
  return exported?.spec?.resources ?? [];
}

function isBefore(one: Candidate, other: Candidate): boolean {
  return one.bound === other.bound ? one.cluster < other.cluster : one.bound;
}
