import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import { CONDITIONS, type Condition } from "@virtual-workspaces/kcp/conditions";

const SPEC = {
  type: "object",
  required: ["ProviderType"],
  description: "Who it is.",
  properties: {
    ProviderType: {
      type: "string",
      minLength: 1,
      maxLength: 63,
      description: "What kind of provider it is: one that the manager knows.",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "ProviderType is immutable: make another SpaceProviderDesc" },
      ],
    },
    secretRef: {
      type: "object",
      required: ["name", "namespace"],
      "x-kubernetes-map-type": "atomic",
      description:
        "The Secret with what its type needs: how to reach it, and by which credential. The manager alone reads it.",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 253 },
        namespace: { type: "string", minLength: 1, maxLength: 63 },
      },
    },
    SpacePrefixForDiscovery: {
      type: "string",
      maxLength: 253,
      description: "What names begin with of spaces that are discovered: all if missing or empty.",
    },
  },
} as const;

const STATUS = {
  type: "object",
  description: "How it is.",
  properties: {
    Phase: {
      type: "string",
      enum: ["Initializing", "Ready"],
      description: "Ready once it has said which spaces there are.",
    },
    spaces: { type: "integer", format: "int64", description: "How many spaces it has." },
    observedGeneration: { type: "integer", format: "int64", description: "Of which spec this is said." },
    conditions: CONDITIONS,
  },
} as const;

/** What a {@link SpaceProviderDesc} holds. */
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

/** Who provides spaces: KubeStellar's SpaceProviderDesc (`space.kubestellar.io/v1alpha1`), with a status subresource and conditions. */
export const SpaceProviderDesc: Resource<SpaceProviderDescContent> = defineResource({
  group: "space.kubestellar.io",
  version: "v1alpha1",
  kind: "SpaceProviderDesc",
  scope: "Cluster",
  shortNames: ["spd"],
  description: "Who provides spaces.",
  columns: {
    Type: { jsonPath: ".spec.ProviderType", description: "What kind of provider it is." },
    Phase: { jsonPath: ".status.Phase", description: "How it is." },
    Spaces: { jsonPath: ".status.spaces", description: "How many spaces it has." },
    Reason: {
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      type: "string",
      description: "Why it is not Ready.",
    },
  },
  spec: SPEC,
  status: STATUS,
});

/** A provider, as it is read. */
export type SpaceProviderDesc = ObjectOf<SpaceProviderDescContent>;
/** How a provider is. */
export type SpaceProviderDescStatus = NonNullable<SpaceProviderDesc["status"]>;
