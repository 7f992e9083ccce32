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
  description: "Description of the space.",
  "x-kubernetes-validations": [
    {
      rule: "!has(oldSelf.SpaceProviderDescName) || has(self.SpaceProviderDescName)",
      message: "SpaceProviderDescName is immutable: create another Space",
    },
    {
      rule: "(has(self.Type) && self.Type == 'imported') == (has(oldSelf.Type) && oldSelf.Type == 'imported')",
      message: "Type cannot change from or to imported: create another Space",
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
        "SpaceProviderDesc that provides the space. If missing, the manager sets the provider of the namespace or the default one.",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "SpaceProviderDescName is immutable: create another Space" },
      ],
    },
    Type: {
      type: "string",
      default: "managed",
      enum: ["managed", "unmanaged", "imported"],
      description:
        "managed: created and deleted with this object. unmanaged: created elsewhere; this object appears and disappears with it. imported: no provider; the creator of this object supplies the kubeconfigs.",
    },
    accessscopetype: {
      type: "string",
      default: "Both",
      enum: ["InCluster", "External", "Both"],
      description: "Networks that reach the space. The manager writes a Secret with a kubeconfig for each.",
    },
    inClusterSecretName: {
      ...SECRET_NAME,
      description:
        "For imported only: Secret in this namespace with the kubeconfig for InCluster. Defaults to incluster-<name>.",
    },
    externalSecretName: {
      ...SECRET_NAME,
      description:
        "For imported only: Secret in this namespace with the kubeconfig for External. Defaults to external-<name>.",
    },
  },
} as const;

const STATUS = {
  type: "object",
  description: "State of the space.",
  properties: {
    Phase: {
      type: "string",
      enum: ["Initializing", "NotReady", "Ready"],
      description: "Clients can use the space while it is Ready.",
    },
    inClusterSecretRef: {
      ...SECRET,
      description: "Secret with the kubeconfig for clients in the network of the management cluster.",
    },
    externalSecretRef: { ...SECRET, description: "Secret with the kubeconfig for all other clients." },
    spaceID: {
      type: "string",
      description:
        "Identifier of the space. A space that is deleted and created again under the same name gets another one.",
    },
    accessDigest: {
      type: "string",
      description:
        "For imported only: keyed digest of the access that has reached the space. The manager connects again when the access changes.",
    },
    observedGeneration: { type: "integer", format: "int64", description: "Generation of the observed spec." },
    conditions: CONDITIONS,
  },
} as const;

/** Reference to a Secret. */
export interface SecretRef {
  readonly name?: string;
  readonly namespace?: string;
}

/** Fields of a {@link Space}. */
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
    readonly accessDigest?: string;
    readonly observedGeneration?: number;
    readonly conditions?: Condition[];
  };
}

/** KubeStellar's Space (`space.kubestellar.io/v1alpha1`): an API server by name; with a status subresource, conditions and immutable fields. */
export const Space: Resource<SpaceContent> = defineResource({
  group: "space.kubestellar.io",
  version: "v1alpha1",
  kind: "Space",
  scope: "Namespaced",
  shortNames: ["spa"],
  description: "A Kubernetes API server, by name.",
  columns: {
    Provider: { jsonPath: ".spec.SpaceProviderDescName", description: "Provider of the space." },
    Type: { jsonPath: ".spec.Type", description: "Type of the space, which says who creates and deletes it." },
    Phase: { jsonPath: ".status.Phase", description: "State of the space: clients can use it while it is Ready." },
    Reason: {
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      type: "string",
      description: "Reason why the space is not Ready.",
    },
  },
  spec: SPEC,
  status: STATUS,
});

/** A Space as the API returns it. */
export type Space = ObjectOf<SpaceContent>;
/** Status of a Space. */
export type SpaceStatus = NonNullable<Space["status"]>;
/** Phase of a Space: clients can use it while it is Ready. */
export type SpacePhase = NonNullable<SpaceStatus["Phase"]>;

/** Condition of an imported Space: whether the manager has connected to it with its current access. */
export const REACHED = "Reached";

/** Status field of a Space that references the access Secret, by scope. */
export const SECRET_REFERENCES = { incluster: "inClusterSecretRef", external: "externalSecretRef" } as const;
