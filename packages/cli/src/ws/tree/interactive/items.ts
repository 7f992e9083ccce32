import type { Workspace } from "../../kinds.ts";

/** A workspace in the tree that is shown. */
export interface Item {
  readonly path: string;
  readonly depth: number;
  readonly parent: Item | undefined;
  /** None for the topmost. */
  readonly workspace: Workspace | undefined;
  /** What is in it: unknown until somebody asks. */
  children: readonly Item[] | undefined;
  isOpen: boolean;
  isLoading: boolean;
  /** Why what is in it is not known. */
  problem: string | undefined;
}

/** A workspace in another, of which nothing is known yet but its name. */
export function item(path: string, parent?: Item, workspace?: Workspace): Item {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { path, depth, parent, workspace, children: undefined, isOpen: false, isLoading: false, problem: undefined };
}

/** The tree as it is shown: what is open, and where one is in it. */
export class Items {
  readonly root: Item;
  at: Item;

  constructor(root: Item) {
    this.root = root;
    this.at = root;
  }

  /** Those that are shown, from the top. */
  get rows(): readonly Item[] {
    return shownOf(this.root);
  }

  /** Goes so many rows down, or up, as far as there are any. */
  move(by: number): void {
    const { rows } = this;
    this.at = rows[Math.min(rows.length - 1, Math.max(0, rows.indexOf(this.at) + by))] ?? this.at;
  }

  open(one: Item): void {
    one.isOpen = (one.children?.length ?? 0) > 0;
  }

  /** What is in it is shown no more; whoever was there is at it now. */
  close(one: Item): void {
    one.isOpen = false;
    if (isWithin(this.at, one)) this.at = one;
  }
}

function shownOf(one: Item): readonly Item[] {
  return one.isOpen ? [one, ...(one.children ?? []).flatMap(shownOf)] : [one];
}

function isWithin(one: Item, other: Item): boolean {
  for (let at: Item | undefined = one; at !== undefined; at = at.parent) if (at === other) return true;
  return false;
}
