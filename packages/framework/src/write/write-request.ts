import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import type { KindVersions, ResourceDefinition } from "../definition.ts";
import type { User } from "../request/user.ts";
import type { AuditAnnotations, Scope, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { Part } from "./update.ts";

/** One write on its way to a storage: its scope, options and hooks. */
export interface WriteRequest {
  readonly scope: Scope;
  /** Options from the client, dry run included. Only storages that support dry run receive it. */
  readonly options: WriteOptions;
  readonly part: Part;
  /** Whether status is written with the rest: for views, which have separated the parts already. */
  readonly whole?: boolean;
  readonly admit?: Admit | undefined;
  /** As {@link AdmitRequest.settled}. @default resolved */
  readonly settled?: Promise<void>;
  /** Called with the unknown fields. @throws ApiError when the client rejects them */
  readonly unknown?: (paths: readonly string[]) => void;
  /**
   * Called before an update creates a missing object. Without it such an update gets 404.
   * @throws ApiError when the caller may not create
   */
  readonly mayCreate?: () => Awaitable<void>;
}

/** Runs a write, and resolves `settled` at its end. */
export async function settling<R>(request: WriteRequest, write: (request: WriteRequest) => Promise<R>): Promise<R> {
  if (request.admit === undefined) return write(request);
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  try {
    return await write({ ...request, settled });
  } finally {
    resolve();
  }
}

/** Object that a client wants. */
export interface Draft {
  readonly object: KubeObject;
  /**
   * How it was made: by `replacing` the object with one that conforms already, by `changing` a copy, or by `applying`, which
   * sets the owners of fields.
   */
  readonly by: "replacing" | "changing" | "applying";
}

/** Makes a draft from a copy of the stored object. Called again when that has changed meanwhile. */
export type Change = (copy: () => KubeObject | undefined) => Awaitable<Draft>;

/** A write before it is stored (Kubernetes' admission attributes). */
export interface AdmitRequest<T extends KubeObject = KubeObject> {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** Kind that is written, so that one hook can serve several. */
  readonly definition: ResourceDefinition;
  /** Object to store, with defaults; `undefined` for a delete. */
  readonly object: T | undefined;
  /** Stored object; `undefined` for a create. */
  readonly oldObject: T | undefined;
  /** Options of a delete: grace period, dependents, preconditions; `undefined` for other writes. */
  readonly deletion: DeleteQuery | undefined;
  /** `status`, `scale`, or "" for the object itself. */
  readonly subresource: string;
  readonly user: User;
  readonly params: Readonly<Record<string, string>>;
  /** Whether this is a dry run: the hook must persist nothing. */
  readonly dryRun: boolean;
  /** Manager of the fields that the write sets. */
  readonly fieldManager: string;
  /** All versions of the kind, where it has several. */
  readonly versions: KindVersions | undefined;
  readonly signal: AbortSignal;
  /** Resolves once the object was stored or the write has failed: until then the storage may not show it. Never rejects. */
  readonly settled: Promise<void>;
  /** Adds a `Warning` header to the response. */
  readonly warn: (text: string) => void;
  /** Annotations of the request's audit events; `undefined` where it is not recorded. */
  readonly audit: AuditAnnotations | undefined;
  /**
   * Makes a changed object conform to the schema, in place: without unknown fields, with defaults. The framework does so
   * after all hooks; a hook needs it only between changes of its own.
   */
  readonly conform: (object: T) => void;
  /**
   * Registers a check that runs when the object is valid, before it is stored (Kubernetes' validating admission). Rules that
   * only reject belong here, so that clients first learn of errors that no rule could allow. The check receives the object to
   * store, after all hooks, and must not change it; for a delete, the object to remove. Checks run in their order, also for a
   * write that changes nothing. Call before the hook's promise resolves.
   */
  readonly validate: (check: AdmitCheck<T>) => void;
}

/** Check for {@link AdmitRequest.validate}: throws an `ApiError` to reject. */
export type AdmitCheck<T extends KubeObject = KubeObject> = (object: T) => Awaitable<void>;

/**
 * Admission hook, called before every write, after authorization and before validation; its {@link AdmitRequest.validate}
 * checks run after validation. Returns the object to store if it should differ, and throws an `ApiError` to reject. The
 * framework applies the schema again and restores what the write may not change: a write of the status changes only the
 * status, one of the scale only the replicas. May be called again when the object changes meanwhile.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only refuses returns nothing
export type Admit<T extends KubeObject = KubeObject> = (request: AdmitRequest<T>) => Awaitable<T | undefined | void>;
