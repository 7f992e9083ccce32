import type { Condition, KubernetesObject } from "../api/types.ts";
import type { TypeReference } from "../workspaces/workspace.ts";

export const EXPORTS = { group: "apis.kcp.io", version: "v1alpha2", resource: "apiexports" } as const;
export const BINDINGS = { group: "apis.kcp.io", version: "v1alpha2", resource: "apibindings" } as const;
export const SCHEMAS = { group: "apis.kcp.io", version: "v1alpha1", resource: "apiresourceschemas" } as const;
export const SLICES = { group: "apis.kcp.io", version: "v1alpha1", resource: "apiexportendpointslices" } as const;
export const LOGICAL_CLUSTERS = { group: "core.kcp.io", version: "v1alpha1", resource: "logicalclusters" } as const;
export const TYPES = { group: "tenancy.kcp.io", version: "v1alpha1", resource: "workspacetypes" } as const;
export const MOUNTS = { group: "proxy.kcp.io", version: "v1alpha1", resource: "mounts" } as const;
export const SECRETS = { group: "", version: "v1", resource: "secrets" } as const;

/** A further resource that an export asks for. */
export interface Claim {
  readonly group?: string;
  readonly resource: string;
  readonly identityHash?: string;
  readonly verbs?: readonly string[];
}

export interface ExportedResource {
  readonly group: string;
  readonly name: string;
  /** Name of the APIResourceSchema. */
  readonly schema: string;
}

export interface ApiExport extends KubernetesObject {
  readonly spec?: {
    readonly resources?: readonly ExportedResource[];
    readonly permissionClaims?: readonly Claim[];
  };
  readonly status?: {
    readonly identityHash?: string;
    readonly conditions?: readonly Condition[];
    readonly virtualWorkspaces?: readonly { readonly url: string }[];
  };
}

/** Answer of a workspace to a claim, and the objects that it counts for. */
export interface AnsweredClaim extends Claim {
  readonly state?: "Accepted" | "Rejected";
  readonly selector?: unknown;
}

export interface ApiBinding extends KubernetesObject {
  readonly spec?: {
    readonly reference?: { readonly export?: { readonly path?: string; readonly name: string } };
    readonly permissionClaims?: readonly AnsweredClaim[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly apiExportClusterName?: string;
    readonly conditions?: readonly Condition[];
    readonly boundResources?: readonly {
      readonly group: string;
      readonly resource: string;
      readonly schema?: { readonly name?: string; readonly identityHash?: string };
      readonly storageVersions?: readonly string[];
    }[];
    readonly exportPermissionClaims?: readonly Claim[];
    readonly appliedPermissionClaims?: readonly Claim[];
  };
}

export interface PrinterColumn {
  readonly name: string;
  readonly type?: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface SchemaVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

export interface ApiResourceSchema extends KubernetesObject {
  readonly spec?: {
    readonly group?: string;
    readonly scope?: string;
    readonly names?: { readonly plural: string; readonly kind: string };
    readonly versions?: readonly SchemaVersion[];
  };
}

export interface EndpointSlice extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly endpoints?: readonly { readonly url: string }[];
  };
}

interface TypeSelector {
  readonly none?: boolean;
  readonly types?: readonly TypeReference[];
}

export interface WorkspaceType extends KubernetesObject {
  readonly spec?: {
    readonly initializer?: boolean;
    readonly terminator?: boolean;
    readonly extend?: { readonly with?: readonly TypeReference[] };
    readonly limitAllowedParents?: TypeSelector;
    readonly limitAllowedChildren?: TypeSelector;
    readonly defaultChildWorkspaceType?: TypeReference;
    readonly defaultAPIBindings?: readonly { readonly path?: string; readonly export: string }[];
  };
  readonly status?: {
    readonly virtualWorkspaces?: readonly { readonly url: string; readonly type?: string }[];
  };
}

/** LogicalCluster, or the Workspace that shows it, while something prepares or ends it. */
export interface Waiting extends KubernetesObject {
  readonly status?: {
    readonly phase?: string;
    readonly initializers?: readonly string[];
    readonly terminators?: readonly string[];
  };
}

/** Key of a claim: a binding answers each once. */
export const keyOfClaim = ({ group = "", resource, identityHash = "" }: Claim): string =>
  `${resource}.${group}:${identityHash}`;

/** Name of a claim for readers. */
export const nameOfClaim = ({ group = "", resource }: Claim): string =>
  group === "" ? resource : `${resource}.${group}`;
