import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { HistoryOptions, Scope } from "@virtual-workspaces/framework/storage";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { OutboundIdentity } from "./upstream/identity.ts";

/** A small change of each object on its way. What decides whether an object is shown at all is a `view()`. */
export interface Transform<T extends object> {
  /**
   * The object as it is shown; may change what it is given. Name, namespace, uid and resource version stay. Must depend on
   * its arguments only. A throw fails the request with 500, and in a watch ends it: an object is never shown unchanged.
   */
  readonly show: (object: ObjectOf<T>) => ObjectOf<T>;
  /** The way back, of what clients write. @default none: then nothing can be written but deletes */
  readonly keep?: (object: ObjectOf<T>, context: { readonly current: ObjectOf<T> | undefined }) => ObjectOf<T>;
}

/** Where a forwarded kind comes from, and as whom it is asked for. */
export interface ForwardOptions<T extends object> {
  /** The kind, as it is here and there. */
  readonly resource: TypedDefinition<T>;
  /** The other API server. One made of options is closed with the storage, one that is given is not. */
  readonly upstream: Upstream | UpstreamOptions;
  /** The logical cluster there, `*` for all, "" for a server that has none. @default the same as here */
  readonly cluster?: (scope: Scope) => string;
  /** As whom the other server is asked. @default "impersonate" */
  readonly identity?: OutboundIdentity;
  readonly transform?: Transform<T>;
  /**
   * The only objects that there are here, whatever clients select besides: lists, watches and deletes of many ask the other
   * server for them. One without these labels is not found, nor changed or deleted by its name; one that loses them is
   * DELETED. One that is created here need not have them. Costs writes a get before, in which is no lock: who takes the
   * labels off at the very moment may find the object changed. Not together with `transform`. @default all
   */
  readonly labels?: LabelSelector;
  /**
   * By whose definition the kind is meant there, where that server tells several of one name apart: it is asked for
   * `<plural>:<identity>` (kcp's resource identity). @default none is said
   */
  readonly resourceIdentity?: string;
  /**
   * What becomes of lists and watches while the other server does not have the kind (404). `empty`: there are no objects, and
   * watches are quiet; once it has the kind, within a second, they end with 410 for clients to list anew. What is about one
   * object is 404 all the same. @default "refused": 404
   */
  readonly unserved?: "empty" | "refused";
  readonly history?: HistoryOptions;
  /** How long a watch of the other server outlives its last reader here, ms. @default 60000 */
  readonly linger?: number;
  /**
   * After how long a watch of the other server is renewed, so that a dead one is noticed, ms. A server that takes 3 s longer
   * to begin an answer to a stream counts as dead: raise it for one whose lists take that long. @default 10000
   */
  readonly renewEvery?: number;
  /**
   * Told when the other server fails us, once for each spell of failures of a watch, and of requests. Names the other server,
   * which clients are not told. @default a process warning
   */
  readonly onError?: (error: unknown) => void;
}
