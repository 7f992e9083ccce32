import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject, groupResourceOf, type TypedDefinition } from "@virtual-workspaces/framework";
import { ConfigMap } from "../kinds/config-map.ts";
import { Namespace } from "../kinds/namespace.ts";
import { Secret } from "../kinds/secret.ts";
import { ServiceAccount } from "../kinds/service-account.ts";
import {
  isActive,
  type KeptKey,
  type KeptObjects,
  type KeptResource,
} from "./objects.ts";
import { type Draft, ensure, modify, remove, scopeOf, type Written } from "../state/modify.ts";
import type { ShardObjects } from "../state/objects.ts";

const KINDS = { configmaps: ConfigMap, secrets: Secret, serviceaccounts: ServiceAccount } as unknown as Readonly<
  Record<KeptResource, TypedDefinition<object>>
>;

/** The objects of a shard, as the controllers of service accounts write them. */
export function keptObjects(objects: ShardObjects): KeptObjects {
  const collection = ({ resource }: KeptKey): Written<object> => objects.of(KINDS[resource]);
  return {
    get: (key) => read(collection(key), key),
    create: async (key, { apiVersion: _version, kind: _kind, metadata, ...content }) => {
      await checkNamespace(objects, key);
      const { annotations, labels } = metadata;
      const kept = { ...(annotations && { annotations }), ...(labels && { labels }) };
      await ensure(collection(key), key, () => ({ ...content, metadata: kept }) as Draft<object>);
    },
    update: (key, object) =>
      modify(collection(key), key, ({ metadata }) => {
        const { resourceVersion } = object.metadata;
        if (metadata.resourceVersion !== resourceVersion)
          throw ApiError.conflict(groupResourceOf(KINDS[key.resource]), key.name, "it has changed meanwhile");
        return object;
      }),
    delete: (key, { uid }) => remove(collection(key), key, uid),
  };
}

async function read(from: Written<object>, key: KeptKey): Promise<KubeObject | undefined> {
  const encoded = await from.get(scopeOf(key), key);
  return encoded && decodeObject(encoded);
}

/** Admission is not asked of what the server writes: nothing is made where it could not stay. */
async function checkNamespace(objects: ShardObjects, { cluster, namespace }: KeptKey): Promise<void> {
  const key = { cluster, namespace: "", name: namespace };
  const there = await objects.of(Namespace).get(scopeOf(key), key);
  if (there === undefined || !isActive(decodeObject(there)))
    throw ApiError.notFound(groupResourceOf(Namespace), namespace);
}
