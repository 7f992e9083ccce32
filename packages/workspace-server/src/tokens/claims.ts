import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { LEGACY_CLAIM_PREFIX as FLAT, tokenCluster } from "@virtual-workspaces/kcp/users";

/** Issuer of tokens in Secrets, whatever the server's issuer. */
export const LEGACY_ISSUER = "kubernetes/serviceaccount";

/** Name and uid of an object that a token names. */
export interface Named {
  readonly name: string;
  readonly uid: string;
}

/** Claims of a token from a TokenRequest. Times are seconds since 1970. */
export interface BoundClaims {
  readonly form: "bound";
  readonly account: NamespacedObject & Named;
  /** Secret whose deletion invalidates the token, if any. */
  readonly secret: Named | undefined;
  /** Whether the token is bound to an object that does not exist here: a pod or a node. */
  readonly elsewhere: boolean;
  readonly id: string;
  readonly audiences: readonly string[];
  readonly expires: number;
  readonly notBefore: number;
  readonly issued: number;
}

/** Claims of a token in a Secret. */
export interface LegacyClaims {
  readonly form: "legacy";
  readonly account: NamespacedObject & Named;
  readonly secretName: string;
}

/** Claims of a token. */
export type Claims = BoundClaims | LegacyClaims;

/** Returns the payload of a token from a TokenRequest. */
export function boundPayload(claims: Omit<BoundClaims, "form" | "elsewhere">, issuer: string): JsonObject {
  const { account, secret, id, audiences, expires, notBefore, issued } = claims;
  const { cluster, namespace, name, uid } = account;
  return {
    aud: [...audiences],
    exp: expires,
    iat: issued,
    iss: issuer,
    jti: id,
    "kubernetes.io": {
      clusterName: cluster,
      namespace,
      ...(secret !== undefined && { secret: { name: secret.name, uid: secret.uid } }),
      serviceaccount: { name, uid },
    },
    nbf: notBefore,
    sub: userNameOf(account),
  };
}

/** Returns the payload of a token in a Secret. */
export function legacyPayload({ account, secretName }: Omit<LegacyClaims, "form">): JsonObject {
  return {
    iss: LEGACY_ISSUER,
    [`${FLAT}clusterName`]: account.cluster,
    [`${FLAT}namespace`]: account.namespace,
    [`${FLAT}secret.name`]: secretName,
    [`${FLAT}service-account.name`]: account.name,
    [`${FLAT}service-account.uid`]: account.uid,
    sub: userNameOf(account),
  };
}

/** Reads claims from a verified payload. @throws TokenRefused, with Kubernetes' text where it exists */
export function claimsOf(payload: JsonObject): Claims {
  return memberOf(payload, "iss") === LEGACY_ISSUER ? legacyOf(payload) : boundOf(payload);
}

function boundOf(payload: JsonObject): BoundClaims {
  const own = objectIn(payload, "kubernetes.io");
  const cluster = tokenCluster(payload);
  const account = named(objectIn(own, "serviceaccount"));
  const namespace = memberOf(own, "namespace");
  if (cluster === undefined || account === undefined || typeof namespace !== "string") throw malformed();
  const place = { cluster, namespace, ...account };
  if (memberOf(payload, "sub") !== userNameOf(place)) throw new TokenRefused("sub claim is invalid");
  const secret = memberOf(own, "secret") === undefined ? undefined : named(objectIn(own, "secret"));
  if (memberOf(own, "secret") !== undefined && secret === undefined) throw malformed();
  const id = memberOf(payload, "jti");
  return {
    form: "bound",
    account: place,
    secret,
    elsewhere: memberOf(own, "pod") !== undefined || memberOf(own, "node") !== undefined,
    id: typeof id === "string" ? id : "",
    audiences: audiencesIn(payload),
    expires: secondsIn(payload, "exp"),
    notBefore: secondsIn(payload, "nbf"),
    issued: secondsIn(payload, "iat"),
  };
}

function legacyOf(payload: JsonObject): LegacyClaims {
  const said = (claim: string, called: string): string => {
    const value = memberOf(payload, claim);
    if (typeof value === "string" && value !== "") return value;
    throw new TokenRefused(`${called} claim is missing`);
  };
  const subject = said("sub", "sub");
  const namespace = said(`${FLAT}namespace`, "namespace");
  const secretName = said(`${FLAT}secret.name`, "secretName");
  const name = said(`${FLAT}service-account.name`, "serviceAccountName");
  const uid = said(`${FLAT}service-account.uid`, "serviceAccountUID");
  const cluster = tokenCluster(payload);
  if (cluster === undefined) throw new TokenRefused("clusterName claim is missing");
  const account = { cluster, namespace, name, uid };
  if (subject !== userNameOf(account)) throw new TokenRefused("sub claim is invalid");
  return { form: "legacy", account, secretName };
}

function objectIn(object: JsonObject, member: string): JsonObject {
  const value = memberOf(object, member);
  if (isJsonObject(value)) return value;
  throw malformed();
}

function named(object: JsonObject): Named | undefined {
  const [name, uid] = [memberOf(object, "name"), memberOf(object, "uid")];
  return typeof name === "string" && name !== "" && typeof uid === "string" && uid !== "" ? { name, uid } : undefined;
}

function audiencesIn(payload: JsonObject): readonly string[] {
  const said = memberOf(payload, "aud");
  const list = typeof said === "string" ? [said] : said;
  if (Array.isArray(list) && list.every((one) => typeof one === "string")) return list;
  throw malformed();
}

function secondsIn(payload: JsonObject, member: string): number {
  const value = memberOf(payload, member);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw malformed();
}

function malformed(): TokenRefused {
  return new TokenRefused("service account token claims could not be validated due to unexpected validation error");
}

/** Rejected token of a known issuer. The text is Kubernetes'; TokenReviews show it, a 401 does not. */
export class TokenRefused extends Error {
  override readonly name: string = "TokenRefused";
}

/** Prefix of the user names of service accounts. */
const USER_PREFIX = "system:serviceaccount:";
/** Group of all service accounts. */
const ALL_SERVICE_ACCOUNTS = "system:serviceaccounts";

/** Type of Secrets with a token that does not expire (`v1.SecretTypeServiceAccountToken`). */
export const TOKEN_SECRET_TYPE = "kubernetes.io/service-account-token";
/** Annotation of such a Secret: name of its account. */
export const ACCOUNT_NAME_ANNOTATION = "kubernetes.io/service-account.name";
/** Annotation of such a Secret: uid of its account. */
export const ACCOUNT_UID_ANNOTATION = "kubernetes.io/service-account.uid";
/** Extra of a user: ID of the token used. */
export const CREDENTIAL_ID_EXTRA = "authentication.kubernetes.io/credential-id";

/** Logical cluster, namespace and name of an account or a Secret. */
export interface NamespacedObject {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the user name of an account: `system:serviceaccount:default:builder`. */
export function userNameOf({ namespace, name }: Pick<NamespacedObject, "namespace" | "name">): string {
  return `${USER_PREFIX}${namespace}:${name}`;
}

/** Returns the groups of an account, except that of all authenticated users. */
export function groupsOf({ namespace }: Pick<NamespacedObject, "namespace">): readonly string[] {
  return [ALL_SERVICE_ACCOUNTS, `${ALL_SERVICE_ACCOUNTS}:${namespace}`];
}
