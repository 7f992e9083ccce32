import type { JsonSchema } from "@virtual-workspaces/apimachinery";

/** Where a logical cluster, and the workspace that shows it, is in its life. */
export const PHASE = {
  type: "string",
  default: "Scheduling",
  enum: ["Scheduling", "Initializing", "Ready", "Unavailable", "Inactive", "Terminating", "Deleting"],
  description: "Where it is in its life: it can be used while Ready.",
} as const;

/** The name of an initializer or terminator: a workspace type by its path, or one of the system's own. */
const HOLDER_PATTERN =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$";

/** Controllers that must have done their work before the phase Ready is reached. */
export const INITIALIZERS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Who has yet to set it up: <path of a workspace type>, or system:<name>. Each takes itself off when done.",
} as const;

/** Controllers that must have done their work before the content is deleted. */
export const TERMINATORS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Who has yet to clean it up before it is deleted: <path of a workspace type>, or system:<name>. Each takes itself off when done.",
} as const;

/** What a workspace path is, as kcp's schemas say it: less strict than `isWorkspacePath`. */
const PATH_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** The path of a workspace that something else is in. */
export const PATH = {
  type: "string",
  pattern: PATH_PATTERN,
  description: "The workspace that it is in, as a path: root:org:team. The own one if missing.",
} as const;

/** The names of workspaces and of their types, which become segments of paths. */
export const SEGMENT_NAME = {
  type: "string",
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
} as const;

/** A label selector (metav1.LabelSelector). */
export const LABEL_SELECTOR = {
  type: "object",
  description: "Which labels; all of what is said must hold, and what says nothing holds for everything.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Labels with the value that they must have.",
    },
    matchExpressions: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      description: "Demands on labels.",
      items: {
        type: "object",
        description: "A demand on one label.",
        required: ["key", "operator"],
        properties: {
          key: { type: "string", description: "The label." },
          operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string" },
            description: "The values of In and NotIn; none for the others.",
          },
        },
      },
    },
  },
} as const;

/** Which workspace type (kcp's WorkspaceTypeReference). The pattern has no end: kcp's has none either. */
export const TYPE_REFERENCE = {
  type: "object",
  description: "A workspace type.",
  required: ["name"],
  properties: {
    name: { type: "string", pattern: "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?", description: "The type's name." },
    path: PATH,
  },
} as const;

/** The Secret that a mount's credential is in. */
export const SECRET_REFERENCE = {
  type: "object",
  description:
    "The Secret with the credential for the target: token, or tls.crt and tls.key, or kubeconfig; ca.crt says whom to trust. What it has goes before what a Secret in ref has.",
  required: ["namespace", "name"],
  properties: {
    namespace: { type: "string", minLength: 1, description: "The Secret's namespace." },
    name: { type: "string", minLength: 1, description: "The Secret's name." },
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

/** The APIExport of an endpoint slice. */
export const exportReference = {
  ...reference,
  description: "The APIExport whose endpoints these are. It cannot become another.",
  "x-kubernetes-validations": REFERENCE_UNCHANGED,
} as const satisfies JsonSchema;

/** What an APIBinding binds. */
export const bindingReference = {
  type: "object",
  description: "What is bound. It cannot become another.",
  properties: { export: { ...reference, description: "An APIExport; the creator needs the verb bind on it." } },
  "x-kubernetes-validations": REFERENCE_UNCHANGED,
} as const satisfies JsonSchema;
