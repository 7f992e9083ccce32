/**
 * Spaces by name, from any provider: the kinds, the manager, and the provider interface.
 *
 * @module
 */

export type { EngagedSpace, Rewrite } from "./client/engaged-space.ts";
export type { FailedSpace, SpaceList, SpaceListOptions, SpaceSelectOptions } from "./client/list.ts";
// The client
export type { SpaceConfig, SpaceState } from "./client/space-access.ts";
export type {
  SpaceInformerFactories,
  SpaceInformers,
  SpaceInformersOptions,
  SpaceInformersStatus,
  SpaceSources,
} from "./client/space-informers.ts";
export type { SpaceName } from "./client/space-name.ts";
export type { SpaceInformer, SpaceSource } from "./client/space-source.ts";
export { type FollowSpacesOptions, followSpaces, type SpaceFailure, type Spaces } from "./client/spaces.ts";
export type { ResetReason, SpaceEvent, SpaceEventContent, SpaceWatchOptions } from "./client/watch-events.ts";
// Kinds
export {
  type AccessScope,
  DEFAULT_ANNOTATION,
  EXTERNAL_NAME_ANNOTATION,
  namespaceOf,
  PARENT_ANNOTATION,
  SPACE_ANNOTATION,
  SPACE_FINALIZER,
} from "./kinds/names.ts";
export { type SecretRef, Space, type SpaceContent, type SpacePhase, type SpaceStatus } from "./kinds/space.ts";
export {
  SpaceProviderDesc,
  type SpaceProviderDescContent,
  type SpaceProviderDescStatus,
} from "./kinds/space-provider-desc.ts";
// The manager
export { SpaceManager, type SpaceManagerOptions, spaceManifests } from "./manager/space-manager.ts";
export type {
  PhysicalSpace,
  ProviderCall,
  ProviderChange,
  ProviderContext,
  SpaceAccess,
  SpaceProvider,
  SpaceProviderType,
} from "./provider/provider.ts";
// Providers
export type { ClusterArguments } from "./providers/command/clusters.ts";
export { type CommandProviderOptions, commandProvider } from "./providers/command/command-provider.ts";
export { k3dProvider, kindProvider, type LocalClustersOptions } from "./providers/command/local-clusters.ts";
export { kubeconfigsProvider } from "./providers/kubeconfigs-provider.ts";
export { type ProcessesProviderOptions, processesProvider } from "./providers/processes/processes-provider.ts";
export type { OwnWorkspaces } from "./providers/workspaces-provider.ts";
export { type WorkspacesProviderOptions, workspacesProvider } from "./providers/workspaces-provider.ts";
// Providers over REST
export { type RestProviderOptions, restProvider } from "./rest/client/rest-provider.ts";
export { spaceProviderOpenAPI } from "./rest/protocol/document.ts";
export { type SpaceProviderViewOptions, spaceProviderView } from "./rest/server/space-provider-view.ts";
// The view
export type { SpacesViewOptions } from "./view/options.ts";
export { spacesView } from "./view/spaces-view.ts";
