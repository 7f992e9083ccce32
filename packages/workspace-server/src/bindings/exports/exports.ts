import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
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

/** Reference to an APIExport. */
export interface ExportReference {
  /** Workspace path or logical cluster name. @default the referring object's logical cluster, also for "" */
  readonly path?: string | undefined;
  readonly name: string;
}

/** Returns the export's location as the reference states it: a path or a logical cluster name. */
export function placeOf({ path = "" }: ExportReference, cluster: string): string {
  return path === "" ? cluster : path;
}

/** Returns `<path>|<name>`, as in kcp's messages. */
export function exportText(reference: ExportReference, cluster: string): string {
  return `${placeOf(reference, cluster)}|${reference.name}`;
}

/** APIExports of all shards and their schemas, as one shard sees them: its own come first. */
export class Exports {
  readonly #shard: ShardContext;
  readonly #hashes = new WeakMap<APIExport, string>();

  constructor(shard: ShardContext) {
    this.#shard = shard;
  }

  /** Returns the export that an object of a logical cluster refers to. */
  find(reference: ExportReference, cluster: string): APIExport | undefined {
    const key = `${placeOf(reference, cluster)}:${reference.name}`;
    return this.#first(({ state }) => state.apiExports.store.by("export", key)[0]);
  }

  /** Returns the export of a binding. */
  of(binding: APIBinding): APIExport | undefined {
    const reference = binding.spec.reference.export;
    return reference && this.find(reference, clusterOf(binding));
  }

  /**
   * Returns the location of a binding's export. While a shard that may have it does not run, the binding's status decides.
   * @returns `undefined` if the export does not exist
   */
  whereOf(binding: APIBinding): { readonly cluster: string; readonly name: string } | undefined {
    const found = this.of(binding);
    if (found !== undefined) return { cluster: clusterOf(found), name: found.metadata.name ?? "" };
    const { name } = binding.spec.reference.export ?? {};
    const cluster = binding.status?.apiExportClusterName;
    return name !== undefined && cluster !== undefined && this.missing.length > 0 ? { cluster, name } : undefined;
  }

  /** Shards that do not run and may have exports that are not found. */
  get missing(): readonly Shard[] {
    return this.#shard.registry.missing;
  }

  /** Returns all exports with an identity. */
  withIdentity(hash: string): APIExport[] {
    return this.#shards().flatMap(({ state }) => state.apiExports.store.by("identity", hash));
  }

  /** Returns whether an export with an identity provides a resource, and the schema exists. */
  provides(hash: string, { group, resource }: GroupResource): boolean {
    return this.withIdentity(hash).some((found) =>
      found.spec?.resources?.some(
        (one) =>
          one.group === group && one.name === resource && this.schema(clusterOf(found), one.schema) !== undefined,
      ),
    );
  }

  /** Returns a schema that an export refers to. */
  schema(cluster: string, name: string): APIResourceSchema | undefined {
    const key: ObjectKey = { cluster, namespace: "", name };
    return this.#first(({ state }) => state.apiResourceSchemas.store.get(key));
  }

  /** Returns the hash that labels bindings and claimed objects. */
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

/** Returns the access attributes for binding an export, to check in the export's logical cluster. */
export function bindAttributes(name: string): AccessAttributes {
  return { verb: "bind", group: "apis.kcp.io", version: "v1alpha1", resource: "apiexports", name };
}

/** Returns the URL of an export's view, on a shard with this view URL. */
export function exportURL(virtualWorkspaceURL: string, { cluster, name }: Pick<ObjectKey, "cluster" | "name">): string {
  return viewURL(virtualWorkspaceURL, "apiexport", cluster, name);
}

/** Shard with the fields that URLs need. */
interface PublishedShard {
  readonly labels: Readonly<Record<string, string>>;
  /** URL of the shard's views; "" while it is unknown. */
  readonly virtualWorkspaceURL: string;
  /** State of the shard, if it has joined. */
  readonly context: ShardPeer | undefined;
}

/**
 * Returns all shards: those that run here, with the fields of their Shards in `root`, and Shards that do not run or run
 * elsewhere.
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
