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
  /** Resolves when the model has the bindings that the workspace had at the call. */
  readonly confirm: () => Promise<void>;
  /** Called some time after the last reader. */
  readonly onIdle: () => void;
  /** Time to live after the last reader, so that clients can resume, in ms. */
  readonly linger: number;
}

/**
 * Live set of the schemas that one workspace has bound, with resource versions of its own: bindings, exports and schemas determine
 * its content, and no server counts their versions together. It lives while it has readers, and some time longer.
 */
export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #cache: WatchCache;
  /** Shown schemas, as in the model. */
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

  /** Returns whether the shown schemas depend on an export or schema with this key. */
  isMadeFrom(text: string): boolean {
    return this.#by.has(text);
  }

  /** Refreshes at the end of the turn, or before the next read if that is earlier. */
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
      // A different schema with the same name: the ADDED event gets a version of its own, so that clients can resume after DELETED.
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

/** Schemas that a workspace has bound, and the objects that they depend on. */
interface BoundSchemaSet {
  /** Schemas by name. */
  readonly schemas: ReadonlyMap<string, APIResourceSchema>;
  /** Keys of the requested exports and schemas, existing or not: {@link changeKey}. */
  readonly by: ReadonlySet<string>;
}

interface Candidate {
  readonly schema: APIResourceSchema;
  readonly cluster: string;
  /** Whether the workspace has the resource through it. */
  readonly bound: boolean;
}

/**
 * Returns the schemas that the exports of a workspace's bindings name now. A binding counts once it is Bound; its status names the
 * export's logical cluster.
 *
 * Providers may use the same schema name. Such schemas describe one resource, which a workspace has from one provider: that schema
 * is shown. If it has neither, the first logical cluster by name wins.
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

/** Returns a key of an export or schema. */
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
