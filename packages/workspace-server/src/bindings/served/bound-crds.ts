import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { formatTime } from "@virtual-workspaces/apimachinery";
import { type APIResourceSchema, BOUND_CRDS_CLUSTER } from "@virtual-workspaces/kcp";
import { boundCrdOf } from "@virtual-workspaces/kcp/apis";
import { SCHEMA_CLUSTER_ANNOTATION, SCHEMA_NAME_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { CrdContent, CrdNames, CrdSpec, CustomResourceDefinition } from "../../crds/definition/definition.ts";
import { withDefaults } from "../../crds/definition/definition.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { ensure, remove } from "../../state/modify.ts";

/** Schema that cannot become a CustomResourceDefinition. */
export class UnboundableSchema extends Error {
  override readonly name: string = "UnboundableSchema";
}

/** Minimum age before an unused definition is removed, in ms. */
const YOUNG = 30 * 60_000;

/**
 * CustomResourceDefinitions of the bound resources of a shard: one for each APIResourceSchema, named by its uid, in
 * `system:bound-crds`, shared by all bindings. They outlive schema and export, so that bound resources stay served.
 * Names never conflict, since each definition applies in other workspaces.
 */
export class BoundCrds {
  readonly #crds: PersistentCollection<CrdContent>;
  readonly #informer: Informer<CrdContent>;
  readonly #now: () => Date;

  constructor(crds: PersistentCollection<CrdContent>, informer: Informer<CrdContent>, now: () => Date) {
    this.#crds = crds;
    this.#informer = informer;
    this.#now = now;
  }

  /** Returns the definition of a schema; `undefined` until it is created. */
  get(uid: string): CustomResourceDefinition | undefined {
    return this.#informer.store.get(keyOf(uid));
  }

  /**
   * Removes unused definitions older than half an hour; a younger one may be about to be used. Stored objects stay,
   * under their identity.
   */
  async sweep(isBound: (uid: string) => boolean): Promise<void> {
    const old = this.#now().getTime() - YOUNG;
    for (const { metadata } of this.#informer.store.list(BOUND_CRDS_CLUSTER)) {
      const { name = "", uid, creationTimestamp } = metadata;
      if (!isBound(name) && Date.parse(creationTimestamp ?? "") <= old) await remove(this.#crds, keyOf(name), uid);
    }
  }

  /** Creates the definition of a schema unless it exists. @throws UnboundableSchema; ApiError of the store */
  async ensure(schema: APIResourceSchema): Promise<CustomResourceDefinition> {
    const { uid = "" } = schema.metadata;
    const there = this.get(uid);
    if (there !== undefined) return there;
    const made = draftOf(schema, this.#now());
    const { object } = await ensure<CrdContent>(this.#crds, keyOf(uid), () => made);
    return object;
  }
}

/** Returns the names that a definition reserves in its workspaces. */
export function namesOf({ spec, status }: CustomResourceDefinition): CrdNames {
  return status?.acceptedNames ?? spec.names;
}

/** Returns the location of a definition's schema. */
export function schemaOf({ metadata }: KubeObject): { readonly cluster: string; readonly name: string } {
  const { annotations = {} } = metadata;
  return { cluster: annotations[SCHEMA_CLUSTER_ANNOTATION] ?? "", name: annotations[SCHEMA_NAME_ANNOTATION] ?? "" };
}

function keyOf(uid: string) {
  return { cluster: BOUND_CRDS_CLUSTER, namespace: "", name: uid };
}

function draftOf(schema: APIResourceSchema, now: Date): CrdContent & Pick<CustomResourceDefinition, "metadata"> {
  const { metadata, spec: given } = crdLike(schema);
  const spec = withDefaults(given as CrdSpec);
  const condition = { status: "True", lastTransitionTime: formatTime(now) } as const;
  return {
    metadata: { annotations: metadata.annotations ?? {} },
    spec,
    status: {
      conditions: [
        { ...condition, type: "NamesAccepted", reason: "NoConflicts", message: "no conflicts found" },
        {
          ...condition,
          type: "Established",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        },
      ],
      acceptedNames: spec.names,
      storedVersions: spec.versions.filter(({ storage }) => storage).map(({ name }) => name),
    },
  };
}

function crdLike(schema: APIResourceSchema): ReturnType<typeof boundCrdOf> {
  try {
    return boundCrdOf(schema);
  } catch (error) {
    throw new UnboundableSchema(error instanceof Error ? error.message : String(error));
  }
}
