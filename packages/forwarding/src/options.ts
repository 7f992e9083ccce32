import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { HistoryOptions, Scope } from "@virtual-workspaces/framework/storage";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { OutboundIdentity } from "./upstream/identity.ts";

/** Request for which an object is transformed. */
export interface ShownRequest {
  /** Logical cluster of the request, `*` for all of them, "" where the path has none. */
  readonly cluster: string;
}

/** Transformation of each object. To decide which objects are visible, use a `view()`. */
export interface Transform<T extends object> {
  /**
   * Returns the object to show; may modify its argument. It must keep name, namespace, uid and resource version, and depend
   * on its arguments only. An exception fails the request with 500, or ends the watch: an object is never shown
   * untransformed.
   */
  readonly show: (object: ObjectOf<T>, request: ShownRequest) => ObjectOf<T>;
  /** Inverse of `show`, for objects that clients write. @default none: only deletes are possible */
  readonly keep?: (object: ObjectOf<T>, context: { readonly current: ObjectOf<T> | undefined }) => ObjectOf<T>;
}

/** Options of {@link forward}. */
export interface ForwardOptions<T extends object> {
  /** Kind, the same here and at the upstream. */
  readonly resource: TypedDefinition<T>;
  /** Upstream API server. The storage closes an upstream that it creates from options, but not one that the caller passes. */
  readonly upstream: Upstream | UpstreamOptions;
  /** Returns the upstream's logical cluster: `*` for all, "" for a server without any. @default the one of the request */
  readonly cluster?: (scope: Scope) => string;
  /** Identity of upstream requests. @default "impersonate" */
  readonly identity?: OutboundIdentity;
  /**
   * Headers with that identity, as for a relay. Security: a server that does not trust our client certificate as a front
   * proxy's ignores `X-Remote-*` and answers with all of our own rights.
   * @default "Impersonate"
   */
  readonly headers?: "Impersonate" | "X-Remote";
  /** Path before `/clusters` at the upstream: `/services/orders`. @default "" */
  readonly path?: string;
  readonly transform?: Transform<T>;
  /**
   * Labels of the visible objects, in addition to clients' selectors: lists, watches and deletecollection select by them. An
   * object without them is 404 for get, update and delete by name; one that loses them is DELETED. A created object need not
   * have them. Each write costs a get before it, without a lock: if another client removes the labels in between, the write
   * still applies. Not supported with `transform`.
   * @default all objects
   */
  readonly labels?: LabelSelector;
  /**
   * Resource identity (kcp), if the upstream serves several definitions of one name: requests go to `<plural>:<identity>`.
   * @default none
   */
  readonly resourceIdentity?: string;
  /**
   * Response to lists and watches while the upstream does not serve the kind (404). `empty`: lists are empty and watches
   * quiet. Within a second after the upstream serves the kind, watches end with 410 and clients list again. Requests for
   * single objects remain 404.
   * @default `"refused"`: 404
   */
  readonly unserved?: "empty" | "refused";
  readonly history?: HistoryOptions;
  /** Time to keep an upstream watch after its last reader, in ms. @default 60000 */
  readonly linger?: number;
  /**
   * Interval at which upstream watches are renewed to detect dead ones, in ms. An upstream that takes 3 s longer to start a
   * stream counts as dead: increase this for one with slow lists.
   * @default 10000
   */
  readonly renewEvery?: number;
  /**
   * Called when the upstream fails: once per series of failures of a watch, or of requests. The error names the upstream,
   * which clients do not see.
   * @default a process warning
   */
  readonly onError?: (error: unknown) => void;
}
