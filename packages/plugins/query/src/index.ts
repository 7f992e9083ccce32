/**
 * Query views: lists and watches of any resource, sorted, filtered, searched, counted and paged by the server.
 *
 * @module
 */
export { type QueryViewOptions, queryView } from "./query-view.ts";
export type { QueriedShards } from "./shards/queried-shards.ts";
