import type { PlainUser } from "@virtual-workspaces/workspace-server";

/** The workspace that exports something. */
export const ACME = "root:acme";
/** Where the object is that is shown. */
export const SHOP = "root:acme:shop";
/** Another that has bound what is exported. */
export const LAB = "root:acme:lab";
/** Workspaces of the first that are mounted: on a plain cluster, on the shop, and with a redirect to the lab. */
export const CLUSTER = "cluster";
export const LINK = "link";
export const MOVED = "moved";
/** What the object is called, in the namespace `default`. */
export const MENU = "menu";
/** What is exported, and what the export is called. */
export const DISHES = "dishes";

/** A provider of Spaces besides the one that is always there: processes of this machine. */
export const LOCAL = "local";
/** Which Spaces there are, by who provides them. */
export const ALL_SPACES: readonly { readonly provider: string; readonly name: string }[] = [
  { provider: "default", name: "dev" },
  { provider: "default", name: "staging" },
  { provider: "default", name: "prod" },
  { provider: LOCAL, name: "edge-east" },
  { provider: LOCAL, name: "edge-west" },
];
/** In each, in the namespace `default`: which one it is. */
export const ABOUT = "about";

/** The label by which an object is in the view of the demonstration, `examples/over-workspaces/published.ts`. */
export const PUBLISHED = "published";

/** Alice made the workspace that her context leads to, and is its administrator; Bob may enter only the one above it. */
export const DEMO_USERS: readonly PlainUser[] = [
  { name: "alice", workspace: SHOP },
  { name: "bob", workspace: SHOP },
];
