import { type ObjectOf, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Awaitable, CacheLease, Scope, Storage, ViewSource } from "@virtual-workspaces/framework";

/** Objects of all logical clusters, read as one stream whichever of these is asked for: what they are is worked out once. */
export class ReadWhole<T extends object> implements Storage<ObjectOf<T>> {
  readonly #source: ViewSource<T>;

  constructor(source: ViewSource<T>) {
    this.#source = source;
  }

  cache(scope: Scope): Awaitable<CacheLease> {
    return this.#source.cache(whole(scope));
  }

  shareKey(scope: Scope): string | undefined {
    return this.#source.shareKey?.(whole(scope));
  }
}

function whole(scope: Scope): Scope {
  return { ...scope, cluster: WILDCARD, params: { ...scope.params, cluster: WILDCARD } };
}
