import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { type Admit, converted, type Resource, type ServedResource } from "@virtual-workspaces/framework";
import type { Scope } from "@virtual-workspaces/framework/storage";
import {
  APIBinding,
  APIBindingV1alpha1,
  APIConversion,
  APIExport,
  APIExportEndpointSlice,
  APIExportV1alpha1,
  APIResourceSchema,
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  LogicalCluster,
} from "@virtual-workspaces/kcp";
import { olderApiBindings, olderApiExports } from "@virtual-workspaces/kcp/apis";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { Bindings } from "../bindings/bindings.ts";
import type { TakenNames } from "../crds/definition/naming.ts";
import type { BuiltInKind } from "../kinds/built-in-kind.ts";
import { builtInKinds } from "../kinds/built-in-kinds.ts";
import { CustomResourceDefinition } from "../kinds/custom-resource-definition.ts";
import { CoreEvent } from "../kinds/event.ts";
import { coreOfEvent, Event, eventOfCore } from "../kinds/events-event.ts";
import { finalizeNamespace, Namespace } from "../kinds/namespace.ts";
import { ServiceAccount } from "../kinds/service-account.ts";
import { admitInOrder } from "../state/admission.ts";
import type { ShardObjects } from "../state/objects.ts";
import { type TokenSubresourceOptions, tokenSubresource } from "../tokens/token-request.ts";
import { storageWith } from "./served-from.ts";

/** Time to live of an event since its last write, in seconds (`--event-ttl`). */
const EVENT_TTL = 3_600;

/** Options of the kinds that all logical clusters have. */
export interface BaseKindsOptions {
  readonly objects: ShardObjects;
  /** Admission of all these kinds. */
  readonly admit: Admit;
  /** Options of `serviceaccounts/token`. */
  readonly token: TokenSubresourceOptions;
}

/** Returns Kubernetes' own kinds, except CustomResourceDefinition, which its controller serves. */
export function baseKinds(options: BaseKindsOptions): readonly ServedResource[] {
  return builtInKinds
    .filter(({ resource }) => resource !== CustomResourceDefinition)
    .map((kind) => serve(kind, options));
}

function serve({ resource, verbs }: BuiltInKind, { objects, admit, token }: BaseKindsOptions): ServedResource {
  const options = { verbs, admit };
  if (resource.plural === Namespace.plural) {
    const namespaces = objects.of(Namespace);
    const finalize = finalizeNamespace(namespaces);
    return Namespace.serve(namespaces, { verbs, admit: admit as never, subresources: { finalize } });
  }
  if (resource.plural === ServiceAccount.plural) {
    const subresources = { token: tokenSubresource(token) };
    return ServiceAccount.serve(objects.of(ServiceAccount), { verbs, admit: admit as never, subresources } as never);
  }
  if (resource === CoreEvent) return CoreEvent.serve(events(objects), options);
  if (resource !== Event) return resource.serve(objects.of(resource), options);
  const renamed = { read: eventOfCore as never, write: coreOfEvent as never };
  return Event.serve(converted({ from: events(objects), to: Event, ...renamed }), options);
}

function events(objects: ShardObjects): PersistentCollection {
  return objects.of(CoreEvent, { ttl: EVENT_TTL });
}

/** Returns kcp's only kind, besides those of apis.kcp.io, that every logical cluster has without a binding. */
export function logicalClusters(objects: ShardObjects, admit: Admit): ServedResource {
  return LogicalCluster.serve(objects.of(LogicalCluster), { admit: admit as never });
}

