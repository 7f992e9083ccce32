import type { PlainUser } from "@virtual-workspaces/workspace-server";

/** Where the object is that is shown. */
const SHOP = "root:acme:shop";
/** What it is called there, in the namespace `default`. */
export const MENU = "menu";

/** The label by which an object is in the view of the demonstration, `examples/over-workspaces/published.ts`. */
export const PUBLISHED = "published";

/** Alice made the workspace that her context leads to, and is its administrator; Bob may enter only the one above it. */
export const DEMO_USERS: readonly PlainUser[] = [
  { name: "alice", workspace: SHOP },
  { name: "bob", workspace: SHOP },
];
