/**
 * Informers for kcp's views: exported objects, related objects, the URLs of a shard.
 *
 * @module
 */

export {
  ExportedObjects,
  type ExportedObjectsOptions,
  exportedKey,
  tenancyIdentity,
} from "../informers/exported-objects.ts";
export { paced } from "../informers/paced.ts";
export { Related, type RelatedOptions, type RelatedShard } from "../informers/related-objects.ts";
export { type ServedUrls, ShardLocation, type ShardLocationOptions } from "../informers/shard-location.ts";
