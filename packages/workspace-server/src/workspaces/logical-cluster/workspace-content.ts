import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject } from "@virtual-workspaces/framework";
import type { Content, ContentKind, ContentOf as ContentOfCluster } from "./content.ts";
import { ContentOf } from "../../state/stored-content.ts";
import type { ShardContext } from "../../state/context.ts";
import type { StoredKind } from "../../state/stored-kinds.ts";

/** How long the store may take to tell what is there, ms. */
const READ_WITHIN = 60_000;

/** What is in the logical clusters of a shard, for those who delete them. */
export function workspaceContent(
  { kinds }: Pick<ShardContext, "kinds">,
  isBound: (cluster: string, kind: StoredKind) => boolean,
): ContentOfCluster {
  return (cluster) => new WorkspaceContent(cluster, { kinds, isBound });
}

interface Sources extends Pick<ShardContext, "kinds"> {
  readonly isBound: (cluster: string, kind: StoredKind) => boolean;
}

class WorkspaceContent implements Content {
  readonly #cluster: string;
  readonly #sources: Sources;

  constructor(cluster: string, sources: Sources) {
    this.#cluster = cluster;
    this.#sources = sources;
  }

  kinds(): readonly ContentKind[] {
    const { kinds, isBound } = this.#sources;
    return kinds.in(this.#cluster).all.map((kind) => ({
      group: kind.definition.group,
      resource: kind.definition.plural,
      namespaced: kind.definition.scope === "Namespaced",
      bound: isBound(this.#cluster, kind),
      deletable: kind.deletable,
    }));
  }

  async deleteAll(kind: ContentKind, signal: AbortSignal): Promise<void> {
    const [failure] = await this.#only(kind).deleteAll(signal);
    if (failure !== undefined) throw new Error(failure);
  }

  async remaining(kind: ContentKind): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    const place = { cluster: this.#cluster, namespace: "" };
    for (const { objects } of this.#only(kind).kinds)
      for await (const object of objects.objectsIn(place, { signal: AbortSignal.timeout(READ_WITHIN) }))
        found.push(decodeObject(object));
    return found;
  }

  #only({ group, resource }: ContentKind): ContentOf {
    const { kinds } = this.#sources;
    const except = ({ definition }: StoredKind): boolean =>
      definition.group !== group || definition.plural !== resource;
    return new ContentOf({ kinds, cluster: this.#cluster, except });
  }
}
