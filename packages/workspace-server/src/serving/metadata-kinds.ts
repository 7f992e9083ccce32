import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { Resource, type ServedResource } from "@virtual-workspaces/framework";
import { MetadataCollection, type MetadataOptions } from "@virtual-workspaces/store";
import type { Bindings } from "../bindings/bindings.ts";
import type { CrdController } from "../crds/controller/controller.ts";
import { keySpacesOf } from "../state/key-spaces.ts";
import { withOriginalVersion } from "./served-from.ts";

/** Who knows which custom kinds there are. */
export interface MetadataKindsOptions extends Omit<MetadataOptions, "keySpaces"> {
  readonly crds: Pick<CrdController, "scopeOf">;
  readonly bindings: Pick<Bindings, "scopeOf" | "ownKind">;
  /** What every logical cluster has. */
  readonly base: readonly ServedResource[];
}

/** What watches of a resource resume from: there is nothing behind it. */
const HISTORY = { events: 4096, bytes: 4 * 2 ** 20 } as const;

interface KnownMetadata {
  readonly metadata: MetadataCollection;
  readonly served: ServedResource;
}

/**
 * Resources over all logical clusters of a shard for those who want metadata alone (kcp's wildcard partial metadata): objects
 * of all CustomResourceDefinitions and of all identities together, in whichever version they are, whichever is asked for.
 * Memory: a few hundred bytes for each resource that was asked for and is still there, and what
 * {@link MetadataCollection} says while somebody reads.
 */
export class MetadataKinds {
  readonly #options: MetadataKindsOptions;
  readonly #custom = new Map<string, KnownMetadata>();
  readonly #own = new WeakMap<ServedResource, ServedResource>();

  constructor(options: MetadataKindsOptions) {
    this.#options = options;
  }

  /** `undefined` where no kind is called so. @throws ApiError 503 before it is known which there are */
  of(resource: GroupResource): ServedResource | undefined {
    const own = this.#ownKind(resource);
    return own === undefined ? this.#customKind(resource) : this.#wrapped(own);
  }

  /** Kinds of kcp's own have one place, whoever else calls one so; they too are told of in any version. */
  #ownKind({ group, resource }: GroupResource): ServedResource | undefined {
    const { base, bindings } = this.#options;
    const found = base.find(
      ({ definition, storedAs }) =>
        definition.group === group && definition.plural === resource && storedAs === undefined && isSystem(group),
    );
    return found ?? bindings.ownKind({ group, resource });
  }

  #wrapped(own: ServedResource): ServedResource {
    const served = this.#own.get(own) ?? withOriginalVersion(own);
    this.#own.set(own, served);
    return served;
  }

  #customKind(resource: GroupResource): ServedResource | undefined {
    const { crds, bindings } = this.#options;
    const name = `${resource.resource}.${resource.group}`;
    const scope = crds.scopeOf(resource) ?? bindings.scopeOf(resource);
    if (scope === undefined) {
      this.#custom.delete(name);
      return undefined;
    }
    const before = this.#custom.get(name);
    if (before?.served.definition.scope === scope) return before.served;
    const kind = kindOf(resource, scope);
    const metadata = before?.metadata ?? this.#collection(kind);
    const served = withOriginalVersion(kind.serve(metadata, { verbs: ["list", "watch"] }));
    this.#custom.set(name, { metadata, served });
    return served;
  }

  #collection(kind: Resource): MetadataCollection {
    const { crds: _crds, bindings: _bindings, base: _base, ...options } = this.#options;
    const { group, plural } = kind;
    return new MetadataCollection(kind, {
      history: HISTORY,
      ...options,
      keySpaces: keySpacesOf({ group, resource: plural }),
    });
  }
}

/** Kinds that kcp has as CustomResourceDefinitions of its own. */
function isSystem(group: string): boolean {
  return group.endsWith(".kcp.io");
}

/** Of whichever kind and version. */
function kindOf({ group, resource }: GroupResource, scope: "Cluster" | "Namespaced"): Resource {
  return new Resource({ group, version: "*", kind: "PartialObjectMetadata", plural: resource, scope });
}
