import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const matchExpressions = {
  type: "array",
  description: "Expressions that must all match.",
  "x-kubernetes-list-type": "atomic",
  items: {
    type: "object",
    required: ["key", "operator"],
    properties: {
      key: { type: "string", description: "Label key." },
      operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
      values: {
        type: "array",
        description: "Values for In and NotIn.",
        items: { type: "string" },
        "x-kubernetes-list-type": "atomic",
      },
    },
  },
} as const satisfies JsonSchema;

const matchLabels = {
  type: "object",
  description: "Labels that an object must have with these values.",
  additionalProperties: { type: "string" },
} as const satisfies JsonSchema;

/** Schema of metav1.LabelSelector. */
export const labelSelector = {
  type: "object",
  properties: { matchExpressions, matchLabels },
  "x-kubernetes-map-type": "atomic",
} as const satisfies JsonSchema;

/** Selector of a claim's objects: by labels, or all. */
const claimSelector = {
  type: "object",
  properties: {
    matchAll: { type: "boolean", description: "Selects every object of the resource. Excludes all other fields." },
    matchExpressions,
    matchLabels,
  },
  "x-kubernetes-map-type": "atomic",
} as const satisfies JsonSchema;

const group = {
  type: "string",
  description: "API group of the claimed resource, empty for the core group.",
  pattern: "^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$",
} as const satisfies JsonSchema;

const resource = {
  type: "string",
  description: "Plural name of the claimed resource.",
  pattern: "^[a-z][-a-z0-9]*[a-z0-9]$",
} as const satisfies JsonSchema;

const identityHash = {
  type: "string",
  description: "Identity of the resource's export. Empty for resources that every workspace has.",
} as const satisfies JsonSchema;

const state = {
  type: "string",
  description: "Whether the owner of the binding accepts the claim.",
  enum: ["Accepted", "Rejected"],
} as const satisfies JsonSchema;

/** Fields with the same name in v1alpha1 and v1alpha2. */
const common = { group, resource, identityHash } as const;

/** Fields of v1alpha1. */
const older = {
  ...common,
  all: { type: "boolean", description: "Claims all objects of the resource. Excludes resourceSelector." },
  resourceSelector: {
    type: "array",
    description: "Claims objects by name and namespace.",
    items: {
      type: "object",
      properties: {
        name: {
          type: "string",
          description: "Name of the claimed objects.",
          minLength: 1,
          maxLength: 253,
          pattern: "^([a-z0-9][-a-z0-9_.]*)?[a-z0-9]$",
        },
        namespace: { type: "string", description: "Namespace of the claimed objects.", minLength: 1 },
      },
      "x-kubernetes-validations": [
        { rule: "has(self.__namespace__) || has(self.name)", message: "at least one field must be set" },
      ],
    },
  },
} as const satisfies Record<string, JsonSchema>;

const EITHER = [
  {
    rule: "(has(self.all) && self.all) != (has(self.resourceSelector) && size(self.resourceSelector) > 0)",
    message: 'either "all" or "resourceSelector" must be set',
  },
] as const;

/** Schema of a v1alpha1 claim. */
export const olderClaim = {
  type: "object",
  required: ["resource"],
  properties: older,
  "x-kubernetes-validations": EITHER,
} as const satisfies JsonSchema;

/** Schema of a v1alpha1 claim in an APIExport, with group and resource as the list keys. */
export const olderExportClaim = {
  ...olderClaim,
  properties: { ...older, group: { ...group, default: "" } },
} as const satisfies JsonSchema;

/** Schema of a v1alpha1 claim with a decision. */
export const olderAcceptableClaim = {
  ...olderClaim,
  required: ["resource", "state"],
  properties: { ...older, state },
} as const satisfies JsonSchema;

/** Fields of v1alpha2. */
const newer = {
  ...common,
  group: { ...group, default: "" },
  identityHash: { ...identityHash, default: "" },
  defaultSelector: {
    ...claimSelector,
    description: "Selector for bindings that a new workspace gets. All objects if missing.",
  },
  verbs: {
    type: "array",
    description: "Verbs of the provider: get, list, watch, create, update, patch, delete, deletecollection, or *.",
    minItems: 1,
    items: { type: "string" },
    "x-kubernetes-list-type": "set",
  },
} as const satisfies Record<string, JsonSchema>;

const selector = {
  ...claimSelector,
  description: "Objects for the provider. Set matchAll, or matchLabels and matchExpressions.",
} as const satisfies JsonSchema;

/**
 * kcp has the rule on the selector, where it has no effect for claims without a group or an identity: kcp stores them without these
 * fields, which are list keys. This library stores them, so the rule has to name these claims.
 */
const UNCHANGED = [
  {
    rule: 'self.group == "" || self.identityHash == "" || self.selector == oldSelf.selector',
    message: "Permission claim selector is immutable",
  },
] as const;

/** Schema of a v1alpha2 claim. */
export const claim = {
  type: "object",
  required: ["resource", "verbs"],
  properties: newer,
} as const satisfies JsonSchema;

/** Schema of a v1alpha2 claim with a selector. */
export const scopedClaim = {
  type: "object",
  required: ["resource", "selector", "verbs"],
  properties: { ...newer, selector },
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;

/** Schema of a v1alpha2 claim with a selector and a decision. */
export const acceptableClaim = {
  type: "object",
  required: ["resource", "selector", "state", "verbs"],
  properties: { ...newer, selector, state },
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;
