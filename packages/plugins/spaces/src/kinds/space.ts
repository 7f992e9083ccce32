import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import { CONDITIONS, type Condition } from "@virtual-workspaces/kcp/conditions";

const SECRET_NAME = { type: "string", minLength: 1, maxLength: 253 } as const;
const SECRET = {
  type: "object",
  "x-kubernetes-map-type": "atomic",
  properties: { name: SECRET_NAME, namespace: { type: "string", minLength: 1, maxLength: 63 } },
} as const;

const SPEC = {
  type: "object",
  default: {},
  description: "Which space it is.",
  "x-kubernetes-validations": [
    {
      rule: "!has(oldSelf.SpaceProviderDescName) || has(self.SpaceProviderDescName)",
      message: "SpaceProviderDescName is immutable: make another Space",
    },
    {
      rule: "(has(self.Type) && self.Type == 'imported') == (has(oldSelf.Type) && oldSelf.Type == 'imported')",
      message: "Type is immutable where it is, or would be, imported: make another Space",
    },
    {
      rule: "!has(self.Type) || self.Type != 'imported' || !has(self.SpaceProviderDescName)",
      message: "SpaceProviderDescName: an imported Space has no provider, leave it out",
    },
  ],
  properties: {
    SpaceProviderDescName: {
      type: "string",
      minLength: 1,
      maxLength: 49,
      description:
        "Who provides it: a SpaceProviderDesc. Set by the manager if missing: the provider of the namespace, or the default one.",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "SpaceProviderDescName is immutable: make another Space" },
      ],
    },
    Type: {
      type: "string",
      default: "managed",
      enum: ["managed", "unmanaged", "imported"],
      description:
        "managed: made and deleted with this object. unmanaged: made elsewhere, and this object comes and goes with it. imported: nobody provides it, and whoever makes this object says how to reach it.",
    },
    accessscopetype: {
      type: "string",
      default: "Both",
      enum: ["InCluster", "External", "Both"],
      description: "From where it is to be reached: there is a Secret with a kubeconfig for each.",
    },
    inClusterSecretName: {
      ...SECRET_NAME,
      description:
        "imported alone: the Secret of this namespace with the kubeconfig for InCluster. incluster-<name> if missing.",
    },
    externalSecretName: {
      ...SECRET_NAME,
      description:
        "imported alone: the Secret of this namespace with the kubeconfig for External. external-<name> if missing.",
    },
  },
} as const;

const STATUS = {
  type: "object",
  description: "How it is.",
  properties: {
    Phase: {
      type: "string",
      enum: ["Initializing", "NotReady", "Ready"],
      description: "It can be used while Ready.",
    },
    inClusterSecretRef: {
      ...SECRET,
      description: "The Secret with the kubeconfig for whoever is where the management cluster is.",
    },
    externalSecretRef: { ...SECRET, description: "The Secret with the kubeconfig for everybody else." },
    spaceID: {
      type: "string",
      description: "Which one it is: a space that was deleted and made again by its name has another.",
    },
    observedGeneration: { type: "integer", format: "int64", description: "Of which spec this is said." },
    conditions: CONDITIONS,
  },
} as const;

/** Which Secret. */
export interface SecretRef {
  readonly name?: string;
  readonly namespace?: string;
}

/** What a {@link Space} holds. */
export interface SpaceContent {
  readonly spec: {
    readonly SpaceProviderDescName?: string;
    readonly Type?: "managed" | "unmanaged" | "imported";
    readonly accessscopetype?: "InCluster" | "External" | "Both";
    readonly inClusterSecretName?: string;
    readonly externalSecretName?: string;
  };
  readonly status?: {
    readonly Phase?: "Initializing" | "NotReady" | "Ready";
    readonly inClusterSecretRef?: SecretRef;
    readonly externalSecretRef?: SecretRef;
    readonly spaceID?: string;
    readonly observedGeneration?: number;
    readonly conditions?: Condition[];
  };
}

/**
 * Anything that answers as a Kubernetes API server, by a name: KubeStellar's Space (`space.kubestellar.io/v1alpha1`), with what that lacked: a status
 * subresource, conditions, and fields that stay as they are.
 */
export const Space: Resource<SpaceContent> = defineResource({
  group: "space.kubestellar.io",
  version: "v1alpha1",
  kind: "Space",
  scope: "Namespaced",
  shortNames: ["spa"],
  description: "Anything that answers as a Kubernetes API server, by a name.",
  columns: {
    Provider: { jsonPath: ".spec.SpaceProviderDescName", description: "Who provides it." },
    Type: { jsonPath: ".spec.Type", description: "Who makes and deletes it." },
    Phase: { jsonPath: ".status.Phase", description: "How it is: it can be used while Ready." },
    Reason: {
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      type: "string",
      description: "Why it is not Ready.",
    },
  },
  spec: SPEC,
  status: STATUS,
});

/** A space, as it is read. */
export type Space = ObjectOf<SpaceContent>;
/** How a space is. */
export type SpaceStatus = NonNullable<Space["status"]>;
/** It can be used while Ready. */
export type SpacePhase = NonNullable<SpaceStatus["Phase"]>;

/** Which of a Space's references is of which scope. */
export const SECRET_REFERENCES = { incluster: "inClusterSecretRef", external: "externalSecretRef" } as const;
