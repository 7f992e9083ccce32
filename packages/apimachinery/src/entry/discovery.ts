/**
 * The documents of API discovery.
 *
 * @module
 */

export {
  type AggregatedDiscoveryDocument,
  type AggregatedDiscoveryOptions,
  type AggregatedDiscoveryVersion,
  type ApiGroupDiscovery,
  type ApiResourceDiscovery,
  type ApiSubresourceDiscovery,
  type ApiVersionDiscovery,
  aggregatedDiscoveryDocument,
} from "../discovery/aggregated.ts";
export {
  type ApiGroup,
  type ApiGroupDocument,
  type ApiGroupListDocument,
  type ApiResource,
  type ApiResourceListDocument,
  type ApiVersionsDocument,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
  type GroupVersionForDiscovery,
  type ServerAddressByClientCidr,
} from "../discovery/documents.ts";
export {
  compareVersionPriority,
  type DiscoveredResource,
  type DiscoveredSubresource,
  type GroupOrder,
} from "../discovery/resources.ts";
