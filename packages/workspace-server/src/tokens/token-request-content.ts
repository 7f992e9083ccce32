// What a TokenRequest holds, whoever defines its kind.

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
