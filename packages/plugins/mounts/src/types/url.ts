import { isJsonObject, quote } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { clusterOf, type Mount, type MountIdentity, type MountSpec, mountIdentityOf } from "@virtual-workspaces/kcp";
import {
  type MountType,
  type NoTarget,
  type RelatedObjects,
  type SecretContent,
  type SecretPlace,
  secretAt,
  type Target,
  type TargetCredential,
} from "@virtual-workspaces/kcp/targets";
import { none } from "./no-target.ts";

type Ref = NonNullable<MountSpec["ref"]>;

/** Where an object says that its API is. */
interface ResolvedURL {
  readonly url: string;
  /** Its Secret says how it is asked, too. */
  readonly secret?: SecretContent;
  readonly vouched?: true;
}

/**
 * The type `URL`: another API, of a plain cluster or of anything else that speaks Kubernetes' language. `spec.ref` is a Secret with a
 * kubeconfig, or an object of any kind that keeps kcp's contract; that object's controller decides which host is asked, and by
 * `spec.secretRef` with which credential: name no Secret beside an object that others write.
 */
export function urlMount(): MountType {
  return { type: "URL", resolve };
}

function resolve(mount: Mount, related: RelatedObjects): Target | NoTarget {
  const { ref, secretRef, filters } = mount.spec;
  if (ref === undefined) return none("Unknown", "RefMissing", "spec.ref: name a Secret or an object with status.URL");
  const cluster = clusterOf(mount);
  const place = ref.kind === "Secret" ? fromSecret(cluster, ref, related) : fromObject(cluster, ref, related);
  if ("kind" in place) return place;
  const extra = secretRef === undefined ? {} : contentOf({ ...secretRef, cluster, field: "spec.secretRef" }, related);
  if ("kind" in extra) return extra;
  const identity = mountIdentityOf(mount);
  const found = { ...place.secret, ...extra };
  // Who is asked as somebody is asked with what that one has, and as nobody with nothing.
  const credential = identity === "None" || identity === "Caller" ? undefined : found.credential;
  const problem = problemOf(place.url, identity, credential);
  if (problem !== undefined) return problem;
  return {
    kind: "proxy",
    url: place.url,
    identity,
    ...(found.ca !== undefined && { ca: found.ca }),
    ...(found.serverName !== undefined && { serverName: found.serverName }),
    ...(credential && { credential }),
    ...(filters && { filters }),
    ...(place.vouched && { vouched: true }),
  };
}

function problemOf(
  url: string,
  identity: MountIdentity,
  credential: TargetCredential | undefined,
): NoTarget | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (parsed === undefined || !isHttp || parsed.username + parsed.password + parsed.search + parsed.hash !== "")
    return none("Unknown", "URLInvalid", "give an absolute http or https URL without user, query and fragment");
  const needsOne = identity === "Impersonate" || identity === "Fixed" || identity === "RequestHeader";
  if (needsOne && credential === undefined)
    return none("Unknown", "CredentialMissing", `the Secret has no credential, which the identity ${identity} needs`);
  if (identity === "RequestHeader" && credential?.cert === undefined)
    return none(
      "Unknown",
      "CredentialMissing",
      "the Secret has no client certificate (tls.crt and tls.key), which the identity RequestHeader needs",
    );
  return undefined;
}

function fromSecret(cluster: string, ref: Ref, related: RelatedObjects): ResolvedURL | NoTarget {
  const { namespace = "", name, uid } = ref;
  const secret = contentOf({ cluster, namespace, name, uid, field: "spec.ref" }, related);
  if ("kind" in secret) return secret;
  if (secret.server === undefined)
    return none("Unknown", "SecretInvalid", `Secret ${quote(`${namespace}/${name}`)}: it has no kubeconfig`);
  return { url: secret.server, secret };
}

function fromObject(cluster: string, ref: Ref, related: RelatedObjects): ResolvedURL | NoTarget {
  const { apiVersion, kind, namespace, name, uid } = ref;
  const about = `${kind} ${quote(namespace === undefined ? name : `${namespace}/${name}`)}`;
  const found = related.get({ cluster, apiVersion, kind, namespace, name });
  if (found.state === "unserved")
    return none("Unknown", "RefNotFound", `${about}: there is no kind ${kind} in ${apiVersion} here`);
  if (found.state === "unknown") return none("Initializing", "RefUnknown", `${about}: it has not been read yet`);
  if (found.state !== "found" || (uid !== undefined && found.object.metadata.uid !== uid))
    return none("Unknown", "RefNotFound", `${about} not found`);
  const { status } = found.object as { readonly status?: unknown };
  const [url, phase] = ["URL", "phase"].map((field) => (isJsonObject(status) ? memberOf(status, field) : undefined));
  if (phase !== "Ready")
    return none(
      phase === "Initializing" || phase === "Connecting" ? phase : "Unknown",
      "RefNotReady",
      `${about} does not say that it is ready: see its status.phase`,
    );
  if (typeof url !== "string" || url === "") return none("Connecting", "URLMissing", `${about} has no status.URL`);
  return { url, vouched: true };
}

function contentOf(at: SecretPlace, related: RelatedObjects): SecretContent | NoTarget {
  const found = secretAt(at, related);
  if (!("reason" in found)) return found;
  return none(found.isUnknown ? "Initializing" : "Unknown", found.reason, found.message);
}
