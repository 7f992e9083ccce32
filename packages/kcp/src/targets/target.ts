import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Mount, MountFilter, MountIdentity, MountPhase } from "../kinds/mount.ts";

/** Credential for a target. Security: PEM and tokens stay in memory, never in a status, a message or a log. */
export interface TargetCredential {
  readonly token?: string;
  /** `user:password` for HTTP Basic authentication. */
  readonly basic?: string;
  /** Client certificate, PEM. */
  readonly cert?: string;
  /** Key of the client certificate, PEM. */
  readonly key?: string;
}

/** Another API server, which the server calls on behalf of callers. */
export interface ProxyTarget {
  readonly kind: "proxy";
  /** `https://host:6443`, optionally with a path; without user, query and fragment. */
  readonly url: string;
  /** CA certificates of the target, PEM. @default those that Node.js trusts */
  readonly ca?: string;
  /** Name in the target's certificate. @default the URL's host */
  readonly serverName?: string;
  readonly credential?: TargetCredential;
  readonly identity: MountIdentity;
  /** Rules for requests. @default all requests */
  readonly filters?: readonly MountFilter[];
  /** Whether `status.phase` of the mounted object reports the health: then the target is not probed. @default false */
  readonly vouched?: boolean;
}

/** Redirect of callers (307). */
export interface RedirectTarget {
  readonly kind: "redirect";
  /** Absolute path of the workspace. */
  readonly path: string;
  /** `https://host` of another server. Clients send no token there. @default the server of the request */
  readonly origin?: string;
}

/** Another workspace, served in this place. */
export interface WorkspaceTarget {
  readonly kind: "workspace";
  /** Absolute path of the workspace. */
  readonly path: string;
}

/** Target of a mount. */
export type Target = ProxyTarget | RedirectTarget | WorkspaceTarget;

/** Reason why a mount has no target for now, for its status. */
export interface NoTarget {
  readonly kind: "none";
  readonly phase: Exclude<MountPhase, "Ready">;
  /** Reason for programs, in CamelCase: `SecretNotFound`. */
  readonly reason: string;
  /** Problem and remedy for people. Security: users who may read the mount see it, so it contains no secret. */
  readonly message: string;
  /** URL of a known target that is not ready, to find cycles. It is not shown. @default unknown */
  readonly url?: string;
}

/** Reference to an object that a mount type needs. */
export interface RelatedReference {
  /** Name or path of the logical cluster. */
  readonly cluster: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** State of an object in the cache. `unserved`: the kind or the workspace does not exist. `unknown`: not known for now. */
export type RelatedObject =
  | { readonly state: "found"; readonly object: KubeObject }
  | { readonly state: "absent" | "unserved" | "unknown" };

/** Objects that a mount depends on. Each requested object is watched from then on, and its changes resolve the mount again. */
export interface RelatedObjects {
  /** Returns the cached state of an object, `unknown` on the first call. */
  get(reference: RelatedReference): RelatedObject;
}

/** Additional type of mounts for a view of mounts. */
export interface MountType {
  /** Value of `spec.type`. */
  readonly type: string;
  /**
   * Returns the target of a mount, from memory. The controller and the view call it when the mount or a requested object changes.
   * An exception is reported to the operator, and the mount is not Ready.
   */
  resolve(mount: Mount, related: RelatedObjects): Target | NoTarget;
}

/** Returns mount types by name. @throws Error on a duplicate name */
export function mountTypes(types: readonly MountType[]): ReadonlyMap<string, MountType> {
  const byName = new Map<string, MountType>();
  for (const type of types) {
    if (byName.has(type.type)) throw new Error(`mount types: duplicate type ${type.type}: remove one`);
    byName.set(type.type, type);
  }
  return byName;
}

/** Delay before clients retry, in s. Kubernetes' clients retry ten times before they report the reason. */
const RETRY_AFTER = 1;

/** Returns 503 for a mount that is unavailable. @param message names the mount, its state, the time and the reason */
export function mountNotReady(message: string): ApiError {
  return ApiError.serviceUnavailable(message, RETRY_AFTER);
}

/** Credential in the form that an upstream takes. */
export interface RequestCredential {
  /** Header names and values in turn. */
  readonly headers?: readonly string[];
  /** Client certificate, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** Converts a credential for requests: the token, or else the name and password, and in addition the client certificate. */
export function requestCredential({ token, basic, cert, key }: TargetCredential): RequestCredential {
  const said =
    token !== undefined
      ? `Bearer ${token}`
      : basic === undefined
        ? undefined
        : `Basic ${Buffer.from(basic).toString("base64")}`;
  return Object.freeze({
    ...(said !== undefined && { headers: Object.freeze(["Authorization", said]) }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  });
}
