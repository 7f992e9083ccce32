import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Mount, MountFilter, MountIdentity, MountPhase } from "../kinds/mount.ts";

/** Who we are to a target, and how it is trusted. PEM and tokens: in memory only, never in a status, a message or a log. */
export interface TargetCredential {
  readonly token?: string;
  /** `user:password` of HTTP's Basic. */
  readonly basic?: string;
  /** A client certificate, PEM. */
  readonly cert?: string;
  /** Its key, PEM. */
  readonly key?: string;
}

/** Another API server, which is asked on behalf of callers. */
export interface ProxyTarget {
  readonly kind: "proxy";
  /** `https://host:6443`, with a path if it has one; no user, query or fragment. */
  readonly url: string;
  /** Who must have certified it, PEM. @default those that Node trusts */
  readonly ca?: string;
  /** The name that its certificate must be for. @default the URL's host */
  readonly serverName?: string;
  readonly credential?: TargetCredential;
  readonly identity: MountIdentity;
  /** What may be asked of it. @default everything */
  readonly filters?: readonly MountFilter[];
  /** Whether somebody else says how it is (`status.phase` of the object that is mounted): then it is not asked. @default false */
  readonly vouched?: boolean;
}

/** Callers are sent elsewhere (307). */
export interface RedirectTarget {
  readonly kind: "redirect";
  /** The absolute path of the workspace. */
  readonly path: string;
  /** `https://host` of another server. Clients bring no token there. @default the server that was asked */
  readonly origin?: string;
}

/** Another workspace, in this place. */
export interface WorkspaceTarget {
  readonly kind: "workspace";
  /** Its absolute path. */
  readonly path: string;
}

/** Where a mount leads. */
export type Target = ProxyTarget | RedirectTarget | WorkspaceTarget;

/** Why a mount leads nowhere for now: what its status says then. */
export interface NoTarget {
  readonly kind: "none";
  readonly phase: Exclude<MountPhase, "Ready">;
  /** For programs, in CamelCase: `SecretNotFound`. */
  readonly reason: string;
  /** For people: what is wrong, and the remedy. Whoever may read the mount reads it: nothing secret. */
  readonly message: string;
}

/** Which object a mount type wants to know. */
export interface RelatedReference {
  /** By name, or by path. */
  readonly cluster: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object as it is known. `unserved`: there is no such kind, or no such workspace. `unknown`: nobody can say, for now. */
export type RelatedObject =
  | { readonly state: "found"; readonly object: KubeObject }
  | { readonly state: "absent" | "unserved" | "unknown" };

/** The objects that a mount hangs on. Whatever is asked for is followed from then on: the mount is resolved again when it changes. */
export interface RelatedObjects {
  /** An object as it is known now: not yet, when it is asked for the first time. */
  get(reference: RelatedReference): RelatedObject;
}

/** Another type of mounts: a value that a view of mounts is given. */
export interface MountType {
  /** What `spec.type` says. */
  readonly type: string;
  /**
   * Where a mount leads, from memory: it is asked whenever the mount, or something that it has asked for, has changed, by the
   * controller as by the view. What it throws is told whoever runs the view, and the mount is not Ready.
   */
  resolve(mount: Mount, related: RelatedObjects): Target | NoTarget;
}

/** Mount types by their names. @throws Error on two of one name */
export function mountTypes(types: readonly MountType[]): ReadonlyMap<string, MountType> {
  const byName = new Map<string, MountType>();
  for (const type of types) {
    if (byName.has(type.type)) throw new Error(`mount types: there are two of the type ${type.type}: leave one out`);
    byName.set(type.type, type);
  }
  return byName;
}

/** When clients may ask again, s. Those of Kubernetes do so by themselves, ten times, before they say why. */
const RETRY_AFTER = 1;

/** 503: what is mounted cannot be had for now. @param message names the mount, and says how it is, since when and why */
export function mountNotReady(message: string): ApiError {
  return ApiError.serviceUnavailable(message, RETRY_AFTER);
}

/** By what requests show who we are, as an upstream takes it. */
export interface RequestCredential {
  /** Flat pairs. */
  readonly headers?: readonly string[];
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** Who we are to another API server, as requests show it: a token before a name and password, and a client certificate besides. */
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
