import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Admit, converted, type ServedResource, type WritableSource } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import type { CompiledKind } from "./kind-table.ts";

/** Storage and write options of a kind. */
export interface LiveKindOptions extends PersistentOptions {
  readonly store: Store;
  readonly keySpace: string;
  /** Also serves the kind as `<plural>:<identity>`, see {@link LiveKind.identified}. @default by its plural only */
  readonly identity?: string;
  /** Called before every write, in every version. @default none */
  readonly admit?: Admit | undefined;
}

/**
 * Served resources of one CustomResourceDefinition. It has no timer and holds no objects until a request reads them.
 * All state is in the store, so it can be dropped and created again.
 */
export class LiveKind {
  readonly kind: CompiledKind;
  /** Objects, in the storage version. */
  readonly objects: PersistentCollection;
  /** Resources by plural, one for each served version. */
  readonly served: readonly ServedResource[];
  /** The same resources, by identity. Empty without one. */
  readonly identified: readonly ServedResource[];
  /** Whether the definition is being deleted: objects can be updated, but not created. */
  terminating = false;

  constructor(kind: CompiledKind, { store, admit, identity, ...options }: LiveKindOptions) {
    this.kind = kind;
    this.objects = kind.stored.collection(persistent(store, options));
    const guarded: Admit = (request) => {
      if (this.terminating && request.operation === "CREATE") throw this.#refusal(request.object?.metadata.name);
      return admit?.(request);
    };
    const from = this.objects as WritableSource;
    const storages = kind.versions.map(({ resource }) =>
      resource === kind.stored ? this.objects : converted({ from, to: resource }),
    );
    const serve = (more: { readonly identity?: string }): readonly ServedResource[] =>
      kind.versions.flatMap(({ resource, served, warning }, at) => {
        const options = { admit: guarded, ...(warning && { warning }), ...more };
        return served ? [resource.serve(storages[at] as PersistentCollection, options)] : [];
      });
    this.served = serve({});
    this.identified = identity === undefined ? [] : serve({ identity });
  }

  #refusal(name: string | undefined): ApiError {
    const resource = groupResourceOf(this.kind.stored);
    const message = "create not allowed while custom resource definition is terminating";
    return ApiError.forbidden({ resource, name, message });
  }
}
