import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import { CONDITIONS, type Condition } from "@virtual-workspaces/kcp/conditions";

const SPEC = {
  type: "object",
  required: ["ProviderType"],
  description: "Description of the provider.",
  properties: {
    ProviderType: {
      type: "string",
      minLength: 1,
      maxLength: 63,
      description: "Type of the provider: one of the types that the manager supports.",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "ProviderType is immutable: create another SpaceProviderDesc" },
      ],
    },
    secretRef: {
      type: "object",
      required: ["name", "namespace"],
      "x-kubernetes-map-type": "atomic",
      description:
        "Secret with the connection settings and the credential that the type needs. Only the manager reads it.",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 253 },
        namespace: { type: "string", minLength: 1, maxLength: 63 },
      },
    },
    SpacePrefixForDiscovery: {
      type: "string",
      maxLength: 253,
      description: "Prefix of the names of the spaces that are discovered: every name if missing or empty.",
    },
  },
} as const;

const STATUS = {
  type: "object",
  description: "State of the provider.",
  properties: {
    Phase: {
      type: "string",
      enum: ["Initializing", "Ready"],
      description: "Ready once the provider has listed its spaces.",
    },
    spaces: { type: "integer", format: "int64", description: "Number of spaces." },
    observedGeneration: { type: "integer", format: "int64", description: "Generation of the observed spec." },
    conditions: CONDITIONS,
  },
} as const;

/** Fields of a {@link SpaceProviderDesc}. */
export interface SpaceProviderDescContent {
  readonly spec: {
    readonly ProviderType: string;
    readonly secretRef?: { readonly name: string; readonly namespace: string };
    readonly SpacePrefixForDiscovery?: string;
  };
  readonly status?: {
    readonly Phase?: "Initializing" | "Ready";
    readonly spaces?: number;
    readonly observedGeneration?: number;
    readonly conditions?: Condition[];
  };
}

/** KubeStellar's SpaceProviderDesc (`space.kubestellar.io/v1alpha1`): a provider of spaces, with a status subresource and conditions. */
export const SpaceProviderDesc: Resource<SpaceProviderDescContent> = defineResource({
  group: "space.kubestellar.io",
  version: "v1alpha1",
  kind: "SpaceProviderDesc",
  scope: "Cluster",
  shortNames: ["spd"],
  description: "A provider of spaces.",
  columns: {
    Type: { jsonPath: ".spec.ProviderType", description: "Type of the provider." },
    Phase: { jsonPath: ".status.Phase", description: "State of the provider." },
    Spaces: { jsonPath: ".status.spaces", description: "Number of spaces." },
    Reason: {
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      type: "string",
      description: "Reason why the provider is not Ready.",
    },
  },
  spec: SPEC,
  status: STATUS,
});

/** A SpaceProviderDesc as the API returns it. */
export type SpaceProviderDesc = ObjectOf<SpaceProviderDescContent>;
/** Status of a SpaceProviderDesc. */
export type SpaceProviderDescStatus = NonNullable<SpaceProviderDesc["status"]>;
