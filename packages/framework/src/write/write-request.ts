import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition } from "../definition.ts";
import type { User } from "../request/user.ts";
import type { Scope, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { Part } from "./update.ts";

/** One write on its way to a storage: for whom, where, and who has a say. */
export interface WriteRequest {
  readonly scope: Scope;
  /** As the client has them, dry run included; a storage hears of that only if it knows what to do about it. */
  readonly options: WriteOptions;
  readonly part: Part;
  /** True: status is written together with the rest. For what writes on behalf of a view, which has told parts apart. */
  readonly whole?: boolean;
  readonly admit?: Admit | undefined;
  /** As {@link AdmitRequest.settled}. @default at once */
  readonly settled?: Promise<void>;
  /** Told of fields that the kind does not have. @throws ApiError when the client wants none */
  readonly unknown?: (paths: readonly string[]) => void;
  /**
   * Asked before an update creates what it did not find; without it such an update is 404.
   * @throws ApiError when the caller may not
   */
  readonly mayCreate?: () => Awaitable<void>;
}

/** Does a write, and tells admission of its end. */
export async function settling<R>(request: WriteRequest, write: (request: WriteRequest) => Promise<R>): Promise<R> {
  if (request.admit === undefined) return write(request);
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  try {
    return await write({ ...request, settled });
  } finally {
    resolve();
  }
}

/** What a client wants an object to be. */
export interface Draft {
  readonly object: KubeObject;
  /**
   * How it was made: `replacing` the object by one that has been made to conform already, `changing` a copy of it, or by
   * `applying`, after which the owners of fields are in it.
   */
  readonly by: "replacing" | "changing" | "applying";
}

/** Makes a draft from a copy of what is kept now; asked again when that has changed in the meantime. */
export type Change = (copy: () => KubeObject | undefined) => Awaitable<Draft>;

/** What is about to be done to an object (Kubernetes' admission attributes). */
export interface AdmitRequest<T extends KubeObject = KubeObject> {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** The kind that is written, so that one hook can serve several. */
  readonly definition: ResourceDefinition;
  /** The object as it would be kept, defaults filled in; `undefined` for a delete. */
  readonly object: T | undefined;
  /** As it is kept now; `undefined` for a create. */
  readonly oldObject: T | undefined;
  /** What the client said of a delete: how long, with what dependents, on what condition; `undefined` for other writes. */
  readonly deletion: DeleteQuery | undefined;
  /** `status`, `scale`, or "" for the object itself. */
  readonly subresource: string;
  readonly user: User;
  readonly params: Readonly<Record<string, string>>;
  /** Nothing will be kept: do nothing that lasts. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Resolves once the object has been kept, or is not going to be: until then the storage may not show it. Never rejects. */
  readonly settled: Promise<void>;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
  /**
   * Has a check asked once the object is known to be valid, before it is kept (Kubernetes' validating admission): rules that
   * only refuse belong there, so that clients are told first what no rule could allow. It is told the object as it will be
   * kept, after all hooks, which it must not change; for a delete, the one that is to go. Checks are asked in the order in
   * which they were given, also of a write that changes nothing. To be called before the hook's promise resolves.
   */
  readonly validate: (check: AdmitCheck<T>) => void;
}

/** What {@link AdmitRequest.validate} is given: throws an `ApiError` to refuse. */
export type AdmitCheck<T extends KubeObject = KubeObject> = (object: T) => Awaitable<void>;

/**
 * Asked before every write, after authorization and before validation, and by {@link AdmitRequest.validate} after it. Returns the object to be kept if it is to be
 * another (the schema is applied to it again, and what the write may not change stays: all but the status of a write of the
 * status, all but the replicas of one of the scale), and throws an `ApiError` to refuse. May be asked several times for one request, when the object changes
 * underneath.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only refuses returns nothing
export type Admit<T extends KubeObject = KubeObject> = (request: AdmitRequest<T>) => Awaitable<T | undefined | void>;
