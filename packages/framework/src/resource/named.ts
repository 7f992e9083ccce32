import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FieldValidation, ObjectKey, ObjectMeta, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { Awaitable } from "../storage.ts";
import type { RawRequest } from "../virtual-workspace.ts";

/** A method that a {@link ConnectSubresource} may take. */
export type ConnectMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What the handler of a subresource is told. `tail` is what follows the subresource's name in the path, as it came, with its
 * leading slash, or "". In a view without raw handlers of its own there are no dot segments, empty segments, encoded slashes
 * or double encodings in it: such requests are 400.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface SubresourceRequest<Target> extends RawRequest<Readonly<Record<string, string>>> {
  /** Which object the request is about. */
  readonly key: ObjectKey;
  /** A copy of it as it stands now. */
  readonly object: Target;
  readonly query: URLSearchParams;
  /** Adds a `Warning` header to an answer that has not begun; kubectl prints it. */
  readonly warn: (text: string) => void;
}

/** What a handler that takes a body is told besides. */
export interface SubresourceWrite<Target, Content> extends SubresourceRequest<Target> {
  /** Of the subresource's own kind: pruned, defaults filled in, valid. Its name and namespace are those of the object. */
  readonly body: ObjectOf<Content>;
  /** Nothing may be kept: do nothing that lasts. */
  readonly dryRun: boolean;
  /** Who writes, as the client says, or its program's name. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}

/** What a handler answers: the content, and metadata if there is more to say than the object's name and namespace. */
export type SubresourceAnswer<Content> = Content & { readonly metadata?: ObjectMeta };

/**
 * A subresource that answers by itself, in bytes: logs, a proxy, a shell. It owns the response, or the socket of an upgrade;
 * what it throws before it has begun is answered as a Status. The caller's `Authorization` header is gone from the request.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface ConnectSubresource<Target> {
  /** Takes requests of {@link methods}. @default they are 405 */
  readonly connect?: (
    req: IncomingMessage,
    res: ServerResponse,
    request: SubresourceRequest<Target>,
  ) => Awaitable<void>;
  /** Takes `Connection: Upgrade`. @default such requests go to `upgrade` of the virtual workspace */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: SubresourceRequest<Target> & { readonly head: Buffer },
  ) => Awaitable<void>;
  /** What it takes, each a verb of its own to `authorize`; HEAD comes with GET. @default GET alone */
  readonly methods?: readonly ConnectMethod[];
  /**
   * Open-ended: exempt from the server's deadline. Upgrades are, and so is what Kubernetes knows by the names `attach`,
   * `exec`, `log`, `portforward` and `proxy`. @default false
   */
  readonly longRunning?: boolean;
  readonly kind?: never;
}

/**
 * A subresource that speaks a kind of its own, as `pods/eviction` and `serviceaccounts/token` do. Each function is a verb.
 * The virtual workspace's `admit` is not asked: what may be done is these functions' to say.
 */
export interface KindSubresource<Target, Content> {
  readonly kind: TypedDefinition<Content>;
  /** `undefined` is answered 404. */
  readonly get?: (request: SubresourceRequest<Target>) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined>;
  /** POST, answered 201: with the kind, or with a Status where there is nothing to tell. */
  readonly create?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
    // biome-ignore lint/suspicious/noConfusingVoidType: a handler that only does something returns nothing
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined | void>;
  /** PUT, answered 200. */
  readonly update?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>>>;
  readonly connect?: never;
  readonly upgrade?: never;
  readonly methods?: never;
  readonly longRunning?: never;
}

/**
 * A subresource of one's own. `object` says whether there must be one: `required`, the default, reads it first, and answers
 * 404 without it; `unread` reads nothing, and the handler sees for itself.
 *
 * @typeParam T the object whose it is
 * @typeParam Content what objects of its own kind hold, where it has one
 */
export type NamedSubresource<T, Content = object> =
  | ({ readonly object?: "required" } & (ConnectSubresource<T> | KindSubresource<T, Content>))
  | ({ readonly object: "unread" } & (ConnectSubresource<undefined> | KindSubresource<undefined, Content>));
