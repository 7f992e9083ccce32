import { type Forwarded, type ForwardOptions, forward } from "@virtual-workspaces/forwarding";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { APIExport } from "@virtual-workspaces/kcp";
import type { ApiModel } from "../model/api-model.ts";
import type { ExportKey } from "../model/bindings.ts";
import { ClaimedObjects } from "./claimed-objects.ts";
import { type Part, type PartsOptions, partsOf } from "./parts.ts";

/** Options of {@link ExportResources}. */
export interface ExportResourcesOptions extends PartsOptions, Pick<ForwardOptions<object>, "upstream" | "identity"> {
  readonly model: ApiModel;
}

interface Live {
  readonly served: ServedResource;
  readonly storage: Forwarded<object>;
}

interface Entry {
  /** Epoch of the model that the other fields are from. */
  readonly epoch: number;
  readonly parts: ReadonlyMap<string, Live>;
  readonly list: readonly ServedResource[];
}

const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * Served resources of each requested export. Parts of an export that stay the same keep their storage, so that watches continue;
 * other storages end. Memory: a few KiB for each resource of a requested export, until the export is deleted; kinds are shared, and
 * bindings take none.
 */
export class ExportResources implements AsyncDisposable {
  readonly #options: ExportResourcesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ExportResourcesOptions) {
    this.#options = options;
  }

  /** Returns the same list until it changes. Empty for an export that does not exist or has no identity. */
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
    // As in kcp, whose view reads all kinds as custom ones.
    const typed = claimed && identity === "" && !kind.group.endsWith(".kcp.io") && { typedItems: true };
    return { storage, served: kind.serve(objects, { ...(verbs && { verbs }), ...typed }) };
  }

  /** Ends a storage. Watches of it end at their next check, within half a second. */
  #end(storage: Forwarded<object>): void {
    storage[Symbol.asyncDispose]().catch(this.#options.onError);
  }
}

/** Returns whether an export has the identity that its objects are stored under. */
export function hasIdentity(exported: APIExport | undefined): exported is APIExport {
  return (exported?.status?.identityHash ?? "") !== "";
}