/** Returns the kinds of apis.kcp.io, exports and bindings in both versions. The admission of each kind precedes the common one. */
export function apiKinds(
  objects: ShardObjects,
  { admit, bindings }: { readonly admit: Admit; readonly bindings: Pick<Bindings, "admission" | "created"> },
): readonly ServedResource[] {
  const { apiExport, apiBinding, apiResourceSchema, apiExportEndpointSlice } = bindings.admission;
  const served = (own: Admit): { readonly admit: never } => ({ admit: admitInOrder(own, admit) as never });
  const [exports, bound] = [objects.of(APIExport), objects.of(APIBinding)];
  const create: typeof bound.create = (scope, object) => bound.create(scope, createdBinding(object, scope, bindings));
  return [
    APIExport.serve(exports, served(apiExport)),
    APIExportV1alpha1.serve(olderApiExports(exports), served(apiExport)),
    APIBinding.serve(storageWith(bound, { create }), served(apiBinding)),
    APIBindingV1alpha1.serve(olderApiBindings(bound), served(apiBinding)),
    APIResourceSchema.serve(objects.of(APIResourceSchema), served(apiResourceSchema)),
    APIExportEndpointSlice.serve(objects.of(APIExportEndpointSlice), served(apiExportEndpointSlice)),
    APIConversion.serve(objects.of(APIConversion), { admit: admit as never }),
  ];
}

/** A default binding is created bound where its locks are taken; others stay as they are. */
function createdBinding(object: APIBinding, { cluster }: Scope, bindings: Pick<Bindings, "created">): APIBinding {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [CLUSTER_ANNOTATION]: cluster };
  const key = { cluster, namespace: "", name: metadata.name ?? "" };
  return bindings.created({ ...object, metadata: { ...metadata, annotations } }, key);
}

/** Returns the kinds of `cache.kcp.io`, which every logical cluster has with the feature gate `CacheAPIs`. */
export function cachedKinds(
  objects: ShardObjects,
  { admit, bindings }: { readonly admit: Admit; readonly bindings: Pick<Bindings, "cachedAdmission"> },
): readonly ServedResource[] {
  return [ClusterCachedResource, ClusterCachedResourceEndpointSlice].map((kind) => {
    const own = bindings.cachedAdmission.get(kind.plural);
    const all = own === undefined ? admit : admitInOrder(own, admit);
    return (kind as unknown as Resource).serve(objects.of(kind as unknown as Resource), { admit: all });
  });
}

/** Kubernetes' own groups in the order of kcp's discovery; groups of CRDs and bindings follow. */
const GROUPS: readonly string[] = [
  "",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "rbac.authorization.k8s.io",
  "admissionregistration.k8s.io",
  "events.k8s.io",
];

/** Sorts resources in the order that clients rely on: `kubectl get events` means those of the core group. */
export function inGroupOrder(resources: readonly ServedResource[]): readonly ServedResource[] {
  const rank = ({ definition }: ServedResource): number => {
    const at = GROUPS.indexOf(definition.group);
    return at === -1 ? GROUPS.length : at;
  };
  return resources.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the names that built-in kinds occupy in a group: no CustomResourceDefinition gets them. */
export function takenNames(served: readonly ServedResource[], group: string): TakenNames {
  const definitions = served.map(({ definition }) => definition).filter((definition) => definition.group === group);
  return {
    resources: new Set(definitions.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])),
    kinds: new Set(definitions.flatMap(({ kind, listKind }) => [kind, listKind])),
  };
}

type List = readonly ServedResource[];

/**
 * Resources of logical clusters: the built-in ones, those of bindings unless they are built in, and those of CRDs unless a binding
 * has the name. Equal logical clusters share one list.
 */
export class ServedLists {
  readonly #base: List;
  readonly #names: ReadonlySet<string>;
  readonly #known = new WeakMap<List, WeakMap<List, List>>();

  constructor(base: List) {
    this.#base = base;
    this.#names = new Set(base.map(nameOf));
  }

  /** @param parts must be identical lists while nothing in them changes */
  of({ bound, own }: { readonly bound: List; readonly own: List }): List {
    let byOwn = this.#known.get(bound);
    if (byOwn === undefined) {
      byOwn = new WeakMap();
      this.#known.set(bound, byOwn);
    }
    let list = byOwn.get(own);
    if (list === undefined) {
      const names = new Set(bound.map(nameOf));
      // With an identity, a built-in resource stays available to clients that name it.
      const others = bound.filter((kind) => kind.identity !== "" || !this.#names.has(nameOf(kind)));
      list = [...this.#base, ...others, ...own.filter((kind) => !names.has(nameOf(kind)))];
      byOwn.set(own, list);
    }
    return list;
  }
}

export function nameOf({ definition: { group, plural } }: Pick<ServedResource, "definition">): string {
  return `${plural}.${group}`;
}
