import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

const REF_RULE = "has(self.ref) && self.ref.kind == 'Secret'";
const IS_URL_TYPE = "self.type in ['URL', 'Cluster']";

/** Schema of a list of strings in which `*` matches all. */
const words = (description: string) =>
  ({ type: "array", items: { type: "string", minLength: 1 }, description }) as const;

/** Schema of the mounted object, Kubernetes' ObjectReference. */
const REF = {
  type: "object",
  description:
    "Mounted object: a Secret with a kubeconfig, or an object of any kind with the URL of its API in status.URL and its phase in status.phase. Immutable.",
  required: ["apiVersion", "kind", "name"],
  "x-kubernetes-validations": [
    { rule: "self == oldSelf", message: "ref is immutable: create another Mount" },
    { rule: "self.kind != 'Secret' || has(self.namespace)", message: "namespace is required for a Secret" },
  ],
  properties: {
    apiVersion: { type: "string", minLength: 1, description: "API version of the object." },
    kind: { type: "string", minLength: 1, description: "Kind of the object." },
    namespace: { type: "string", minLength: 1, description: "Namespace of the object, if it has one." },
    name: { type: "string", minLength: 1, description: "Name of the object." },
    uid: { type: "string", description: "UID of the object, which excludes later objects. Any if missing." },
    resourceVersion: { type: "string", description: "Ignored." },
    fieldPath: { type: "string", description: "Ignored." },
  },
} as const;

/** Schema of the identity that requests to the target have. */
const IDENTITY = {
  type: "object",
  description: "Identity of requests to the target. Defaults to Impersonate with a Secret, else to None.",
  required: ["type"],
  properties: {
    type: {
      type: "string",
      enum: ["Impersonate", "RequestHeader", "Fixed", "None", "Caller"],
      description:
        "Impersonate: the Secret's credential, which may impersonate there, with the caller in Impersonate-* headers. RequestHeader: the Secret's client certificate, with the caller in X-Remote-* headers, as from a front proxy. Fixed: the Secret's credential for every caller. None: no identity. Caller: the caller's own token, only to hosts that the operator lists.",
    },
  },
} as const;

/** Schema of the rules for requests. */
const FILTERS = {
  type: "array",
  maxItems: 64,
  description: "Rules for requests to the target. A request that no rule allows is rejected. All requests if missing.",
  items: {
    type: "object",
    description: "Allows these verbs on resources or paths.",
    required: ["verbs"],
    "x-kubernetes-validations": [
      {
        rule: "has(self.resources) || has(self.paths)",
        message: "resources or paths is required: a rule without them allows nothing",
      },
    ],
    properties: {
      verbs: { ...words("Verbs, * for all."), minItems: 1 },
      groups: {
        type: "array",
        items: { type: "string" },
        description: 'API groups, "" for the core group, * for all. All if missing.',
      },
      resources: words("Resources and subresources, such as pods/log, * for all."),
      paths: words("Non-resource paths, such as /version or /openapi/*, * for all."),
    },
  },
} as const;

