import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Admit, converted, type ServedResource, type WritableSource } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import type { CompiledKind } from "./kind-table.ts";

/** Where the objects of a kind are kept, and on what terms they are written. */
export interface LiveKindOptions extends PersistentOptions {
  readonly store: Store;
  readonly keySpace: string;
  /** Serves it as `<plural>:<identity>` as well, as {@link LiveKind.identified}. @default by its plural alone */
  readonly identity?: string;
  /** Asked before every write, in every version. @default nobody */
  readonly admit?: Admit | undefined;
}

/**
 * A kind over the objects of one CustomResourceDefinition: what is served of it. It holds no timer and, as long as nobody
 * reads, no object; all that it knows is in the store, so that it can be dropped and made anew.
 */
export class LiveKind {
  readonly kind: CompiledKind;
  /** The objects, in the version that is kept. */
  readonly objects: PersistentCollection;
  /** One for each version that is served. */
  readonly served: readonly ServedResource[];
  /** The same by their identity. Empty without one. */
  readonly identified: readonly ServedResource[];
  /** Whether the definition is on its way out: objects can be written, none can be made. */
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
