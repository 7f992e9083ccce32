import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

const REF_RULE = "has(self.ref) && self.ref.kind == 'Secret'";
const IS_URL_TYPE = "self.type in ['URL', 'Cluster']";

/** What a list of words may be: `*` stands for all. */
const words = (description: string) =>
  ({ type: "array", items: { type: "string", minLength: 1 }, description }) as const;

/** The object that a mount is about, as Kubernetes' ObjectReference. */
const REF = {
  type: "object",
  description:
    "What is mounted: a Secret with a kubeconfig, or an object of any kind that says in status.URL where its API is and in status.phase how it is. Cannot be changed.",
  required: ["apiVersion", "kind", "name"],
  "x-kubernetes-validations": [
    { rule: "self == oldSelf", message: "ref is immutable: make another Mount" },
    { rule: "self.kind != 'Secret' || has(self.namespace)", message: "give the namespace of the Secret" },
  ],
  properties: {
    apiVersion: { type: "string", minLength: 1, description: "The object's group and version." },
    kind: { type: "string", minLength: 1, description: "The object's kind." },
    namespace: { type: "string", minLength: 1, description: "The object's namespace, if it has one." },
    name: { type: "string", minLength: 1, description: "The object's name." },
    uid: { type: "string", description: "The object's uid: another one of its name is not meant. Any if missing." },
    resourceVersion: { type: "string", description: "Not looked at." },
    fieldPath: { type: "string", description: "Not looked at." },
  },
} as const;

/** As whom the target is asked. */
const IDENTITY = {
  type: "object",
  description:
    "As whom the target is asked. Impersonate where there is a Secret, None where there is none, if missing.",
  required: ["type"],
  properties: {
    type: {
      type: "string",
      enum: ["Impersonate", "RequestHeader", "Fixed", "None", "Caller"],
      description:
        "Impersonate: by the Secret's credential, which may impersonate there, as the caller (Impersonate-*). RequestHeader: by the Secret's client certificate, as a front proxy says who asks (X-Remote-*). Fixed: as the Secret's credential, whoever asks. None: without telling who. Caller: with the caller's own token, to hosts that the operator lists.",
    },
  },
} as const;

/** Which requests pass. */
const FILTERS = {
  type: "array",
  maxItems: 64,
  description: "Rules for what may be asked of the target: what no rule allows is refused. Everything if missing.",
  items: {
    type: "object",
    description: "Allows these verbs, of resources or of paths.",
    required: ["verbs"],
    "x-kubernetes-validations": [
      {
        rule: "has(self.resources) || has(self.paths)",
        message: "say of which resources or paths: a rule without them allows nothing",
      },
    ],
    properties: {
      verbs: { ...words("The verbs, * for all."), minItems: 1 },
      groups: {
        type: "array",
        items: { type: "string" },
        description: 'The API groups, "" for the core group, * for all. All if missing.',
      },
      resources: words("The resources and subresources, pods/log, * for all."),
      paths: words("Paths that are no resources, as /version or /openapi/*, * for all."),
    },
  },
} as const;

/** What a mount is to be. */
const MOUNT_SPEC = {
  type: "object",
  description: "What is mounted, and how.",
  "x-kubernetes-validations": [
    { rule: "has(oldSelf.ref) == has(self.ref)", message: "ref is immutable: make another Mount" },
    { rule: "has(oldSelf.path) == has(self.path)", message: "path is immutable: make another Mount" },
    {
      rule: `!(${IS_URL_TYPE}) || has(self.ref)`,
      message: "ref is required for the type URL: name a Secret with a kubeconfig, or an object with status.URL",
    },
    {
      rule: `!(${IS_URL_TYPE}) || !has(self.path)`,
      message: "path is of the types Workspace and Redirect: leave it out",
    },
    {
      rule: "!(self.type in ['Workspace', 'Redirect']) || has(self.path)",
      message: "path is required for the types Workspace and Redirect: give the path of a workspace, root:org:team",
    },
    {
      rule: "!(self.type in ['Workspace', 'Redirect']) || !(has(self.ref) || has(self.secretRef) || has(self.identity) || has(self.filters))",
      message: "ref, secretRef, identity and filters are of the type URL: leave them out",
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
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "type is immutable: make another Mount" }],
      description:
        "URL: another API, asked on behalf of callers. Redirect: callers are sent to another workspace. Workspace: another workspace in this place. Cluster is read as URL. Cannot be changed.",
    },
    ref: REF,
    path: {
      type: "string",
      maxLength: 1024,
      pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$",
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "path is immutable: make another Mount" }],
      description: "The absolute path of the workspace, for the types Workspace and Redirect. Cannot be changed.",
    },
    secretRef: SECRET_REFERENCE,
    identity: IDENTITY,
    filters: FILTERS,
  },
} as const;

const URL = { type: "string", description: "Where the mount is served. Set by the server." } as const;

/**
 * The Mount of kcp's proposal (`proxy.kcp.io/v1alpha1`): another API, or another workspace, that workspaces can show in place of a
 * logical cluster (`spec.mount.ref` of a Workspace). It keeps kcp's contract of such objects, `status.URL` and `status.phase`;
 * `status.url`, as the proposal has it, says the same. Whoever may write one decides which host is asked with the Secret that it names.
 */
export const Mount = kcpKind({
  group: "proxy.kcp.io",
  kind: "Mount",
  description: "Another API, or another workspace, for workspaces that show it.",
  columns: {
    Type: { jsonPath: ".spec.type", description: "How it is mounted." },
    Phase: { jsonPath: ".status.phase", description: "How it is: it can be used while Ready." },
    URL: { jsonPath: ".status.URL", description: "Where it is served." },
  },
  required: ["spec"],
  spec: MOUNT_SPEC,
  status: {
    type: "object",
    default: {},
    description: "How the mount is.",
    properties: {
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Initializing", "Connecting", "Ready", "Unknown"],
        description: "How it is: it can be used while Ready.",
      },
      conditions: CONDITIONS,
      url: URL,
      URL,
    },
  },
});

/** A mount, as it is read. */
export type Mount = ObjectsOf<typeof Mount>;

/** What is mounted, and how. */
export type MountSpec = Mount["spec"];

/** How a mount is. */
export type MountStatus = NonNullable<Mount["status"]>;

/** Where a mount is in its life. */
export type MountPhase = NonNullable<MountStatus["phase"]>;

/** As whom a mount's target is asked. */
export type MountIdentity = NonNullable<MountSpec["identity"]>["type"];

/** Which requests pass. */
export type MountFilter = NonNullable<MountSpec["filters"]>[number];

/** The type of a mount; `Cluster`, which the proposal has as the default and does not explain, is `URL`. */
export function mountTypeOf({ spec }: Pick<Mount, "spec">): string {
  const { type = "URL" } = spec;
  return type === "Cluster" ? "URL" : type;
}

/** As whom the target of a mount is asked: what it says, else by a Secret that it names as the caller, else as nobody. */
export function mountIdentityOf({ spec }: Pick<Mount, "spec">): MountIdentity {
  const { identity, secretRef, ref } = spec;
  return identity?.type ?? (secretRef !== undefined || ref?.kind === "Secret" ? "Impersonate" : "None");
}
