import { ApiError, everyField, everyLabel, type KubeObject, type ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  decodeObject,
  type Encoded,
  type NamedSubresource,
  type Scope,
  type Storage,
  type SubresourceWrite,
  type WriteOptions,
} from "@virtual-workspaces/framework";
import { countOf, specOf } from "./problems.ts";
import { Namespace, type NamespaceContent, specFinalizerProblems } from "./namespace.ts";

type Finalize = SubresourceWrite<ObjectOf<NamespaceContent>, NamespaceContent>;

/**
 * `/finalize` of namespaces: the one way to write `spec.finalizers`, and nothing else. A namespace that is being deleted goes
 * when the last one does. Who may update `namespaces/finalize` can make a namespace go before its content has.
 *
 * @param storage where the namespaces are kept
 */
export function finalizeNamespace(
  storage: Storage<ObjectOf<NamespaceContent>>,
): NamedSubresource<ObjectOf<NamespaceContent>, NamespaceContent> {
  return {
    kind: Namespace,
    update: async (request) => {
      const { object, dryRun } = request;
      const next = finalized(request);
      const causes = specFinalizerProblems(next);
      if (causes.length > 0) throw ApiError.invalid({ kind: Namespace, name: request.key.name, causes });
      const options = optionsOf(request);
      if (isReleased(next)) {
        const { resourceVersion } = object.metadata;
        const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
        if (!dryRun) await storage.delete?.(scopeOf(request), request.key, { ...options, ...preconditions });
        return next;
      }
      return dryRun ? next : plain(await storage.update?.(scopeOf(request), next, options), next);
    },
  };
}

function finalized({ object, body, key }: Finalize): ObjectOf<NamespaceContent> {
  const { uid, resourceVersion } = body.metadata;
  const { metadata } = object;
  const conflict = (why: string): ApiError =>
    ApiError.conflict({ group: "", resource: Namespace.plural }, key.name, why);
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ""}`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict("the object has been modified; please apply your changes to the latest version and try again");
  const { finalizers = [] } = body.spec ?? {};
  return { ...object, spec: finalizers.length === 0 ? {} : { finalizers } };
}

function isReleased({ metadata, ...namespace }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  return countOf(specOf({ metadata, ...namespace } as KubeObject)["finalizers"]) === 0;
}

function scopeOf({ params, key, user }: Finalize): Scope {
  return { params, cluster: key.cluster, namespace: "", labels: everyLabel, fields: everyField, identity: user };
}

function optionsOf({ user, signal, requestId, warn, dryRun, fieldManager, fieldValidation }: Finalize): WriteOptions {
  return { user, signal, requestId, warn, dryRun, fieldManager, fieldValidation };
}

function plain<T extends KubeObject>(written: T | Encoded | undefined, otherwise: T): T {
  if (written === undefined) return otherwise;
  return "metadata" in written ? (written as T) : (decodeObject(written as Encoded) as T);
}
