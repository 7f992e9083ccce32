/** How much is written of a request: nothing, who did what to what, that and what was sent, that and what was answered. */
export type AuditLevel = "None" | "Metadata" | "Request" | "RequestResponse";

/** When an event is written: the caller is known; the answer of a long-running request has begun; it is over; it failed within. */
export type AuditStage = "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";

/** Kubernetes' `audit.k8s.io/v1` Policy: the first rule that matches counts, and what none matches is not audited. */
export interface AuditPolicy {
  readonly apiVersion: "audit.k8s.io/v1";
  readonly kind: "Policy";
  readonly metadata?: object;
  readonly rules: readonly AuditRule[];
  /** Stages that no event is written for. */
  readonly omitStages?: readonly AuditStage[];
  /** Leaves `metadata.managedFields` out of recorded objects. @default false */
  readonly omitManagedFields?: boolean;
}

/** A rule matches when all that it names does. It is about resources or about other paths, not both. */
export interface AuditRule {
  readonly level: AuditLevel;
  /** Who logged in; whom they impersonate does not count. @default everybody */
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditResources[];
  /** `""` is for what is in no namespace. */
  readonly namespaces?: readonly string[];
  /** Whole paths as a client of one view sees them (`/apis*`) or with all before them (`/services/quotes/*`); `*` at the end only. */
  readonly nonResourceURLs?: readonly string[];
  /** Besides those of the policy. */
  readonly omitStages?: readonly AuditStage[];
  /** @default the policy's */
  readonly omitManagedFields?: boolean;
}

/** Resources of one API group. */
export interface AuditResources {
  /** `""` is the core group, `*` any. @default "" */
  readonly group?: string;
  /**
   * `quotes`, `quotes/status`, `quotes/*` for all its subresources, `*` for everything; a star, a slash and a name for
   * the subresource of any. @default all
   */
  readonly resources?: readonly string[];
  /** Needs `resources`. @default all */
  readonly resourceNames?: readonly string[];
}

export const LEVELS: readonly AuditLevel[] = ["None", "Metadata", "Request", "RequestResponse"];
export const STAGES: readonly AuditStage[] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];
