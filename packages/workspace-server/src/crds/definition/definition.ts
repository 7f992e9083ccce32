import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";

/** What a CustomResourceDefinition holds besides its metadata (apiextensions.k8s.io/v1). */
export interface CrdContent {
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** An object of the kind CustomResourceDefinition. */
export type CustomResourceDefinition = ObjectOf<CrdContent>;

/** What is wanted: a kind, its names and its versions (CustomResourceDefinitionSpec). */
export interface CrdSpec {
  readonly group: string;
  readonly names: CrdNames;
  readonly scope: "Cluster" | "Namespaced";
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

/** The names of a kind (CustomResourceDefinitionNames). */
export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

/** A version of a kind (CustomResourceDefinitionVersion). */
export interface CrdVersion {
  readonly name: string;
  /** Whether clients are answered in it. */
  readonly served: boolean;
  /** Whether objects are kept in it: exactly one is. */
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly CrdSelectableField[];
}

/** Which subresources a version has (CustomResourceSubresources). */
export interface CrdSubresources {
  readonly status?: object;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

/** A column of tables (CustomResourceColumnDefinition). */
export interface CrdColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** A field that field selectors may name. */
export interface CrdSelectableField {
  readonly jsonPath: string;
}

/** How objects become others of another version. Only `None` is served. */
export interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: object;
}

/** What has become of it (CustomResourceDefinitionStatus). */
export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[];
  /** Under which it is served. */
  readonly acceptedNames?: CrdNames;
  /** In which objects may be kept. */
  readonly storedVersions?: readonly string[];
}

/** The conditions that a CustomResourceDefinition can have. */
export type CrdConditionType =
  | "NamesAccepted"
  | "Established"
  | "Terminating"
  | "NonStructuralSchema"
  | "KubernetesAPIApprovalPolicyConformant";

/** CustomResourceDefinitionCondition */
export interface CrdCondition {
  readonly type: CrdConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Holds a deleted CustomResourceDefinition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
