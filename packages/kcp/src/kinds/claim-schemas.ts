import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const matchExpressions = {
  type: "array",
  description: "Expressions that must all hold.",
  "x-kubernetes-list-type": "atomic",
  items: {
    type: "object",
    required: ["key", "operator"],
    properties: {
      key: { type: "string", description: "The label." },
      operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
      values: {
        type: "array",
        description: "Values to compare with, for In and NotIn.",
        items: { type: "string" },
        "x-kubernetes-list-type": "atomic",
      },
    },
  },
} as const satisfies JsonSchema;

const matchLabels = {
  type: "object",
  description: "Labels that must all be there with these values.",
  additionalProperties: { type: "string" },
} as const satisfies JsonSchema;

/** metav1.LabelSelector. */
export const labelSelector = {
  type: "object",
  properties: { matchExpressions, matchLabels },
  "x-kubernetes-map-type": "atomic",
} as const satisfies JsonSchema;

/** Which objects of a claimed resource are meant: by labels, or all. */
const claimSelector = {
  type: "object",
  properties: {
    matchAll: { type: "boolean", description: "Every object of the resource; then no other field may be set." },
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
  description: "Identity of the export that the resource comes from; empty for resources that every workspace has.",
} as const satisfies JsonSchema;

const state = {
  type: "string",
  description: "Whether whoever bound the export agrees to the claim.",
  enum: ["Accepted", "Rejected"],
} as const satisfies JsonSchema;

/** What v1alpha1 and v1alpha2 call the same. */
const common = { group, resource, identityHash } as const;

/** Of v1alpha1. */
const older = {
  ...common,
  all: { type: "boolean", description: "Claims all objects of the resource; not together with resourceSelector." },
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

/** A claim of v1alpha1. */
export const olderClaim = {
  type: "object",
  required: ["resource"],
  properties: older,
  "x-kubernetes-validations": EITHER,
} as const satisfies JsonSchema;

/** A claim of v1alpha1 in an APIExport, which is found by group and resource. */
export const olderExportClaim = {
  ...olderClaim,
  properties: { ...older, group: { ...group, default: "" } },
} as const satisfies JsonSchema;

/** A claim of v1alpha1 with what was decided of it. */
export const olderAcceptableClaim = {
  ...olderClaim,
  required: ["resource", "state"],
  properties: { ...older, state },
} as const satisfies JsonSchema;

/** Of v1alpha2. */
const newer = {
  ...common,
  group: { ...group, default: "" },
  identityHash: { ...identityHash, default: "" },
  defaultSelector: {
    ...claimSelector,
    description: "The selector of bindings that are made with a workspace. All objects if there is none.",
  },
  verbs: {
    type: "array",
    description: "What the provider may do: get, list, watch, create, update, patch, delete, deletecollection, or *.",
    minItems: 1,
    items: { type: "string" },
    "x-kubernetes-list-type": "set",
  },
} as const satisfies Record<string, JsonSchema>;

const selector = {
  ...claimSelector,
  description: "Which objects the provider gets. Set matchAll, or matchLabels and matchExpressions.",
} as const satisfies JsonSchema;

/**
 * kcp has the rule at the selector, where it does nothing for claims without a group or an identity: they are kept without
 * these fields, by which a claim is found again. Ours are kept with them, so that the rule has to say it.
 */
const UNCHANGED = [
  {
    rule: 'self.group == "" || self.identityHash == "" || self.selector == oldSelf.selector',
    message: "Permission claim selector is immutable",
  },
] as const;

/** A claim of v1alpha2. */
export const claim = {
  type: "object",
  required: ["resource", "verbs"],
  properties: newer,
} as const satisfies JsonSchema;

/** A claim of v1alpha2 for some objects. */
export const scopedClaim = {
  type: "object",
  required: ["resource", "selector", "verbs"],
  properties: { ...newer, selector },
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;

/** A claim of v1alpha2 for some objects, with what was decided of it. */
export const acceptableClaim = {
  type: "object",
  required: ["resource", "selector", "state", "verbs"],
  properties: { ...newer, selector, state },
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;
