import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject } from "@virtual-workspaces/framework/storage";
import type { ShardContext } from "./context.ts";
import { read } from "./modify.ts";
import type { ShardPeer } from "./shard-peer.ts";

/** A shard of this process as the others see it: they read its own informers and write to its own store. */
export function inProcessPeer(shard: ShardContext): ShardPeer {
  const { name, state, objects, services, kinds } = shard;
  return {
    name,
    state,
    objects,
    services,
    // Known once the shard listens.
    get urls() {
      return shard.urls;
    },
    // Made after the context.
    get authorizer() {
      return shard.authorizer;
    },
    async referred(cluster, reference) {
      const found = kinds
        .in(cluster)
        .all.find(({ definition: { group, kind } }) => group === reference.group && kind === reference.kind);
      if (found === undefined || found.definition.scope !== "Cluster") return undefined;
      const object = await read(found.objects, { cluster, namespace: "", name: reference.name });
      return { plural: found.definition.plural, object };
    },
    custom(cluster, resource) {
      return kinds.in(cluster).custom(resource);
    },
    paramKind(cluster, { apiVersion, kind }) {
      const found = kinds.in(cluster).of(apiVersion, kind);
      return found?.definition;
    },
    async params(cluster, { apiVersion, kind, namespace, of }) {
      const found = kinds.in(cluster).of(apiVersion, kind);
      if (found === undefined) return [];
      const inVersion = (object: KubeObject): KubeObject => ({ ...object, apiVersion, kind });
      if (typeof of === "string") {
        const object = await read(found.objects, { cluster, namespace, name: of });
        return object === undefined ? [] : [inVersion(object)];
      }
      const all: KubeObject[] = [];
      for await (const kept of found.objects.objectsIn({ cluster, namespace })) {
        const object = decodeObject(kept);
        if (of.matches(object.metadata.labels ?? {})) all.push(inVersion(object));
      }
      return all;
    },
  };
}
