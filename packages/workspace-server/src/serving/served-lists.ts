import type { ServedResource } from "@virtual-workspaces/framework";

type List = readonly ServedResource[];

/**
 * What logical clusters have in all: what every one has, what their bindings bring, and kinds of their own, but for those
 * whose names bindings have. Equal logical clusters have one and the same list.
 */
export class ServedLists {
  readonly #base: List;
  readonly #known = new WeakMap<List, WeakMap<List, List>>();

  constructor(base: List) {
    this.#base = base;
  }

  /** @param parts the same lists as long as nothing of them has changed */
  of({ bound, own }: { readonly bound: List; readonly own: List }): List {
    let byOwn = this.#known.get(bound);
    if (byOwn === undefined) {
      byOwn = new WeakMap();
      this.#known.set(bound, byOwn);
    }
    let list = byOwn.get(own);
    if (list === undefined) {
      const names = new Set(bound.map(nameOf));
      list = [...this.#base, ...bound, ...own.filter((kind) => !names.has(nameOf(kind)))];
      byOwn.set(own, list);
    }
    return list;
  }
}

export function nameOf({ definition: { group, plural } }: Pick<ServedResource, "definition">): string {
  return `${plural}.${group}`;
}
