import type { JsonSchema } from "@virtual-workspaces/apimachinery";

/** Schema of the phase of a logical cluster and its workspace. */
export const PHASE = {
  type: "string",
  default: "Scheduling",
  enum: ["Scheduling", "Initializing", "Ready", "Unavailable", "Inactive", "Terminating", "Deleting"],
  description: "Phase of the workspace, usable while Ready.",
} as const;

/** Pattern for an initializer or terminator: the path of a workspace type, or a system name. */
const HOLDER_PATTERN =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$";

/** Schema of the controllers that must finish before the phase Ready. */
export const INITIALIZERS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Pending initializers: <path of a workspace type>, or system:<name>. Each controller removes its own entry.",
} as const;

/** Schema of the controllers that must finish before the content is deleted. */
export const TERMINATORS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Pending terminators, which run before deletion: <path of a workspace type>, or system:<name>. Each controller removes its own entry.",
} as const;

/** Workspace path as in kcp's schemas, less strict than `isWorkspacePath`. */
const PATH_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** Schema of the path of the workspace that contains an object. */
export const PATH = {
  type: "string",
  pattern: PATH_PATTERN,
  description: "Workspace of the object, as a path: root:org:team. The same workspace if missing.",
} as const;

/** Schema of the names of workspaces and their types, which become segments of paths. */
export const SEGMENT_NAME = {
  type: "string",
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
} as const;

/** Schema of a label selector (metav1.LabelSelector). */
export const LABEL_SELECTOR = {
  type: "object",
  description: "Label selector. All requirements must match; an empty selector matches everything.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Labels with their required values.",
    },
    matchExpressions: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      description: "Expressions that must all match.",
      items: {
        type: "object",
        description: "Requirement for one label.",
        required: ["key", "operator"],
        properties: {
          key: { type: "string", description: "Label key." },
          operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string" },
            description: "Values for In and NotIn. Must be empty for the others.",
          },
        },
      },
    },
  },
} as const;

/** Schema of a reference to a workspace type (kcp's WorkspaceTypeReference). As in kcp, the pattern has no end anchor. */
export const TYPE_REFERENCE = {
  type: "object",
  description: "Workspace type.",
  required: ["name"],
  properties: {
    name: { type: "string", pattern: "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?", description: "Name of the type." },
    path: PATH,
  },
} as const;

/** Schema of the Secret with a mount's credential. */
export const SECRET_REFERENCE = {
  type: "object",
  description:
    "Secret with the credential for the target: token, or tls.crt and tls.key, or kubeconfig; ca.crt has the trusted CAs. Its values take precedence over those of a Secret in ref.",
  required: ["namespace", "name"],
  properties: {
    namespace: { type: "string", minLength: 1, description: "Namespace of the Secret." },
    name: { type: "string", minLength: 1, description: "Name of the Secret." },
  },
} as const;

const REFERENCE_UNCHANGED = [{ rule: "self == oldSelf", message: "APIExport reference must not be changed" }] as const;

const reference = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", description: "Name of the APIExport." },
    path: {
      type: "string",
      description: "Workspace of the APIExport, by path or cluster name. The same workspace if empty.",
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    },
  },
} as const satisfies JsonSchema;

/** Schema of the APIExport of an endpoint slice. */
export const exportReference = {
  ...reference,
  description: "APIExport of these endpoints. Immutable.",
  "x-kubernetes-validations": REFERENCE_UNCHANGED,
} as const satisfies JsonSchema;

/** Schema of the bound export of an APIBinding. */
export const bindingReference = {
  type: "object",
  description: "Bound API. Immutable.",
  properties: { export: { ...reference, description: "APIExport to bind. The creator needs the verb bind on it." } },
  "x-kubernetes-validations": REFERENCE_UNCHANGED,
} as const satisfies JsonSchema;
