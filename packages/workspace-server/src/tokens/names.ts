/** What users begin with that are service accounts. */
const USER_PREFIX = "system:serviceaccount:";
/** The group of all service accounts. */
const ALL_SERVICE_ACCOUNTS = "system:serviceaccounts";

/** The type of Secrets that hold a token without an end (`v1.SecretTypeServiceAccountToken`). */
export const TOKEN_SECRET_TYPE = "kubernetes.io/service-account-token";
/** On such a Secret: whose token it is to hold. */
export const ACCOUNT_NAME_ANNOTATION = "kubernetes.io/service-account.name";
/** On such a Secret: the uid of that account. */
export const ACCOUNT_UID_ANNOTATION = "kubernetes.io/service-account.uid";
/** Of a user: by which token they came. */
export const CREDENTIAL_ID_EXTRA = "authentication.kubernetes.io/credential-id";

/** Where an account or a Secret is. */
export interface Place {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** The name of an account as a user: `system:serviceaccount:default:builder`. */
export function userNameOf({ namespace, name }: Pick<Place, "namespace" | "name">): string {
  return `${USER_PREFIX}${namespace}:${name}`;
}

/** The groups that an account is in, but the one of everybody who has logged in. */
export function groupsOf({ namespace }: Pick<Place, "namespace">): readonly string[] {
  return [ALL_SERVICE_ACCOUNTS, `${ALL_SERVICE_ACCOUNTS}:${namespace}`];
}
