import type { Resource } from "@virtual-workspaces/framework";

/** What objects of a kind hold besides type and metadata. */
export type Holds<R> = R extends Resource<infer Content> ? Content : never;
