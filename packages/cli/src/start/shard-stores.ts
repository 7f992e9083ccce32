import type { StoreChoice } from "../store/options.ts";

/** What etcd's keys begin with if nobody says. */
const PREFIX = "/virtual-workspaces";
/** What the name of a place ends with where views keep objects. */
const OF_VIEWS = "of-views";

/**
 * The place of a shard's objects: of `data` it is `data-shard-1`.
 *
 * @throws Error on a name by which it would be the place of another shard's views
 */
export function storeOfShard(choice: StoreChoice, name: string): StoreChoice {
  if (name === OF_VIEWS || name.endsWith(`-${OF_VIEWS}`))
    throw new Error(`the store of a shard called ${name} would be that of another's views: give it another name`);
  return besideIt(choice, name);
}

/** Where views keep objects of their own: whose names are theirs, and must not be those of workspaces' objects. */
export function storeOfViews(choice: StoreChoice): StoreChoice {
  return besideIt(choice, OF_VIEWS);
}

function besideIt(choice: StoreChoice, end: string): StoreChoice {
  if (choice.engine === "lmdb") return { ...choice, dir: `${choice.dir}-${end}` };
  if (choice.engine !== "etcd") return choice;
  return { ...choice, prefix: `${(choice.prefix ?? PREFIX).replace(/\/+$/, "")}-${end}` };
}
