// What reviews hold, whoever defines their kinds.

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

/** What a SubjectAccessReview and a LocalSubjectAccessReview hold. */
export interface AccessReviewContent {
  readonly spec?: AccessReviewSpec;
  readonly status?: AccessReviewStatus;
}

/** Who is to do what. */
export interface AccessReviewSpec {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/** A request that somebody might make about objects. */
export interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

/** Whether they may. */
export interface AccessReviewStatus {
  readonly allowed: boolean;
  /** Whether nobody else need be asked. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** What a TokenRequest holds. */
export interface TokenRequestContent {
  readonly spec?: {
    readonly audiences?: readonly string[];
    readonly expirationSeconds?: number;
    readonly boundObjectRef?: BoundObjectReference;
  };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** With what a token is to end. */
export interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}
