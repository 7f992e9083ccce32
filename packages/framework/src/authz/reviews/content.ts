// What reviews hold, whoever serves them.
import type { Rules } from "../authorization.ts";

/** What a SelfSubjectAccessReview holds. */
export interface AccessContent {
  readonly spec?: {
    readonly resourceAttributes?: Attributes;
    readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  };
  readonly status?: AccessStatus;
}

/** A request that somebody might make about objects. */
export interface Attributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

/** Whether they may (`SubjectAccessReviewStatus`). */
export interface AccessStatus {
  readonly allowed: boolean;
  /** Whether nobody else need be asked. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** What a SubjectAccessReview and a LocalSubjectAccessReview hold. */
export interface SubjectAccessContent {
  readonly spec?: SubjectAccessSpec;
  readonly status?: AccessStatus;
}

/** Who is to do what. */
export interface SubjectAccessSpec extends NonNullable<AccessContent["spec"]> {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/** What a rules review holds. */
export interface RulesContent {
  readonly spec?: { readonly namespace?: string };
  readonly status?: Rules;
}

/** What a TokenReview holds. */
export interface TokenReviewContent {
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] };
  readonly status?: TokenReviewStatus;
}

/** Whose token it is, if anybody's. */
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: ReviewedUser;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** A user as reviews tell of them (`UserInfo`): what is empty is left out. */
export interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
