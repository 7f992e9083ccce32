// Content of the reviews.
import type { Rules } from "../authorization.ts";

/** Content of a SelfSubjectAccessReview. */
export interface AccessContent {
  readonly spec?: {
    readonly resourceAttributes?: Attributes;
    readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  };
  readonly status?: AccessStatus;
}

/** Hypothetical request for objects. */
export interface Attributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

/** Decision on the request (`SubjectAccessReviewStatus`). */
export interface AccessStatus {
  readonly allowed: boolean;
  /** Whether no other authorizer needs to decide. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** Content of a SubjectAccessReview and a LocalSubjectAccessReview. */
export interface SubjectAccessContent {
  readonly spec?: SubjectAccessSpec;
  readonly status?: AccessStatus;
}

/** Subject and action. */
export interface SubjectAccessSpec extends NonNullable<AccessContent["spec"]> {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/** Content of a rules review. */
export interface RulesContent {
  readonly spec?: { readonly namespace?: string };
  readonly status?: Rules;
}

/** Content of a TokenReview. */
export interface TokenReviewContent {
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] };
  readonly status?: TokenReviewStatus;
}

/** User of a valid token. */
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: ReviewedUser;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** User in a review (`UserInfo`); empty fields are omitted. */
export interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
