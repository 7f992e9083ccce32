import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  type APIBinding,
  type APIExport,
  type APIResourceSchema,
  clusterOf,
  ROOT_CLUSTER,
  type Shard,
  viewURL,
} from "@virtual-workspaces/kcp";
import { exportHash, SHARD_NAME_LABEL } from "@virtual-workspaces/kcp/names";
import type { AccessAttributes } from "../../authz/access.ts";
import type { ShardContext } from "../../state/context.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";

/** Which export something refers to. */
export interface ExportReference {
  /** A workspace path or the name of a logical cluster; none, or "": the logical cluster of what refers to it. */
  readonly path?: string | undefined;
  readonly name: string;
}

/** Where the export is, as it is referred to: a path, or a logical cluster. */
export function placeOf({ path = "" }: ExportReference, cluster: string): string {
  return path === "" ? cluster : path;
}

/** `<path>|<name>`, as kcp's messages name an export. */
export function exportText(reference: ExportReference, cluster: string): string {
  return `${placeOf(reference, cluster)}|${reference.name}`;
}

/** The APIExports of all shards, and what belongs to them, as one of the shards sees them: its own first. */
export class Exports {
  readonly #shard: ShardContext;
  readonly #hashes = new WeakMap<APIExport, string>();

  constructor(shard: ShardContext) {
    this.#shard = shard;
  }

  /** The export that something in a logical cluster refers to. */
  find(reference: ExportReference, cluster: string): APIExport | undefined {
    const key = `${placeOf(reference, cluster)}:${reference.name}`;
    return this.#first(({ state }) => state.apiExports.store.by("export", key)[0]);
  }

  /** The export of a binding. */
  of(binding: APIBinding): APIExport | undefined {
    const reference = binding.spec.reference.export;
    return reference && this.find(reference, clusterOf(binding));
  }

  /**
   * Where the export of a binding is: as it is found or, while a shard does not run that may have it, as the binding was bound.
   * @returns `undefined` when it is not there
   */
  whereOf(binding: APIBinding): { readonly cluster: string; readonly name: string } | undefined {
    const found = this.of(binding);
    if (found !== undefined) return { cluster: clusterOf(found), name: found.metadata.name ?? "" };
    const { name } = binding.spec.reference.export ?? {};
    const cluster = binding.status?.apiExportClusterName;
    return name !== undefined && cluster !== undefined && this.missing.length > 0 ? { cluster, name } : undefined;
  }

  /** Shards that may have what is not found. */
  get missing(): readonly Shard[] {
    return this.#shard.registry.missing;
  }

  /** All exports of an identity. */
  withIdentity(hash: string): APIExport[] {
    return this.#shards().flatMap(({ state }) => state.apiExports.store.by("identity", hash));
  }

  /** A schema that an export names. */
  schema(cluster: string, name: string): APIResourceSchema | undefined {
    const key: ObjectKey = { cluster, namespace: "", name };
    return this.#first(({ state }) => state.apiResourceSchemas.store.get(key));
  }

  /** The hash by which bindings and claimed objects are labelled. */
  hashOf(found: APIExport): string {
    const known = this.#hashes.get(found);
    if (known !== undefined) return known;
    const hash = exportHash({ cluster: clusterOf(found), name: found.metadata.name ?? "" });
    this.#hashes.set(found, hash);
    return hash;
  }

  #first<R>(ask: (shard: Pick<ShardPeer, "state">) => R | undefined): R | undefined {
    const own = ask(this.#shard);
    if (own !== undefined) return own;
    for (const shard of this.#shard.registry.shards) {
      const found = shard.name === this.#shard.name ? undefined : ask(shard);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #shards(): readonly Pick<ShardPeer, "state">[] {
    return [this.#shard, ...this.#shard.registry.shards.filter(({ name }) => name !== this.#shard.name)];
  }
}

/** The question whether somebody may bind an export, which is asked in the export's logical cluster. */
export function bindAttributes(name: string): AccessAttributes {
  return { verb: "bind", group: "apis.kcp.io", version: "v1alpha1", resource: "apiexports", name };
}

/** Where the view of an export is, on a shard whose views are at this URL. */
export function exportURL(virtualWorkspaceURL: string, { cluster, name }: Pick<ObjectKey, "cluster" | "name">): string {
  return viewURL(virtualWorkspaceURL, "apiexport", cluster, name);
}

/** A shard, as URLs are made of it. */
interface PublishedShard {
  readonly labels: Readonly<Record<string, string>>;
  /** "" while it is not known. */
  readonly virtualWorkspaceURL: string;
  /** Where it has joined the others, what is on it. */
  readonly context: ShardPeer | undefined;
}

/**
 * All shards: those that run here, and what their Shards in `root` say, which is what counts; by Shards alone
 * those that do not run for now, or run elsewhere.
 */
export function publishedShards(running: readonly ShardPeer[]): PublishedShard[] {
  const known = new Map<string, Shard | undefined>(running.map(({ name }) => [name, undefined]));
  for (const { state } of running)
    for (const shard of state.shards.store.list(ROOT_CLUSTER)) known.set(shard.metadata.name ?? "", shard);
  return [...known].map(([name, shard]) => {
    const context = running.find((one) => one.name === name);
    const url = shard?.spec?.virtualWorkspaceURL ?? context?.urls.virtualWorkspaceURL ?? "";
    return {
      labels: { [SHARD_NAME_LABEL]: name, ...shard?.metadata.labels },
      virtualWorkspaceURL: URL.canParse(url) ? url : "",
      context,
    };
  });
}
