/**
 * The index from workspace paths to logical clusters and shards.
 *
 * @module
 */

export { PathIndex } from "../path-index/path-index.ts";
export {
  type FoundCluster,
  type FoundMount,
  type FoundWorkspace,
  type IndexedLogicalCluster,
  type IndexedShard,
  type IndexedWorkspace,
  indexedLogicalCluster,
  indexedWorkspace,
  type Lookup,
  type UnavailableWorkspace,
  type UnreachableWorkspace,
  type WorkspaceKey,
} from "../path-index/types.ts";
