import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIBindingV1alpha1,
  APIExport,
  APIExportV1alpha1,
  APIResourceSchema,
  APIS_GROUP,
  LogicalCluster,
} from "@virtual-workspaces/kcp";
import { type ClaimableKind, claimableKinds, type ServedVersion, servedVersions } from "@virtual-workspaces/kcp/apis";

/** Schema of kinds without further information. */
const OPEN: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

type AnyOptions = ResourceOptions<JsonSchema, JsonSchema, JsonSchema>;

/** kcp's own kinds that can be claimed without an identity, in all versions. */
const OF_APIS = [APIBinding, APIBindingV1alpha1, APIExport, APIExportV1alpha1, APIResourceSchema] as readonly unknown[];

/** Returns the kinds that can be claimed without an identity, by resource: `configmaps.`, `apibindings.apis.kcp.io`. */
export function claimableResources(known: readonly Resource[]): ReadonlyMap<string, readonly Resource[]> {
  const given = [...known, LogicalCluster as unknown as Resource];
  const found = new Map<string, readonly Resource[]>();
  for (const kind of claimableKinds) {
    const same = given.find(({ group, version, plural }) => isOf(kind, { group, version, plural }));
    found.set(`${kind.plural}.${kind.group}`, [same ?? opened(kind)]);
  }
  for (const kind of OF_APIS as readonly Resource[]) {
    const name = `${kind.plural}.${APIS_GROUP}`;
    found.set(name, [...(found.get(name) ?? []), kind]);
  }
  return found;
}

function isOf(
  kind: ClaimableKind,
  { group, version, plural }: Pick<Resource, "group" | "version" | "plural">,
): boolean {
  return kind.group === group && kind.version === version && kind.plural === plural;
}

/** The strategy allows strategic merge patches for Kubernetes' own kinds; the upstream does the rest. */
function opened({ status, ...names }: ClaimableKind): Resource {
  return new Resource({ ...names, schema: OPEN, subresources: { status }, strategy: {} } as AnyOptions);
}

/** Bindings in both versions, read-only and without a status subresource, as in kcp. */
export const readableBindings: readonly Resource[] = [APIBinding, APIBindingV1alpha1].map(
  (kind) => new Resource({ ...kind, selectableFields: [], subresources: { status: false } } as AnyOptions),
);

/** Served versions of a schema's kind. @throws Error on an unusable schema */
export class SchemaKinds {
  /** Kinds by schema object: a changed schema is another object. */
  readonly #known = new WeakMap<APIResourceSchema, readonly Resource[]>();

  of(schema: APIResourceSchema): readonly Resource[] {
    const known =
      this.#known.get(schema) ??
      servedVersions(schema)
        .filter(({ served }) => served)
        .map(resourceOf);
    this.#known.set(schema, known);
    return known;
  }
}

function resourceOf(version: ServedVersion): Resource {
  const { served: _served, storage: _storage, warning: _warning, subresources, columns, ...rest } = version;
  const { status } = subresources;
  const attempts: readonly Partial<ServedVersion>[] = [
    { subresources, columns },
    // Kubernetes accepts columns and scale paths that match nothing.
    { subresources: { status }, columns },
    { subresources: { status } },
  ];
  for (const attempt of attempts.slice(0, -1)) {
    try {
      return new Resource({ ...rest, ...attempt } as AnyOptions);
    } catch {}
  }
  return new Resource({ ...rest, ...attempts.at(-1) } as AnyOptions);
}
