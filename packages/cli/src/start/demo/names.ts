import type { PlainUser } from "@virtual-workspaces/workspace-server";

/** Workspace with an export. */
export const ACME = "root:acme";
/** Workspace with the shown object. */
export const SHOP = "root:acme:shop";
/** Another workspace that binds the export. */
export const LAB = "root:acme:lab";
/** Mounted workspaces in the first one: a plain cluster, a link to the shop, and a redirect to the lab. */
export const CLUSTER = "cluster";
export const LINK = "link";
export const MOVED = "moved";
/** Name of the object, in the namespace `default`. */
export const MENU = "menu";
/** Name of the exported resource and of the export. */
export const DISHES = "dishes";

/** Provider of Spaces besides the default one: processes of this machine. */
export const LOCAL = "local";
/** All Spaces with their providers. */
export const ALL_SPACES: readonly { readonly provider: string; readonly name: string }[] = [
  { provider: "default", name: "dev" },
  { provider: "default", name: "staging" },
  { provider: "default", name: "prod" },
  { provider: LOCAL, name: "edge-east" },
  { provider: LOCAL, name: "edge-west" },
];
/** Name of an object in each Space, in the namespace `default`, which names the Space. */
export const ABOUT = "about";

/** Label that selects objects for the view of the demonstration, `examples/over-workspaces/published.ts`. */
export const PUBLISHED = "published";

/** Alice created the workspace of her context and administers it. Bob has access only to its parent. */
export const DEMO_USERS: readonly PlainUser[] = [
  { name: "alice", workspace: SHOP },
  { name: "bob", workspace: SHOP },
];
