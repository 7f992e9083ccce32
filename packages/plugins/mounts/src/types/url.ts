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

/** URL of an object's API. */
interface ResolvedURL {
  readonly url: string;
  /** Connection settings in the Secret with the URL. */
  readonly secret?: SecretContent;
  readonly vouched?: true;
}

/**
 * Returns the type `URL`: another API, of a cluster or any other Kubernetes-style API server. `spec.ref` is a Secret with a
 * kubeconfig, or an object of any kind that follows kcp's contract. Security: the controller of that object chooses the host, which
 * receives the credential of `spec.secretRef`, so do not combine a Secret with an object that others write.
 */
export function urlMount(): MountType {
  return { type: "URL", resolve };
}

function resolve(mount: Mount, related: RelatedObjects): Target | NoTarget {
  const { ref, secretRef, filters } = mount.spec;
  if (ref === undefined)
    return none("Unknown", "RefMissing", "no spec.ref: name a Secret or an object with status.URL");
  const cluster = clusterOf(mount);
  const place = ref.kind === "Secret" ? fromSecret(cluster, ref, related) : fromObject(cluster, ref, related);
  if ("kind" in place) return place;
  const extra = secretRef === undefined ? {} : contentOf({ ...secretRef, cluster, field: "spec.secretRef" }, related);
  if ("kind" in extra) return extra;
  const identity = mountIdentityOf(mount);
  const found = { ...place.secret, ...extra };
  // Requests without the mount's identity carry no credential.
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
    return none(
      "Unknown",
      "URLInvalid",
      "invalid URL: use http or https with a host, without user, query and fragment",
    );
  const needsOne = identity === "Impersonate" || identity === "Fixed" || identity === "RequestHeader";
  if (needsOne && credential === undefined)
    return none("Unknown", "CredentialMissing", `the Secret has no credential: add one for the identity ${identity}`);
  if (identity === "RequestHeader" && credential?.cert === undefined)
    return none(
      "Unknown",
      "CredentialMissing",
      "the Secret has no client certificate, which the identity RequestHeader needs: add tls.crt and tls.key",
    );
  return undefined;
}

function fromSecret(cluster: string, ref: Ref, related: RelatedObjects): ResolvedURL | NoTarget {
  const { namespace = "", name, uid } = ref;
  const secret = contentOf({ cluster, namespace, name, uid, field: "spec.ref" }, related);
  if ("kind" in secret) return secret;
  if (secret.server === undefined)
    return none("Unknown", "SecretInvalid", `Secret ${quote(`${namespace}/${name}`)}: add the key kubeconfig`);
  return { url: secret.server, secret };
}

function fromObject(cluster: string, ref: Ref, related: RelatedObjects): ResolvedURL | NoTarget {
  const { apiVersion, kind, namespace, name, uid } = ref;
  const about = `${kind} ${quote(namespace === undefined ? name : `${namespace}/${name}`)}`;
  const found = related.get({ cluster, apiVersion, kind, namespace, name });
  if (found.state === "unserved")
    return none("Unknown", "RefNotFound", `${about}: kind ${kind} of ${apiVersion} is not served here`);
  if (found.state === "unknown") return none("Initializing", "RefUnknown", `${about}: it has not been read yet`);
  if (found.state !== "found" || (uid !== undefined && found.object.metadata.uid !== uid))
    return none("Unknown", "RefNotFound", `${about} not found`);
  const { status } = found.object as { readonly status?: unknown };
  const [url, phase] = ["URL", "phase"].map((field) => (isJsonObject(status) ? memberOf(status, field) : undefined));
  if (phase !== "Ready") {
    const shown = phase === "Initializing" || phase === "Connecting" ? phase : "Unknown";
    const notReady = none(shown, "RefNotReady", `${about} is not Ready: see its status.phase`);
    return typeof url === "string" ? { ...notReady, url } : notReady;
  }
  if (typeof url !== "string" || url === "") return none("Connecting", "URLMissing", `${about} has no status.URL`);
  return { url, vouched: true };
}

function contentOf(at: SecretPlace, related: RelatedObjects): SecretContent | NoTarget {
  const found = secretAt(at, related);
  if (!("reason" in found)) return found;
  return none(found.isUnknown ? "Initializing" : "Unknown", found.reason, found.message);
}