/** Schema of a mount's spec. */
const MOUNT_SPEC = {
  type: "object",
  description: "Mounted API and how to reach it.",
  "x-kubernetes-validations": [
    { rule: "has(oldSelf.ref) == has(self.ref)", message: "ref is immutable: create another Mount" },
    { rule: "has(oldSelf.path) == has(self.path)", message: "path is immutable: create another Mount" },
    {
      rule: `!(${IS_URL_TYPE}) || has(self.ref)`,
      message: "ref is required for the type URL: name a Secret with a kubeconfig, or an object with status.URL",
    },
    {
      rule: `!(${IS_URL_TYPE}) || !has(self.path)`,
      message: "path is only for the types Workspace and Redirect: remove it",
    },
    {
      rule: "!(self.type in ['Workspace', 'Redirect']) || has(self.path)",
      message:
        "path is required for the types Workspace and Redirect: set the path of a workspace, such as root:org:team",
    },
    {
      rule: "!(self.type in ['Workspace', 'Redirect']) || !(has(self.ref) || has(self.secretRef) || has(self.identity) || has(self.filters))",
      message: "ref, secretRef, identity and filters are only for the type URL: remove them",
    },
    {
      rule: `!has(self.identity) || !(self.identity.type in ['Impersonate', 'RequestHeader', 'Fixed']) || has(self.secretRef) || (${REF_RULE})`,
      message: "secretRef is required for this type of identity: name the Secret with the credential",
    },
  ],
  properties: {
    type: {
      type: "string",
      default: "URL",
      pattern: "^[A-Z][A-Za-z0-9]{0,62}$",
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "type is immutable: create another Mount" }],
      description:
        "URL: another API, which the server calls on behalf of callers. Redirect: callers are redirected to another workspace. Workspace: another workspace, served in this place. The value Cluster is accepted as another name for URL. Immutable.",
    },
    ref: REF,
    path: {
      type: "string",
      maxLength: 1024,
      pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$",
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "path is immutable: create another Mount" }],
      description: "Absolute path of the workspace, for the types Workspace and Redirect. Immutable.",
    },
    secretRef: SECRET_REFERENCE,
    identity: IDENTITY,
    filters: FILTERS,
  },
} as const;

const URL = { type: "string", description: "URL of the mount. Set by the server." } as const;

/**
 * Mount of kcp's proposal (`proxy.kcp.io/v1alpha1`): another API, or another workspace, that workspaces show in place of a logical
 * cluster (`spec.mount.ref` of a Workspace). It keeps kcp's contract of such objects, `status.URL` and `status.phase`;
 * `status.url`, as in the proposal, has the same value. Security: a user who may write a Mount decides which host receives requests
 * with the Secret that it names.
 */
export const Mount = kcpKind({
  group: "proxy.kcp.io",
  kind: "Mount",
  description: "Another API, or another workspace, that workspaces can mount.",
  columns: {
    Type: { jsonPath: ".spec.type", description: "Type of the mount." },
    Phase: { jsonPath: ".status.phase", description: "Phase of the mount, usable while Ready." },
    URL: { jsonPath: ".status.URL", description: "URL of the mount." },
  },
  required: ["spec"],
  spec: MOUNT_SPEC,
  status: {
    type: "object",
    default: {},
    description: "Observed state of the mount.",
    properties: {
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Initializing", "Connecting", "Ready", "Unknown"],
        description: "Phase of the mount, usable while Ready.",
      },
      conditions: CONDITIONS,
      url: {
        ...URL,
        description: "Same value as status.URL, for clients that expect the spelling of the proposal.",
      },
      URL,
    },
  },
});

/** Mount as clients read it. */
export type Mount = ObjectsOf<typeof Mount>;

/** Desired state of a mount. */
export type MountSpec = Mount["spec"];

/** Observed state of a mount. */
export type MountStatus = NonNullable<Mount["status"]>;

/** Phase of a mount. */
export type MountPhase = NonNullable<MountStatus["phase"]>;

/** Identity of requests to a mount's target. */
export type MountIdentity = NonNullable<MountSpec["identity"]>["type"];

/** Rule that allows requests to a mount's target. */
export type MountFilter = NonNullable<MountSpec["filters"]>[number];

/** Returns the type of a mount. `Cluster`, the default in the proposal, which does not define it, becomes `URL`. */
export function mountTypeOf({ spec }: Pick<Mount, "spec">): string {
  const { type = "URL" } = spec;
  return type === "Cluster" ? "URL" : type;
}

/** Returns the identity for a mount's target. Default: `Impersonate` for a mount that names a Secret, else `None`. */
export function mountIdentityOf({ spec }: Pick<Mount, "spec">): MountIdentity {
  const { identity, secretRef, ref } = spec;
  return identity?.type ?? (secretRef !== undefined || ref?.kind === "Secret" ? "Impersonate" : "None");
}
