import { type Forwarded, type ForwardOptions, forward } from "@virtual-workspaces/forwarding";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { APIExport } from "@virtual-workspaces/kcp";
import type { ApiModel } from "../model/api-model.ts";
import type { ExportKey } from "../model/bindings.ts";
import { ClaimedObjects } from "./claimed-objects.ts";
import { type Part, type PartsOptions, partsOf } from "./parts.ts";

/** How the objects of exports are reached. */
export interface ExportResourcesOptions extends PartsOptions, Pick<ForwardOptions<object>, "upstream" | "identity"> {
  readonly model: ApiModel;
}

interface Live {
  readonly served: ServedResource;
  readonly storage: Forwarded<object>;
}

interface Entry {
  /** What the rest was made for. */
  readonly epoch: number;
  readonly parts: ReadonlyMap<string, Live>;
  readonly list: readonly ServedResource[];
}

const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * What is served of each export that somebody has asked for. What stays the same in an export stays the same value, so that
 * watches go on; what does not is ended. Memory: a few KiB for each resource of an export that was asked for, until the
 * export is gone; kinds are shared; bindings cost nothing here.
 */
export class ExportResources implements AsyncDisposable {
  readonly #options: ExportResourcesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ExportResourcesOptions) {
    this.#options = options;
  }

  /** The same list as long as nothing of it changes. Nothing, where there is no export, or none with an identity. */
  of(key: ExportKey): readonly ServedResource[] {
    const { model } = this.#options;
    const text = `${key.cluster}/${key.name}`;
    const before = this.#entries.get(text);
    if (before?.epoch === model.epoch) return before.list;
    const exported = model.export(key);
    if (before === undefined && !hasIdentity(exported)) return NOTHING;
    const parts = hasIdentity(exported) ? partsOf(exported, this.#options) : [];
    const now = this.#made(key, parts, before);
    for (const [part, { storage }] of before?.parts ?? []) if (!now.parts.has(part)) this.#end(storage);
    if (hasIdentity(exported)) this.#entries.set(text, now);
    else this.#entries.delete(text);
    return now.list;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries.values()].flatMap(({ parts }) => [...parts.values()]);
    this.#entries.clear();
    await Promise.all(all.map(({ storage }) => storage[Symbol.asyncDispose]()));
  }

  #made(key: ExportKey, parts: readonly Part[], before: Entry | undefined): Entry {
    const lives = new Map(parts.map((part) => [part.key, before?.parts.get(part.key) ?? this.#live(key, part)]));
    const list = [...lives.values()].map(({ served }) => served);
    const same = before?.list.length === list.length && list.every((one, at) => one === before.list[at]);
    return { epoch: this.#options.model.epoch, parts: lives, list: same ? before.list : Object.freeze(list) };
  }

  #live(of: ExportKey, { kind, identity, labels, verbs, claimed }: Part): Live {
    const { upstream, identity: as, onError, model } = this.#options;
    const storage = forward<object>({
      resource: kind,
      upstream,
      onError,
      unserved: "empty",
      ...(as !== undefined && { identity: as }),
      ...(identity !== "" && { resourceIdentity: identity }),
      ...(labels !== undefined && { labels }),
    });
    const objects = claimed && labels !== undefined ? new ClaimedObjects(storage, { model, of }) : storage;
    return { storage, served: kind.serve(objects, verbs === undefined ? {} : { verbs }) };
  }

  /** Watches of it end when they are looked after, which is within half a second. */
  #end(storage: Forwarded<object>): void {
    storage[Symbol.asyncDispose]().catch(this.#options.onError);
  }
}

/** Whether an export has what its objects are kept by. */
export function hasIdentity(exported: APIExport | undefined): exported is APIExport {
  return (exported?.status?.identityHash ?? "") !== "";
}
